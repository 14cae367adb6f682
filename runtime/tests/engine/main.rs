//! The engine as a whole: real runs on the ledger in memory, in virtual time, with an outside that
//! fails as told and processes that die at any moment.
//!
//! A test here says what is true for users; how a turn is made is for the tests beside the code.

#![expect(clippy::unwrap_used, reason = "an unwrap in a test is its failure")]

mod admission;
mod alerts;
mod answering;
mod back_again;
mod broken_word;
mod budgets;
mod bugs;
mod by_hand;
mod canceling;
mod chaos;
mod client_retries;
mod clock;
mod code_missing;
mod crashing;
mod crowd;
mod determinism;
mod doubt;
mod doubt_crowd;
mod dropping;
mod exhaustive;
mod keys;
mod laps;
mod late_owner;
mod later;
mod layers;
mod many_lives;
mod observe_canary;
mod observe_metrics;
mod observe_spans;
mod operators;
mod orphans;
mod parking;
mod poison;
mod preempting;
mod quarantine;
mod real_threads;
mod recovering;
mod repairing;
mod resolutions;
mod rivals;
mod seen_again;
mod seen_cost;
mod send_window;
mod snapshots;
mod starting;
mod stopping;
mod store;
mod taken_over;
mod terminating;
mod tools;
mod undo;
mod undo_again;
mod undo_keys;
mod values;
mod walkthrough;
mod within;
mod workers;
mod world;
