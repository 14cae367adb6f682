//! The thread that keeps the store small, and the same work for whoever asks for it at once.
//!
//! It finds; the committer does, a bounded handful at a time, and looks once more. What time it is
//! says the newest event: a store that nothing is written to forgets nothing, and no clock that
//! jumps makes it forget early.

use std::collections::HashMap;
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_types::{Millis, RunId, Timestamp, limits};

use crate::commit::Shared;
use crate::keys::{self, Key};
use crate::read::{Reader, Rows};
use crate::retention::Sweep;
use crate::retention::freeing::{Appended, Effort};
use crate::segment::{RunIn, SegmentInfo, SegmentNo};

/// How many things one sweep has.
pub(super) const HANDFUL: usize = 256;

/// A segment whose closed runs expire one after the other is looked at once for so many of them:
/// a part of the time that runs are kept, so that a store is not larger by more than that part.
const SPREAD_MAX: Millis = Millis::from_secs(60 * 60);
const SPREAD_PART: u64 = 16;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Closed runs that were taken out.
    pub runs: u64,
    /// Keys of effects and starts that were forgotten.
    pub keys: u64,
    /// Alerts that are not kept any more.
    pub alerts: u64,
    /// Rows and packs of records that were written forward.
    pub carried: u64,
    /// Segments that were freed.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Keeps one store small.
pub(crate) struct Sweeper {
    pub(super) shared: Arc<Shared>,
    pub(super) reader: Reader,
    spread: Millis,
    /// The last look at each segment for closed runs that expired.
    pub(super) looks: HashMap<SegmentNo, Look>,
    /// The oldest and the newest segment and what had expired when the oldest one was looked at
    /// last: as long as these are the same it holds what it held.
    pub(super) looked: Option<(SegmentNo, SegmentNo, u64)>,
    /// The segment of which everything that lives was written forward, and that is not freed yet.
    pub(super) carried: Option<SegmentNo>,
    /// What was appended since this began, as far as it was looked at.
    pub(super) appended: Appended,
    pub(crate) swept: Swept,
}

/// A look at a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// How far it was written then: what comes to rest in it later was not seen, and what is
    /// written forward comes with a time that is nearly over.
    end: u32,
    at: Timestamp,
    /// When it is looked at next, if nothing more is written to it.
    next: Timestamp,
}

/// Which closed runs go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    /// Those whose time is over.
    Expired,
    /// Those that ended so long ago.
    EndedBefore(Timestamp),
}

impl Sweeper {
    /// Of a store that keeps its closed runs for `run_memory`.
    pub(crate) fn new(shared: Arc<Shared>, reader: Reader, run_memory: Millis) -> Self {
        Self {
            shared,
            reader,
            spread: Millis::new(run_memory.get() / SPREAD_PART).min(SPREAD_MAX),
            looks: HashMap::new(),
            looked: None,
            carried: None,
            appended: Appended::default(),
            swept: Swept::default(),
        }
    }

    /// One round of everything, by the store's own time. A chore that fails, for want of room or
    /// because something cannot be read, keeps what it would have taken away and stops no other.
    pub(crate) fn round(&mut self) {
        let shared = Arc::clone(&self.shared);
        let _alone = shared.housekeeping.lock();
        let now = match self.reader.newest_time() {
            Ok(Some(now)) => now,
            Ok(None) => return,
            Err(error) => return told("the time", &error),
        };
        self.earn();
        let chores: [(&str, Chore); 4] = [
            ("keys", |sweeper, now| sweeper.forget_keys(now)),
            ("runs", |sweeper, now| sweeper.prune_due(now)),
            ("alerts", |sweeper, _| sweeper.forget_alerts()),
            ("segments", |sweeper, now| {
                while sweeper.free_oldest(now, Effort::Little)? {}
                Ok(())
            }),
        ];
        for (what, chore) in chores {
            if let Err(error) = chore(self, now) {
                told(what, &error);
            }
        }
    }

    /// Everything that can go at `now`, at once.
    pub(crate) fn prune_now(
        &mut self,
        which: Which,
        now: Timestamp,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), LedgerError> {
        let shared = Arc::clone(&self.shared);
        let _alone = shared.housekeeping.lock();
        self.forget_keys(now)?;
        self.prune_all(which, now, progress)?;
        self.forget_alerts()?;
        // A segment that is being written is never freed.
        let segments = self.reader.archive.segments().len();
        for _ in 1..segments {
            if !self.free_oldest(now, Effort::Much)? {
                break;
            }
        }
        Ok(())
    }

