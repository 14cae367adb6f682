//! The records of a run: found along its segments, whatever was copied forward and freed.

use super::*;

fn seqs(packs: &[Pack]) -> Vec<(u64, u32)> {
    packs
        .iter()
        .map(|pack| (pack.first.get(), pack.count))
        .collect()
}

#[test]
fn records_of_many_segments_come_back_in_order_from_any_seq() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    for n in 0..20 {
        told.say(&[records(1, 1 + 3 * n, 3), row("filling", &"x".repeat(700))]);
    }
    let newest = told.truth.newest_of(run(1)).unwrap();
    assert!(4 < newest.0);
    for from in [0, 1, 2, 17, 58, 60, 61, 100] {
        let packs = told.archive.records(run(1), newest, Seq(from)).unwrap();
        let expected: Vec<u64> = (from.max(1)..=60).collect();
        let found: Vec<u64> = unpacked(&packs, from).iter().map(|(seq, _)| *seq).collect();
        assert_eq!(found, expected, "from {from}");
        // Nothing that lies wholly before was read.
        assert!(
            packs
                .iter()
                .all(|pack| from < pack.first.get() + u64::from(pack.count))
        );
    }
    told.check();
}

#[test]
fn a_walk_ends_where_it_has_everything() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[records(1, 1, 5)]);
    told.fill();
    told.say(&[records(1, 6, 5)]);
    told.fill();
    told.say(&[records(1, 11, 5)]);
    let newest = told.truth.newest_of(run(1)).unwrap();
    // Whoever went on to the segments before would find that they are gone.
    for segment in [1, 2] {
        let hurt = disk.open(&file(segment)).unwrap();
        let length = usize::try_from(hurt.bytes().unwrap()).unwrap();
        hurt.write_at(&vec![0; length], 0).unwrap();
    }
    let found = told.archive.records(run(1), newest, Seq(11)).unwrap();
    assert_eq!(seqs(&found), [(11, 5)]);
    damaged(told.archive.records(run(1), newest, Seq(10)));
}

#[test]
fn copies_that_were_written_forward_stand_for_what_was_freed() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[records(1, 1, 3), records(1, 4, 3)]);
    told.fill();
    told.say(&[records(1, 7, 3)]);
    told.fill();
    told.say(&[records(1, 10, 1)]);
    told.fill();
    // The oldest goes; what it has is copied, and newer records follow the copy.
    told.say(&[carried(1, 1, 3), carried(1, 4, 3)]);
    told.check();
    told.archive.free(SegmentNo(1)).unwrap();
    let newest = told.truth.newest_of(run(1)).unwrap();
    let all = told.archive.records(run(1), newest, Seq(0)).unwrap();
    assert_eq!(seqs(&all), [(1, 3), (4, 3), (7, 3), (10, 1)]);
    told.check();
    told.say(&[records(1, 11, 2)]);
    told.check();
    // And once more, with the copies being copied.
    told.fill();
    told.say(&[carried(1, 7, 3)]);
    told.archive.free(SegmentNo(2)).unwrap();
    told.check();
    let truth = told.truth.clone();
    drop(told);
    Told::with(&disk, small(), truth).check();
}

#[test]
fn of_two_copies_one_is_read() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[records(1, 1, 3)]);
    told.fill();
    told.say(&[carried(1, 1, 3)]);
    told.say(&[carried(1, 1, 3)]);
    let newest = told.truth.newest_of(run(1)).unwrap();
    let all = told.archive.records(run(1), newest, Seq(0)).unwrap();
    assert_eq!(seqs(&all), [(1, 3)]);
    told.say(&[carried(1, 1, 2), carried(1, 2, 2)]);
    told.check();
}

#[test]
fn records_before_a_pruning_are_never_found_again() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[records(1, 1, 3)]);
    told.fill();
    told.say(&[records(1, 4, 3), Said::Pruned(run(1)), records(1, 1, 1)]);
    let newest = told.log.end().segment;
    let all = told.archive.records(run(1), newest, Seq(0)).unwrap();
    assert_eq!(seqs(&all), [(1, 1)]);
    told.check();
}

#[test]
fn a_page_of_records_reads_no_more_than_it_has_to() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    for n in 0..10 {
        told.say(&[records(1, 1 + 2 * n, 2), row("filling", &"x".repeat(900))]);
    }
    let newest = told.truth.newest_of(run(1)).unwrap();
    let within = |from, max| {
        let page = told
            .archive
            .records_within(run(1), (newest, Seq(from)), max);
        seqs(&page.unwrap())
    };
    assert_eq!(within(1, 1), [(1, 2)]);
    assert_eq!(within(4, 0), [(3, 2)]);
    assert_eq!(within(1, 150), [(1, 2), (3, 2)]);
    assert_eq!(within(1, usize::MAX).len(), 10);
    assert_eq!(within(21, usize::MAX), []);
}

#[test]
fn a_run_without_records_has_none_and_one_that_lost_them_says_so() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[records(1, 1, 1)]);
    let none = told.archive.records(run(2), SegmentNo(0), Seq(0)).unwrap();
    assert_eq!(none, []);
    damaged(told.archive.records(run(2), SegmentNo(1), Seq(0)));
    damaged(told.archive.records(run(1), SegmentNo(2), Seq(0)));
}

#[test]
fn what_lives_in_a_segment_is_what_nothing_later_replaces() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    for n in 1..=6 {
        told.say(&[records(n, 1, 2)]);
    }
    told.say(&[closed(1, "rests"), closed(2, "rests"), closed(3, "rests")]);
    told.say(&[closed(7, "only a row")]);
    told.fill();
    told.say(&[Said::Pruned(run(1)), closed(2, "newer"), carried(4, 1, 2)]);
    told.say(&[records(5, 3, 1), carried(6, 1, 1)]);
    told.fill();
    let leave = told.archive.leave(SegmentNo(1)).unwrap();
    let lives: Vec<_> = leave
        .runs
        .iter()
        .map(|at| (at.run, at.packs.len(), at.row_here, at.expires_at))
        .collect();
    assert_eq!(
        lives,
        [
            // Run 1 was pruned, run 4 was copied; of run 6 only a part was.
            (run(2), 1, false, Some(at(20))),
            (run(3), 1, true, Some(at(30))),
            (run(5), 1, false, None),
            (run(6), 1, false, None),
            (run(7), 0, true, Some(at(70))),
        ]
    );
    assert_eq!(leave.segment, SegmentNo(1));
    assert!(
        leave
            .runs
            .iter()
            .all(|at| (at.bytes == 0) == at.packs.is_empty())
    );
    let packs = told.archive.packs_in(SegmentNo(1), run(5)).unwrap();
    assert_eq!(seqs(&packs), [(1, 2)]);
    damaged(told.archive.leave(SegmentNo(99)));
}
