//! What a store comes to: on disk no more than what it has to remember, in memory nothing that
//! grows with what it has seen.

use std::path::Path;
use std::time::Duration;

use mainstay::ledger::SledLedger;
use mainstay_fault_disk::Image;
use mainstay_tests::campaign::is_full;
use mainstay_tests::ordeal::bulk::{Look, RUN_CALLS};
use mainstay_tests::ordeal::house::{self, SEGMENT_BYTES_SMALL};
use mainstay_tests::ordeal::writer::Programs;
use mainstay_tests::process::Running;

use crate::programs;

const MIB: u64 = 1 << 20;
/// A million calls take longer than anything else here.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// Calls, bytes of each one's result, and calls that are remembered.
struct Growth(u32, usize, u32);

fn grown(programs: &Programs, store: &Path, growth: &Growth) -> Vec<Look> {
    let Growth(calls, bytes, remembered) = growth;
    let folder = store.display();
    let words = [
        &"grow" as &dyn std::fmt::Display,
        &folder,
        calls,
        bytes,
        remembered,
    ];
    let ended = Running::start(&mut programs.command(words)).wait_for(PATIENCE);
    assert_eq!(ended.code, Some(0), "{ended}");
    let looks = ended.stderr.lines().last().unwrap_or_default();
    let looks = serde_json::from_str(looks).unwrap_or_else(|error| panic!("{error}\n{ended}"));
    println!("{looks:?}");
    looks
}

#[test]
fn a_store_of_runs_that_end_and_expire_has_no_more_than_it_remembers_and_memory_is_flat() {
    let place = tempfile::tempdir().expect("a folder for the test");
    // What is beside what it remembers: room held back, a spare segment, sled, what expires next.
    let (growth, segment_bytes, beside) = if is_full() {
        (Growth(1_000_000, 1_000, 100_000), None, 256 * MIB)
    } else {
        (
            Growth(30_000, 4_000, 3_000),
            Some(4 * SEGMENT_BYTES_SMALL),
            96 * MIB,
        )
    };
    let programs = Programs {
        segment_bytes,
        ..programs()
    };
    let store = place.path().join("store");
    let looks = grown(&programs, &store, &growth);
    // A tenth has been written, and just this much is remembered.
    let (remembered, last) = (looks[0], looks[looks.len() - 1]);
    assert!(
        last.store_bytes <= remembered.log_bytes * 6 / 5 + beside,
        "{last:?} after {remembered:?}"
    );
    // From where as much is remembered as ever will be, and as much again was forgotten.
    let (early, late) = (looks[2], looks[looks.len() - 2]);
    assert!(
        late.memory_bytes <= early.memory_bytes * 6 / 5 + 16 * MIB && late.memory_bytes < 200 * MIB,
        "{late:?} after {early:?}"
    );
    let ledger = SledLedger::open(&store, house::options()).expect("it opens");
    let stats = ledger.stats().expect("it can be counted");
    let kept = u64::from(growth.2 / RUN_CALLS);
    // What expires is taken away by the handful and beside the writing.
    let bound = kept * 6 / 5 + 1_000;
    for (what, count) in [
        ("closed runs", stats.runs_closed),
        ("start keys", stats.start_keys),
    ] {
        assert!((kept..=bound).contains(&count), "{count} {what}: {stats:?}");
    }
}

#[test]
fn f26_a_thousand_calls_with_large_results_are_stored_about_once() {
    let place = tempfile::tempdir().expect("a folder for the test");
    let store = place.path().join("store");
    grown(&programs(), &store, &Growth(1_000, 10_000, 0));
    let payload = 1_000 * 10_000;
    let image = Image::read(&store);
    let log = image.used_bytes("log/");
    println!("log {log}, all {}", image.used_bytes(""));
    assert!(log * 10 <= payload * 13, "{log} bytes of log for {payload}");
    let files = image.files().filter(|(name, _)| name.contains('/'));
    let both: usize = files.map(|(_, content)| content.len()).sum();
    let bound = 3 * payload + (128 << 20);
    assert!(both <= bound, "{both} bytes of log and table for {payload}");
}
