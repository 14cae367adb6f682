//! A crash in the middle of a frame: it is cut off wherever it was torn, and the log goes on.

use super::*;

/// A log with some acknowledged frames and one more that is durable and that nobody was told of;
/// where that begins, and its bytes.
fn unacknowledged(last: &[Said]) -> (MemoryDisk, Truth, usize, Vec<u8>) {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[records(1, 1, 2), row("a", "1")]);
    told.say(&[closed(1, "row")]);
    let begins = told.log.end().offset as usize;
    told.append(last).unwrap();
    told.log.sync().unwrap();
    let truth = told.truth.clone();
    let image = disk.after_kill();
    let content = bytes(&image, &file(1));
    let written = content[begins..]
        .iter()
        .rposition(|byte| *byte != 0)
        .unwrap();
    let frame = content[begins..=begins + written].to_vec();
    (image, truth, begins, frame)
}

/// The log opens with the acknowledged frames only, goes on, and opens again.
fn goes_on(disk: &MemoryDisk, truth: &Truth, what: &str) {
    let mut told = Told::with(disk, small(), truth.clone());
    assert_eq!(
        all_frames(&told.archive).len(),
        truth.frames.len(),
        "{what}"
    );
    told.check();
    for n in 0..3 {
        told.say(&[row("after", &n.to_string()), records(2, n + 1, 1)]);
    }
    told.check();
    let truth = told.truth.clone();
    drop(told);
    Told::with(disk, small(), truth).check();
}

#[test]
fn a_frame_torn_at_any_byte_is_cut_off() {
    let (disk, truth, begins, frame) = unacknowledged(&[row("torn", "value"), records(2, 1, 2)]);
    for length in 0..frame.len() {
        let torn = changed(&disk, &file(1), |content| {
            content[begins + length..begins + frame.len()].fill(0);
        });
        goes_on(&torn, &truth, &format!("{length} bytes are there"));
    }
}

#[test]
fn a_frame_that_lacks_any_byte_but_has_its_end_is_cut_off() {
    let (disk, truth, begins, frame) = unacknowledged(&[row("torn", "value"), records(2, 1, 2)]);
    for at in 0..frame.len() {
        let torn = changed(&disk, &file(1), |content| content[begins + at] ^= 0x55);
        goes_on(&torn, &truth, &format!("byte {at} is another"));
    }
}

#[test]
fn a_whole_frame_that_nobody_was_told_of_is_kept() {
    let last = [row("whole", "value"), records(2, 1, 2)];
    let (disk, mut truth, _, _) = unacknowledged(&last);
    truth.frames.push((SegmentNo(1), last.to_vec()));
    goes_on(&disk, &truth, "all of it is there");
}

#[test]
fn a_file_that_ends_within_a_frame_is_cut_there() {
    let (disk, truth, begins, frame) = unacknowledged(&[row("torn", "value")]);
    for length in 0..frame.len() {
        let torn = changed(&disk, &file(1), |content| content.truncate(begins + length));
        goes_on(&torn, &truth, &format!("the file has {length} bytes of it"));
    }
}

#[test]
fn a_whole_frame_behind_a_torn_one_goes_with_it_and_never_comes_back() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[row("a", "1")]);
    let begins = told.log.end().offset as usize;
    // Three frames that share a sync that never came: the first is torn.
    for n in 0..3 {
        told.append(&[row("same length", &n.to_string())]).unwrap();
    }
    let truth = told.truth.clone();
    let torn = changed(&disk, &file(1), |content| content[begins + 45] ^= 1);
    let mut told = Told::with(&torn, small(), truth);
    told.check();
    // A frame of the same length as the torn one ends where the next old one was.
    told.say(&[row("same length", "9")]);
    told.check();
    let truth = told.truth.clone();
    drop(told);
    Told::with(&torn, small(), truth).check();
}

#[test]
fn a_segment_that_was_named_and_did_not_begin_is_taken_back() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[row("a", "1"), closed(1, "row")]);
    let truth = told.truth.clone();
    for content in [vec![0; 4_096], vec![0x4d; 20], Vec::new()] {
        let image = disk.after_kill();
        image.put(&file(2), &content);
        goes_on(&image, &truth, &format!("{} bytes", content.len()));
    }
}

#[test]
fn what_is_left_unfinished_beside_the_segments_is_taken_away() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[row("a", "1")]);
    let image = disk.after_kill();
    let names = ["spare.new", "recycled.new", "next.new", "rewritten.new"];
    for name in names {
        image.put(&folder().join("log").join(name), b"half of something");
    }
    goes_on(&image, &told.truth, "four unfinished files");
    let left = image.files();
    let unfinished = left
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|e| e == "new"));
    assert_eq!(unfinished.count(), 0);
}