    fn forget_keys(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        loop {
            let mut queued: Vec<Key> = Vec::new();
            for row in Rows::of(&self.reader.standing, keys::expiries()).take(HANDFUL) {
                let (key, _) = row?;
                // The queue is in order of time.
                if keys::expiry_in(&key).is_some_and(|(at, _)| now < at) {
                    break;
                }
                queued.push(key);
            }
            if queued.is_empty() {
                return Ok(());
            }
            self.swept.keys += self.shared.sweep(Sweep::ForgetKeys { now, queued })?;
        }
    }

    /// Closed runs of those segments in which enough has expired to look.
    fn prune_due(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        for segment in self.reader.archive.segments() {
            if self.due_of(&segment).is_none_or(|due| now < due) {
                continue;
            }
            let leave = self.reader.archive.leave(segment.no)?;
            let rest = leave.runs.iter().filter(|run| run.row_here);
            let (over, kept): (Vec<&RunIn>, Vec<&RunIn>) =
                rest.partition(|run| run.expires_at.is_some_and(|at| at <= now));
            let mut gone = 0;
            for runs in over.chunks(HANDFUL) {
                let runs = runs.iter().map(|run| run.run).collect();
                gone += self.shared.sweep(Sweep::Prune { runs })?;
            }
            self.swept.runs += gone;
            let next = kept.iter().filter_map(|run| run.expires_at).min();
            // What somebody was moving just then is looked at again.
            let next = next.or((gone < over.len() as u64).then_some(now));
            let look = Look {
                end: segment.end,
                at: now,
                next: next.map_or(never(), |next| next.max(now) + self.spread),
            };
            self.looks.insert(segment.no, look);
        }
        Ok(())
    }

    fn due_of(&self, segment: &SegmentInfo) -> Option<Timestamp> {
        let (first, last) = segment.expires_first.zip(segment.expires_last)?;
        Some(match self.looks.get(&segment.no) {
            Some(look) if look.end == segment.end => look.next,
            Some(look) => last.min(first.max(look.at) + self.spread),
            None => last.min(first + self.spread),
        })
    }

    fn prune_all(
        &mut self,
        which: Which,
        now: Timestamp,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), LedgerError> {
        let mut before = None;
        let mut looked = 0;
        loop {
            let mut over: Vec<RunId> = Vec::new();
            let mut last = None;
            for found in self.reader.archive.list_closed(before).take(HANDFUL) {
                let (run, closed) = found?;
                last = Some(run);
                looked += 1;
                let row = crate::run_row::RunRow::decode(run, &closed.row)?;
                let ended = row.summary.as_ref().and_then(|summary| summary.ended_at);
                let goes = match which {
                    Which::Expired => closed.expires_at <= now,
                    Which::EndedBefore(moment) => ended.is_none_or(|ended| ended <= moment),
                };
                if goes {
                    over.push(run);
                }
            }
            let Some(last) = last else {
                return Ok(());
            };
            before = Some(last);
            if !over.is_empty() {
                self.swept.runs += self.shared.sweep(Sweep::Prune { runs: over })?;
            }
            progress(looked, 0);
        }
    }

    fn forget_alerts(&mut self) -> Result<(), LedgerError> {
        let (first, newest) = self.reader.alerts_kept()?;
        let last_gone = newest.get().saturating_sub(limits::ALERTS_KEPT_MAX);
        let mut from = first.get().saturating_sub(1);
        while from < last_gone {
            let through = last_gone.min(from + HANDFUL as u64);
            self.swept.alerts += self.shared.sweep(Sweep::ForgetAlerts { from, through })?;
            from = through;
        }
        Ok(())
    }
}

/// One part of a round.
type Chore = fn(&mut Sweeper, Timestamp) -> Result<(), LedgerError>;

fn told(what: &str, error: &LedgerError) {
    tracing::warn!(what, %error, "nothing of this kind was taken away");
}

const fn never() -> Timestamp {
    Timestamp::from_millis(i64::MAX)
}
