//! Closed runs: the newest entry says how a run rests, and lists go over all segments as one.

use super::*;

fn listed(archive: &Archive, before: Option<RunId>) -> Vec<RunId> {
    archive
        .list_closed(before)
        .map(|run| run.unwrap().0)
        .collect()
}

#[test]
fn the_newest_segment_wins_and_what_was_pruned_is_gone() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    told.say(&[closed(1, "first"), closed(2, "first"), closed(3, "first")]);
    told.fill();
    told.say(&[closed(2, "second"), Said::Pruned(run(3))]);
    told.fill();
    told.say(&[Said::Pruned(run(1)), closed(4, "first"), closed(4, "again")]);
    told.fill();
    told.say(&[closed(1, "back again")]);
    let found = |n| told.archive.closed(run(n)).unwrap().map(|found| found.row);
    assert_eq!(found(1).as_deref(), Some(&b"back again"[..]));
    assert_eq!(found(2).as_deref(), Some(&b"second"[..]));
    assert_eq!(found(3), None);
    assert_eq!(found(4).as_deref(), Some(&b"again"[..]));
    assert_eq!(found(5), None);
    assert_eq!(listed(&told.archive, None), [run(4), run(2), run(1)]);
    let second = told.archive.closed(run(2)).unwrap().unwrap();
    assert_eq!((second.segment, second.expires_at), (SegmentNo(2), at(20)));
    told.check();
}

#[test]
fn a_list_is_the_same_in_one_piece_and_in_pages_of_any_size() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    for n in 0..120_u8 {
        // In no order, with runs that close again in later segments.
        let id = n.wrapping_mul(37) % 100;
        told.say(&[closed(id, &format!("{n} {}", "x".repeat(60)))]);
        if n % 9 == 0 {
            told.say(&[Said::Pruned(run(n))]);
        }
    }
    assert!(4 < told.log.end().segment.0);
    told.check();
    let all = listed(&told.archive, None);
    for size in [1, 2, 7, 50] {
        let mut paged = Vec::new();
        loop {
            let page: Vec<RunId> = told
                .archive
                .list_closed(paged.last().copied())
                .take(size)
                .map(|run| run.unwrap().0)
                .collect();
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, all, "pages of {size}");
    }
    assert_eq!(listed(&told.archive, Some(run(0))), []);
    // A cursor need not be a run that is there.
    assert_eq!(listed(&told.archive, Some(run(255))), all);
}

#[test]
fn a_list_goes_on_with_the_segments_it_began_with() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    for n in 0..30 {
        told.say(&[closed(n, &"x".repeat(300))]);
    }
    let mut list = told.archive.list_closed(None);
    let first = list.next().unwrap().unwrap().0;
    assert_eq!(first, run(29));
    let freed = told.archive.oldest();
    told.archive.free(freed).unwrap();
    told.say(&[closed(40, "later")]);
    let rest: Vec<RunId> = list.map(|run| run.unwrap().0).collect();
    assert_eq!(rest, (0..29).rev().map(run).collect::<Vec<_>>());
}

#[test]
fn nothing_follows_an_error_in_a_list() {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    for n in 0..3 {
        told.say(&[closed(n, "a row that is long enough")]);
    }
    let begins = bytes(&disk, &file(1))
        .windows(5)
        .rposition(|bytes| bytes == b"a row")
        .unwrap();
    let hurt = disk.open(&file(1)).unwrap();
    // The head of the newest entry.
    hurt.write_at(&[0xee; 4], begins as u64 - 32).unwrap();
    let mut list = told.archive.list_closed(None);
    assert!(matches!(list.next(), Some(Err(LogError::Damaged { .. }))));
    assert!(list.next().is_none());
    damaged(told.archive.closed(run(2)));
    assert!(told.archive.closed(run(1)).unwrap().is_some());
}
