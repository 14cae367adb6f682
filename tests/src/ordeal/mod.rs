//! An ordeal of the ledger: a program that writes a store until it dies, and one that checks what
//! is left.
//!
//! What was written is known from its place alone (which run, which event), so the writer tells its
//! parent no bytes, only what it is about to ask for and what it was answered. The checker asks the
//! same of a ledger in memory, and every read of both must be equal. Everything goes through the
//! public `Ledger` trait; nothing here may know how a store looks inside, but for the names of the
//! files it finds there.

pub mod author;
pub mod bulk;
pub mod case;
pub mod check;
pub mod content;
pub mod damage;
pub mod deed;
pub mod fact;
pub mod flow;
pub mod house;
pub mod lane;
pub mod lateness;
pub mod moment;
pub mod reading;
pub mod room;
pub mod series;
pub mod truth;
pub mod writer;
