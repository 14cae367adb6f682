//! Experiments on real services that fail on purpose: what a way of retrying does to the world.
//!
//! Each experiment is a folder below `experiment/`: its faults in one file of numbers, the service
//! that has them, a scripted stand-in for the model, and the ways that are compared. What really
//! happened is read from the service's own table. It must never be asked of the code under test,
//! and no experiment needs a model, a network beyond the loopback or a store that was there before.

pub mod experiment;
