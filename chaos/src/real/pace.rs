//! The time of what is outside: so many times faster than real time, so that a double that takes
//! seconds in virtual time costs a campaign of real processes no seconds.
//!
//! A receiver that is faster than its class says breaks no promise to it.

use std::sync::Arc;

use mainstay_runtime::system::{SystemClock, TokioTimers};
use mainstay_types::{BoxFuture, Clock, Millis, Timers, Timestamp};

/// How many times faster.
const TIMES: u64 = 8;

/// See the module.
pub(super) struct Fast(SystemClock);

impl Fast {
    pub(super) fn ports() -> (Arc<dyn Clock>, Arc<dyn Timers>) {
        (Arc::new(Self(SystemClock::new())), Arc::new(Short))
    }
}

impl Clock for Fast {
    fn wall(&self) -> Timestamp {
        self.0.wall()
    }

    fn monotonic(&self) -> Millis {
        Millis::new(self.0.monotonic().get().saturating_mul(TIMES))
    }
}

/// Waits a part of the time it is told.
struct Short;

impl Timers for Short {
    fn sleep(&self, length: Millis) -> BoxFuture<'static, ()> {
        TokioTimers.sleep(Millis::new(length.get().div_ceil(TIMES)))
    }
}
