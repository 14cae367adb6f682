//! The small files of a store: what they say is what was written, or nothing; never something else.

use std::path::Path;
use std::sync::Arc;

use mainstay_ledger::LedgerError;

use super::faults::{FailingDisk, MemoryDisk};
use super::*;
use crate::segment::{Place, SegmentNo};

const STORE: StoreId = StoreId::from_bytes([7; 16]);
const FORMAT: u32 = 3;

fn folder() -> &'static Path {
    Path::new("/store")
}

/// Shows every disk on which one bit of a file is another.
fn each_flip(disk: &MemoryDisk, name: &str, mut check: impl FnMut(&MemoryDisk, usize)) {
    let path = folder().join(name);
    let files = disk.files();
    let (_, content) = files.iter().find(|(found, _)| *found == path).unwrap();
    for bit in 0..content.len() * 8 {
        let mut hurt = content.clone();
        hurt[bit / 8] ^= 1 << (bit % 8);
        let copy = disk.after_kill();
        copy.put(&path, &hurt);
        check(&copy, bit);
    }
}

fn acked(frame: u64) -> Acked {
    let end = Place {
        segment: SegmentNo(frame / 10),
        offset: 8,
    };
    Acked { frame, end }
}

fn said(disk: &MemoryDisk) -> Option<Acked> {
    AckedFile::open(disk, folder(), STORE).unwrap().1
}

#[test]
fn the_newest_acknowledged_position_is_read_and_one_that_is_hurt_leaves_the_one_before() {
    let disk = MemoryDisk::new();
    AckedFile::create(&disk, folder(), STORE, acked(1)).unwrap();
    assert_eq!(said(&disk), Some(acked(1)));
    let (mut file, _) = AckedFile::open(&disk, folder(), STORE).unwrap();
    for frame in 2..6 {
        file.note(acked(frame)).unwrap();
        assert_eq!(said(&disk), Some(acked(frame)));
    }
    each_flip(&disk, ACKED_FILE, |disk, bit| {
        let found = said(disk);
        assert!(
            [Some(acked(5)), Some(acked(4))].contains(&found),
            "bit {bit}: {found:?}"
        );
    });
    let other = StoreId::from_bytes([8; 16]);
    let (_, found) = AckedFile::open(&disk, folder(), other).unwrap();
    assert_eq!(found, None, "it is of this store only");
}

#[test]
fn what_is_acknowledged_after_a_loss_of_power_is_something_that_was() {
    let disk = MemoryDisk::new();
    AckedFile::create(&disk, folder(), STORE, acked(1)).unwrap();
    let (mut file, _) = AckedFile::open(&disk, folder(), STORE).unwrap();
    for frame in 2..30 {
        file.note(acked(frame)).unwrap();
        if frame == 20 {
            file.sync().unwrap();
        }
        for keeps in [[false, false], [false, true], [true, false], [true, true]] {
            let mut pages = keeps.iter().cycle().copied();
            let left = said(&disk.after_power_loss(|| pages.next().unwrap()));
            let least = if frame < 20 { 1 } else { 19 };
            let frames = left.expect("a slot proves itself").frame;
            assert!((least..=frame).contains(&frames), "{frames} of {frame}");
        }
    }
}

#[test]
fn the_oldest_segment_is_read_or_nothing_is_said() {
    let disk = MemoryDisk::new();
    let said = |disk: &MemoryDisk| read_oldest(disk, folder(), STORE).unwrap();
    assert_eq!(said(&disk), None);
    for segment in [1, 2, 9].map(SegmentNo) {
        write_oldest(&disk, folder(), STORE, segment).unwrap();
        assert_eq!(said(&disk), Some(segment));
    }
    each_flip(&disk, OLDEST_FILE, |disk, bit| {
        assert_eq!(said(disk), None, "bit {bit}")
    });
    let other = StoreId::from_bytes([8; 16]);
    assert_eq!(read_oldest(&disk, folder(), other).unwrap(), None);
}

#[test]
fn a_format_that_is_hurt_is_damage_and_never_another_store() {
    let disk = MemoryDisk::new();
    assert_eq!(read_format(&disk, folder(), FORMAT).unwrap(), None);
    write_format(&disk, folder(), FORMAT, STORE).unwrap();
    assert_eq!(read_format(&disk, folder(), FORMAT).unwrap(), Some(STORE));
    each_flip(&disk, FORMAT_FILE, |disk, bit| {
        let found = read_format(disk, folder(), FORMAT);
        assert!(
            matches!(found, Err(LedgerError::Damaged { .. })),
            "bit {bit}: {found:?}"
        );
    });
}

