//! What the example services share: faults on demand, a log of every request, problem+json, a serve
//! loop that can close a connection without answering, a pid file.
//!
//! It must never know what a service is about, and never touch a request that no fault asks for.

mod body;
mod control;
mod fault;
mod faults;
mod front;
mod kit;
mod log;
mod memory_log;
mod problem;
mod process;
mod serve;

pub use fault::{Fault, FaultKind, Match, ParseFaultError};
pub use faults::{ArmError, Armed, FAULTS_MAX, Faults};
pub use front::{Described, Incoming, RequestContext, delayed, dropped};
pub use kit::{Kit, KitOptions, ServeError};
pub use log::{
    Arrival, Conclusion, Entry, LogError, LogFilter, LogPage, RequestLog, Status, StatusWord,
    Subject, now_ms,
};
pub use memory_log::MemoryLog;
pub use problem::Problem;
pub use process::{Announcement, PidFile, StartError, announce, stop_signal};
