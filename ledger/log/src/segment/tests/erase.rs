//! Erasing: what is condemned is in no file afterwards, everything else is where it was.

use super::space::holds;
use super::*;

const CANARY: &str = "canary 7f3a";

/// Four segments; run 1 is in the first three, with a canary in everything it has.
fn with_canary(disk: &MemoryDisk) -> Told {
    let mut told = Told::new(disk);
    for n in 0..3 {
        told.say(&[
            records(2, 1 + 2 * n, 2),
            canary(1 + n),
            Said::Row(b"row of 1".to_vec(), CANARY.into()),
            row("row of 2", "stays"),
        ]);
        told.say(&[closed(2, "two"), Said::Closed(run(1), 5, CANARY.into())]);
        told.fill();
    }
    told.say(&[Said::Pruned(run(1))]);
    told
}

fn canary(seq: u64) -> Said {
    Said::Records {
        run: run(1),
        first: seq,
        records: vec![CANARY.into()],
        carried: false,
    }
}

/// Whether an entry is of run 1, and not that it is pruned.
fn is_of_one(entry: &Entry<'_>) -> bool {
    match *entry {
        Entry::Records(records) => records.run == run(1),
        Entry::Row { key, .. } | Entry::Gone { key } => key == b"row of 1",
        Entry::Closed { run: of, .. } => of == run(1),
        Entry::Pruned { .. } => false,
    }
}

fn judge(entry: &Entry<'_>) -> Verdict {
    match is_of_one(entry) {
        true => Verdict::Erase,
        false => Verdict::Keep,
    }
}

impl Truth {
    /// The same without what was erased.
    fn without_one(&self) -> Self {
        let mut left = self.clone();
        for (_, said) in &mut left.frames {
            said.retain(|said| match said {
                Said::Records { run: of, .. } | Said::Closed(of, ..) => *of != run(1),
                Said::Row(key, _) | Said::Gone(key) => key != b"row of 1",
                Said::Pruned(_) => true,
            });
        }
        left
    }
}

fn erase(archive: &Archive) -> Result<u64, LogError> {
    let mut entries = 0;
    for info in archive.segments().iter().filter(|info| info.sealed) {
        entries += archive.rewrite(info.no, judge)?.entries;
    }
    Ok(entries)
}

#[test]
fn what_is_erased_is_found_nowhere_and_the_rest_is_as_it_was() {
    let disk = MemoryDisk::new();
    let mut told = with_canary(&disk);
    assert!(holds(&disk, CANARY.as_bytes()));
    let places: Vec<Place> = told
        .archive
        .frames(None)
        .map(|frame| frame.unwrap().place)
        .collect();
    let infos = told.archive.segments();
    assert_eq!(erase(&told.archive).unwrap(), 9);
    assert!(!holds(&disk, CANARY.as_bytes()));
    told.truth = told.truth.without_one();
    told.check();
    let after: Vec<Place> = told
        .archive
        .frames(None)
        .map(|frame| frame.unwrap().place)
        .collect();
    assert_eq!(after, places);
    for (before, after) in infos.iter().zip(told.archive.segments()) {
        assert_eq!(
            (before.bytes, before.end, before.frames),
            (after.bytes, after.end, after.frames)
        );
    }
    // Again there is nothing to do, and the log goes on.
    let calls = disk.calls();
    assert_eq!(erase(&told.archive).unwrap(), 0);
    assert_eq!(disk.calls(), calls);
    told.say(&[records(2, 7, 1)]);
    told.check();
    let truth = told.truth.clone();
    drop(told);
    Told::with(&disk, small(), truth).check();
}

#[test]
fn a_crash_while_erasing_leaves_a_segment_as_it_was_or_as_it_is_to_be() {
    let disk = MemoryDisk::new();
    let told = with_canary(&disk);
    let (truth, left) = (told.truth.clone(), told.truth.without_one());
    drop(told);
    let before = disk.after_kill();
    for calls in 0.. {
        let disk = before.after_kill();
        let told = Told::with(&disk, small(), truth.clone());
        disk.lose_power_after(calls);
        let erased = erase(&told.archive);
        drop(told);
        if erased.is_ok() {
            assert!(10 < calls, "{calls}");
            break;
        }
        for keep in [false, true] {
            let image = disk.after_power_loss(|| keep);
            let (_log, archive) = open(&image).unwrap();
            let frames = all_frames(&archive);
            let pairs = truth.frames.iter().zip(&left.frames);
            for (found, ((_, whole), (_, erased))) in frames.iter().zip(pairs) {
                assert!(found == whole || found == erased, "after {calls} calls");
            }
            assert_eq!(frames.len(), truth.frames.len());
            // It is done again, and then it is done.
            erase(&archive).unwrap();
            left.check(&archive);
            assert!(!holds(&image, CANARY.as_bytes()), "after {calls} calls");
        }
    }
}

#[test]
fn a_reader_of_the_old_file_goes_on() {
    let disk = MemoryDisk::new();
    let told = with_canary(&disk);
    let mut frames = told.archive.frames(None);
    let mut list = told.archive.list_closed(None);
    frames.next().unwrap().unwrap();
    erase(&told.archive).unwrap();
    let rest: Result<Vec<Frame>, LogError> = frames.collect();
    assert_eq!(rest.unwrap().len() + 1, told.truth.frames.len());
    assert_eq!(list.next().unwrap().unwrap().0, run(2));
}

#[test]
fn nothing_is_written_anew_from_what_is_damaged() {
    let disk = MemoryDisk::new();
    let told = with_canary(&disk);
    let end = told.archive.segments()[1].end;
    let hurt = disk.open(&file(2)).unwrap();
    hurt.write_at(&[1, 2, 3], u64::from(end) - 20).unwrap();
    let before = bytes(&disk, &file(2));
    damaged(told.archive.rewrite(SegmentNo(2), judge));
    assert_eq!(bytes(&disk, &file(2)), before);
}

#[test]
#[should_panic(expected = "is being written")]
fn the_segment_that_is_written_is_not_written_anew() {
    let told = Told::new(&MemoryDisk::new());
    let _ = told.archive.rewrite(SegmentNo(1), judge);
}
