//! Bytes that are not what was written: an error that says so, never a panic, never other data,
//! never an empty store.
//!
//! First the files, by chance; then what sled hands out, place by place, as if sled had lost it.

use std::fs;
use std::path::Path;

use mainstay_ledger::LedgerError;
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_types::{RunId, Seq};

use crate::script::{Draw, advance, length, runs_of};

const PAIRS: u32 = 6;
const COMMITS: u64 = 8;
const TRIALS: u32 = 25;

/// A closed store whose runs all have [`COMMITS`] events.
fn store() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ledger = SledLedger::open(folder.path(), OpenOptions::creating()).unwrap();
    for seq in 1..=COMMITS {
        for pair in 0..PAIRS {
            assert!(advance(&ledger, pair, seq));
        }
    }
    ledger.close().unwrap();
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let place = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &place);
        } else {
            fs::copy(&path, &place).unwrap();
        }
    }
}

/// Whether a store whose files were damaged is refused. One that opens hands out what was written
/// or says that it cannot.
fn is_refused(folder: &Path) -> bool {
    let ledger = match SledLedger::open(folder, OpenOptions::creating()) {
        Ok(ledger) => ledger,
        Err(LedgerError::Damaged { .. }) => return true,
        Err(other) => panic!("damage is not told as damage: {other}"),
    };
    for n in (0..PAIRS).flat_map(runs_of) {
        match length(&ledger, n) {
            Ok(COMMITS)
            | Err(
                LedgerError::CorruptRecord { .. }
                | LedgerError::CorruptChain { .. }
                | LedgerError::Damaged { .. },
            ) => {}
            other => panic!("run {n}: {other:?}"),
        }
    }
    false
}

/// Damages sled's data file in many ways, each on a fresh copy; says how many were refused.
fn refused_of_trials(damage: impl Fn(&mut Draw, &mut Vec<u8>)) -> u32 {
    let whole = store();
    let seed = std::env::var("MAINSTAY_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("MAINSTAY_SEED={seed}");
    let mut draw = Draw(seed);
    let mut refused = 0;
    for trial in 0..TRIALS {
        let folder = tempfile::tempdir().unwrap();
        copy(whole.path(), folder.path());
        let path = folder.path().join("sled/db");
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut draw, &mut bytes);
        fs::write(&path, bytes).unwrap();
        println!("MAINSTAY_SEED={seed}, trial {trial}");
        refused += u32::from(is_refused(folder.path()));
    }
    println!("MAINSTAY_SEED={seed}: {refused} of {TRIALS} were refused");
    refused
}

/// Some place that holds something: most of a small file is still empty.
fn place(draw: &mut Draw, bytes: &[u8]) -> usize {
    let mut at = || usize::try_from(draw.below(bytes.len() as u64)).unwrap();
    let tries = std::iter::repeat_with(&mut at).take(100_000);
    tries
        .into_iter()
        .find(|&at| bytes[at] != 0)
        .expect("a file with something in it")
}

#[test]
fn a_flipped_bit_in_the_file_is_never_believed() {
    let refused = refused_of_trials(|draw, bytes| {
        let at = place(draw, bytes);
        bytes[at] ^= 1 << draw.below(8);
    });
    assert!(0 < refused, "no trial hit anything");
}

#[test]
fn a_page_of_zeros_in_the_file_is_never_believed() {
    let refused = refused_of_trials(|draw, bytes| {
        let page = place(draw, bytes) / 4_096 * 4_096;
        let end = bytes.len().min(page + 4_096);
        bytes[page..end].fill(0);
    });
    assert!(0 < refused, "no trial hit anything");
}

#[test]
fn a_file_cut_short_is_refused() {
    let refused = refused_of_trials(|draw, bytes| {
        let len = place(draw, bytes);
        bytes.truncate(len);
    });
    assert_eq!(refused, TRIALS);
}

#[test]
fn a_file_cut_to_nothing_is_refused_and_is_no_new_store() {
    assert_eq!(refused_of_trials(|_, bytes| bytes.clear()), TRIALS);
}

