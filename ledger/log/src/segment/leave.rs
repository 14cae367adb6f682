//! What lives in a segment: what has to be written forward before it can go.
//!
//! Of a run that was pruned later nothing does; of records that were copied forward, nothing; of a
//! row, only if nothing newer says how the run rests. Rows of what stands are not known here: the
//! segment's frames have them, and whoever holds what stands compares.

use std::sync::Arc;

use mainstay_types::{RunId, Seq, Timestamp};

use super::index::{PackAt, RunAt, Standing};
use super::segments::Segment;
use super::{LogError, SegmentNo};

/// What lives in one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leave {
    /// The segment.
    pub segment: SegmentNo,
    /// Its runs of which something lives, by id.
    pub runs: Vec<RunIn>,
}

/// What lives of one run in one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunIn {
    /// The run.
    pub run: RunId,
    /// Its records here of which there is no later copy: the first seq of each pack, and how many.
    pub packs: Vec<(Seq, u32)>,
    /// What they take, in bytes.
    pub bytes: u64,
    /// Whether its newest row in the archive is the one that lies here.
    pub row_here: bool,
    /// When the run may be forgotten, by its newest row in the archive, wherever that lies. `None`
    /// when it never rested.
    pub expires_at: Option<Timestamp>,
}

/// What later segments say of a run.
#[derive(Debug)]
struct Later {
    standing: Standing,
    copies: Vec<PackAt>,
}

/// What lives in `segment`, with all later ones.
pub(super) fn leave(segment: &Segment, later: &[Arc<Segment>]) -> Result<Leave, LogError> {
    let here = segment.runs()?;
    let mut fates: Vec<Later> = here.iter().map(|_| Later::default()).collect();
    if let (Some(first), Some(last)) = (here.first(), here.last()) {
        for newer in later {
            let there = newer.runs_between(first.run, last.run)?;
            meet(&here, &there, |at, found| fates[at].add(found));
        }
    }
    let runs = here.iter().zip(fates);
    Ok(Leave {
        segment: segment.no(),
        runs: runs.filter_map(|(at, later)| later.lives(at)).collect(),
    })
}

/// Runs that are in both, by id.
fn meet(here: &[RunAt], there: &[RunAt], mut each: impl FnMut(usize, &RunAt)) {
    let mut at = 0;
    for found in there {
        while here.get(at).is_some_and(|here| here.run < found.run) {
            at += 1;
        }
        if here.get(at).is_some_and(|here| here.run == found.run) {
            each(at, found);
        }
    }
}

impl Default for Later {
    fn default() -> Self {
        Self {
            standing: Standing::Silent,
            copies: Vec::new(),
        }
    }
}

impl Later {
    /// Takes in what a still later segment says.
    fn add(&mut self, found: &RunAt) {
        if found.standing != Standing::Silent {
            self.standing = found.standing;
        }
        self.copies
            .extend(found.packs.iter().filter(|pack| pack.carried));
    }

    /// What lives of the run that lies in the earlier segment like this.
    fn lives(self, at: &RunAt) -> Option<RunIn> {
        let newest = match self.standing {
            Standing::Silent => at.standing,
            later @ (Standing::Closed { .. } | Standing::Pruned) => later,
        };
        let expires_at = match newest {
            // What came before is gone, and nothing after it lies here: an index forgets what
            // lies before a pruning.
            Standing::Pruned if self.standing == Standing::Pruned => return None,
            Standing::Pruned | Standing::Silent => None,
            Standing::Closed { expires_at, .. } => Some(expires_at),
        };
        let packs: Vec<&PackAt> = at
            .packs
            .iter()
            .filter(|pack| !self.copies.iter().any(|copy| holds(copy, pack)))
            .collect();
        let row_here =
            self.standing == Standing::Silent && matches!(at.standing, Standing::Closed { .. });
        if packs.is_empty() && !row_here {
            return None;
        }
        Some(RunIn {
            run: at.run,
            bytes: packs.iter().map(|pack| u64::from(pack.bytes)).sum(),
            packs: packs.iter().map(|pack| (pack.first, pack.count)).collect(),
            row_here,
            expires_at,
        })
    }
}

/// Whether a copy has all records of a pack.
fn holds(copy: &PackAt, pack: &PackAt) -> bool {
    let end = |pack: &PackAt| pack.first.get().saturating_add(u64::from(pack.count));
    copy.first <= pack.first && end(pack) <= end(copy)
}
