//! The core's tests, one binary: scenarios as text, the table after a failure, random runs.
//!
//! Nothing here may sleep, read a clock or look into the core beyond its public state.

mod random;
mod scenario;
mod stories;
