//! The experiment "idempotency" on its real receiver, at a small size.

#![expect(clippy::unwrap_used, reason = "an unwrap in a test is its failure")]

mod figures;
mod receiver;
mod strategies;
mod wrappers;
