//! What opening makes, refuses and puts right.

use std::fs;
use std::path::Path;

use mainstay_ledger::LedgerError;
use mainstay_ledger_sled::{OpenOptions, SledLedger};

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
    let torn = folder.path().join("sled/snap.0000000000000FFF.generating");
    fs::write(&torn, "half").unwrap();
    verify(&create(folder.path()).unwrap(), 0, 1);
    assert!(!torn.exists());
}

#[test]
fn a_crash_while_making_a_store_is_made_good_by_the_next_opening() {
    // Before the marker: nothing was committed, it is made anew.
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("sled.new/blobs")).unwrap();
    fs::write(folder.path().join("sled.new/db"), "half").unwrap();
    assert!(matches!(
        SledLedger::open_existing(folder.path()),
        Err(LedgerError::Missing { .. })
    ));
    assert!(advance(&create(folder.path()).unwrap(), 0, 1));
    // After the marker, before the name.
    let folder = store();
    fs::rename(folder.path().join("sled"), folder.path().join("sled.new")).unwrap();
    verify(&create(folder.path()).unwrap(), 0, 1);
}

#[test]
fn a_store_of_another_format_is_named_and_left_alone() {
    let folder = store();
    let marker = folder.path().join("STORE");
    let text = fs::read_to_string(&marker)
        .unwrap()
        .replace("format: 2", "format: 7");
    fs::write(&marker, &text).unwrap();
    let known = 2;
    assert_eq!(
        create(folder.path()).unwrap_err(),
        LedgerError::Version { found: 7, known }
    );
    assert_eq!(fs::read_to_string(&marker).unwrap(), text);
}

#[test]
fn files_that_are_missing_or_of_another_store_are_damage_with_a_way_out() {
    for gone in ["STORE", "sled", "sled/db"] {
        let folder = store();
        let path = folder.path().join(gone);
        if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        }
        .unwrap();
        let told = damage(create(folder.path()));
        assert!(
            told.contains("hint: copy the whole folder"),
            "{gone}: {told}"
        );
        damage(SledLedger::open_existing(folder.path()));
    }
    for mixed in ["STORE", "ACKED", "sled/db"] {
        let (folder, other) = (store(), store());
        fs::copy(other.path().join(mixed), folder.path().join(mixed)).unwrap();
        damage(create(folder.path()));
    }
}

#[test]
fn a_store_without_its_witness_opens_and_has_one_again() {
    let folder = store();
    let witness = folder.path().join("ACKED");
    fs::remove_file(&witness).unwrap();
    verify(&create(folder.path()).unwrap(), 0, 1);
    assert!(witness.exists());
}

#[test]
fn sled_put_back_to_an_older_state_is_damage() {
    let folder = store();
    let db = folder.path().join("sled/db");
    let older = fs::read(&db).unwrap();
    let ledger = create(folder.path()).unwrap();
    assert!(advance(&ledger, 0, 2));
    ledger.close().unwrap();
    for entry in fs::read_dir(folder.path().join("sled")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("snap.")
        {
            fs::remove_file(path).unwrap();
        }
    }
    fs::write(&db, older).unwrap();
    let told = damage(create(folder.path()));
    assert!(told.contains("was acknowledged"), "{told}");
}
