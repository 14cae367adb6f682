//! What holds for task classes as data, from outside the crate: one test binary.
//!
//! Classes are built by hand here (see `sample`); the typed builder has its own tests.

mod contracts;
mod draw;
mod form;
mod path;
mod sample;
mod tools;
mod undo;
mod validate;
