//! Out of one store and into another: everything is there, nothing twice, nothing that was changed.

use std::fs;
use std::path::{Path, PathBuf};

use mainstay_ledger::{Ledger, LedgerError, sample};
use mainstay_types::AlertSeq;

use super::house::{House, Table};
use crate::blocking::wait;
use crate::retention::Sweep;
use crate::{ExchangeError, ExportScope, Imported};

fn exported(house: &House, scope: ExportScope) -> Vec<u8> {
    let mut out = Vec::new();
    let done = house.ledger().export(scope, &mut out, &mut |_, _| {});
    assert_eq!(done.unwrap().left_out, []);
    out
}

fn import(house: &House, text: &[u8]) -> Result<Imported, ExchangeError> {
    let file = file(house.folder(), text);
    house.ledger().import(&file, &mut |_, _| {})
}

fn file(folder: &Path, text: &[u8]) -> PathBuf {
    let file = folder.join("export.jsonl");
    fs::write(&file, text).unwrap();
    file
}

fn filled() -> House {
    let house = House::small(Table::Stays);
    for n in 1..=12 {
        house.live(n, "result");
    }
    house.must(sample::start_part(13).with(sample::driven_by(1)));
    let message = sample::message(99);
    let command = sample_command();
    wait(house.ledger().enqueue(sample::run(13), message, command)).unwrap();
    house
}

fn sample_command() -> mainstay_ledger::InboxCommand {
    mainstay_ledger::InboxCommand::Cancel {
        by: "ann".to_owned(),
        why: "because".to_owned(),
    }
}

#[test]
fn an_imported_store_says_what_the_exported_one_says_also_after_its_table_is_lost() {
    let from = filled();
    let text = exported(&from, ExportScope::All);
    for table in [Table::Stays, Table::IsLost] {
        let mut to = House::small(table);
        let imported = import(&to, &text).unwrap();
        assert_eq!(imported.runs, 13);
        assert_eq!(to.dump(13), from.dump(13));
        to.reopen();
        assert_eq!(to.dump(13), from.dump(13));
        // It is a store like any other: its runs go on.
        to.must(sample::next_part(13, 1));
    }
}

/// Imports until so many writes were done, and is killed; whether it came to its end.
fn killed_import(to: &House, text: &[u8], writes: usize) -> bool {
    let file = file(to.folder(), text);
    let mut left = writes;
    let mut write = |pieces| {
        left = left.checked_sub(1).ok_or(LedgerError::Io {
            detail: "killed".to_owned(),
        })?;
        to.ledger().shared().sweep(Sweep::Import(pieces))?;
        Ok(to.ledger().reader().archive.end().segment)
    };
    let reader = to.ledger().reader();
    crate::exchange::import(reader, &file, &mut write, &mut |_, _| {}).is_ok()
}

#[test]
fn an_import_that_was_cut_off_anywhere_is_no_store_until_the_same_export_is_imported_again() {
    let from = filled();
    let text = exported(&from, ExportScope::All);
    let other = exported(&from, ExportScope::Run(sample::run(3)));
    for (writes, table) in (0..).zip([Table::Stays, Table::IsLost].into_iter().cycle()) {
        let mut to = House::small(table);
        if killed_import(&to, &text, writes) {
            assert!(12 < writes, "it was killed before each write");
            return;
        }
        to.close();
        if 0 < writes {
            let refused = to.open().map(drop).unwrap_err();
            assert!(refused.to_string().contains("was cut off"), "{refused}");
        }
        to.options = to.options.clone().unfinished_import();
        to.open_again();
        if 0 < writes {
            let error = import(&to, &other).unwrap_err();
            assert!(matches!(error, ExchangeError::Conflict { .. }), "{error}");
        }
        // And killed once more on its way.
        if !killed_import(&to, &text, 3) {
            assert_eq!(import(&to, &text).unwrap().runs, 13);
        }
        to.close();
        to.options.unfinished_import = false;
        to.open_again();
        assert_eq!(to.dump(13), from.dump(13), "after {writes} writes");
        let alerts = |house: &House| wait(house.ledger().alerts(AlertSeq(0))).unwrap().rows.len();
        assert_eq!(alerts(&to), alerts(&from), "after {writes} writes");
    }
}

