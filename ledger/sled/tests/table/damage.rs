//! sled's files damaged in every way that came to mind: the right data, or the table made anew;
//! never a wrong answer, a missing one, or a panic that gets out.

use std::fs;
use std::path::Path;

use mainstay_ledger::LedgerError;
use mainstay_ledger_log::conformance::{KINDS, World, key, patient};
use mainstay_ledger_sled::SledFactory;

use crate::files::{Draw, all_files, copy, seed};

const TRIALS: usize = 30;

/// A world whose table is closed and has something of everything; its log has more.
fn settled(folder: &Path) -> World<SledFactory> {
    let mut world = World::on(SledFactory, folder, patient());
    for number in 0..200 {
        for kind in KINDS {
            world.put(&key(kind, number), u64::from(number), 30);
        }
    }
    for number in 0..8 {
        world.put(&key(0x11, number), 1, 50_000);
    }
    for number in 100..150 {
        for kind in KINDS {
            world.remove(&key(kind, number));
        }
    }
    world.close();
    world
}

/// Damages the table of a fresh copy `TRIALS` times; says how many of them were made anew.
fn made_anew_of_trials(damage: impl Fn(&mut Draw, &Path)) -> usize {
    let seed = seed();
    println!("MAINSTAY_SEED={seed}");
    let mut draw = Draw(seed);
    let folder = tempfile::tempdir().unwrap();
    let mut world = settled(&folder.path().join("whole"));
    let whole = world.folder().to_owned();
    let mut anew = 0;
    for trial in 0..TRIALS {
        println!("MAINSTAY_SEED={seed}, trial {trial}");
        let hurt = folder.path().join(format!("trial{trial}/table"));
        copy(&whole, &hurt);
        damage(&mut draw, &hurt);
        world.move_to(&hurt);
        anew += usize::from(is_made_anew(&mut world));
        fs::remove_dir_all(hurt.parent().unwrap()).unwrap();
    }
    println!("MAINSTAY_SEED={seed}: {anew} of {TRIALS} were made anew");
    anew
}

/// Everything is read, and is what was written or is told as damage; then the next open has it
/// all. Says whether the table was made anew for it.
fn is_made_anew(world: &mut World<SledFactory>) -> bool {
    // One that opens empty has to be filled from the log as well.
    let mut anew = world.open() == 0;
    if let Err(error) = read_all(world) {
        assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
        world.close();
        world.open();
        assert!(world.standing().made_anew().is_some());
        anew = true;
    }
    world.check();
    world.close();
    anew
}

fn read_all(world: &World<SledFactory>) -> Result<(), LedgerError> {
    let standing = world.standing();
    for kind in KINDS {
        for number in 0..=u8::MAX {
            let key = key(kind, number);
            let found = standing.look_up(&key)?.value;
            assert_eq!(found.as_deref(), world.model.get(&key).map(Vec::as_slice));
        }
        let rows = standing.scan(&[kind], None, 10_000, false)?;
        let known = world.model.keys().filter(|key| key[0] == kind).count();
        assert_eq!(rows.len(), known);
    }
    standing.verify().map(drop)
}

/// Changes a file of the table.
fn in_file(folder: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let path = folder.join(name);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
}

/// Some place that holds something: most of a small file is still empty.
fn place(draw: &mut Draw, bytes: &[u8]) -> usize {
    let mut places = std::iter::repeat_with(|| draw.below(bytes.len())).take(100_000);
    places
        .find(|at| bytes[*at] != 0)
        .expect("a file with something in it")
}

#[test]
fn a_flipped_bit_is_never_believed() {
    let anew = made_anew_of_trials(|draw, folder| {
        in_file(folder, "db", |bytes| {
            let at = place(draw, bytes);
            bytes[at] ^= 1 << draw.below(8);
        });
    });
    assert!(0 < anew, "no trial hit anything");
}

#[test]
fn a_page_of_zeros_is_never_believed() {
    let anew = made_anew_of_trials(|draw, folder| {
        in_file(folder, "db", |bytes| {
            let page = place(draw, bytes) / 4_096 * 4_096;
            let end = bytes.len().min(page + 4_096);
            bytes[page..end].fill(0);
        });
    });
    assert!(0 < anew, "no trial hit anything");
}

#[test]
fn a_file_cut_short_is_never_believed() {
    let anew = made_anew_of_trials(|draw, folder| {
        in_file(folder, "db", |bytes| bytes.truncate(place(draw, bytes)));
    });
    assert!(0 < anew, "no trial cut anything off");
}

#[test]
fn any_file_may_be_gone_empty_or_nonsense() {
    let anew = made_anew_of_trials(|draw, folder| {
        let files = all_files(folder);
        let file = &files[draw.below(files.len())];
        match draw.below(3) {
            0 => fs::remove_file(file).unwrap(),
            1 => fs::write(file, "").unwrap(),
            _ => fs::write(file, "no file of sled's").unwrap(),
        }
    });
    assert!(0 < anew, "no trial hit anything");
}

#[test]
fn a_table_that_was_deleted_is_filled_from_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = settled(&folder.path().join("table"));
    fs::remove_dir_all(world.folder()).unwrap();
    assert_eq!(world.open(), 0);
    world.check_settled();
    world.close();
}

#[test]
fn a_folder_with_other_files_in_it_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table");
    fs::create_dir_all(path.join("blobs")).unwrap();
    fs::write(path.join("db"), "half of something").unwrap();
    let mut world = World::on(SledFactory, &path, patient());
    world.put(&key(0x11, 1), 1, 10);
    world.check_settled();
    world.close();
}
