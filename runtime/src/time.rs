//! Engine time: never before what the log holds, never moved by a wall clock that jumps.
//!
//! `max(wall at open, last time in the log) + monotonic since open`: a backward jump extends no
//! time, a forward jump after opening expires none.

use std::sync::Arc;

use mainstay_types::{Clock, Millis, Timestamp};

/// The engine's clock.
#[derive(Clone)]
pub(crate) struct EngineTime {
    clock: Arc<dyn Clock>,
    opened_at: Timestamp,
    opened_monotonic: Millis,
}

impl EngineTime {
    /// Time that begins now, not before `last`.
    pub(crate) fn begin(clock: Arc<dyn Clock>, last: Option<Timestamp>) -> Self {
        let wall = clock.wall();
        let opened_at = last.map_or(wall, |last| last.max(wall));
        let opened_monotonic = clock.monotonic();
        Self {
            clock,
            opened_at,
            opened_monotonic,
        }
    }

    /// The engine's time.
    pub(crate) fn now(&self) -> Timestamp {
        self.opened_at + self.clock.monotonic().less(self.opened_monotonic)
    }

    /// When this time began.
    pub(crate) const fn opened_at(&self) -> Timestamp {
        self.opened_at
    }

    /// The port behind it.
    pub(crate) const fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }
}
