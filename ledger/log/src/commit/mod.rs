//! Writing: one committer for all, a group at a time.

pub(crate) mod committer;
pub(crate) mod company;
pub(crate) mod group;
pub(crate) mod progress;
pub(crate) mod queue;
pub(crate) mod shared;
pub(crate) mod taken;

pub(crate) use shared::Shared;
