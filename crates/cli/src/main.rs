//! The binary `mainstay`: the command line without any class of its own.
//!
//! It must never hold anything that a user's binary with the same commands and features would lack,
//! except its choice of an allocator (`PERFORMANCE.md`).

use std::process::ExitCode;

/// A store's small rows live among a turn's short-lived pieces; the system's allocator may let the
/// holes between them grow.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    mainstay_cli::main_with(Vec::new())
}
