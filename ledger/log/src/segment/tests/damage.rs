//! Damage: one bit, one page, one file. What the log says afterwards is right, or it says where it
//! is hurt; never anything else.

use super::*;

/// A log of one segment whose frames are all acknowledged.
fn one_segment() -> (MemoryDisk, Truth, usize) {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[records(1, 1, 2), row("a", "1")]);
    told.say(&[closed(1, "row"), Said::Gone(b"a".to_vec())]);
    told.say(&[Said::Pruned(run(1))]);
    let end = told.log.end().offset as usize;
    (disk.after_kill(), told.truth.clone(), end)
}

/// A log of several sealed segments and one that is written.
fn many_segments() -> (MemoryDisk, Truth) {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    for n in 0..12 {
        told.say(&[records(n, 1, 3), row("filling", &"x".repeat(800))]);
        told.say(&[
            records(n / 2, 4 + u64::from(n), 1),
            closed(n, "how it ended"),
        ]);
    }
    told.say(&[Said::Pruned(run(2))]);
    assert!(3 < told.log.end().segment.0);
    (disk.after_kill(), told.truth.clone())
}

#[test]
fn a_flipped_bit_before_the_acknowledged_end_is_refused_and_one_behind_it_is_cut_off() {
    let (disk, truth, end) = one_segment();
    let length = bytes(&disk, &file(1)).len();
    let frames: Vec<usize> = {
        let (_, archive) = open(&disk.after_kill()).unwrap();
        let places = archive
            .frames(None)
            .map(|frame| frame.unwrap().place.offset);
        std::iter::once(0)
            .chain(places.map(|at| at as usize))
            .collect()
    };
    for at in 0..length {
        let hurt = changed(&disk, &file(1), |content| content[at] ^= 1 << (at % 8));
        if end <= at {
            Told::with(&hurt, small(), truth.clone()).check();
            continue;
        }
        // Padding is part of no frame and says nothing.
        let opened = open(&hurt);
        if let Ok((_, archive)) = &opened
            && is_padding(&disk, &frames, at)
        {
            truth.check(archive);
            continue;
        }
        let place = damaged(opened).expect("it is in a segment");
        assert!(place.offset as usize <= at, "byte {at} is told as {place}");
        let begins = frames.iter().rfind(|begins| **begins <= at).unwrap();
        assert_eq!(place.offset as usize, *begins, "byte {at}");
    }
}

fn is_padding(disk: &MemoryDisk, frames: &[usize], at: usize) -> bool {
    let content = bytes(disk, &file(1));
    let begins = frames.iter().rfind(|begins| **begins <= at).unwrap();
    let length = u32::from_le_bytes(content[begins + 32..begins + 36].try_into().unwrap());
    begins + HEADER_BYTES + length as usize <= at
}

#[test]
fn a_zeroed_page_before_the_acknowledged_end_is_refused() {
    let (disk, _, end) = one_segment();
    for from in (0..end).step_by(64) {
        let hurt = changed(&disk, &file(1), |content| content[from..].fill(0));
        damaged(open(&hurt));
    }
}

#[test]
fn a_lost_end_is_refused_by_what_was_acknowledged_alone() {
    let (disk, truth, end) = one_segment();
    let last = {
        let (_, archive) = open(&disk.after_kill()).unwrap();
        archive.frames(None).last().unwrap().unwrap().place.offset as usize
    };
    // All of the last frame is gone, without a trace in the segment.
    let hurt = changed(&disk, &file(1), |content| content[last..end].fill(0));
    let place = damaged(open(&hurt)).unwrap();
    assert_eq!(place.offset as usize, last);
    // A position that says less, as after a loss of power, does not tell.
    let mut less = truth.clone();
    less.frames.pop();
    let acked = bytes(
        &{
            let disk = MemoryDisk::new();
            let mut told = Told::new(&disk);
            for (_, said) in &less.frames {
                told.say(said);
            }
            disk.after_kill()
        },
        &folder().join("ACKED"),
    );
    hurt.put(&folder().join("ACKED"), &acked);
    less.check(&open(&hurt).unwrap().1);
}

#[test]
fn no_flipped_bit_anywhere_gives_a_wrong_answer() {
    let (disk, truth) = many_segments();
    let files = disk.files();
    let mut seen = [0, 0];
    for (path, content) in &files {
        for byte in (0..content.len()).step_by(5) {
            let bit = 1 << (byte % 8);
            let hurt = changed(&disk, path, |content| content[byte] ^= bit);
            let what = format!("{} at byte {byte}", path.display());
            let right = answers(&hurt, &truth, &what);
            seen[usize::from(right)] += 1;
        }
    }
    assert!(seen.iter().all(|seen| 50 < *seen), "{seen:?}");
}

