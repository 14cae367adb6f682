//! Who drives a run, and what brings back one that nobody drives.
//!
//! Nothing here fences a writer: epochs do. These rows only say where to look after a start.

use mainstay_types::{RunId, Timestamp, WorkerId};

/// How a run is driven from this commit on. Each replaces what the run had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// In somebody's memory: found by [`Ledger::driven`](crate::Ledger::driven) after a restart.
    Driven {
        /// The worker incarnation that drives it.
        worker: WorkerId,
    },
    /// In nobody's memory until `wake_at`, an inbox message, or a key it waits for.
    Parked {
        /// When it wakes by itself; `None`: only something from outside brings it back.
        wake_at: Option<Timestamp>,
    },
    /// It owes nothing, or is not driven until a person looks.
    Off,
}

/// A driven run and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driving {
    /// The run.
    pub run: RunId,
    /// The worker incarnation that said it drives it. All zeros when a store of an older format
    /// did not say.
    pub worker: WorkerId,
    /// Until when that worker said it lives; `None` when it is known to be gone.
    pub lease_until: Option<Timestamp>,
}
