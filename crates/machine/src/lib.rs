//! The pure core of a Root Run: what may start, what follows from a command, what is to be done.
//!
//! Four functions behind one port, [`Core`]. No async, clock, randomness, I/O, serialization,
//! float or hash order may appear here: a run's log and this code give its state, always.

#![deny(clippy::float_arithmetic)]

pub mod action;
pub mod admission;
pub mod command;
pub mod compensate;
pub mod core;
pub mod event;

mod about;
mod advance;
pub mod alert;
mod attempt;
pub mod budget;
pub mod by_hand;
pub mod call;
mod calls;
pub mod caps;
pub mod decision;
mod doubt;
pub mod effect;
mod ending;
mod found;
mod ground;
mod guard;
mod halt;
mod held;
mod key_age;
mod lap;
mod lease;
pub mod life;
mod needs;
pub mod next;
mod offered;
pub mod orphan;
pub mod parts;
mod pending;
mod prepare;
mod raise;
mod relay;
mod repair;
pub mod run;
mod rung;
mod settle;
pub mod start;
pub mod streak;
pub mod tools;
mod twin;
pub mod view;
mod yields;

pub use crate::core::{Core, Machine, apply, decide, may_start, pending};
pub use action::Action;
pub use admission::{Admission, Forecast, Verdict};
pub use alert::{Alert, AlertKind};
pub use budget::BudgetState;
pub use by_hand::Ruling;
pub use call::{Attempt, AttemptState, Call, Effect, EffectStatus, Phase, Repair, Undoes};
pub use command::{
    Abandoned, AskCompensate, AskOrphan, AskRaise, AskSettle, AskStart, AskTool, Command,
    EffectEntry, EntryState, Evidence, Finding, FoundByOther, LookedUp, OrphanWish, Settle,
    SettleEnd,
};
pub use decision::{Allowed, Decision, NextAction, Numbers, Refused};
pub use event::{
    AttemptEnd, AttemptStarted, ClassRef, CompensationWanted, Event, LapStarted, LapTimes,
    LeaseTaken, OutcomeKind, Prepared, Raise, RunStarted, SettledByHand, ToolCalled, ToolMade,
};
pub use orphan::{Orphan, Seen, Stand};
pub use parts::{Parts, RunParts, SNAPSHOT_SCHEMA};
pub use run::{Asked, Head, Lap, LapOutcome, Quarantine, Run};
pub use tools::{ToolCallId, ToolsAsked};
pub use view::{RunState, StateReason, Summary};
