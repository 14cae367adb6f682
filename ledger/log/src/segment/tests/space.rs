//! Room: what a full disk stops, what it does not, and that all goes on when there is some again.

use super::*;
use crate::files::faults::FailingDisk;

const BALLAST: u64 = 64 << 10;

fn with_ballast() -> LogSettings {
    LogSettings {
        ballast_bytes: BALLAST,
        ..small()
    }
}

/// A log on a disk with so much room.
fn on(disk: &FailingDisk, settings: LogSettings) -> (Log, Arc<Archive>) {
    Log::open(folder(), Arc::new(disk.clone()), STORE, settings).unwrap()
}

fn disk(free: u64) -> FailingDisk {
    FailingDisk::new(Arc::new(MemoryDisk::new()), free)
}

fn say(log: &mut Log, bytes: usize, priority: Priority) -> Result<(), LogError> {
    let mut frame = FrameBuilder::new();
    push(&mut frame, &row("key", &"x".repeat(bytes)), None);
    log.make_room(frame.bytes() - HEADER_BYTES)?;
    let written = log.append(&mut frame, priority)?;
    log.sync()?;
    log.publish(written, &frame);
    Ok(())
}

/// Says things until there is no room; how many.
fn until_full(log: &mut Log, priority: Priority) -> usize {
    for said in 0..10_000 {
        match say(log, 200, priority) {
            Ok(()) => {}
            Err(LogError::Full { .. }) => return said,
            Err(other) => panic!("{other:?}"),
        }
    }
    panic!("the disk does not get full");
}

#[test]
fn a_full_disk_refuses_a_frame_and_the_log_goes_on_when_there_is_room() {
    let disk = disk(30_000);
    let (mut log, archive) = on(&disk, small());
    let mut said = until_full(&mut log, Priority::Control);
    assert!(50 < said, "{said}");
    for _ in 0..3 {
        assert!(matches!(
            say(&mut log, 200, Priority::Control),
            Err(LogError::Full { .. })
        ));
    }
    assert!(matches!(log.roll(), Err(LogError::Full { .. })));
    assert_eq!(all_frames(&archive).len(), said);
    disk.set_free(20_000);
    for _ in 0..20 {
        say(&mut log, 200, Priority::Ordinary).unwrap();
        said += 1;
    }
    assert_eq!(all_frames(&archive).len(), said);
    drop(log);
    let (_log, archive) = on(&disk, small());
    assert_eq!(all_frames(&archive).len(), said);
}

#[test]
fn control_has_the_last_room_and_the_ballast() {
    let disk = disk(3 * BALLAST);
    let (mut log, _) = on(&disk, with_ballast());
    assert!(disk.free() < 2 * BALLAST, "there is no ballast");
    disk.set_free(9_000);
    let ordinary = until_full(&mut log, Priority::Ordinary);
    let control = until_full(&mut log, Priority::Control);
    // At least all that the ballast takes, less what every segment needs for itself.
    let needed = usize::try_from(BALLAST).unwrap() * 6 / 10 / 300;
    assert!(needed < control, "{ordinary} ordinary, {control} control");
}

#[test]
fn the_ballast_is_made_again_when_there_is_room_for_it_twice() {
    let disk = disk(3 * BALLAST);
    let (mut log, _) = on(&disk, with_ballast());
    let ballast = folder().join("BALLAST");
    assert!(disk.open(&ballast).is_ok());
    disk.set_free(0);
    until_full(&mut log, Priority::Control);
    assert!(disk.open(&ballast).is_err());
    disk.set_free(BALLAST);
    for _ in 0..60 {
        say(&mut log, 200, Priority::Control).unwrap();
    }
    assert!(disk.open(&ballast).is_err(), "made and given up in turns");
    disk.set_free(4 * BALLAST);
    for _ in 0..60 {
        say(&mut log, 200, Priority::Control).unwrap();
    }
    assert!(disk.open(&ballast).is_ok());
}

#[test]
fn room_counts_what_is_set_aside_for_frames() {
    let disk = disk(100_000);
    let (mut log, _) = on(&disk, small());
    let before = log.room().unwrap();
    assert!(disk.free() < before && before <= disk.free() + 4_096);
    say(&mut log, 1_000, Priority::Ordinary).unwrap();
    assert!(log.room().unwrap() + 1_000 <= before);
    // A look at the volume is good for a while; a refusal is looked at anew.
    disk.set_free(0);
    until_full(&mut log, Priority::Control);
    assert!(log.room().unwrap() < 4_096);
}

