//! What opening makes, refuses and puts right.

use std::fs;
use std::path::Path;

use mainstay_ledger::LedgerError;
use mainstay_ledger_sled::{OpenOptions, SledLedger};

use crate::folders::copy_all;
use crate::script::{advance, verify};

fn create(folder: &Path) -> Result<SledLedger, LedgerError> {
    SledLedger::open(folder, OpenOptions::creating())
}

/// A closed store with one commit.
fn store() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ledger = create(folder.path()).unwrap();
    assert!(advance(&ledger, 0, 1));
    ledger.close().unwrap();
    folder
}

fn damage(opened: Result<SledLedger, LedgerError>) -> String {
    match opened {
        Err(damaged @ LedgerError::Damaged { .. }) => damaged.to_string(),
        other => panic!("it should be damaged: {other:?}"),
    }
}

#[test]
fn looking_for_a_store_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("not/there")] {
        let missing = SledLedger::open_existing(&path).unwrap_err();
        let folder = path.display().to_string();
        assert_eq!(missing, LedgerError::Missing { folder });
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_store_is_made_with_the_folders_above_it_and_beside_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("tickets.db"), "not ours").unwrap();
    for path in [path, folder.path().join("c/d")] {
        let ledger = create(&path).unwrap();
        assert!(advance(&ledger, 0, 1));
        ledger.close().unwrap();
        verify(&SledLedger::open_existing(&path).unwrap(), 0, 1);
    }
}

#[test]
fn one_process_does_not_open_a_store_twice() {
    let folder = store();
    let ledger = create(folder.path()).unwrap();
    let refused = create(folder.path()).unwrap_err().to_string();
    assert!(
        refused.contains(&format!("pid {}", std::process::id())),
        "{refused}"
    );
    drop(ledger);
    create(folder.path()).unwrap();
}

#[test]
fn a_snapshot_that_a_crash_left_half_written_is_no_obstacle() {
    let folder = store();
    let torn = folder.path().join("table/snap.0000000000000FFF.generating");
    fs::write(&torn, "half").unwrap();
    verify(&create(folder.path()).unwrap(), 0, 1);
    assert!(!torn.exists());
}

#[test]
fn a_crash_while_making_a_store_is_made_good_by_the_next_opening() {
    let whole = tempfile::tempdir().unwrap();
    create(whole.path()).unwrap().close().unwrap();
    // The name comes after the log and before the table; nothing was committed yet.
    for missing in [&["FORMAT", "table"][..], &["FORMAT", "table", "ACKED"]] {
        let folder = tempfile::tempdir().unwrap();
        copy_all(whole.path(), folder.path());
        missing
            .iter()
            .for_each(|name| remove(&folder.path().join(name)));
        assert!(advance(&create(folder.path()).unwrap(), 0, 1));
    }
}

#[test]
fn a_store_that_lost_its_name_is_never_taken_for_a_new_one() {
    for also in [&[][..], &["log"], &["table"], &["log", "ACKED"]] {
        let folder = store();
        for name in ["FORMAT"].iter().chain(also) {
            remove(&folder.path().join(name));
        }
        damage(create(folder.path()));
        damage(SledLedger::open_existing(folder.path()));
    }
}

#[test]
fn a_store_of_another_format_is_named_and_left_alone() {
    let folder = store();
    let format = folder.path().join("FORMAT");
    let text = fs::read_to_string(&format).unwrap();
    let body = text
        .split("sum: ")
        .next()
        .unwrap()
        .replace("format: 3", "format: 7");
    let newer = format!("{body}sum: {:08x}\n", crc32fast::hash(body.as_bytes()));
    fs::write(&format, &newer).unwrap();
    let known = 3;
    assert_eq!(
        create(folder.path()).unwrap_err(),
        LedgerError::Version { found: 7, known }
    );
    assert_eq!(fs::read_to_string(&format).unwrap(), newer);
    let older = tempfile::tempdir().unwrap();
    fs::write(older.path().join("STORE"), "mainstay store\nformat: 2\n").unwrap();
    assert_eq!(
        create(older.path()).unwrap_err(),
        LedgerError::Version { found: 2, known }
    );
    assert_eq!(
        fs::read_dir(older.path().join("log"))
            .map(Iterator::count)
            .unwrap_or(0),
        0
    );
}

#[test]
fn a_log_that_is_missing_or_of_another_store_is_damage_with_a_way_out() {
    for gone in ["FORMAT", "log", "log/0000000001.log"] {
        let folder = store();
        remove(&folder.path().join(gone));
        let told = damage(create(folder.path()));
        assert!(
            told.contains("hint: copy the whole folder"),
            "{gone}: {told}"
        );
        damage(SledLedger::open_existing(folder.path()));
    }
    for mixed in ["FORMAT", "log/0000000001.log"] {
        let (folder, other) = (store(), store());
        fs::copy(other.path().join(mixed), folder.path().join(mixed)).unwrap();
        damage(create(folder.path()));
    }
}

#[test]
fn what_is_only_made_of_the_log_is_made_again() {
    for gone in [
        "ACKED",
        "OLDEST",
        "BALLAST",
        "table",
        "table/db",
        "table/conf",
        "LOCK",
        "MARKS",
    ] {
        let folder = store();
        remove(&folder.path().join(gone));
        verify(&create(folder.path()).unwrap(), 0, 1);
        verify(&SledLedger::open_existing(folder.path()).unwrap(), 0, 1);
    }
    for mixed in ["ACKED", "OLDEST", "table/db", "table/conf"] {
        let (folder, other) = (store(), store());
        fs::copy(other.path().join(mixed), folder.path().join(mixed)).unwrap();
        verify(&create(folder.path()).unwrap(), 0, 1);
    }
}

#[test]
fn a_table_put_back_to_an_older_state_says_what_the_log_says() {
    let folder = store();
    let older = tempfile::tempdir().unwrap();
    copy_all(&folder.path().join("table"), older.path());
    let ledger = create(folder.path()).unwrap();
    for seq in 2..=20 {
        assert!(advance(&ledger, 0, seq));
    }
    ledger.close().unwrap();
    remove(&folder.path().join("table"));
    copy_all(older.path(), &folder.path().join("table"));
    verify(&create(folder.path()).unwrap(), 0, 20);
}

#[test]
fn a_log_put_back_to_an_older_state_is_damage() {
    let folder = store();
    let older = tempfile::tempdir().unwrap();
    copy_all(&folder.path().join("log"), older.path());
    let ledger = create(folder.path()).unwrap();
    assert!(advance(&ledger, 0, 2));
    ledger.close().unwrap();
    remove(&folder.path().join("log"));
    copy_all(older.path(), &folder.path().join("log"));
    let told = damage(create(folder.path()));
    assert!(told.contains("were acknowledged"), "{told}");
}

fn remove(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        fs::remove_file(path).unwrap();
    }
}
