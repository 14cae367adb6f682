//! States of runs, and runs put together from them.
//!
//! What holds is said in `mainstay_ledger::fuzzing`; nothing may be asserted here.
#![no_main]

use mainstay_ledger::fuzzing;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzzing::snapshot(data));
