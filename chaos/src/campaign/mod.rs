//! A campaign: one class, many seeds, each a world with faults of its own.

mod builder;
mod check;
mod faults;
mod misuse;
mod run;
mod shrink;
mod world;

pub use builder::{Blast, Campaign, campaign};
pub use check::{Check, Finding, Guarantees};
pub(crate) use faults::Declared;
pub use faults::Faults;
pub use misuse::Misuse;
pub use world::{Receiver, RunEnd, World};

#[cfg(feature = "real")]
pub(crate) use run::breaches_of;
pub(crate) use run::{Plan, Verdict};
pub(crate) use shrink::shrink;
