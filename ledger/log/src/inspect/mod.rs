//! Looking at a store that may be hurt, and bringing back what can be brought back.
//!
//! Nothing here is needed while a store is whole; nothing of a store is changed but by a repair
//! that was asked for, and what that replaces is kept.

mod former;
mod known;
mod rebuild;
mod repair;
mod tables;
mod verify;

pub(crate) use rebuild::is_unfinished;
pub use repair::{Repair, repair};
pub(crate) use tables::remove_copy;
pub use verify::{Finding, Report, verify};
