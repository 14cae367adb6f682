//! `chaos`: experiments on real services that fail on purpose, and connections that break on
//! purpose, on this machine alone.
//!
//! It must never touch a store that was there before, nor a service but the one it is told to pass
//! connections on to; what is measured is the experiment's, what is said about it is here.

mod args;
mod idempotency;
mod proxy;

pub use args::{ChaosVerb, ExperimentVerb, IdempotencyArgs, ProxyArgs};

use crate::error::CliError;
use crate::output::Output;

/// Does what is asked.
pub(crate) fn chaos(verb: &ChaosVerb, output: &Output) -> Result<(), CliError> {
    match verb {
        ChaosVerb::Experiment(ExperimentVerb::Idempotency(args)) => idempotency::run(args, output),
        ChaosVerb::Proxy(args) => proxy::run(args, output),
    }
}
