//! A store that is hurt: what verifying says of it, and what a repair brings back.

use std::fs;
use std::path::{Path, PathBuf};

use mainstay_ledger::{Ledger, LedgerError, sample};

use super::house::{House, Table};
use crate::blocking::wait;
use crate::table::MemoryFactory;
use crate::{Repair, repair, verify};

fn segments(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("log")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "log"));
    files.sort();
    files
}

fn filled() -> House {
    let house = House::small(Table::IsLost);
    for n in 1..=20 {
        house.live(n, "result");
    }
    house.must(sample::start_part(21).with(sample::driven_by(1)));
    house
}

fn mend(folder: &Path, apply: bool) -> Result<Repair, LedgerError> {
    repair(folder, &MemoryFactory::default(), apply, &mut |_, _| {})
}

fn flip(file: &Path, at: usize) {
    let mut bytes = fs::read(file).unwrap();
    bytes[at] ^= 0x10;
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_whole_store_has_nothing_to_be_found_or_mended() {
    let mut house = filled();
    house.close();
    let report = verify(house.folder(), &MemoryFactory::default(), &mut |_, _| {}).unwrap();
    assert_eq!(report.findings, []);
    assert_eq!((report.runs, report.records), (21, 61));
    let repaired = mend(house.folder(), false).unwrap();
    assert_eq!(repaired, Repair::default());
}

#[test]
fn damage_in_the_log_is_refused_named_and_mended_but_for_what_lay_there() {
    let mut house = filled();
    house.close();
    let file = segments(house.folder()).remove(1);
    flip(&file, 2_000);
    let refused = house.open().map(drop);
    assert!(
        matches!(refused, Err(LedgerError::Damaged { .. })),
        "{refused:?}"
    );
    let report = verify(house.folder(), &MemoryFactory::default(), &mut |_, _| {}).unwrap();
    let named = report
        .findings
        .iter()
        .any(|found| found.file.as_ref() == Some(&file) && found.loses);
    assert!(named, "{:?}", report.findings);
    let planned = mend(house.folder(), false).unwrap();
    assert!(!planned.actions.is_empty() && !planned.lost.is_empty());
    assert!(house.open().is_err(), "a dry run changes nothing");
    let repaired = mend(house.folder(), true).unwrap();
    let kept = repaired.kept_in.expect("what was replaced is kept");
    assert!(kept.join("log").join(file.file_name().unwrap()).exists());
    house.open_again();
    let mut whole = 0;
    for n in 1..=21 {
        match wait(house.ledger().load(sample::run(n))) {
            Ok(Some(loaded)) => {
                whole += 1;
                assert!(n == 21 || loaded.events.len() == 3, "run {n} is whole");
            }
            // Its own records are gone, and nobody takes it for whole.
            Ok(None)
            | Err(LedgerError::CorruptChain { .. } | LedgerError::CorruptRecord { .. }) => {}
            Err(error) => panic!("run {n}: {error}"),
        }
    }
    assert!(
        (17..21).contains(&whole),
        "one frame was lost, and {whole} runs are whole"
    );
    house.must(sample::start_part(300));
    house.close();
    let report = verify(house.folder(), &MemoryFactory::default(), &mut |_, _| {}).unwrap();
    assert!(
        report.findings.iter().all(|found| found.run.is_some()),
        "{:?}",
        report.findings
    );
}

#[test]
fn a_repair_takes_no_link_for_a_file_and_throws_no_log_away_that_is_of_another_store() {
    let mut house = filled();
    house.close();
    let log = house.folder().join("log");
    let file = segments(house.folder()).remove(1);
    let aside = house.folder().join("aside");
    fs::rename(&file, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &file).unwrap();
    let report = verify(house.folder(), &MemoryFactory::default(), &mut |_, _| {}).unwrap();
    let named = |path: &Path| {
        report
            .findings
            .iter()
            .any(|f| f.file.as_deref() == Some(path))
    };
    assert!(named(&file), "{:?}", report.findings);
    assert!(mend(house.folder(), true).is_err());
    fs::remove_file(&file).unwrap();
    fs::rename(&aside, &file).unwrap();
    // The whole log somewhere else works, but a repair would move the link.
    fs::rename(&log, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &log).unwrap();
    house.open().unwrap().close().unwrap();
    assert!(mend(house.folder(), true).is_err());
    fs::remove_file(&log).unwrap();
    fs::rename(&aside, &log).unwrap();
    // The name of another store.
    let mut other = filled();
    other.close();
    let format = house.folder().join("FORMAT");
    let own = fs::read(&format).unwrap();
    fs::copy(other.folder().join("FORMAT"), &format).unwrap();
    let refused = mend(house.folder(), true).unwrap_err();
    assert!(refused.to_string().contains("FORMAT"), "{refused}");
    fs::write(&format, own).unwrap();
    assert_eq!(mend(house.folder(), true).unwrap(), Repair::default());
}

#[test]
fn a_repair_that_was_cut_off_while_it_moved_files_is_ended_by_the_next_one() {
    for moved in 0..=3 {
        let mut house = filled();
        house.close();
        let file = segments(house.folder()).remove(1);
        flip(&file, 2_000);
        mend(house.folder(), true).unwrap();
        house.open_again();
        let listed = |house: &House| {
            let runs = wait(
                house
                    .ledger()
                    .runs(mainstay_ledger::RunFilter::default(), None),
            );
            format!("{:?}", runs.unwrap())
        };
        let truth = listed(&house);
        house.close();
        // As if the process had died after so many of the files were put in place.
        let whole = house.folder().join("repaired");
        fs::create_dir(&whole).unwrap();
        for name in ["log", "ACKED", "OLDEST"].into_iter().skip(moved) {
            fs::rename(house.folder().join(name), whole.join(name)).unwrap();
        }
        let refused = house.open().map(drop);
        assert!(
            matches!(refused, Err(LedgerError::Damaged { .. })),
            "{moved}: {refused:?}"
        );
        assert!(!mend(house.folder(), false).unwrap().actions.is_empty());
        mend(house.folder(), true).unwrap();
        house.open_again();
        assert_eq!(listed(&house), truth, "after {moved} files");
        house.close();
    }
}

#[test]
fn a_missing_segment_is_mended_to_everything_else() {
    let mut house = filled();
    house.close();
    let files = segments(house.folder());
    assert!(3 <= files.len(), "several segments");
    fs::remove_file(&files[1]).unwrap();
    assert!(house.open().is_err());
    mend(house.folder(), true).unwrap();
    house.open_again();
    let whole =
        (1..=20).filter(|n| matches!(wait(house.ledger().load(sample::run(*n))), Ok(Some(_))));
    assert!(0 < whole.count());
}

#[test]
fn every_run_that_a_repair_leaves_hurt_is_named_by_it() {
    for at in (200..8_000).step_by(900) {
        let mut house = filled();
        house.close();
        let file = segments(house.folder()).remove(0);
        flip(&file, at);
        if house.open().is_ok_and(|opened| opened.close().is_ok()) {
            continue;
        }
        let repaired = mend(house.folder(), true).unwrap();
        let lost = repaired.lost.join("\n");
        house.open_again();
        for n in 1..=21 {
            let run = sample::run(n);
            match wait(house.ledger().load(run)) {
                Ok(Some(loaded)) => assert!(n == 21 || loaded.events.len() == 3),
                Ok(None) => {}
                Err(_) => assert!(lost.contains(&run.to_string()), "byte {at}: {run}: {lost}"),
            }
        }
    }
}

#[test]
fn a_first_segment_that_is_missing_is_found_and_mended() {
    let mut house = filled();
    house.close();
    let file = segments(house.folder()).remove(0);
    fs::remove_file(&file).unwrap();
    assert!(house.open().is_err());
    let report = verify(house.folder(), &MemoryFactory::default(), &mut |_, _| {}).unwrap();
    assert!(
        report
            .findings
            .iter()
            .any(|found| found.file.as_ref() == Some(&file))
    );
    mend(house.folder(), true).unwrap();
    house.open_again();
    house.must(sample::start_part(301));
}

#[test]
fn a_file_with_a_far_number_is_one_hole() {
    let mut house = filled();
    house.close();
    fs::write(house.folder().join("log/9999999999.log"), "").unwrap();
    let report = verify(house.folder(), &MemoryFactory::default(), &mut |_, _| {}).unwrap();
    assert!(
        (1..5).contains(&report.findings.len()),
        "{:?}",
        report.findings
    );
}

#[test]
fn a_store_without_its_name_is_not_guessed_at() {
    let mut house = filled();
    house.close();
    fs::remove_file(house.folder().join("FORMAT")).unwrap();
    assert!(matches!(
        house.open().map(drop),
        Err(LedgerError::Damaged { .. })
    ));
    assert!(matches!(
        mend(house.folder(), true),
        Err(LedgerError::Damaged { .. })
    ));
}

#[test]
fn whatever_byte_of_the_log_is_hurt_no_run_is_ever_silently_another() {
    let mut house = House::small(Table::IsLost);
    for n in 1..=4 {
        house.live(n, "result");
    }
    let truth: Vec<String> = (1..=4)
        .map(|n| {
            format!(
                "{:?}",
                wait(house.ledger().load(sample::run(n)))
                    .unwrap()
                    .unwrap()
                    .events
            )
        })
        .collect();
    house.close();
    let file = segments(house.folder()).remove(0);
    let whole = fs::read(&file).unwrap();
    for at in (0..whole.len()).step_by(37) {
        flip(&file, at);
        if house.open().map(drop).is_err() {
            mend(house.folder(), true).unwrap();
        }
        house.open_again();
        for n in 1..=4u32 {
            match wait(house.ledger().load(sample::run(n))) {
                Ok(Some(loaded)) => {
                    let truth = &truth[n as usize - 1];
                    assert_eq!(format!("{:?}", loaded.events), *truth, "byte {at}, run {n}");
                }
                Ok(None)
                | Err(LedgerError::CorruptChain { .. } | LedgerError::CorruptRecord { .. }) => {}
                Err(error) => panic!("byte {at}, run {n}: {error}"),
            }
        }
        house.begin_anew(&whole);
    }
}
