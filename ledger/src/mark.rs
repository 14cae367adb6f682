//! Marks: which runs' code is being executed right now, for whoever comes after an abort.
//!
//! A panic is caught and blamed on its run at once; an abort leaves only what was marked. A mark
//! must cost next to nothing, and nothing may depend on it but the count of aborts in a row.

use std::fmt;
use std::sync::Arc;

/// Where marks stand, behind a guard.
pub trait Marks: Send + Sync {
    /// Takes the mark in `slot` away. Must not fail and must not block on a disk.
    fn unmark(&self, slot: usize);
}

/// While it lives, some code of its run is being executed on some thread. Dropping it ends that.
#[must_use = "a mark that is dropped at once marks nothing"]
pub struct Mark(Option<(Arc<dyn Marks>, usize)>);

impl Mark {
    /// A guard that marks nothing.
    pub const fn none() -> Self {
        Self(None)
    }

    /// The guard of the mark that stands in `slot` of `marks`.
    pub fn of(marks: Arc<dyn Marks>, slot: usize) -> Self {
        Self(Some((marks, slot)))
    }

    /// Whether an abort now would be counted against the run.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        if let Some((marks, slot)) = self.0.take() {
            marks.unmark(slot);
        }
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slot = self.0.as_ref().map(|(_, slot)| slot);
        f.debug_tuple("Mark").field(&slot).finish()
    }
}
