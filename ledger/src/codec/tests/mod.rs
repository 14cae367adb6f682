//! Tests of the stored forms: frozen by golden files, true to every event, safe on any bytes.

mod golden;
mod round_trip;
