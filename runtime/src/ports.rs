//! The ports an engine is given: time, concurrency, chance and ids.
//!
//! There is one bundle per engine; a simulator passes its doubles here and nowhere else.

use std::sync::Arc;

use mainstay_types::{Clock, IdSource, Rng, Spawner, Timers};

/// All ports of an engine.
#[derive(Clone)]
pub struct Ports {
    /// Reads time.
    pub clock: Arc<dyn Clock>,
    /// Waits for time.
    pub timers: Arc<dyn Timers>,
    /// Starts concurrent work.
    pub spawner: Arc<dyn Spawner>,
    /// Draws numbers, for jitter.
    pub rng: Arc<dyn Rng>,
    /// Makes ids.
    pub ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}
