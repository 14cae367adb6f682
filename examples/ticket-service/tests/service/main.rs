//! The service as its clients see it: one test binary, a real listener for each test.
//!
//! It must never reach into the service but through HTTP, its options and its process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod faults;
mod keys;
mod process;
mod reading;
mod support;
