//! What can be asked on the command line about orphans.

use clap::{Args, Subcommand};
use mainstay_types::Millis;

use crate::args::{AskerArgs, PageArgs};
use crate::prefix::RunPrefix;
use crate::store::duration;

const ADOPT: &str = "Take over what an attempt goes on doing, with a time of its own.\n\n\
    It is yours from then on: the run is open until it is known what became of it, and an alert \
    `orphan_overdue` is told when nothing was heard by the end of that time. Take it over again to \
    wait longer; `close` when nobody has to wait.";

/// Which orphans are listed.
#[derive(Args, Clone, Debug)]
pub struct OrphansArgs {
    /// Whose, and from where on.
    #[command(flatten)]
    pub page: PageArgs,

    /// Only those of which nothing was heard in their time
    #[arg(long)]
    pub overdue: bool,
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

    /// Who asks and why.
    #[command(flatten)]
    pub asker: AskerArgs,
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
