//! Segments are freed while frames are written: whatever the one does between two calls of the
//! other to the disk, all that was acknowledged lies where its name says.
//!
//! Two threads in production; here one of them stands still between two calls, at each of them.

use parking_lot::Mutex;

use super::*;
use crate::files::faults::BetweenDisk;

/// A log of three segments, and its disk.
fn three() -> (MemoryDisk, BetweenDisk, Told) {
    let memory = MemoryDisk::new();
    let disk = BetweenDisk::new(Arc::new(memory.clone()));
    let opened = Log::open(folder(), Arc::new(disk.clone()), STORE, small());
    let (log, archive) = opened.unwrap();
    let mut told = Told {
        log,
        archive,
        truth: Truth::default(),
        frame: FrameBuilder::new(),
    };
    told.fill();
    told.fill();
    (memory, disk, told)
}

/// All of it is there, for this process and for the next one, and it goes on.
fn all_is_there(memory: &MemoryDisk, mut told: Told) {
    for _ in 0..3 {
        told.check();
        for left in [memory.after_kill(), memory.after_power_loss(|| false)] {
            let mut told = Told::with(&left, small(), told.truth.clone());
            told.check();
            told.fill();
            told.check();
        }
        told.fill();
    }
}

#[test]
fn a_segment_that_is_freed_between_any_two_calls_of_the_writing_takes_nothing_of_it_away() {
    for calls in 0.. {
        let (memory, disk, mut told) = three();
        let archive = Arc::clone(&told.archive);
        disk.after(calls, move || archive.free(SegmentNo(1)).unwrap());
        told.fill();
        if disk.call_off() {
            assert!(30 < calls, "there are {calls} calls only");
            return;
        }
        assert_eq!(told.archive.oldest(), SegmentNo(2));
        all_is_there(&memory, told);
    }
}

#[test]
fn frames_that_are_written_between_any_two_calls_of_a_freeing_are_there() {
    for calls in 0.. {
        let (memory, disk, told) = three();
        let archive = Arc::clone(&told.archive);
        let told = Arc::new(Mutex::new(told));
        let writing = Arc::clone(&told);
        disk.after(calls, move || {
            writing.lock().fill();
        });
        archive.free(SegmentNo(1)).unwrap();
        let is_over = disk.call_off();
        let told = Arc::into_inner(told).unwrap().into_inner();
        if is_over {
            assert!(6 < calls, "there are {calls} calls only");
            return;
        }
        assert_eq!(told.log.end().segment, SegmentNo(4));
        all_is_there(&memory, told);
    }
}
