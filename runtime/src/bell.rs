//! How the parts of an engine tell its keeper that there is something to look at.
//!
//! Telling never waits and never fails; what is told twice is looked at once.

use std::collections::BTreeSet;

use mainstay_ledger::knock::Knocker;
use mainstay_ledger::{Knocked, Knocks};
use mainstay_types::{RunId, Timestamp};
use parking_lot::Mutex;

/// The keeper's door.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    knocker: Knocker,
    wake: Mutex<Option<Timestamp>>,
    late: Mutex<BTreeSet<RunId>>,
}

impl Bell {
    /// Hears everything from now on.
    pub(crate) fn listen(&self) -> Knocks {
        self.knocker.subscribe()
    }

    /// Somebody should look at `run`.
    pub(crate) fn look(&self, run: RunId) {
        let runs = BTreeSet::from([run]);
        self.knocker.knock(&Knocked {
            runs,
            ..Knocked::default()
        });
    }

    /// Somebody should look at `run`, after a while: what ended it may end it again.
    pub(crate) fn look_later(&self, run: RunId) {
        self.late.lock().insert(run);
        self.nudge();
    }

    /// Runs to look at after a while, told since the last time.
    pub(crate) fn take_late(&self) -> BTreeSet<RunId> {
        std::mem::take(&mut *self.late.lock())
    }

    /// A run was parked and wakes at `at`.
    pub(crate) fn wakes_at(&self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        let mut wake = self.wake.lock();
        *wake = Some(wake.map_or(at, |sooner| sooner.min(at)));
        drop(wake);
        self.nudge();
    }

    /// Something of this engine changed that the keeper waits for: a place became free, a lease is
    /// needed.
    pub(crate) fn nudge(&self) {
        self.knocker.knock(&Knocked {
            alerts: true,
            ..Knocked::default()
        });
    }

    /// The earliest moment that was told since the last time.
    pub(crate) fn take_wake(&self) -> Option<Timestamp> {
        self.wake.lock().take()
    }
}
