//! A run that is erased: nothing of it is in any file, what it did stays done, others stay whole.

use std::fs;
use std::path::Path;

use mainstay_ledger::{Ledger, sample};
use mainstay_machine::EntryState;

use super::house::{House, Table, effect};
use crate::blocking::wait;
use crate::table::MemoryFactory;
use crate::{EraseError, Erasure, ExportScope, repair, verify};

const CANARY: &str = "canary-7f3a9b";

fn erasure(n: u32) -> Erasure {
    Erasure {
        run: sample::run(n),
        by: "ann".to_owned(),
        why: "ticket 4711".to_owned(),
        at: sample::at(30_000),
    }
}

fn files_with(folder: &Path, what: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                if bytes
                    .windows(what.len())
                    .any(|bytes| bytes == what.as_bytes())
                {
                    found.push(path.display().to_string());
                }
            }
        }
    }
    found
}

#[test]
fn nothing_of_an_erased_run_is_in_any_file_and_its_keys_stay_taken() {
    let mut house = House::small(Table::Stays);
    for n in 1..=9 {
        let secret = if n == 5 { CANARY } else { "result" };
        house.live(n, secret);
    }
    assert_ne!(
        files_with(house.folder(), CANARY),
        [""; 0],
        "it is there before"
    );
    let others: Vec<String> = house.dump(4);
    house.erase(&erasure(5)).unwrap();
    assert_eq!(files_with(house.folder(), CANARY), [""; 0]);
    for _ in 0..2 {
        assert_eq!(house.dump(4)[..12], others[..12], "others stay whole");
        assert!(wait(house.ledger().load(sample::run(5))).unwrap().is_none());
        let held = house.holder(5).expect("its key stays taken");
        assert!(matches!(held.state, EntryState::Applied(_)));
        let key = sample::start_key("start-5");
        assert_eq!(
            wait(house.ledger().start_key(sample::tenant("acme"), key)).unwrap(),
            None
        );
        house.reopen();
    }
    house.must(sample::start_part(77));
}

#[test]
fn a_run_that_may_still_act_is_not_erased() {
    let mut house = House::small(Table::Stays);
    house.must(sample::start_part(1).with(sample::driven_by(1)));
    assert_eq!(house.erase(&erasure(1)), Err(EraseError::Open));
    assert_eq!(house.erase(&erasure(2)), Err(EraseError::Unknown));
    house.live(3, CANARY);
    let doubt = effect(3, EntryState::InDoubt);
    house.must(sample::next_part(1, 1).with(sample::effect({
        let mut entry = effect(8, EntryState::InDoubt);
        entry.run = sample::run(3);
        entry
    })));
    let refused = house.erase(&erasure(3));
    assert!(
        matches!(refused, Err(EraseError::InDoubt { .. })),
        "{refused:?} {doubt:?}"
    );
    assert!(wait(house.ledger().load(sample::run(3))).unwrap().is_some());
}

/// The log's segments, oldest first.
fn segments(house: &House) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(house.folder().join("log")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "log"));
    files.sort();
    files
}

#[test]
fn an_open_run_that_a_repair_left_unreadable_can_be_erased() {
    let mut house = House::small(Table::IsLost);
    house.must(sample::start_part(1).with(sample::driven_by(1)));
    for seq in 1..200 {
        house.must(sample::next_part(1, seq));
    }
    house.live(2, "result");
    house.close();
    let file = segments(&house).remove(1);
    let mut bytes = fs::read(&file).unwrap();
    bytes[2_000] ^= 0x10;
    fs::write(&file, bytes).unwrap();
    let (folder, factory) = (house.folder().to_owned(), MemoryFactory::default());
    repair(&folder, &factory, true, &mut |_, _| {}).unwrap();
    house.open_again();
    assert!(wait(house.ledger().load(sample::run(1))).is_err());
    house.erase(&erasure(1)).unwrap();
    assert!(wait(house.ledger().load(sample::run(1))).unwrap().is_none());
    assert!(
        wait(house.ledger().driving(sample::run(1)))
            .unwrap()
            .is_none()
    );
    assert!(wait(house.ledger().load(sample::run(2))).unwrap().is_some());
    house.close();
    let report = verify(&folder, &factory, &mut |_, _| {}).unwrap();
    assert_eq!(report.findings, []);
}

#[test]
fn erasing_one_run_after_the_other_makes_no_file_for_each() {
    let mut house = House::new(Table::Stays);
    for n in 1..=20 {
        house.live(n, CANARY);
    }
    let bytes = |house: &House| -> u64 {
        let files = segments(house).into_iter();
        files.map(|file| fs::metadata(file).unwrap().len()).sum()
    };
    for n in 1..=20 {
        house.erase(&erasure(n)).unwrap();
    }
    assert_eq!(files_with(house.folder(), CANARY), [""; 0]);
    assert!(bytes(&house) < 12 << 20, "{} bytes of log", bytes(&house));
}

#[test]
fn an_erased_run_does_not_come_back_with_an_export_of_before() {
    let mut house = House::small(Table::Stays);
    house.live(1, CANARY);
    let mut text = Vec::new();
    let scope = ExportScope::Run(sample::run(1));
    let ledger = house.ledger();
    ledger.export(scope, &mut text, &mut |_, _| {}).unwrap();
    house.erase(&erasure(1)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("export.jsonl");
    fs::write(&file, text).unwrap();
    let refused = house.ledger().import(&file, &mut |_, _| {}).unwrap_err();
    assert!(refused.to_string().contains("was erased"), "{refused}");
    assert_eq!(files_with(house.folder(), CANARY), [""; 0]);
}

#[test]
fn an_erasure_that_a_crash_cut_off_is_ended_by_the_next_open() {
    let mut house = House::small(Table::Stays);
    for n in 1..=6 {
        house.live(n, if n == 2 { CANARY } else { "result" });
    }
    house.begin_erasing(&erasure(2));
    assert_ne!(
        files_with(house.folder(), CANARY),
        [""; 0],
        "older files still have it"
    );
    house.reopen();
    assert_eq!(files_with(house.folder(), CANARY), [""; 0]);
    let end = house.ledger().reader().archive.end();
    house.reopen();
    assert_eq!(
        house.ledger().reader().archive.end(),
        end,
        "it is not done twice"
    );
}
