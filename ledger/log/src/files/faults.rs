//! Disks for tests: one that is full or fails when it is told to, and one in memory that loses what
//! was not synced.
//!
//! Nothing in production reaches these. They keep the promises of the port and no others.

mod failing;
mod memory;

pub(crate) use failing::FailingDisk;
pub(crate) use memory::MemoryDisk;
