//! How long a store takes to open: it depends on what is open in it, not on what it has seen.

use std::path::Path;
use std::time::Duration;

use mainstay_tests::ordeal::bulk::Opened;
use mainstay_tests::ordeal::fact::Fact;
use mainstay_tests::ordeal::moment::{Death, Moment};
use mainstay_tests::ordeal::writer::run_within;
use mainstay_tests::process::Ended;

use crate::{count, programs};

const AFTER_CLOSING_MAX: Duration = Duration::from_secs(2);
const AFTER_A_KILL_MAX: Duration = Duration::from_secs(5);
/// A million runs are written in it.
const PATIENCE: Duration = Duration::from_secs(1_800);

#[test]
fn a_store_with_very_many_closed_runs_opens_at_once_after_it_was_closed_and_after_a_kill() {
    let place = tempfile::tempdir().expect("a folder for the test");
    let store = place.path().join("store");
    let (closed, driven) = (count(20_000, 1_000_000), count(200, 1_000));
    let folder = store.display();
    let words = [
        &"populate" as &dyn std::fmt::Display,
        &folder,
        &closed,
        &driven,
        &"dies",
    ];
    let moment = Moment::Answered(0, Duration::ZERO);
    let facts = run_within(&mut programs().command(words), moment, PATIENCE);
    assert_eq!(Death::of(&facts), Death::Loaded, "{facts:?}");
    assert!(matches!(facts.last(), Some(Fact::Done(..))), "{facts:?}");

    let killed = open(&store, (closed, driven));
    let shut = open(&store, (closed, driven));
    println!("{killed:?} after a kill, {shut:?} after it was closed");
    assert!(killed < AFTER_A_KILL_MAX, "{killed:?} after a kill");
    assert!(shut < AFTER_CLOSING_MAX, "{shut:?} after it was closed");
}

/// How long opening took; everything must be there.
fn open(store: &Path, (closed, driven): (u64, u64)) -> Duration {
    let folder = store.display();
    let words = [&"open" as &dyn std::fmt::Display, &folder, &closed];
    let ended = Ended::of(&mut programs().command(words)).with_code(0);
    let opened: Opened = serde_json::from_str(ended.stderr.trim())
        .unwrap_or_else(|error| panic!("{error}\n{ended}"));
    assert_eq!(opened.driven as u64, driven, "{ended}");
    assert_eq!(opened.closed, 100, "{ended}");
    Duration::from_micros(opened.micros)
}
