//! What all doubles of one world share.

use std::sync::Arc;

use mainstay_types::{BoxFuture, Clock, Millis, RunId, Seq, Timers};

use super::twist::Twists;
use crate::ledger::SimLedger;
use crate::timers::VirtualTimers;

/// The world outside of the engine: its time, its seed, its faults.
#[derive(Clone)]
pub struct Outside {
    pub(super) seed: u64,
    clock: Arc<dyn Clock>,
    timers: Arc<dyn Timers>,
    /// The disk of the engines, where it can be looked at.
    ledger: Option<SimLedger>,
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
            ledger: Some(ledger.clone()),
            ..Self::far(
                seed,
                (Arc::new(timers.clock().clone()), Arc::new(timers.clone())),
                twists,
            )
        }
    }

    /// The outside of engines in other processes, in a time of its own. How far their logs had come
    /// when a request arrived cannot be seen from there: as far as can be.
    #[must_use]
    pub fn far(
        seed: u64,
        (clock, timers): (Arc<dyn Clock>, Arc<dyn Timers>),
        twists: Arc<dyn Twists>,
    ) -> Self {
        Self {
            seed,
            clock,
            timers,
            ledger: None,
            twists,
        }
    }

    pub(super) fn now(&self) -> Millis {
        self.clock.monotonic()
    }

    pub(super) fn sleep(&self, length: Millis) -> BoxFuture<'static, ()> {
        self.timers.sleep(length)
    }

    /// How far the log of `run` has come on the disk.
    pub(super) fn durable(&self, run: RunId) -> Seq {
        let ledger = self.ledger.as_ref();
        ledger.map_or(Seq(u64::MAX), |ledger| ledger.durable(run))
    }
}
