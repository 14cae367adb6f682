//! Behaviour across crates, with real processes: what its tests share.
//!
//! Every wait has a bound, every process is ended by its own pid, and a failure says the command,
//! its exit code and what it printed. Nothing here may decide what is right: that is the tests'.

pub mod aimock;
pub mod binaries;
pub mod campaign;
pub mod crowd;
pub mod echo;
pub mod failpoints;
pub mod flood;
pub mod http;
pub mod meeting;
pub mod minutes;
pub mod model;
pub mod ordeal;
pub mod place;
pub mod process;
pub mod receivers;
pub mod scenario;
pub mod seed;
pub mod seen;
pub mod service;
pub mod stage;
pub mod values;
pub mod view;
pub mod wait;
pub mod ways;
pub mod worker;
