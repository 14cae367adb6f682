//! A pin: whoever looked something up holds one until it was used.
//!
//! What was looked up is true until a later change, and a later change is in the layer that was
//! active then or in one after it. While the pin holds none of these leaves memory, so that asking
//! the overlay is enough to know. A pin that is kept for so long that memory would run out stops
//! holding, and says so; it must not be believed without being asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Keeps in memory every layer that was written since it was taken. Dropping it lets go.
#[derive(Clone, Debug)]
#[must_use]
pub struct Pin(Arc<Pinned>);

/// What a layer knows of its pins.
#[derive(Debug, Default)]
pub(super) struct Pinned {
    gone: AtomicBool,
}

impl Pin {
    pub(super) fn on(pinned: &Arc<Pinned>) -> Self {
        Self(Arc::clone(pinned))
    }

    /// Whether everything that was written since it was taken is still in memory. To be asked after
    /// the overlay was.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.0.gone.load(Ordering::Acquire)
    }
}

impl Pinned {
    /// The layer leaves memory.
    pub(super) fn give_up(&self) {
        self.gone.store(true, Ordering::Release);
    }
}
