//! The snapshot at its limits: age, future, damage, concurrent writers.
//!
//! Time is always passed in; no test waits.

use super::*;
use crate::policy::{AllowedUse, Passage};

const AT_MS: u64 = 1_770_000_000_000;
const TWENTY_MIN_MS: u64 = 20 * 60 * 1_000;

fn query(term: &str) -> PolicyQuery {
    PolicyQuery {
        terms: vec![term.to_owned()],
        top: 5,
    }
}

fn evidence(snippet: &str) -> PolicyEvidence {
    let passage = Passage {
        doc_id: "POL-01".to_owned(),
        title: "Minutes".to_owned(),
        version: "1".to_owned(),
        score: 1.25,
        snippet: snippet.to_owned(),
        allowed_use: AllowedUse::Quote,
    };
    PolicyEvidence {
        passages: vec![passage],
        retrieved_at_ms: AT_MS,
        source_digest: "d".to_owned(),
        grade: Grade::Live,
    }
}

fn at(now_ms: u64) -> MaxAge {
    MaxAge {
        max_age_ms: TWENTY_MIN_MS,
        now_ms,
    }
}

fn stored() -> (tempfile::TempDir, Snapshot) {
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = Snapshot::at(folder.path().join("policy.snapshot"));
    snapshot
        .write(&evidence("a"), &query("keys"), AT_MS)
        .expect("written");
    (folder, snapshot)
}

#[test]
fn a_snapshot_of_19_59_answers_with_its_time_and_grade() {
    let (_folder, snapshot) = stored();
    let now_ms = AT_MS + 19 * 60_000 + 59_000;
    let read = snapshot
        .read(&query("keys"), at(now_ms))
        .expect("young enough");
    assert_eq!(
        (read.grade, read.retrieved_at_ms),
        (Grade::ApprovedSnapshot, AT_MS)
    );
    assert_eq!(read.passages, evidence("a").passages);
}

#[test]
fn the_age_limit_is_exact_to_the_millisecond() {
    let (_folder, snapshot) = stored();
    assert!(
        snapshot
            .read(&query("keys"), at(AT_MS + TWENTY_MIN_MS))
            .is_ok()
    );
    for late_ms in [1, 1_000] {
        let read = snapshot.read(&query("keys"), at(AT_MS + TWENTY_MIN_MS + late_ms));
        let age_ms = TWENTY_MIN_MS + late_ms;
        assert!(
            matches!(read, Err(SnapshotError::TooOld { age_ms: a, max_age_ms: TWENTY_MIN_MS })
                if a == age_ms),
            "{read:?}"
        );
    }
}

#[test]
fn a_snapshot_from_the_future_is_new_within_five_seconds_and_refused_beyond() {
    let (_folder, snapshot) = stored();
    assert!(
        snapshot
            .read(&query("keys"), at(AT_MS - FUTURE_MS_MAX))
            .is_ok()
    );
    let read = snapshot.read(&query("keys"), at(AT_MS - FUTURE_MS_MAX - 1));
    assert!(
        matches!(read, Err(SnapshotError::FromTheFuture { ahead_ms: 5_001 })),
        "{read:?}"
    );
}

#[test]
fn only_the_query_it_was_retrieved_for_is_answered() {
    let (folder, snapshot) = stored();
    let read = snapshot.read(&query("votes"), at(AT_MS));
    assert!(matches!(read, Err(SnapshotError::Missing)), "{read:?}");
    let absent = Snapshot::at(folder.path().join("absent"));
    assert!(matches!(
        absent.read(&query("keys"), at(AT_MS)),
        Err(SnapshotError::Missing)
    ));
}

#[test]
fn a_newer_retrieval_replaces_the_older_one_of_the_same_query() {
    let (_folder, snapshot) = stored();
    let newer = PolicyEvidence {
        retrieved_at_ms: AT_MS + 9,
        ..evidence("b")
    };
    snapshot
        .write(&newer, &query("keys"), AT_MS + 9)
        .expect("written");
    let read = snapshot.read(&query("keys"), at(AT_MS + 9)).expect("there");
    assert_eq!(
        (read.passages[0].snippet.as_str(), read.retrieved_at_ms),
        ("b", AT_MS + 9)
    );
}

#[test]
fn the_oldest_entry_goes_when_there_are_too_many() {
    let (_folder, snapshot) = stored();
    for n in 0..SNAPSHOT_ENTRIES_MAX {
        snapshot
            .write(&evidence("x"), &query(&format!("t{n}")), AT_MS)
            .expect("written");
    }
    let first = snapshot.read(&query("keys"), at(AT_MS));
    assert!(matches!(first, Err(SnapshotError::Missing)), "{first:?}");
    assert!(snapshot.read(&query("t0"), at(AT_MS)).is_ok());
    assert!(snapshot.read(&query("t63"), at(AT_MS)).is_ok());
}

#[test]
fn a_snapshots_answer_cannot_become_a_snapshot_again() {
    let (_folder, snapshot) = stored();
    let read = snapshot.read(&query("keys"), at(AT_MS)).expect("there");
    let again = snapshot.write(&read, &query("keys"), AT_MS + 1);
    assert!(matches!(again, Err(SnapshotError::NotLive)), "{again:?}");
}

#[test]
fn every_flipped_bit_and_every_cut_is_seen() {
    let (_folder, snapshot) = stored();
    let good = std::fs::read(&snapshot.path).expect("readable");
    for at_byte in 0..good.len() {
        let mut bad = good.clone();
        bad[at_byte] ^= 1;
        std::fs::write(&snapshot.path, &bad).expect("writable");
        let read = snapshot.read(&query("keys"), at(AT_MS));
        assert!(
            matches!(read, Err(SnapshotError::Damaged { .. })),
            "byte {at_byte}: {read:?}"
        );
        std::fs::write(&snapshot.path, &good[..at_byte]).expect("writable");
        let read = snapshot.read(&query("keys"), at(AT_MS));
        assert!(
            matches!(read, Err(SnapshotError::Damaged { .. })),
            "cut {at_byte}: {read:?}"
        );
    }
    snapshot
        .write(&evidence("new"), &query("keys"), AT_MS)
        .expect("a damaged file is replaced");
    assert!(snapshot.read(&query("keys"), at(AT_MS)).is_ok());
}

#[test]
fn concurrent_writers_lose_nothing() {
    let (_folder, snapshot) = stored();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let snapshot = &snapshot;
            scope.spawn(move || {
                for n in 0..4 {
                    let query = query(&format!("w{writer}n{n}"));
                    snapshot
                        .write(&evidence("x"), &query, AT_MS)
                        .expect("written");
                }
            });
        }
    });
    for writer in 0..8 {
        for n in 0..4 {
            let read = snapshot.read(&query(&format!("w{writer}n{n}")), at(AT_MS));
            assert!(read.is_ok(), "writer {writer}, entry {n}: {read:?}");
        }
    }
}
