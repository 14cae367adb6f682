//! Behaviour across crates, with real processes: what its tests share.
//!
//! Every wait has a bound, every process is ended by its own pid, and a failure says the command,
//! its exit code and what it printed. Nothing here may decide what is right: that is the tests'.

pub mod binaries;
pub mod crowd;
pub mod echo;
pub mod http;
pub mod meeting;
pub mod minutes;
pub mod place;
pub mod process;
pub mod seed;
pub mod service;
pub mod values;
pub mod view;
pub mod wait;
