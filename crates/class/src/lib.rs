//! The typed builder of task classes, and the form the engine runs them in.
//!
//! Using a ref is the edge: a cycle cannot be written, and a value that may be missing is an
//! `Option`. What the builder knows becomes data of `mainstay-graph`; what only code can do (the
//! closures, the dependencies) becomes an [`ErasedClass`]. Nothing here runs a call.

pub mod builder;
pub mod call;
pub mod class;
pub mod erased;
pub mod kinds;
pub mod problems;
pub mod refs;
pub mod settings;

mod adding;
mod checked;
mod draft;
mod effected;
mod make;
mod schema;

pub mod tools;

pub use builder::{Builder, TaskClass};
pub use call::Call;
pub use class::Class;
pub use effected::Effected;
pub use erased::{ErasedClass, PreparedRequest, PreparedValue, UnknownDependency};
pub use problems::Problems;
pub use refs::{Predicate, Ref, Refs, SoftRef};
pub use settings::{
    Absolute, Budget, Cap, Caps, Cost, Extend, Reserve, days, hours, mins, ms, secs,
};
pub use tools::{Tool, ToolOutcome, ToolRecord};

pub use mainstay_dispatch::{Promise, Read, Value, Write};
pub use mainstay_graph::OnFailure::{Fail, HandOff};
pub use mainstay_graph::SameRequestRule::{PerRun, PerSlot};
pub use mainstay_graph::{OnLate, OnLimit};
