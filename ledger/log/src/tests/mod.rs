//! The whole ledger over a table in memory: what every backend has to do, and what only this one
//! can get wrong.

mod colliding;
mod conformance;
mod erasing;
mod exchanging;
mod house;
mod mending;
mod retention;
mod room;
