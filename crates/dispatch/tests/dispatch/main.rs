//! What an attempt passes and how its end is told, with time in the test's hands. Nothing here
//! sleeps: a future is polled until nothing wakes it, then time moves on.

mod doubles;
mod endings;
mod layers;
mod look_ups;
mod panics;
mod spans;
