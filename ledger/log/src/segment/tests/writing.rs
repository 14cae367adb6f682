//! Writing: where frames lie, when they are seen, when the log takes no more.

use super::*;
use crate::files::faults::FailingDisk;
use mainstay_types::limits;

#[test]
fn what_was_said_is_read_back_in_order_over_many_segments() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    for n in 0..60 {
        let key = format!("key {n}");
        told.say(&[
            records(n % 7, 1 + u64::from(n / 7) * 3, 3),
            row(&key, &"value ".repeat(usize::from(n))),
            Said::Gone(key.into_bytes()),
        ]);
        if n % 5 == 0 {
            told.say(&[closed(n % 7, &format!("row {n}"))]);
        }
    }
    told.say(&[Said::Pruned(run(3)), Said::Closed(run(4), 5, Vec::new())]);
    assert!(4 < told.log.end().segment.0, "{}", told.log.end());
    told.check();
    let truth = told.truth.clone();
    drop(told);
    Told::with(&disk, small(), truth).check();
}

#[test]
fn a_new_log_is_empty_and_opens_again() {
    let disk = MemoryDisk::new();
    for _ in 0..3 {
        let (log, archive) = open(&disk).unwrap();
        assert_eq!(all_frames(&archive), Vec::<Vec<Said>>::new());
        assert_eq!(log.end(), archive.end());
        assert_eq!(archive.segments().len(), 1);
    }
}

#[test]
fn nothing_is_seen_before_it_is_published() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[row("a", "1")]);
    let end = told.log.end();
    let mut reading = told.archive.clone();
    let written = told.append(&[closed(1, "row"), records(1, 1, 1)]).unwrap();
    told.log.sync().unwrap();
    assert_eq!(told.log.end(), end);
    assert_eq!(all_frames(&reading).len(), 1);
    assert_eq!(reading.closed(run(1)).unwrap(), None);
    told.log.publish(written, &told.frame);
    assert_eq!(all_frames(&reading).len(), 2);
    assert!(reading.closed(run(1)).unwrap().is_some());
    reading = told.archive.clone();
    assert_eq!(reading.end(), told.log.end());
}

#[test]
fn an_iterator_over_frames_goes_on_with_what_is_published_later() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[row("a", "1")]);
    let archive = Arc::clone(&told.archive);
    let mut frames = archive.frames(None);
    assert!(frames.next().unwrap().is_ok());
    assert!(frames.next().is_none());
    for n in 0..40 {
        told.say(&[row("b", &"x".repeat(n * 20))]);
        let frame = frames.next().unwrap().unwrap();
        assert_eq!(frame.next, told.log.end());
        assert!(frames.next().is_none());
    }
}

#[test]
fn reading_goes_on_from_any_place_that_a_frame_ended_at() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    for n in 0..30 {
        told.say(&[row("key", &"x".repeat(n * 20))]);
    }
    let all = all_frames(&told.archive);
    let places: Vec<Place> = told
        .archive
        .frames(None)
        .map(|frame| frame.unwrap().next)
        .collect();
    for (n, place) in places.iter().enumerate() {
        assert!(told.archive.has_place(*place).unwrap());
        assert_eq!(
            frames_from(&told.archive, Some(*place)).unwrap(),
            all[n + 1..]
        );
    }
    let end = told.log.end();
    for wrong in [
        Place {
            offset: end.offset + 8,
            ..end
        },
        Place {
            offset: 56,
            segment: SegmentNo(1),
        },
        Place {
            offset: 48,
            segment: end.segment.next(),
        },
        Place {
            offset: 48,
            segment: SegmentNo(0),
        },
    ] {
        assert!(!told.archive.has_place(wrong).unwrap(), "{wrong}");
        damaged(frames_from(&told.archive, Some(wrong)));
    }
}

#[test]
fn frames_may_share_a_sync_and_are_shown_one_after_the_other() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    let mut frame = FrameBuilder::new();
    let mut all = Vec::new();
    assert_eq!(told.log.make_room(500).unwrap(), SegmentNo(1));
    for n in 0..5 {
        frame.clear();
        push(&mut frame, &row("key", &n.to_string()), None);
        let written = told.log.append(&mut frame, Priority::Ordinary).unwrap();
        all.push((written, frame.clone()));
    }
    told.log.sync().unwrap();
    for (written, frame) in &all {
        told.log.publish(*written, frame);
    }
    assert_eq!(all_frames(&told.archive).len(), 5);
    drop(told);
    let (_, archive) = open(&disk).unwrap();
    assert_eq!(all_frames(&archive).len(), 5);
}

#[test]
fn more_frames_than_a_header_can_count_are_synced_in_between() {
    let disk = MemoryDisk::new();
    let failing = FailingDisk::new(Arc::new(disk.clone()), 1 << 40);
    let settings = LogSettings {
        segment_bytes: 1 << 20,
        first_bytes: 1 << 20,
        ..small()
    };
    let (mut log, _) = Log::open(folder(), Arc::new(failing.clone()), STORE, settings).unwrap();
    let mut frame = FrameBuilder::new();
    push(&mut frame, &row("k", "v"), None);
    let before = failing.syncs();
    for _ in 0..limits::LOG_UNSYNCED_FRAMES_MAX {
        log.append(&mut frame, Priority::Ordinary).unwrap();
    }
    assert_eq!(failing.syncs(), before);
    log.append(&mut frame, Priority::Ordinary).unwrap();
    assert_eq!(failing.syncs(), before + 1);
}

