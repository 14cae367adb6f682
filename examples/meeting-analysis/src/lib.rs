//! The domain of the worked example: minutes of a meeting in; a draft with decisions and actions,
//! policy evidence, tickets and a report out.
//!
//! `minutes`, `summarise`, `policy`, `tickets` and `report` are the domain and must never know that
//! an engine runs them: pure functions and files only, no clock, no network, no retry. `local`,
//! `model` and `wire` turn them into dependencies, `class` says what a run does, `app` is the
//! program.

pub mod app;
pub mod class;
pub mod local;
pub mod minutes;
pub mod model;
pub mod policy;
pub mod report;
pub mod summarise;
pub mod text;
pub mod tickets;
pub mod wire;
