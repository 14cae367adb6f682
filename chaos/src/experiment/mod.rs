//! The experiments, a folder each. One must never share state with another.

pub mod idempotency;
