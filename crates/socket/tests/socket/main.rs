//! The local socket against askers of every kind: well-behaved, old, slow, greedy, hostile, gone.
//!
//! Engines here have an empty memory ledger: what is tried is the way to an answer, not the answer.

#![expect(clippy::unwrap_used, reason = "an unwrap in a test is its failure")]

mod crowd;
mod handshake;
mod hostile;
mod life;
mod other_user;
mod support;