/// The format that was found, when it is another.
fn version(found: &Result<Option<StoreId>, LedgerError>) -> Option<u32> {
    match found {
        Err(LedgerError::Version {
            found,
            known: FORMAT,
        }) => Some(*found),
        Ok(_) | Err(_) => None,
    }
}

#[test]
fn another_format_is_told_by_its_number_newer_or_older() {
    let disk = MemoryDisk::new();
    write_format(&disk, folder(), 4, STORE).unwrap();
    let newer = read_format(&disk, folder(), FORMAT);
    assert_eq!(version(&newer), Some(4), "{newer:?}");
    disk.drop_file(&folder().join(FORMAT_FILE));
    disk.put(&folder().join("STORE"), b"mainstay store\nformat: 2\n");
    let older = read_format(&disk, folder(), FORMAT);
    assert_eq!(version(&older), Some(2), "{older:?}");
    disk.put(&folder().join("STORE"), b"something else");
    let foreign = read_format(&disk, folder(), FORMAT);
    assert!(
        matches!(foreign, Err(LedgerError::Damaged { .. })),
        "{foreign:?}"
    );
}

#[test]
fn a_small_file_is_put_whole_or_not_at_all() {
    let path = folder().join("FILE");
    for calls in 0..8 {
        let disk = MemoryDisk::new();
        put(&disk, &path, b"old").unwrap();
        disk.lose_power_after(calls);
        let done = put(&disk, &path, b"new and longer").is_ok();
        for keep in [false, true] {
            let left = read_all(&disk.after_power_loss(|| keep), &path).unwrap();
            assert!(
                left == b"old" || left == b"new and longer",
                "{left:?} after {calls}"
            );
            assert!(!done || left == b"new and longer");
        }
    }
    let full = FailingDisk::new(Arc::new(MemoryDisk::new()), 3);
    put(&full, &path, b"old").unwrap();
    assert!(is_full(&put(&full, &path, b"new").unwrap_err()));
    assert_eq!(read_all(&full, &path).unwrap(), b"old");
    assert_eq!(full.list(folder()).unwrap(), ["FILE"]);
}

#[test]
fn a_lock_has_one_holder_and_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let held = Lock::take(folder.path(), mainstay_types::Millis::new(0)).unwrap();
    let refused = Lock::take(folder.path(), mainstay_types::Millis::new(30));
    let pid = format!("pid {}", std::process::id());
    assert!(
        matches!(&refused, Err(LedgerError::Locked { holder }) if holder.contains(&pid)),
        "{refused:?}"
    );
    drop(held);
    Lock::take(folder.path(), mainstay_types::Millis::new(0)).unwrap();
}

#[test]
fn the_real_disk_keeps_what_the_port_says() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a").join("b");
    let disk = RealDisk;
    assert_eq!(disk.list(&inner).unwrap(), Vec::<String>::new());
    disk.make_folder(&inner).unwrap();
    disk.make_folder(&inner).unwrap();
    let (one, two) = (inner.join("one"), inner.join("two"));
    let file = disk.create(&one, 10_000).unwrap();
    assert_eq!(file.bytes().unwrap(), 10_000);
    let mut read = vec![1; 10_000];
    file.read_at(&mut read, 0).unwrap();
    assert!(read.iter().all(|byte| *byte == 0));
    file.write_at(b"there", 9_998).unwrap();
    file.sync_data().unwrap();
    assert_eq!(disk.open(&one).unwrap().bytes().unwrap(), 10_003);
    let short = file.read_at(&mut read, 9_000).unwrap_err();
    assert_eq!(short.kind(), std::io::ErrorKind::UnexpectedEof);
    disk.reserve(&two, 5_000).unwrap();
    assert_eq!(disk.list(&inner).unwrap(), ["one", "two"]);
    disk.rename(&one, &two).unwrap();
    assert_eq!(disk.list(&inner).unwrap(), ["two"]);
    assert_eq!(disk.create(&two, 3).unwrap().bytes().unwrap(), 3);
    disk.remove(&two).unwrap();
    assert_eq!(
        disk.open(&two).unwrap_err().kind(),
        std::io::ErrorKind::NotFound
    );
    assert!(0 < disk.free_bytes(&inner).unwrap());
}