#[test]
fn no_zeroed_page_anywhere_gives_a_wrong_answer() {
    let (disk, truth) = many_segments();
    for (path, content) in &disk.files() {
        for from in (0..content.len()).step_by(512) {
            let to = content.len().min(from + 512);
            let hurt = changed(&disk, path, |content| content[from..to].fill(0));
            let what = format!("{} from byte {from}", path.display());
            answers(&hurt, &truth, &what);
        }
    }
}

/// Everything asked is answered right, or as damage; whether all of it was right.
fn answers(disk: &MemoryDisk, truth: &Truth, what: &str) -> bool {
    let Ok((log, archive)) = open(disk) else {
        return false;
    };
    let mut right = true;
    let closed = truth.closed();
    for run in truth.runs() {
        match archive.closed(run) {
            Err(error) => right &= is_damage(&error, what),
            Ok(found) => {
                let found = found.map(|found| (found.expires_at.as_millis(), found.row));
                // Its bytes prove themselves to whoever opens them: here only their number counts.
                let length =
                    |found: &Option<(i64, Vec<u8>)>| found.as_ref().map(|(_, row)| row.len());
                assert_eq!(
                    length(&found),
                    length(&closed.get(&run).cloned()),
                    "{what}: {run}"
                );
                right &= found == closed.get(&run).cloned();
            }
        }
        let Some(newest) = truth.newest_of(run) else {
            continue;
        };
        match archive.records(run, newest, Seq(0)) {
            Err(error) => right &= is_damage(&error, what),
            Ok(packs) => {
                let found = unpacked(&packs, 0);
                let expected: Vec<_> = truth.records(run).into_iter().collect();
                let seqs =
                    |all: &[(u64, Vec<u8>)]| all.iter().map(|(seq, _)| *seq).collect::<Vec<_>>();
                assert_eq!(seqs(&found), seqs(&expected), "{what}: {run}");
                right &= found == expected;
            }
        }
    }
    match frames_from(&archive, None) {
        Err(error) => right &= is_damage(&error, what),
        Ok(frames) => {
            let expected: Vec<_> = truth.frames.iter().map(|(_, said)| said.clone()).collect();
            assert_eq!(frames, expected, "{what}");
        }
    }
    drop(log);
    right
}

fn is_damage(error: &LogError, what: &str) -> bool {
    assert!(
        matches!(error, LogError::Damaged { .. }),
        "{what}: {error:?}"
    );
    false
}

#[test]
fn a_segment_that_is_missing_is_refused_whichever_it_is() {
    let (disk, _) = many_segments();
    let segments = open(&disk.after_kill()).unwrap().1.segments();
    for info in &segments {
        let hurt = disk.after_kill();
        hurt.drop_file(&file(info.no.0));
        let place = damaged(open(&hurt)).unwrap();
        assert!(place.segment.0 + 1 >= info.no.0, "{}: {place}", info.no);
    }
    let hurt = disk.after_kill();
    for info in &segments {
        hurt.drop_file(&file(info.no.0));
    }
    damaged(open(&hurt));
}

#[test]
fn a_file_that_was_cut_short_is_refused_or_says_what_it_should() {
    let (disk, truth) = many_segments();
    for (path, content) in &disk.files() {
        for length in (0..content.len()).step_by(97) {
            let hurt = changed(&disk, path, |content| content.truncate(length));
            answers(
                &hurt,
                &truth,
                &format!("{} cut to {length}", path.display()),
            );
        }
    }
}

#[test]
fn without_the_acknowledged_position_a_clean_log_opens_and_a_torn_one_does_not() {
    let (disk, truth) = many_segments();
    let acked = folder().join("ACKED");
    let hurt = disk.after_kill();
    hurt.drop_file(&acked);
    Told::with(&hurt, small(), truth.clone()).check();
    // It was made again.
    assert!(hurt.files().iter().any(|(path, _)| *path == acked));
    let newest = truth.frames.last().unwrap().0;
    let end = open(&disk.after_kill()).unwrap().0.end();
    let torn = changed(&disk, &file(newest.0), |content| {
        content[end.offset as usize + 50] = 1;
    });
    Told::with(&torn.after_kill(), small(), truth).check();
    torn.put(&acked, &[0; 8_192]);
    assert_eq!(damaged(open(&torn)), Some(end));
}

#[test]
fn files_of_another_store_are_not_believed() {
    let (disk, _) = many_segments();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let other = StoreId::from_bytes([8; 16]);
    let before = disk.files();
    damaged(Log::open(folder(), shared, other, small()));
    assert_eq!(disk.files(), before, "nothing of it was touched");
}

#[test]
fn a_position_of_another_time_is_not_believed() {
    let (disk, _, _) = one_segment();
    let early = {
        let disk = MemoryDisk::new();
        let mut told = Told::new(&disk);
        told.say(&[row("something else", "of another length")]);
        told.say(&[row("a", "1")]);
        told.say(&[row("b", "1")]);
        disk.after_kill()
    };
    disk.put(
        &folder().join("ACKED"),
        &bytes(&early, &folder().join("ACKED")),
    );
    damaged(open(&disk));
}
