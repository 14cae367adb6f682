//! What stands beside the events: alerts and those who wait, harmed behind the ledger's back; and a
//! store of an older format.

use std::fs;
use std::path::Path;

use mainstay_ledger::conformance::block_on;
use mainstay_ledger::sample::{
    alert, driven_by, effect_key, entry, next_part, parked_until, run, start_part,
};
use mainstay_ledger::{CommitRequest, HeldKey, Ledger, LedgerError, Op, Part, Verdict};
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_machine::EntryState;
use mainstay_types::{AlertSeq, Digest, WorkerId};

use crate::damage::in_sled;
use crate::script::{advance, verify};

fn open(folder: &Path) -> SledLedger {
    SledLedger::open(folder, OpenOptions::creating()).unwrap()
}

fn commit(ledger: &SledLedger, part: Part) -> Result<Verdict, LedgerError> {
    let verdicts = block_on(ledger.commit(vec![CommitRequest { parts: vec![part] }]))?;
    Ok(verdicts.into_iter().next().unwrap())
}

fn must(ledger: &SledLedger, part: Part) {
    let verdict = commit(ledger, part);
    assert!(matches!(verdict, Ok(Verdict::Committed(_))), "{verdict:?}");
}

fn quiet(n: u32) -> Part {
    Part {
        events: Vec::new(),
        ..next_part(n, 1)
    }
}

/// A closed store with three alerts, and two runs of which the second waits for a key of the first.
fn store() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path());
    let held = entry(effect_key("PR-7", 0), 1, 1, EntryState::Open);
    must(
        &ledger,
        start_part(1).with(driven_by(1)).with(Op::Effect(held)),
    );
    must(&ledger, start_part(2).with(parked_until(500)).with(waits()));
    for _ in 0..3 {
        must(&ledger, quiet(1).with(Op::Alert(alert(1))));
    }
    ledger.close().unwrap();
    folder
}

fn waits() -> Op {
    Op::Wait {
        key: effect_key("PR-7", 0),
        version: 1,
    }
}

fn settles() -> Part {
    let state = EntryState::PartlyApplied;
    quiet(1).with(Op::Effect(entry(effect_key("PR-7", 0), 1, 1, state)))
}

fn alert_key(seq: u64) -> Vec<u8> {
    [&[0x40, 0, 0], seq.to_be_bytes().as_slice()].concat()
}

fn newest_alert() -> Vec<u8> {
    [&[0x00], b"alerts".as_slice()].concat()
}

fn damaged<T: std::fmt::Debug>(told: Result<T, LedgerError>) -> String {
    match told {
        Err(told @ LedgerError::Damaged { .. }) => told.to_string(),
        other => panic!("it should be damaged: {other:?}"),
    }
}

#[test]
fn an_alert_that_got_lost_is_told_and_never_passed_over() {
    for (lost, first) in [(1, 1), (2, 2), (3, 3)] {
        let folder = store();
        in_sled(folder.path(), |db| {
            assert!(db.remove(alert_key(lost)).unwrap().is_some());
        });
        let ledger = open(folder.path());
        let told = damaged(block_on(ledger.alerts(AlertSeq(0))));
        assert!(
            told.contains(&format!("number {first} is missing")),
            "{told}"
        );
        // Who has read it already goes on.
        let later = block_on(ledger.alerts(AlertSeq(lost))).unwrap();
        assert_eq!(later.rows.len() as u64, 3 - lost);
    }
}

#[test]
fn an_alert_that_is_not_what_was_written_is_told() {
    let folder = store();
    in_sled(folder.path(), |db| {
        let other = db.get(alert_key(1)).unwrap().unwrap();
        db.insert(alert_key(2), other).unwrap();
    });
    let ledger = open(folder.path());
    damaged(block_on(ledger.alerts(AlertSeq(0))));
    assert_eq!(block_on(ledger.alerts(AlertSeq(2))).unwrap().rows.len(), 1);
}

