//! Keeping a live run's state beside its events, so that whoever loads it folds only what is new.
//!
//! A hint to the ledger and nothing else: nothing waits for it, nothing is decided by it, and a run
//! whose state was never kept is the same run.

use mainstay_ledger::codec;
use mainstay_types::{Seq, Timestamp, limits};

use crate::live::Live;

/// How far a run's state is kept, and what a state needs to know beside the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// The newest event in the state that was given last.
    pub(crate) at: Seq,
    /// The newest time in the run's durable events.
    pub(crate) last_at: Timestamp,
}

impl Kept {
    /// Nothing of a run that is new.
    pub(crate) const fn nothing() -> Self {
        Self {
            at: Seq(0),
            last_at: Timestamp::from_millis(i64::MIN),
        }
    }

    /// Events became durable, the newest of this time.
    pub(crate) fn durable_until(&mut self, newest: Option<Timestamp>) {
        self.last_at = newest.map_or(self.last_at, |at| self.last_at.max(at));
    }
}

impl Live {
    /// Gives the state to the ledger when enough has happened since the last time. Only after a
    /// turn that became durable as it was decided: what a panic left behind is no state.
    pub(crate) fn keep_now_and_then(&mut self) {
        let new = self.run.seq().get().saturating_sub(self.kept.at.get());
        if limits::SNAPSHOT_EVENTS <= new {
            self.keep_state();
        }
    }

    /// Gives the state to the ledger, unless it has it or the run has not to be driven any more.
    pub(crate) fn keep_state(&mut self) {
        if self.run.seq() <= self.kept.at || !self.is_open() {
            return;
        }
        // Also when there is no state to give, so that it is not tried again at once.
        self.kept.at = self.run.seq();
        match codec::encode_snapshot(&self.run, self.kept.last_at) {
            Some(snapshot) => self.shared.ledger.keep(self.id, snapshot),
            None => tracing::debug!(run = %self.id, "its state is too large to be kept"),
        }
    }
}
