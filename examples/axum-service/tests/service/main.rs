//! The service as a real process, in front of a real shop: by HTTP and signals only.
//!
//! No test may leave a process behind, and none sleeps: what is waited for has a bound.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod process;
mod program;
mod shop;
