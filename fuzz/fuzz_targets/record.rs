//! Records as they lie in a store.
//!
//! What holds is said in `mainstay_ledger::fuzzing`; nothing may be asserted here.
#![no_main]

use mainstay_ledger::fuzzing;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzzing::record(data));
