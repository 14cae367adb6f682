//! Footers: what they say is what the frames say, and without them the frames say it.

use proptest::prelude::*;

use super::super::filter::Filter;
use super::super::footer::{self, Footer};
use super::super::frame::Owner;
use super::super::index::{Item, MemoryIndex, Standing, What};
use super::super::trailer::Sums;
use super::*;
use crate::files::DiskFile;

/// Three sealed segments and one that is written, and where the frames of each end.
fn sealed() -> (MemoryDisk, Truth, Vec<SegmentInfo>) {
    let disk = MemoryDisk::new();
    let mut told = Told::new(&disk);
    for n in 0..18 {
        told.say(&[records(n, 1, 2), row("filling", &"x".repeat(500))]);
        told.say(&[closed(n / 2, "how it ended"), Said::Pruned(run(n / 3))]);
    }
    let infos = told.archive.segments();
    assert!(3 < infos.len());
    (disk.after_kill(), told.truth.clone(), infos)
}

fn sealed_count(disk: &MemoryDisk) -> usize {
    let (_log, archive) = open(disk).unwrap();
    archive
        .all()
        .iter()
        .filter(|segment| segment.is_sealed())
        .count()
}

#[test]
fn a_footer_that_is_hurt_anywhere_is_made_again_from_the_frames() {
    let (disk, truth, infos) = sealed();
    for info in &infos[..infos.len() - 1] {
        for at in (info.end as usize..info.bytes as usize).step_by(43) {
            let hurt = changed(&disk, &file(info.no.0), |content| content[at] ^= 0x10);
            truth.check(&open(&hurt).unwrap().1);
        }
    }
}

#[test]
fn a_footer_that_is_hurt_while_the_store_is_open_is_made_again() {
    let (disk, truth, infos) = sealed();
    let (_log, archive) = open(&disk).unwrap();
    let hurt: Arc<dyn DiskFile> = disk.open(&file(infos[0].no.0)).unwrap();
    hurt.write_at(&[0xff; 8], u64::from(infos[0].end) + 4)
        .unwrap();
    assert_eq!(
        damaged(check_segment(&archive, infos[0].no))
            .unwrap()
            .segment,
        infos[0].no
    );
    truth.check_runs(&archive);
    // The index that is in its place since then is that of the frames.
    truth.check(&archive);
}

#[test]
fn segments_without_a_footer_get_one_when_the_log_is_opened() {
    let (disk, truth, infos) = sealed();
    for info in &infos[..infos.len() - 1] {
        let path = file(info.no.0);
        let end = info.end as usize;
        let hurt = changed(&disk, &path, |content| content[end..].fill(0));
        assert_eq!(sealed_count(&hurt), infos.len() - 1);
        assert_eq!(bytes(&hurt, &path), bytes(&disk, &path));
        Told::with(&hurt, small(), truth.clone()).check();
    }
}

#[test]
fn opening_reads_no_frame_of_a_sealed_segment_but_its_first() {
    let (disk, _, infos) = sealed();
    // Whoever read them would find that they are gone.
    let mut hurt = disk;
    for info in &infos[..infos.len() - 1] {
        let end = info.end as usize;
        hurt = changed(&hurt, &file(info.no.0), |content| content[48..end].fill(0));
    }
    let (_log, archive) = open(&hurt).unwrap();
    damaged(frames_from(&archive, None));
    damaged(check_segment(&archive, infos[1].no));
}

#[test]
fn what_a_segment_holds_is_said_in_sums() {
    let (disk, _, infos) = sealed();
    let reopened = open(&disk).unwrap().1.segments();
    assert_eq!(reopened, infos);
    let first = &infos[0];
    let (_log, archive) = open(&disk).unwrap();
    let frames = archive.frames(None).map(|frame| frame.unwrap().place);
    let in_first = frames.filter(|place| place.segment == first.no).count();
    assert_eq!(first.frames, in_first as u64 + 1);
    assert!(first.sealed && !infos.last().unwrap().sealed);
    assert_eq!(first.file, "0000000001.log");
    assert!(first.expires_first <= first.expires_last);
}

/// An index of so many runs, each with a pack, some closed and some pruned.
fn index_of(runs: &[u16]) -> MemoryIndex {
    let mut index = MemoryIndex::new(SegmentNo(9));
    for (n, id) in runs.iter().enumerate() {
        let n = u32::try_from(n).unwrap();
        let what = match id % 4 {
            0 => What::Closed {
                expires_at: at(i64::from(*id)),
            },
            1 if n % 3 == 0 => What::Pruned,
            _ => What::Records {
                first: Seq(u64::from(n)),
                count: 2,
                prev: (id % 3 == 0).then_some(SegmentNo(u64::from(1 + id % 8))),
                carried: id % 5 == 0,
            },
        };
        index.add(Item {
            run: wide(*id),
            offset: 48 + 16 * n,
            bytes: 16,
            what,
        });
    }
    index
}

fn wide(n: u16) -> RunId {
    let mut id = [3; 16];
    id[6..8].copy_from_slice(&n.to_be_bytes());
    RunId::from_bytes(id)
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn a_footer_says_of_every_run_what_the_index_in_memory_says(
        runs in prop::collection::vec(0_u16..3_000, 0..2_500),
    ) {
        let index = index_of(&runs);
        let owner = Owner { store: STORE, segment: SegmentNo(9) };
        let sums = Sums { end: 1_000, first: 5, next: 50, ..Sums::default() };
        let encoded = footer::encode(owner, &index, sums);
        let disk = MemoryDisk::new();
        let bytes = 1_000 + encoded.blocks.len() + encoded.trailer.len() + 100;
        let file = disk.create(Path::new("footer"), bytes as u64).unwrap();
        file.write_at(&encoded.blocks, 1_000).unwrap();
        file.write_at(&encoded.trailer, (bytes - encoded.trailer.len()) as u64).unwrap();
        let grown = footer::FIXED_BYTES + runs.len() as u64 * footer::ITEM_BYTES_MAX;
        prop_assert!((encoded.blocks.len() + encoded.trailer.len()) as u64 <= grown);

        let footer = Footer::read(&*file, owner).unwrap().expect("it proves itself");
        prop_assert_eq!(footer.sums, encoded.footer.sums);
        for n in (0..3_000).step_by(13) {
            let expected = index.find(wide(n));
            prop_assert!(expected.is_none() || footer.may_have(wide(n)));
            prop_assert_eq!(footer.find(&*file, wide(n)).unwrap().unwrap(), expected);
        }
        let all = index.ended_below(None, usize::MAX);
        let mut listed: Vec<(RunId, Standing)> = Vec::new();
        loop {
            let below = listed.last().map(|(run, _)| *run);
            let more = footer.ended_below(&*file, below).unwrap().unwrap();
            if more.is_empty() {
                break;
            }
            listed.extend(more);
        }
        prop_assert_eq!(listed, all);
        let other = Owner { segment: SegmentNo(10), ..owner };
        prop_assert!(Footer::read(&*file, other).unwrap().is_none());
    }
}

#[test]
fn a_filter_lets_all_its_runs_pass_and_few_others() {
    let runs: Vec<RunId> = (0..10_000).map(wide).collect();
    let filter = Filter::of(&runs);
    assert!(runs.iter().all(|run| filter.may_have(*run)));
    let others = (10_000..60_000)
        .filter(|n| filter.may_have(wide(*n)))
        .count();
    assert!(others < 1_000, "{others} of 50,000 others pass");
    assert_eq!(filter.as_bytes().len(), 12_500);
    assert!(
        Filter::of(&[]).may_have(wide(1)),
        "an empty one denies nothing"
    );
}
