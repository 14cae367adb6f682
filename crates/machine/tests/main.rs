//! The core's tests, one binary: scenarios as text, the table after a failure, random runs,
//! random runs in virtual time beside an oracle.
//!
//! Nothing here may sleep, read a clock or look into the core beyond its public state.

mod budgets;
mod oracle;
mod random;
mod scenario;
mod stories;
