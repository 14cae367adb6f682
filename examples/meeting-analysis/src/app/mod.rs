//! The program around the class: arguments, services, faults, output.
//!
//! It must never hold domain logic: what a run does is said by the class alone.

pub mod args;
pub mod fault;
pub mod input;
pub mod model;
pub mod output;
pub mod remote;
pub mod seams;
pub mod services;

mod entry;
mod program;

pub use entry::main_with;
pub use program::run;
