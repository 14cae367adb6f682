//! sled as a table: what every table has to do, kill -9, damage, and how much it writes.
//!
//! Every seed is printed; no test sleeps or measures time.

#![expect(clippy::unwrap_used, reason = "an unwrap in a test is its failure")]

mod conformance;
mod damage;
mod files;
mod killed;
