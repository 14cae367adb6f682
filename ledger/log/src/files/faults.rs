//! Disks for tests: one that is full or fails when it is told to, one in memory that loses what was
//! not synced, and one on which something else happens between two calls.
//!
//! Nothing in production reaches these. They keep the promises of the port and no others.

mod between;
mod failing;
mod memory;

pub(crate) use between::BetweenDisk;
pub(crate) use failing::FailingDisk;
pub(crate) use memory::MemoryDisk;
