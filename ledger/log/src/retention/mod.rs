//! Keeping a store small: what has expired goes, what lives in old segments is written forward, and
//! segments in which nothing lives are freed.
//!
//! The oldest segment goes first, always: a row that was removed after it cannot come back when the
//! table is made anew from what is left. Nothing in doubt ever expires.

mod carry;
mod erase;
mod expired;
mod freeing;
mod sweep;
mod sweeper;
mod thread;

pub(crate) use erase::condemned;
pub(crate) use sweep::Sweep;
pub use sweeper::Swept;
pub(crate) use sweeper::{Sweeper, Which};
pub(crate) use thread::Sweeping;
