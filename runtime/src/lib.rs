//! What happens next: the engine that drives runs.
//!
//! A live run is one owner with a mailbox; each turn is decided on scratch, appended once and only
//! then acted upon. Recovery is the same loop after a load. Nothing here reads a clock, draws a
//! number or spawns but through the ports; `system` alone knows the real ones.

pub mod answer;
pub mod engine;
pub mod error;
pub mod ports;
pub mod registry;
pub mod start;
pub mod system;
pub mod view;

mod appending;
mod due;
mod inbox;
mod live;
mod load;
mod mailbox;
mod outgoing;
mod poison;
mod recovery;
mod shared;
mod shutdown;
mod time;
mod turn;
mod user_code;

pub use answer::{Addendum, Answer, Later, Outcome, RunHandle};
pub use engine::{Engine, EngineBuilder};
pub use error::EngineError;
pub use ports::Ports;
pub use recovery::{NotDriven, NotDrivenReason};
pub use registry::Registry;
pub use shutdown::ShutdownReport;
pub use start::Start;