#[test]
fn a_large_frame_on_a_full_disk_leaves_the_small_ones_their_room() {
    let disk = disk(20_000);
    let (mut log, archive) = on(&disk, small());
    let large = say(&mut log, 1 << 20, Priority::Control);
    assert!(matches!(large, Err(LogError::Full { .. })), "{large:?}");
    say(&mut log, 500, Priority::Ordinary).unwrap();
    assert_eq!(all_frames(&archive).len(), 1);
}

#[test]
fn a_new_log_without_room_says_so_and_can_be_made_later() {
    let disk = disk(9_000);
    let opened = Log::open(folder(), Arc::new(disk.clone()), STORE, small());
    assert!(matches!(opened, Err(LogError::Full { .. })), "{opened:?}");
    disk.set_free(50_000);
    let (mut log, _) = on(&disk, small());
    say(&mut log, 100, Priority::Ordinary).unwrap();
}

#[test]
fn a_freed_segment_becomes_the_next_one_and_nothing_of_it_is_left() {
    let memory = MemoryDisk::new();
    let mut told = Told::new(&memory);
    told.say(&[row("canary", "never seen again")]);
    told.fill();
    told.archive.free(SegmentNo(1)).unwrap();
    let names: Vec<_> = memory.files().into_iter().map(|(path, _)| path).collect();
    assert!(
        names.contains(&folder().join("log").join("spare")),
        "{names:?}"
    );
    assert!(!names.contains(&file(1)));
    assert!(!holds(&memory, b"never seen again"));
    let calls = memory.calls();
    told.fill();
    told.check();
    assert!(
        !memory
            .files()
            .iter()
            .any(|(path, _)| path.ends_with("spare"))
    );
    assert!(0 < memory.calls() - calls);
}

#[test]
fn a_freed_segment_that_someone_reads_is_left_to_them() {
    let memory = MemoryDisk::new();
    let mut told = Told::new(&memory);
    told.say(&[row("a", "1")]);
    told.say(&[row("b", "1")]);
    told.fill();
    let archive = Arc::clone(&told.archive);
    let mut frames = archive.frames(None);
    frames.next().unwrap().unwrap();
    told.archive.free(SegmentNo(1)).unwrap();
    let second = frames.next().unwrap().unwrap();
    let said: Vec<Said> = second
        .entries()
        .map(|entry| owned(&entry.unwrap()))
        .collect();
    assert_eq!(said, [row("b", "1")]);
}

#[test]
fn only_the_oldest_goes_and_the_rest_is_there() {
    let memory = MemoryDisk::new();
    let mut told = Told::new(&memory);
    for n in 0..20 {
        told.say(&[records(n, 1, 2), closed(n, &"x".repeat(300))]);
    }
    while told.archive.oldest() < told.log.end().segment {
        let oldest = told.archive.oldest();
        told.archive.free(oldest).unwrap();
        // Gone already is gone.
        told.archive.free(oldest).unwrap();
        let place = Place {
            segment: oldest,
            offset: 48,
        };
        damaged(frames_from(&told.archive, Some(place)));
        let oldest = told.archive.oldest();
        told.truth.frames.retain(|(segment, _)| oldest <= *segment);
        told.check();
        let truth = told.truth.clone();
        drop(told);
        told = Told::with(&memory, small(), truth);
        told.check();
    }
}

#[test]
#[should_panic(expected = "is not the oldest")]
fn a_segment_in_the_middle_is_not_freed() {
    let mut told = Told::new(&MemoryDisk::new());
    told.fill();
    told.fill();
    let _ = told.archive.free(SegmentNo(2));
}

#[test]
#[should_panic(expected = "is being written")]
fn the_segment_that_is_written_is_not_freed() {
    let told = Told::new(&MemoryDisk::new());
    let _ = told.archive.free(SegmentNo(1));
}

/// Whether any file has these bytes.
pub(super) fn holds(disk: &MemoryDisk, needle: &[u8]) -> bool {
    let files = disk.files();
    files
        .iter()
        .any(|(_, content)| content.windows(needle.len()).any(|bytes| bytes == needle))
}
