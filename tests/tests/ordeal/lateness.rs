//! How late the clock's answers are while both engine and store have more to do than they can: by
//! no more than what a class keeps back for giving an answer.

use std::time::Duration;

use mainstay_tests::campaign::is_full;
use mainstay_tests::ordeal::lateness::{DELIVERY, Told};
use mainstay_tests::process::Running;

use crate::{count, programs};

const PATIENCE: Duration = Duration::from_secs(300);
/// A machine that builds or tests something else at the same time says nothing about an engine.
const IN_CI_MS_MAX: u64 = 10_000;

#[test]
fn answers_of_the_clock_are_late_by_less_than_their_delivery_under_more_load_than_can_be_borne() {
    let place = tempfile::tempdir().expect("a folder for the test");
    let store = place.path().join("store");
    let (askers, loaders) = (count(64, 512), count(16, 512));
    let seconds = count(6, 30);
    let folder = store.display();
    let words = [
        &"answers" as &dyn std::fmt::Display,
        &folder,
        &askers,
        &loaders,
        &seconds,
    ];
    let ended = Running::start(&mut programs().command(words)).wait_for(PATIENCE);
    assert_eq!(ended.code, Some(0), "{ended}");
    let line = ended.stderr.lines().last().unwrap_or_default();
    println!("{line}");
    let told: Told = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}\n{ended}"));
    for of_a_kind in [told.handed_off, told.later, told.degraded] {
        // Each asker has one of each kind at least.
        let answers = of_a_kind.answers as u64;
        assert!(askers / 2 <= answers, "{told:?}");
    }
    let most = if is_full() {
        DELIVERY.get()
    } else {
        IN_CI_MS_MAX
    };
    assert!(told.all.p999_ms < most, "{told:?}");
}