#[test]
fn a_lost_number_of_alerts_is_no_reason_to_begin_anew() {
    let folder = store();
    in_sled(folder.path(), |db| {
        assert!(db.remove(newest_alert()).unwrap().is_some());
    });
    let ledger = open(folder.path());
    damaged(commit(&ledger, quiet(1).with(Op::Alert(alert(1)))));
    assert_eq!(block_on(ledger.alerts(AlertSeq(0))).unwrap().rows.len(), 3);
    must(&ledger, next_part(1, 1));
}

#[test]
fn damage_among_those_who_wait_holds_up_nobody_who_settles() {
    let folder = store();
    let key = effect_key("PR-7", 0).to_string();
    let place = [&[0x34], &Digest::of(key.as_bytes()).as_bytes()[..16]].concat();
    in_sled(folder.path(), |db| {
        let mut value = db.get(&place).unwrap().unwrap().to_vec();
        value[5] ^= 1;
        db.insert(place, value).unwrap();
    });
    let ledger = open(folder.path());
    damaged(commit(&ledger, quiet(2).with(waits())));
    must(&ledger, settles());
    assert!(
        block_on(ledger.load(run(2)))
            .unwrap()
            .unwrap()
            .inbox
            .is_empty()
    );
}

#[test]
fn a_store_of_the_first_format_opens_with_all_it_has_and_becomes_one_of_this() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let ledger = open(path);
    assert!(advance(&ledger, 0, 1) && advance(&ledger, 0, 2));
    ledger.close().unwrap();
    make_first_format(path);
    for _ in 0..2 {
        let ledger = open(path);
        verify(&ledger, 0, 2);
        let page = block_on(ledger.driven(None)).unwrap();
        let workers: Vec<_> = page.rows.iter().map(|row| (row.run, row.worker)).collect();
        let nobody = WorkerId::from_bytes([0; 16]);
        assert_eq!(workers, [(run(0), nobody), (run(1), nobody)]);
        let told = fs::read_to_string(path.join("STORE")).unwrap();
        assert!(told.contains("format: 2"), "{told}");
        ledger.close().unwrap();
    }
    let ledger = open(path);
    assert!(advance(&ledger, 0, 3));
    verify(&ledger, 0, 3);
}

/// Makes a store what version 0.1 would have written: rows of driven runs without a worker.
fn make_first_format(path: &Path) {
    let marker = path.join("STORE");
    let text = fs::read_to_string(&marker).unwrap();
    assert!(text.contains("format: 2"));
    fs::write(&marker, text.replace("format: 2", "format: 1")).unwrap();
    in_sled(path, |db| {
        let format = [&[0x00], b"format".as_slice()].concat();
        let value = db.get(&format).unwrap().unwrap();
        let mut payload = value[2..value.len() - 4].to_vec();
        assert_eq!(payload[..4], 2u32.to_le_bytes());
        payload[0] = 1;
        db.insert(format.clone(), sealed(&format, &payload))
            .unwrap();
        for entry in db.scan_prefix([0x20]) {
            let (key, _) = entry.unwrap();
            db.insert(&key, sealed(&key, &[])).unwrap();
        }
    });
}

/// The stored form of a small value: whole, format 1, checksum over key and bytes.
fn sealed(key: &[u8], payload: &[u8]) -> Vec<u8> {
    let value = mainstay_ledger::codec::value::seal_value(key, payload);
    [&[0], value.as_slice()].concat()
}

#[test]
fn those_who_wait_are_told_after_a_reopening() {
    let folder = store();
    let ledger = open(folder.path());
    must(&ledger, settles());
    ledger.close().unwrap();
    let ledger = open(folder.path());
    let inbox = block_on(ledger.load(run(2))).unwrap().unwrap().inbox;
    assert_eq!(inbox.len(), 1);
    let held = commit(&ledger, quiet(2).with(waits()));
    let Ok(Verdict::KeyHeld(HeldKey::Effect { version, .. })) = held else {
        panic!("{held:?}")
    };
    assert_eq!(version, 2);
}