/// Changes what sled holds, behind the ledger's back.
pub(crate) fn in_sled(folder: &Path, change: impl FnOnce(&sled::Db)) {
    let config = sled::Config::new()
        .path(folder.join("sled"))
        .segment_size(8 << 20)
        .mode(sled::Mode::LowSpace);
    let db = config.open().unwrap();
    change(&db);
    db.flush().unwrap();
}

fn key(prefix: u8, run: RunId) -> Vec<u8> {
    [&[prefix], run.as_bytes().as_slice()].concat()
}

fn records(run: RunId, first: u64) -> Vec<u8> {
    [key(0x10, run), first.to_be_bytes().to_vec()].concat()
}

/// What reading sample run 2 says after a change in sled; the runs beside it are unharmed.
fn told_after(change: impl FnOnce(&sled::Db, RunId)) -> LedgerError {
    let folder = store();
    in_sled(folder.path(), |db| {
        change(db, mainstay_ledger::sample::run(2))
    });
    let ledger = SledLedger::open_existing(folder.path()).unwrap();
    for n in [0, 1, 3] {
        assert_eq!(length(&ledger, n), Ok(COMMITS));
    }
    let told = length(&ledger, 2).expect_err("run 2 was damaged");
    println!("{told}");
    told
}

fn is_chain(told: &LedgerError, at: u64) -> bool {
    matches!(told, LedgerError::CorruptChain { seq, .. } if *seq == Seq(at))
}

#[test]
fn a_changed_record_names_its_run_and_place() {
    let told = told_after(|db, run| {
        let place = records(run, 4);
        let mut value = db.get(&place).unwrap().unwrap().to_vec();
        *value.last_mut().unwrap() ^= 1;
        db.insert(place, value).unwrap();
    });
    let LedgerError::CorruptRecord { run, seq, .. } = told else {
        panic!("{told}")
    };
    assert_eq!((run, seq), (mainstay_ledger::sample::run(2), Seq(4)));
}

#[test]
fn a_record_lost_in_the_middle_is_a_broken_chain() {
    let told = told_after(|db, run| drop(db.remove(records(run, 4)).unwrap().unwrap()));
    assert!(is_chain(&told, 4), "{told}");
}

#[test]
fn a_record_lost_at_the_end_is_a_broken_chain() {
    let told = told_after(|db, run| drop(db.remove(records(run, COMMITS)).unwrap().unwrap()));
    assert!(is_chain(&told, COMMITS - 1), "{told}");
}

#[test]
fn records_in_the_wrong_place_are_not_believed() {
    let told = told_after(|db, run| {
        let [earlier, later] = [records(run, 4), records(run, 5)];
        let value = db.get(&later).unwrap().unwrap();
        db.insert(earlier, value).unwrap();
    });
    assert!(
        matches!(told, LedgerError::CorruptRecord { seq: Seq(4), .. }),
        "{told}"
    );
}

#[test]
fn a_lost_or_older_head_is_not_a_shorter_run() {
    let told = told_after(|db, run| drop(db.remove(key(0x13, run)).unwrap().unwrap()));
    assert!(is_chain(&told, 0), "{told}");
    let told = told_after(|db, run| {
        let first = records(run, 1);
        for seq in 1..=COMMITS {
            db.remove(records(run, seq)).unwrap().unwrap();
        }
        assert!(!db.contains_key(first).unwrap());
        db.remove(key(0x13, run)).unwrap().unwrap();
    });
    assert!(
        told.to_string().contains("a row in listings and no head"),
        "{told}"
    );
}

#[test]
fn a_head_of_another_run_is_not_believed() {
    let told = told_after(|db, run| {
        let other = db
            .get(key(0x13, mainstay_ledger::sample::run(3)))
            .unwrap()
            .unwrap();
        db.insert(key(0x13, run), other).unwrap();
    });
    assert!(matches!(told, LedgerError::CorruptRecord { .. }), "{told}");
}
