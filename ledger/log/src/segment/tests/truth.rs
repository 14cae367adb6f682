//! What a log should say: all that was acknowledged, as a plain list, and what follows from it.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_types::{RunId, Seq};

use super::super::{Archive, FrameBuilder, SegmentNo};
use super::{Said, all_frames, check_segment, push, unpacked};

/// What was acknowledged, frame by frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    /// Each with the segment it lies in.
    pub(super) frames: Vec<(SegmentNo, Vec<Said>)>,
}

impl Truth {
    /// Puts entries into a frame that will lie in `segment`, with what lies before each.
    pub(super) fn push_all(&self, frame: &mut FrameBuilder, segment: SegmentNo, all: &[Said]) {
        let mut newest: BTreeMap<RunId, Option<SegmentNo>> = BTreeMap::new();
        for said in all {
            let run = said.run();
            let prev =
                run.and_then(|run| *newest.entry(run).or_insert_with(|| self.newest_of(run)));
            push(frame, said, prev);
            match said {
                Said::Records { run, .. } => {
                    newest.insert(*run, Some(segment));
                }
                Said::Pruned(run) => {
                    newest.insert(*run, None);
                }
                Said::Row(..) | Said::Gone(_) | Said::Closed(..) => {}
            }
        }
    }

    pub(super) fn newest_of(&self, of: RunId) -> Option<SegmentNo> {
        let all = self
            .frames
            .iter()
            .flat_map(|(segment, all)| all.iter().map(move |said| (segment, said)));
        let of_run = all.filter(|(_, said)| said.run() == Some(of));
        of_run.fold(None, |newest, (segment, said)| match said {
            Said::Records { .. } => Some(*segment),
            Said::Pruned(_) => None,
            Said::Row(..) | Said::Gone(_) | Said::Closed(..) => newest,
        })
    }

    /// Closed runs as they rest: the newest thing said.
    pub(super) fn closed(&self) -> BTreeMap<RunId, (i64, Vec<u8>)> {
        let mut closed = BTreeMap::new();
        for said in self.said() {
            match said {
                Said::Closed(run, expires, row) => {
                    closed.insert(*run, (*expires, row.clone()));
                }
                Said::Pruned(run) => {
                    closed.remove(run);
                }
                Said::Records { .. } | Said::Row(..) | Said::Gone(_) => {}
            }
        }
        closed
    }

    /// The records of a run.
    pub(super) fn records(&self, of: RunId) -> BTreeMap<u64, Vec<u8>> {
        let mut all = BTreeMap::new();
        for said in self.said().filter(|said| said.run() == Some(of)) {
            match said {
                Said::Records { first, records, .. } => {
                    all.extend((*first..).zip(records.iter().cloned()));
                }
                Said::Pruned(_) => all.clear(),
                Said::Row(..) | Said::Gone(_) | Said::Closed(..) => {}
            }
        }
        all
    }

    pub(super) fn runs(&self) -> BTreeSet<RunId> {
        self.said().filter_map(Said::run).collect()
    }

    fn said(&self) -> impl Iterator<Item = &Said> {
        self.frames.iter().flat_map(|(_, said)| said)
    }

    /// Everything an archive can be asked is answered like this.
    pub(super) fn check(&self, archive: &Archive) {
        let kept = archive.oldest();
        let frames = self.frames.iter().filter(|(segment, _)| kept <= *segment);
        let frames: Vec<_> = frames.map(|(_, said)| said.clone()).collect();
        assert_eq!(all_frames(archive), frames);
        self.check_runs(archive);
        for info in archive.segments() {
            check_segment(archive, info.no).unwrap();
        }
    }

    pub(super) fn check_runs(&self, archive: &Archive) {
        let closed = self.closed();
        let listed: Vec<RunId> = archive
            .list_closed(None)
            .map(|run| run.unwrap().0)
            .collect();
        let expected: Vec<RunId> = closed.keys().rev().copied().collect();
        assert_eq!(listed, expected);
        for run in self.runs() {
            let found = archive.closed(run).unwrap();
            let found = found.map(|found| (found.expires_at.as_millis(), found.row));
            assert_eq!(found, closed.get(&run).cloned(), "{run}");
            let Some(newest) = self.newest_of(run) else {
                continue;
            };
            let all = self.records(run);
            let middle = all.keys().nth(all.len() / 2).copied().unwrap_or(0);
            for from in [0, middle] {
                let packs = archive.records(run, newest, Seq(from)).unwrap();
                let tail = all
                    .range(from..)
                    .map(|(seq, record)| (*seq, record.clone()));
                assert_eq!(unpacked(&packs, from), tail.collect::<Vec<_>>(), "{run}");
            }
        }
    }
}
