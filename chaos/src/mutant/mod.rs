//! Bugs that are there on purpose: ports that are bent, so that a campaign can be seen to see it.
//!
//! None of them is a switch in the code that is tried: what stands between it and its ports is.

use std::sync::Arc;

use mainstay_ledger::Ledger;
use mainstay_machine::{Core, Machine};

/// The two ports that can be bent: what is made of the disk, and the core.
#[derive(Clone)]
pub(crate) struct Ports {
    pub(crate) ledger: Arc<dyn Fn(Arc<dyn Ledger>) -> Arc<dyn Ledger> + Send + Sync>,
    pub(crate) core: Arc<dyn Fn() -> Arc<dyn Core> + Send + Sync>,
}

impl Ports {
    /// As in production.
    pub(crate) fn straight() -> Self {
        Self {
            ledger: Arc::new(|disk| disk),
            core: Arc::new(|| Arc::new(Machine)),
        }
    }
}
