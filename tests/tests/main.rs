//! Behaviour across crates, with real processes.
//!
//! One binary, so that it is linked once. Its tests start, kill and restart programs on this
//! machine; they must never depend on each other, on the order they run in or on how fast it is.

mod again;
mod canary;
mod cases;
mod crashes;
mod crowd;
mod degraded;
mod doubt;
mod files;
mod flood;
mod kills;
mod laps;
mod looking;
mod model;
mod model_drafts;
mod output;
mod resolutions;
mod services;
mod snapshot_age;
mod tickets_away;
mod two_at_once;
mod values;
