//! Tests of the stored forms: frozen by golden files, true to every event, safe on any bytes.

mod bounds;
mod golden;
mod round_trip;
mod shape;
mod snapshot;
mod upcast;
