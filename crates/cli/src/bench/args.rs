//! What `bench` can be asked.
//!
//! Checked here, once; the bounds are those of the engine.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum, value_parser};
use mainstay_types::limits;

use super::classes::FAN_OUT_MAX;

/// The longest measurement of one row.
const SECONDS_MAX: f64 = 86_400.0;

/// What is measured.
#[derive(Clone, Debug, Subcommand)]
pub enum BenchVerb {
    /// Durable runs of calls that do nothing, beside what the disk itself can do
    Calls(CallsArgs),
    /// Opening a store after a clean close and after its process was killed
    Open(OpenArgs),
    /// Finishing runs whose process was killed in the middle
    Resume(ResumeArgs),
}

/// Where the store of a measurement lies.
#[derive(Args, Clone, Debug)]
pub struct PlaceArgs {
    /// Measure on the disk of this folder: a store is made in it, and removed afterwards
    ///
    /// Default: the system's folder for temporary files, which may be no disk at all. --store is
    /// not used: no store that is there is touched.
    #[arg(long = "in", value_name = "DIR")]
    pub folder: Option<PathBuf>,

    /// Leave the stores there, and say on stderr where
    #[arg(long)]
    pub keep: bool,
}

/// Which loads are measured.
#[derive(Args, Clone, Debug)]
pub struct CallsArgs {
    /// Runs under way at once; a row for each
    #[arg(
        long,
        value_name = "N,..",
        value_delimiter = ',',
        default_value = "1,64,512"
    )]
    #[arg(value_parser = number(limits::LIVE_RUNS_MAX))]
    pub concurrency: Vec<u32>,

    /// Calls of a run, one after the other; a row for each
    #[arg(
        long,
        value_name = "N,..",
        value_delimiter = ',',
        default_value = "1,10"
    )]
    #[arg(value_parser = number(limits::CLASS_NODES_MAX))]
    pub calls_per_run: Vec<u32>,

    /// A row more: runs of so many calls at once; 0 for none
    #[arg(long, value_name = "N", default_value_t = 50)]
    #[arg(value_parser = value_parser!(u32).range(0..=FAN_OUT_MAX as i64))]
    pub fan_out: u32,

    /// Runs under way at once in that row
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = number(limits::LIVE_RUNS_MAX))]
    pub fan_out_concurrency: u32,

    /// Runs that are over in each row's store before it is measured; a row for each
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "0")]
    pub stored: Vec<u32>,

    /// How long each row is measured, after a tenth of it to warm up
    #[arg(long, value_name = "S", default_value = "5", value_parser = seconds)]
    pub seconds: Duration,

    /// What keeps the runs; `memory` measures the engine without a disk
    #[arg(long, value_enum, default_value_t = LedgerChoice::Store, hide = true)]
    pub ledger: LedgerChoice,

    /// Where the store lies.
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// What keeps the runs of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LedgerChoice {
    /// A store on disk, as engines have it
    Store,
    /// Memory alone: the engine without a disk
    Memory,
}

/// What is in the store that is opened.
#[derive(Args, Clone, Debug)]
pub struct OpenArgs {
    /// Runs that are over
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub closed: u32,

    /// Runs that are driven when their process ends
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    #[arg(value_parser = value_parser!(u32).range(0..=limits::LIVE_RUNS_MAX as i64))]
    pub driven: u32,

    /// Where the store lies.
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Which runs are interrupted.
#[derive(Args, Clone, Debug)]
pub struct ResumeArgs {
    /// How many
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    #[arg(value_parser = number(limits::LIVE_RUNS_MAX))]
    pub runs: u32,

    /// Calls of each, one after the other
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = number(limits::CLASS_NODES_MAX))]
    pub calls_per_run: u32,

    /// Calls that are answered when the process is killed, less than all
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub answered: u32,

    /// Where the store lies.
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// A number from 1 to `max`.
fn number(max: usize) -> clap::builder::RangedI64ValueParser<u32> {
    value_parser!(u32).range(1..=i64::try_from(max).unwrap_or(i64::MAX))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if !(0.01..=SECONDS_MAX).contains(&seconds) {
        return Err(format!("a number from 0.01 to {SECONDS_MAX}"));
    }
    Ok(Duration::from_secs_f64(seconds))
}
