//! Values far larger than sled may hold under one key.

use mainstay_ledger::conformance::block_on;
use mainstay_ledger::sample::{effect, effect_key, entry, next_part, run, stamped, start_part};
use mainstay_ledger::{CommitRequest, HeldKey, Ledger, Part, Verdict};
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_machine::{EntryState, Event};
use mainstay_types::{CallId, Epoch, Payload, Rung, Seq};

fn payload(letter: char, bytes: usize) -> Payload {
    Payload::from(format!("\"{}\"", String::from(letter).repeat(bytes)))
}

fn must(ledger: &SledLedger, request: impl Into<CommitRequest>) {
    let verdicts = block_on(ledger.commit(vec![request.into()])).unwrap();
    assert!(
        matches!(verdicts[..], [Verdict::Committed(_)]),
        "{verdicts:?}"
    );
}

/// The entry under a key, as another run that wants it is told.
fn held(ledger: &SledLedger) -> (EntryState, u64) {
    let wanted = entry(effect_key("mtg-1", 0), 2, 1, EntryState::Open);
    let asking = start_part(2).with(effect(wanted));
    let verdicts = block_on(ledger.commit(vec![asking.into()])).unwrap();
    match verdicts.into_iter().next() {
        Some(Verdict::KeyHeld(HeldKey::Effect { entry, version })) => (entry.state, version),
        other => panic!("the key should be held: {other:?}"),
    }
}

#[test]
fn an_append_larger_than_a_segment_comes_back_whole_and_never_as_files_beside_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = SledLedger::open(folder.path(), OpenOptions::creating()).unwrap();
    must(&ledger, start_part(1));
    let settled = |n: u32| Event::CallSettled {
        call: CallId(n),
        rung: Rung(0),
        result: payload('x', 1 << 20),
    };
    let part = Part {
        run: run(1),
        expected_seq: Seq(1),
        epoch: Epoch(1),
        events: stamped(5, (0..12).map(settled)),
        ops: Vec::new(),
    };
    must(&ledger, part);
    ledger.close().unwrap();
    let ledger = SledLedger::open_existing(folder.path()).unwrap();
    let events = block_on(ledger.load(run(1))).unwrap().unwrap().events;
    let results: Vec<_> = events
        .into_iter()
        .skip(1)
        .map(|recorded| recorded.event)
        .collect();
    assert!(results == (0..12).map(settled).collect::<Vec<_>>());
    let blobs = std::fs::read_dir(folder.path().join("table/blobs"))
        .unwrap()
        .count();
    assert_eq!(blobs, 0, "sled put pages into files that nobody syncs");
}

#[test]
fn a_large_result_of_an_effect_is_replaced_by_another_and_by_a_small_one() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = SledLedger::open(folder.path(), OpenOptions::creating()).unwrap();
    let states = [
        EntryState::Open,
        EntryState::Applied(payload('a', 300_000)),
        EntryState::Applied(payload('b', 200_000)),
        EntryState::Applied(payload('b', 200_000)),
        EntryState::PartlyApplied,
        EntryState::Applied(payload('c', 1 << 20)),
    ];
    must(&ledger, start_part(1));
    for (seq, state) in (1..).zip(states) {
        let own = entry(effect_key("mtg-1", 0), 1, 1, state.clone());
        must(&ledger, next_part(1, seq).with(effect(own)));
        assert!(held(&ledger) == (state, seq), "after change {seq}");
    }
    ledger.close().unwrap();
    let ledger = SledLedger::open_existing(folder.path()).unwrap();
    assert!(held(&ledger) == (EntryState::Applied(payload('c', 1 << 20)), 6));
}
