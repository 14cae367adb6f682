//! Task classes as data: what a run may do, under which promises, within which limits.
//!
//! Everything here is a value that can be compared, drawn, checked and stored. Nothing here runs
//! anything, and no user code is reachable from it: a stored run can be read without its code.

#![deny(clippy::float_arithmetic)]

pub mod class;
pub mod contract;
pub mod draw;
pub mod form;
pub mod path;
pub mod problem;
pub mod validate;
mod words;

pub use class::{
    Budget, Caps, Criticality, DependencyCap, Node, NodeKind, OnDowntime, OnFailure, OnLimit,
    Reserve, TaskClass, Tool,
};
pub use class::{Schema, Times};
pub use contract::{
    Backoff, CancelSemantics, Contract, EffectContract, EffectSemantics, Fallback, FallbackKind,
    OnLate, Resolution, SameRequestRule, ScopeKind,
};
pub use form::FormError;
pub use path::CriticalPath;
pub use problem::{Problem, Severity};
pub use validate::validate;
