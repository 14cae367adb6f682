//! `bench`: how fast this build is on this disk, beside what the disk itself can do.
//!
//! Every number is made here and now by the engine that users run, over a store of its own in a
//! folder that is removed afterwards. It must never touch a store that was there before.

mod args;
mod calls;
mod classes;
mod latency;
mod load;
mod maker;
mod memory;
mod open;
mod place;
mod raw;
mod resume;
mod store;

pub use args::{BenchVerb, CallsArgs, LedgerChoice, OpenArgs, PlaceArgs, ResumeArgs};

use crate::error::CliError;
use crate::output::Output;

/// Measures what is asked.
pub(crate) fn bench(verb: &BenchVerb, output: &Output) -> Result<(), CliError> {
    match verb {
        BenchVerb::Calls(args) => calls::measure(args, output),
        BenchVerb::Open(args) => open::measure(args, output),
        BenchVerb::Resume(args) => resume::measure(args, output),
    }
}

/// Something of this measurement, not of the store, went wrong.
fn outside(what: &str, error: impl std::fmt::Display) -> CliError {
    CliError::outside(
        format!("{what}: {error}"),
        "check the folder given by --in, and what room it has",
    )
}
