//! Chaos: the same production engine under thousands of fault schedules, in virtual time.
//!
//! [`campaign`] is for `cargo test`: a class, doubles of its dependencies, a workload, faults, and
//! the guarantees that have to hold. What happened is read from the log, from the receivers' own
//! tables and from what callers were told, never from the code under test.

#[cfg(feature = "experiment")]
pub mod experiment;
pub mod fault;
pub mod guarantee;
pub mod meeting;
#[cfg(feature = "real")]
pub mod real;
pub mod report;
pub mod schedule;

mod campaign;
mod facts;
mod mutant;
mod offer;
mod rng;
mod targets;
mod world;

pub use campaign::{
    Blast, Campaign, Check, Faults, Finding, Guarantees, Misuse, Receiver, RunEnd, World, campaign,
};
pub use fault::{Fault, Kind};
pub use guarantee::Guarantee;
pub use mainstay_sim::provider::{SimModel, SimReceiver};
pub use mutant::{Bug, SelfTest, selftest};
pub use offer::{FaultPlan, Offered, Wish, built_in};
pub use report::Report;
pub use rng::Rng;
pub use schedule::Schedule;
