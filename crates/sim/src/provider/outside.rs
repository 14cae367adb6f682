//! What all doubles of one world share.

use std::sync::Arc;

use mainstay_types::{Clock, Millis, RunId, Seq};

use super::twist::Twists;
use crate::ledger::SimLedger;
use crate::timers::VirtualTimers;

/// The world outside of the engine: its time, its seed, its faults.
#[derive(Clone)]
pub struct Outside {
    pub(super) seed: u64,
    pub(super) timers: VirtualTimers,
    pub(super) ledger: SimLedger,
    pub(super) twists: Arc<dyn Twists>,
}

impl Outside {
    /// The outside of the engines on `ledger`.
    #[must_use]
    pub fn new(
        seed: u64,
        timers: &VirtualTimers,
        ledger: &SimLedger,
        twists: Arc<dyn Twists>,
    ) -> Self {
        Self {
            seed,
            timers: timers.clone(),
            ledger: ledger.clone(),
            twists,
        }
    }

    pub(super) fn now(&self) -> Millis {
        self.timers.clock().monotonic()
    }

    /// How far the log of `run` has come on the disk.
    pub(super) fn durable(&self, run: RunId) -> Seq {
        self.ledger.durable(run)
    }
}