#[test]
fn a_frame_larger_than_a_segment_gets_one_of_its_own_size() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[row("before", "1")]);
    told.say(&[row("large", &"x".repeat(100_000)), closed(1, "row")]);
    told.say(&[row("after", "1")]);
    let infos = told.archive.segments();
    assert!(100_000 < infos[1].bytes, "{infos:?}");
    assert_eq!(infos[1].no, SegmentNo(2));
    told.check();
    told.fill();
    let truth = told.truth.clone();
    drop(told);
    Told::with(&disk, small(), truth).check();
}

#[test]
fn a_frame_beyond_the_bound_is_refused_and_the_log_goes_on() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    let refused = told.log.make_room(limits::LOG_FRAME_BYTES_MAX);
    assert!(
        matches!(refused, Err(LogError::TooLarge { .. })),
        "{refused:?}"
    );
    told.say(&[row("a", "1")]);
    told.check();
}

#[test]
fn a_guess_that_was_too_low_lets_the_segment_grow_and_loses_nothing() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    let said: Vec<Said> = (0..200).map(|n| Said::Pruned(run(n))).collect();
    // Footers take more than what they stand for, here.
    told.say(&said);
    let small_guess = told.log.make_room(8).unwrap();
    told.frame.clear();
    let large = row("large", &"x".repeat(9_000));
    push(&mut told.frame, &large, None);
    let written = told
        .log
        .append(&mut told.frame, Priority::Ordinary)
        .unwrap();
    assert_eq!(written.place.segment, small_guess);
    told.log.sync().unwrap();
    told.log.publish(written, &told.frame);
    told.truth.frames.push((small_guess, vec![large]));
    told.log.roll().unwrap();
    assert!(
        told.archive
            .segments()
            .iter()
            .all(|info| info.bytes <= 16_384)
    );
    told.check();
    let truth = told.truth.clone();
    drop(told);
    Told::with(&disk, small(), truth).check();
}

#[test]
fn segments_grow_with_the_store() {
    let settings = LogSettings {
        segment_bytes: 80_000,
        first_bytes: 4_096,
        ..small()
    };
    let disk = MemoryDisk::new();
    let mut told = Told::with(&disk, settings, Truth::default());
    for _ in 0..5 {
        told.fill();
    }
    let sizes: Vec<u32> = told
        .archive
        .segments()
        .iter()
        .map(|info| info.bytes)
        .collect();
    assert_eq!(sizes[..4], [4_096, 16_384, 65_536, 80_000]);
    told.check();
}

#[test]
fn a_failed_sync_is_for_good_and_is_never_tried_again() {
    let disk = MemoryDisk::new();
    let failing = FailingDisk::new(Arc::new(disk.clone()), 1 << 40);
    let (mut log, archive) =
        Log::open(folder(), Arc::new(failing.clone()), STORE, small()).unwrap();
    let mut frame = FrameBuilder::new();
    push(&mut frame, &row("k", "v"), None);
    log.make_room(100).unwrap();
    log.append(&mut frame, Priority::Control).unwrap();
    failing.fail_syncs(true);
    let first = log.sync().unwrap_err();
    assert!(matches!(&first, LogError::Poisoned { detail } if detail.contains("syncs are told")));
    failing.fail_syncs(false);
    let syncs = failing.syncs();
    assert_eq!(log.sync(), Err(first.clone()));
    assert_eq!(
        log.append(&mut frame, Priority::Control),
        Err(first.clone())
    );
    assert_eq!(log.make_room(1), Err(first.clone()));
    assert_eq!(log.roll(), Err(first));
    assert_eq!(failing.syncs(), syncs);
    assert_eq!(all_frames(&archive).len(), 0);
}

#[test]
fn a_note_that_cannot_be_written_ends_the_log_after_its_frame() {
    let disk = MemoryDisk::new();
    let failing = FailingDisk::new(Arc::new(disk.clone()), 1 << 40);
    let (mut log, archive) =
        Log::open(folder(), Arc::new(failing.clone()), STORE, small()).unwrap();
    let mut frame = FrameBuilder::new();
    push(&mut frame, &row("k", "v"), None);
    let written = log.append(&mut frame, Priority::Control).unwrap();
    log.sync().unwrap();
    failing.fail_writes(true);
    log.publish(written, &frame);
    assert_eq!(all_frames(&archive).len(), 1);
    failing.fail_writes(false);
    assert!(matches!(log.make_room(1), Err(LogError::Poisoned { .. })));
}

#[test]
#[should_panic(expected = "is not durable")]
fn nothing_is_published_that_is_not_durable() {
    let mut told = Told::new(&MemoryDisk::new());
    let written = told.append(&[row("k", "v")]).unwrap();
    told.log.publish(written, &told.frame);
}

#[test]
#[should_panic(expected = "is published out of turn")]
fn nothing_is_published_twice() {
    let mut told = Told::new(&MemoryDisk::new());
    let written = told.append(&[row("k", "v")]).unwrap();
    told.log.sync().unwrap();
    told.log.publish(written, &told.frame);
    told.log.publish(written, &told.frame);
}
