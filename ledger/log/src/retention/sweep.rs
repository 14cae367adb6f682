//! What the committer does to keep the store small: each sweep is a bounded handful, found by
//! somebody else and looked at once more here, where nothing moves.

use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_types::{RunId, Timestamp};

use crate::exchange::{self, Piece};
use crate::keys::{self, Key};
use crate::maintain::Erasure;
use crate::retention::{carry, erase, expired};
use crate::segment::Pack;
use crate::stage::Stage;

/// A bounded handful of housekeeping.
#[derive(Debug)]
pub(crate) enum Sweep {
    /// Forget keys whose time is over, which the queue of expiries names up to `now`.
    ForgetKeys {
        /// The moment.
        now: Timestamp,
        /// The rows of the queue.
        queued: Vec<Key>,
    },
    /// Take closed runs out of the archive.
    Prune {
        /// The runs; those that do not rest any more are left alone.
        runs: Vec<RunId>,
    },
    /// Write rows forward that lie in an old segment.
    CarryRows {
        /// The rows as they lie there; those that changed since are left alone.
        rows: Vec<(Key, Arc<[u8]>)>,
    },
    /// Write records of a run forward, and with them where it stands.
    CarryRun {
        /// The run.
        run: RunId,
        /// Records of it, in order.
        packs: Vec<Pack>,
    },
    /// Write what comes from another store.
    Import(Vec<Piece>),
    /// Take everything of a closed run out of what stands, and note that older files have to
    /// follow.
    Erase {
        /// Whose traces, and who wants that.
        erasure: Erasure,
        /// The rows of its effects, of which all is known.
        effects: Vec<Key>,
        /// The row of its start key.
        start: Option<Key>,
    },
    /// Note that no file has anything of these runs any more.
    EndErasing(Vec<RunId>),
    /// Forget alerts up to a number.
    ForgetAlerts {
        /// Those with numbers after `from`.
        from: u64,
        /// Up to this one.
        through: u64,
    },
}

impl Sweep {
    /// Stages it; says how many things it did.
    pub(crate) fn stage(&self, stage: &mut Stage<'_>) -> Result<u64, LedgerError> {
        match self {
            Self::ForgetKeys { now, queued } => expired::forget_keys(stage, *now, queued),
            Self::Prune { runs } => expired::prune(stage, runs),
            Self::CarryRows { rows } => carry::rows(stage, rows),
            Self::CarryRun { run, packs } => carry::run(stage, *run, packs),
            Self::Import(pieces) => exchange::stage(stage, pieces),
            Self::Erase {
                erasure,
                effects,
                start,
            } => erase::erase(stage, erasure, (effects, start.as_ref())),
            Self::EndErasing(runs) => {
                runs.iter()
                    .for_each(|run| stage.remove(keys::erasing(*run)));
                Ok(runs.len() as u64)
            }
            Self::ForgetAlerts { from, through } => expired::forget_alerts(stage, *from, *through),
        }
    }
}
