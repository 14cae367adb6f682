//! `chaos`: campaigns in virtual time and of real processes, experiments on real services that fail
//! on purpose, and connections that break on purpose, on this machine alone.
//!
//! It must never touch a store that was there before, nor a service but the one it is told to pass
//! connections on to; what is measured is the experiment's, what is said about it is here.

mod args;
mod campaign;
#[cfg(feature = "experiment")]
mod experiment;
#[cfg(feature = "experiment")]
mod idempotency;
mod proxy;
#[cfg(feature = "real")]
mod real;

use mainstay_chaos::Offered;

pub use args::{CampaignArgs, ChaosVerb, ProxyArgs, RunPlanArgs, SelfTestArgs};
#[cfg(feature = "experiment")]
pub use experiment::{ExperimentVerb, IdempotencyArgs};
#[cfg(feature = "real")]
pub use real::{RealArgs, RealWorkerArgs};

use crate::error::CliError;
use crate::output::Output;

/// Does what is asked.
pub(crate) fn chaos(
    verb: &ChaosVerb,
    offered: &[Offered],
    output: &Output,
) -> Result<(), CliError> {
    match verb {
        ChaosVerb::Campaign(args) => campaign::campaign(args, offered, output),
        ChaosVerb::Run(args) => campaign::run(args, offered, output),
        ChaosVerb::Selftest(args) => campaign::try_itself(args, output),
        #[cfg(feature = "experiment")]
        ChaosVerb::Experiment(ExperimentVerb::Idempotency(args)) => idempotency::run(args, output),
        #[cfg(feature = "real")]
        ChaosVerb::Real(args) => real::run(args, offered, output),
        #[cfg(feature = "real")]
        ChaosVerb::RealWorker(args) => real::work(args, offered),
        ChaosVerb::Proxy(args) => proxy::run(args, output),
    }
}