#[test]
fn an_export_of_an_import_is_the_same_but_for_the_store_it_names() {
    let from = filled();
    let first = exported(&from, ExportScope::All);
    let to = House::new(Table::Stays);
    import(&to, &first).unwrap();
    let second = exported(&to, ExportScope::All);
    let bodies = |text: &[u8]| -> Vec<String> {
        let text = String::from_utf8(text.to_vec()).unwrap();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // The head names the store, run rows the segment, alerts their new numbers, the end all of
        // it.
        let same = |line: &String| line.contains(r#""records":"#) || line.contains("effect ");
        lines.into_iter().filter(same).collect()
    };
    assert_eq!(bodies(&first), bodies(&second));
    assert_eq!(from.dump(13), to.dump(13));
}

#[test]
fn one_run_comes_with_its_class_its_keys_and_nothing_of_others() {
    let from = filled();
    let text = exported(&from, ExportScope::Run(sample::run(3)));
    let to = House::new(Table::Stays);
    let imported = import(&to, &text).unwrap();
    assert_eq!(imported.runs, 1);
    assert!(wait(to.ledger().load(sample::run(3))).unwrap().is_some());
    assert!(wait(to.ledger().load(sample::run(4))).unwrap().is_none());
    assert_eq!(to.holder(3), from.holder(3));
    assert!(to.holder(4).is_none());
    assert_eq!(wait(to.ledger().classes()).unwrap().len(), 1);
    let unknown = from.ledger().export(
        ExportScope::Run(sample::run(77)),
        &mut Vec::new(),
        &mut |_, _| {},
    );
    assert!(matches!(unknown, Err(ExchangeError::Unknown { .. })));
}

#[test]
fn what_is_there_already_is_refused_and_nothing_is_written() {
    let from = filled();
    let text = exported(&from, ExportScope::All);
    let to = House::new(Table::Stays);
    import(&to, &text).unwrap();
    let before = to.dump(13);
    let appends = to.ledger().reader().archive.end();
    let again = import(&to, &text);
    assert!(
        matches!(again, Err(ExchangeError::Conflict { .. })),
        "{again:?}"
    );
    assert_eq!(to.ledger().reader().archive.end(), appends);
    assert_eq!(to.dump(13), before);
    // A key that stands for something else is as good a reason as a run.
    let other = House::new(Table::Stays);
    other.must(sample::start_part(500).with(sample::take_start_key("start-3", "other")));
    let refused = import(&other, &text);
    assert!(
        matches!(refused, Err(ExchangeError::Conflict { .. })),
        "{refused:?}"
    );
    assert!(wait(other.ledger().load(sample::run(1))).unwrap().is_none());
}

#[test]
fn a_file_that_was_changed_anywhere_is_refused_before_anything_is_written() {
    let from = House::new(Table::Stays);
    from.live(1, "result");
    let text = exported(&from, ExportScope::All);
    let to = House::new(Table::Stays);
    let end = to.ledger().reader().archive.end();
    for at in 0..text.len() {
        let mut changed = text.clone();
        // A letter stays a letter, so that the line stays a line.
        changed[at] ^= 1;
        let refused = import(&to, &changed);
        assert!(refused.is_err(), "byte {at} of {}", text.len());
    }
    for cut in (0..text.len()).step_by(7) {
        assert!(import(&to, &text[..cut]).is_err(), "cut at {cut}");
    }
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    for n in 0..lines.len() {
        let without: Vec<u8> = (0..lines.len())
            .filter(|at| *at != n)
            .flat_map(|at| lines[at])
            .copied()
            .collect();
        assert!(import(&to, &without).is_err(), "without line {n}");
        let twice: Vec<u8> = (0..lines.len())
            .flat_map(|at| lines[at].repeat(1 + usize::from(at == n)))
            .collect();
        assert!(import(&to, &twice).is_err(), "line {n} twice");
    }
    assert_eq!(
        to.ledger().reader().archive.end(),
        end,
        "nothing was written"
    );
    import(&to, &text).unwrap();
}
