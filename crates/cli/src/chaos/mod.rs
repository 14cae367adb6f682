//! `chaos`: experiments on real services that fail on purpose, on this machine alone.
//!
//! It must never touch a store or a service that was there before; what is measured is the
//! experiment's, what is said about it is here.

mod args;
mod idempotency;

pub use args::{ChaosVerb, ExperimentVerb, IdempotencyArgs};

use crate::error::CliError;
use crate::output::Output;

/// Does what is asked.
pub(crate) fn chaos(verb: &ChaosVerb, output: &Output) -> Result<(), CliError> {
    match verb {
        ChaosVerb::Experiment(ExperimentVerb::Idempotency(args)) => idempotency::run(args, output),
    }
}
