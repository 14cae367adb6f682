//! What `chaos experiment` can be asked.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};
use mainstay_chaos::experiment::idempotency::{SEED_DEFAULT, SESSIONS_DEFAULT};

/// More sessions take longer than anybody waits.
const SESSIONS_MAX: i64 = 1_000_000;

const IDEMPOTENCY: &str = "Count what ways of retrying do to orders, at a tool that answers too \
    late.\n\nA purchase tool on the loopback executes some orders and answers after the client's \
    timeout, and loses others. The HTTP client sends the same again; a scripted model calls again \
    under a new call id, perhaps with another memo. Each strategy meets the same faults, drawn from \
    the seed, and what models were told is held against the tool's own table. It takes some \
    seconds of real time; a busy machine adds faults of its own, which are counted. No model is \
    asked; Mainstay's own strategies write stores of their own in the system's folder for temporary \
    files, and no other store is touched.";

/// Which experiment.
#[derive(Clone, Debug, Subcommand)]
pub enum ExperimentVerb {
    /// Count what ways of retrying do to orders, at a tool that answers too late
    #[command(long_about = IDEMPOTENCY)]
    Idempotency(IdempotencyArgs),
}

/// How large, and what is drawn.
#[derive(Args, Clone, Debug)]
pub struct IdempotencyArgs {
    /// How many sessions each strategy has
    #[arg(long, value_name = "N", default_value_t = SESSIONS_DEFAULT)]
    #[arg(value_parser = value_parser!(u32).range(1..=SESSIONS_MAX))]
    pub sessions: u32,

    /// What all draws come from: the same seed, the same sessions and faults
    #[arg(long, value_name = "N", default_value_t = SEED_DEFAULT)]
    pub seed: u64,

    /// Draw the figures too, as an SVG picture in this file; one that is there is replaced
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}
