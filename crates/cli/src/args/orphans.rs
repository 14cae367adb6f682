//! What can be asked on the command line about orphans.

use clap::{Args, Subcommand};
use mainstay_types::{Millis, RunId, limits};

use crate::prefix::RunPrefix;
use crate::said::Said;
use crate::store::duration;

const ADOPT: &str = "Take over what an attempt goes on doing, with a time of its own.\n\n\
    It is yours from then on: the run is open until it is known what became of it, and an alert \
    `orphan_overdue` is told when nothing was heard by the end of that time. Take it over again to \
    wait longer; `close` when nobody has to wait.";

/// Which orphans are listed.
#[derive(Args, Clone, Debug)]
pub struct OrphansArgs {
    /// Only this run's
    #[arg(long, value_name = "ID")]
    pub run: Option<RunPrefix>,

    /// Only those of which nothing was heard in their time
    #[arg(long)]
    pub overdue: bool,

    /// Go on after this run: what the page before said
    #[arg(long, value_name = "RUN", value_parser = |text: &str| text.parse::<RunId>())]
    pub cursor: Option<RunId>,
}

/// What is done about one orphan.
#[derive(Clone, Debug, Subcommand)]
pub enum OrphanCommand {
    /// Take it over: it is yours, and you hear when nothing was heard of it
    #[command(long_about = ADOPT)]
    Adopt(AdoptArgs),
    /// Say that nobody waits for it; an answer that comes after all is still recorded
    Close(OrphanArgs),
}

/// Which orphan, who asks and why; all of it is recorded.
#[derive(Args, Clone, Debug)]
pub struct OrphanArgs {
    /// The run that gave it up: its id, or at least 8 characters of it
    #[arg(value_name = "RUN")]
    pub run: RunPrefix,

    /// The path of the call, as `orphans` prints it
    #[arg(value_name = "CALL")]
    pub call: String,

    /// The attempt
    #[arg(value_name = "ATTEMPT")]
    pub attempt: u32,

    /// Who asks; the user number of this process is recorded beside it
    #[arg(long, value_name = "WHO", env = "USER", hide_env_values = true)]
    #[arg(value_parser = Said { bytes_max: limits::KEY_BYTES_MAX })]
    pub by: String,

    /// Why
    #[arg(long, value_name = "TEXT")]
    #[arg(value_parser = Said { bytes_max: limits::TEXT_BYTES_MAX })]
    pub why: String,
}

/// Which orphan is taken over, and for how long.
#[derive(Args, Clone, Debug)]
pub struct AdoptArgs {
    /// Which.
    #[command(flatten)]
    pub orphan: OrphanArgs,

    /// How long it is waited for, like 90m or 2d, at most 7d; without it, 1h
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub wait: Option<Millis>,
}
