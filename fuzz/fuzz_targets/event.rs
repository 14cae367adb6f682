//! Payloads of events, of every kind and version.
//!
//! What holds is said in `mainstay_ledger::fuzzing`; nothing may be asserted here.
#![no_main]

use mainstay_ledger::fuzzing;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzzing::event(data));
