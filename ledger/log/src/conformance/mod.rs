//! What a table has to do, as a suite: a new engine needs a factory and passes this.
//!
//! First the port itself, then how things stand over it, which is where a table is used. Nothing
//! here knows an engine; what an engine does when its files are damaged is for its own tests, which
//! have the same world to do it in.

mod port;
mod random;
mod world;

pub use port::port;
pub use random::standing;
pub use world::{KINDS, STORE, World, eager, key, patient, place, value, wait};

pub use crate::files::RealDisk;
pub use crate::standing::StandingSettings;
pub use crate::standing::{
    Bounds, Change, Health, Lag, LookUp, Pressure, Site, Standing, StandingRow,
};
