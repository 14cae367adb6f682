//! Where a program around this one may look at, or end, what the engine stands on.
//!
//! The example puts nothing there. It must never grow a seam that a run's outcome depends on: what
//! stands in one passes everything on, or the process is over.

use std::sync::Arc;

use mainstay::engine::Ports;
use mainstay::ledger::Ledger;

/// What stands between the engine and its ledger and ports; by default nothing.
pub trait Seams {
    /// The ledger that the engine is given for the store's own. Asked once, after the store was
    /// opened and before the engine starts.
    fn ledger(&self, store: Arc<dyn Ledger>) -> Arc<dyn Ledger> {
        store
    }

    /// The ports that the engine and the local dependencies are given. Asked once.
    fn ports(&self, system: Ports) -> Ports {
        system
    }
}

/// Nothing in between: the program itself.
#[derive(Clone, Copy, Debug)]
pub struct NoSeams;

impl Seams for NoSeams {}
