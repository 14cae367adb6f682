//! Ordeals of the ledger on disk: kills, losses of power, damage, full disks, growth.
//!
//! Each runs at the size CI has time for, and at its full size with `cargo xtask campaign`. What is
//! right is in `mainstay_tests::ordeal`; here is what is done to a store. A case that cannot run on
//! a machine is a failure, never a silent pass.

mod damage;
mod flow;
mod growth;
mod holding;
mod kills;
mod lateness;
mod opening;
mod power;
mod room;

use std::path::PathBuf;

use mainstay_tests::campaign::is_full;
use mainstay_tests::ordeal::writer::Programs;

/// The programs, with log segments of the usual size.
fn programs() -> Programs {
    Programs {
        ordeal: PathBuf::from(env!("CARGO_BIN_EXE_ordeal")),
        segment_bytes: None,
    }
}

/// So many in CI, so many at full size.
fn count(ci: u64, full: u64) -> u64 {
    if is_full() { full } else { ci }
}
