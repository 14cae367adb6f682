//! Finding out: it never fails, and what cannot be found out is said so.

use mainstay_dispatch::{Failure, FailureKind, Found, Sent, look_up};
use mainstay_types::Payload;

use crate::doubles::{Bench, Driven, Scripted, reading, writing};

fn asked(bench: &Bench, script: &std::sync::Arc<Scripted>) -> Driven<Found<Payload>> {
    let request = Payload::from("\"to whom it may concern\"");
    Driven::new(look_up(
        &writing(script),
        request,
        bench.cx(),
        &bench.timers(),
    ))
}

#[test]
fn what_the_receiver_says_is_passed_on() {
    for (said, passed_on) in [
        (
            Ok(Found::Applied(0.5)),
            Found::Applied(Payload::from("0.5")),
        ),
        (Ok(Found::Partly), Found::Partly),
        (Ok(Found::InProgress), Found::InProgress),
        (Ok(Found::NotFound), Found::NotFound),
        (Ok(Found::CannotTell), Found::CannotTell),
        (Ok(Found::Applied(f64::NAN)), Found::CannotTell),
        (
            Err(Failure::new(FailureKind::Overloaded, Sent::Answered)),
            Found::CannotTell,
        ),
    ] {
        let shown = format!("{said:?}");
        assert_eq!(
            asked(&Bench::new(), &Scripted::finds(Some(said))).end(),
            passed_on,
            "{shown}"
        );
    }
}

#[test]
fn a_look_up_that_hangs_could_not_tell_once_its_time_is_up_or_it_is_canceled() {
    let bench = Bench::new();
    let mut timed = asked(&bench, &Scripted::finds(None));
    assert!(timed.run().is_none());
    bench.time.advance(500);
    assert_eq!(timed.run(), Some(Found::CannotTell));
    let mut canceled = asked(&bench, &Scripted::finds(None));
    assert!(canceled.run().is_none());
    bench.cancel.cancel();
    assert_eq!(canceled.run(), Some(Found::CannotTell));
}

#[test]
fn a_read_has_nothing_to_look_up() {
    let bench = Bench::new();
    let provider = reading(&Scripted::new([]));
    assert!(provider.look_up(Payload::from("1"), bench.cx()).is_none());
    let found = look_up(&provider, Payload::from("1"), bench.cx(), &bench.timers());
    assert_eq!(Driven::new(found).end(), Found::CannotTell);
}
