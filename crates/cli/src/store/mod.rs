//! Commands about a store as a whole: what is in it, whether it is what was written, taking things
//! out and putting them in.
//!
//! They need no class of a user's. They hold the store while they work, so a store that a process
//! holds is refused, naming the holder; `verify` and `repair` alone are for one that is hurt.

mod args;
mod erase;
mod exchange;
mod prune;
mod repair;
mod stats;
mod verify;

pub(crate) use args::duration;
pub use args::{EraseArgs, ExportArgs, ImportArgs, PruneArgs, RepairArgs};
pub(crate) use erase::erase;
pub(crate) use exchange::{export, import};
pub(crate) use prune::prune;
pub(crate) use repair::repair;
pub(crate) use stats::stats;
pub(crate) use verify::verify;

use chrono::Utc;
use mainstay_ledger::LedgerError;
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_socket::Failure;
use mainstay_types::{Millis, RunId, Timestamp};

use crate::error::CliError;
use crate::operator::{is_folder, reach};
use crate::output::Output;
use crate::prefix::RunPrefix;

/// Another command may hold the store for a moment.
const WAIT: Millis = Millis::new(500);

/// The store, held by this command.
fn hold(output: &Output) -> Result<SledLedger, CliError> {
    is_folder(&output.store)?;
    SledLedger::open(&output.store, OpenOptions::default().wait(WAIT)).map_err(failed)
}

/// The run that a person means; the store is let go of again.
fn run_of(prefix: &RunPrefix, output: &Output) -> Result<RunId, CliError> {
    let mut operator = reach(&output.store)?;
    prefix.run(&mut *operator, output)
}

fn failed(error: LedgerError) -> CliError {
    Failure::from(error).into()
}

fn now() -> Timestamp {
    Timestamp::from_millis(Utc::now().timestamp_millis())
}
