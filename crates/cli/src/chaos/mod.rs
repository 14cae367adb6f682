//! `chaos`: experiments on real services that fail on purpose, and connections that break on
//! purpose, on this machine alone.
//!
//! It must never touch a store that was there before, nor a service but the one it is told to pass
//! connections on to; what is measured is the experiment's, what is said about it is here.

mod args;
mod campaign;
mod idempotency;
mod proxy;

pub use args::{
    CampaignArgs, ChaosVerb, ExperimentVerb, IdempotencyArgs, ProxyArgs, RunPlanArgs, SelfTestArgs,
};
use mainstay_chaos::Offered;

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
        ChaosVerb::Experiment(ExperimentVerb::Idempotency(args)) => idempotency::run(args, output),
        ChaosVerb::Proxy(args) => proxy::run(args, output),
    }
}
