//! What happens next: the engine that drives runs.
//!
//! A live run is one owner with a mailbox; each turn is decided on scratch, appended once and only
//! then acted upon. Recovery is the same loop after a load. Nothing here reads a clock, draws a
//! number or spawns but through the ports; `system` alone knows the real ones.

pub mod answer;
pub mod companion;
pub mod engine;
pub mod error;
pub mod listing;
pub mod observe;
pub mod ports;
pub mod registry;
pub mod start;
pub mod system;
pub mod view;

mod alerts;
mod appending;
mod bell;
mod by_hand;
mod control;
mod doing;
mod due;
mod evidence;
mod forecast;
mod handing;
mod holder;
mod inbox;
mod keeper;
mod keeping;
mod live;
mod load;
mod mail;
mod mailbox;
mod marked;
mod not_driven;
mod orphans;
mod outgoing;
mod pace;
mod parking;
mod part;
mod poison;
mod shared;
mod shutdown;
mod take_up;
mod time;
mod tools;
mod turn;
mod user_code;

pub use answer::{Addendum, Answer, Doubtful, Later, Outcome, RunHandle};
pub use companion::{Companion, Stay, WeakEngine};
pub use engine::{Engine, EngineBuilder};
pub use error::EngineError;
pub use listing::{EffectFilter, EffectPage, EffectRow, Status};
pub use not_driven::{NotDriven, NotDrivenReason};
pub use orphans::{OrphanFilter, OrphanPage, OrphanRow};
pub use ports::Ports;
pub use registry::Registry;
pub use shutdown::ShutdownReport;
pub use start::Start;
pub use tools::{ToolAnswer, ToolSchema, Tools};

pub use mainstay_graph::Budget;
pub use mainstay_machine::Ruling;
