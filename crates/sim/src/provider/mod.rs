//! Doubles of dependencies: how long they take, how much they take at once, what they do to the
//! world and what they tell of it, with faults from outside.
//!
//! A double stands behind one dependency of a class for one world. What it did is in its table,
//! which no crash takes away and no engine can see but by asking.

mod answers;
mod double;
mod kind;
mod latency;
mod model;
mod outside;
mod table;
mod twist;

pub use answers::WAITS;
pub use double::Double;
pub use kind::Kind;
pub use latency::{Spread, lot};
pub use model::{SimModel, SimReceiver};
pub use outside::Outside;
pub use table::Applied;
pub use twist::{Arrival, Deed, NoTwists, Sight, Twist, Twists};
