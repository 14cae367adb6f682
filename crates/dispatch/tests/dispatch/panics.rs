//! What a panic leaves in the process's output: for one that is caught its place, for every other
//! what it always did.

use std::panic::catch_unwind;
use std::sync::Mutex;

use mainstay_dispatch::{caught_now, hide_panic_texts};

use crate::spans::Written;

/// What the hook of before was given.
static HOOKED: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_caught_panic_is_told_by_its_place_and_every_other_as_before() {
    std::panic::set_hook(Box::new(|panic| {
        HOOKED
            .lock()
            .expect("no test panics holding it")
            .push(panic.to_string());
    }));
    hide_panic_texts();
    hide_panic_texts();
    let written = Written::default();
    let writer = written.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    let token = "sk-4711";
    let caught = tracing::subscriber::with_default(subscriber, || {
        caught_now(|| panic!("{token} is refused"))
    });
    assert_eq!(caught, Err::<(), _>("sk-4711 is refused".to_owned()));
    let seen = |text: &str| {
        let hooked = HOOKED.lock().expect("no test panics holding it");
        hooked.iter().any(|hooked| hooked.contains(text))
    };
    assert!(!seen(token), "the hook of before is not asked");
    let told = written.text();
    let here = file!().rsplit('/').next().unwrap();
    assert!(
        told.contains("a panic was caught") && told.contains(here),
        "{told}"
    );
    assert!(!told.contains(token), "{told}");

    catch_unwind(|| panic!("nobody of ours catches this")).expect_err("it panics");
    assert!(seen("nobody of ours catches this"));
    let after = caught_now(|| 7);
    assert_eq!(after, Ok(7));
}
