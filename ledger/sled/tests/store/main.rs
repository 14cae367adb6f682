//! The store on a real disk: the common suite, opening, a store of an earlier day, and kill -9.
//!
//! Every seed is printed; no test sleeps or measures time.

#![expect(clippy::unwrap_used, reason = "an unwrap in a test is its failure")]

mod conformance;
mod folders;
mod golden;
mod groups;
mod large;
mod opening;
mod process;
mod script;
