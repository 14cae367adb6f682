//! What can be asked on the command line.
//!
//! Arguments are checked here, once; a value that passed is valid inside.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mainstay_machine::RunState;
use mainstay_types::{ClassName, RunId, Tenant, limits};

use crate::store::RunPrefix;

/// Rows of a listing unless another number is asked for.
const ROWS_DEFAULT: usize = 50;

const ABOUT: &str = "Looks at the runs of a Mainstay store";

const LONG_ABOUT: &str = "Looks at the runs of a Mainstay store.\n\n\
    It reads a store that no running program holds, and changes nothing of what is stored. \
    stdout is data, stderr the rest; with --json stdout is one JSON value, and an error is one \
    JSON object {code, message, hint, retry_helps} on stderr.";

const EXIT_CODES: &str = "Exit codes:\n  \
    0  done\n  \
    1  not found, or refused\n  \
    2  the arguments are wrong\n  \
    3  the store cannot be used (held by another process, missing, unreadable), or the output\n     \
       cannot be written\n  \
    4  the store holds something corrupt\n\n\
    `error CODE` explains every code that an error begins with.";

/// The command line.
#[derive(Clone, Debug, Parser)]
#[command(name = "mainstay", version, about = ABOUT, long_about = LONG_ABOUT)]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    /// The store's folder
    #[arg(long, global = true, env = "MAINSTAY_STORE", value_name = "DIR")]
    #[arg(default_value = "./mainstay-store")]
    pub store: PathBuf,

    /// Print one JSON value; errors are JSON on stderr
    #[arg(long, global = true)]
    pub json: bool,

    /// What is asked.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What is asked.
#[derive(Clone, Debug, Subcommand)]
pub enum Verb {
    /// List runs, newest first
    Runs(RunsArgs),
    /// Look at one run
    #[command(subcommand)]
    Run(RunVerb),
    /// Show a task class: its calls, contracts, critical path and budget
    Graph(GraphArgs),
    /// Explain an error code; without one, list them
    Error(ErrorArgs),
}

/// Which runs are listed.
#[derive(Args, Clone, Debug)]
pub struct RunsArgs {
    /// Only this tenant's
    #[arg(long, value_name = "NAME", value_parser = |text: &str| Tenant::new(text))]
    pub tenant: Option<Tenant>,

    /// Only this class's
    #[arg(long, value_name = "NAME", value_parser = |text: &str| ClassName::new(text))]
    pub class: Option<ClassName>,

    /// Only those in this state: running, ended, closed or quarantined
    #[arg(long, value_parser = state)]
    pub state: Option<RunState>,

    /// How many, at most 1000
    #[arg(long, value_name = "N", default_value_t = ROWS_DEFAULT, value_parser = rows)]
    pub limit: usize,

    /// Only runs older than this one: the last row of the page before
    #[arg(long, value_name = "RUN", value_parser = |text: &str| text.parse::<RunId>())]
    pub cursor: Option<RunId>,
}

/// What is asked about one run.
#[derive(Clone, Debug, Subcommand)]
pub enum RunVerb {
    /// Show calls, attempts, effects, budget, notices and the timeline
    Show(ShowArgs),
}

/// Which run is shown.
#[derive(Args, Clone, Debug)]
pub struct ShowArgs {
    /// The run's id, or its first characters (at least 8) when they fit no other run
    #[arg(value_name = "ID")]
    pub id: RunPrefix,
}

/// Which class is shown, and how.
#[derive(Args, Clone, Debug)]
pub struct GraphArgs {
    /// The class's name; classes of this program first, then those of the store
    #[arg(value_name = "CLASS", value_parser = |text: &str| ClassName::new(text))]
    pub class: ClassName,

    /// Its version; without it, the newest
    #[arg(long, value_name = "N")]
    pub version: Option<u32>,

    /// How it is shown; with --json, a drawing is part of the JSON value
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub format: GraphFormat,
}

/// How a class is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// Tables for people
    Text,
    /// A flowchart for pages
    Mermaid,
    /// A digraph for Graphviz
    Dot,
    /// The stored form with its fingerprint and critical path
    Json,
}

/// Which code is explained.
#[derive(Args, Clone, Debug)]
pub struct ErrorArgs {
    /// The code, for example STORE_LOCKED
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

fn state(text: &str) -> Result<RunState, String> {
    RunState::ALL
        .into_iter()
        .find(|state| state.as_str() == text)
        .ok_or_else(|| {
            format!(
                "a state is one of {}",
                RunState::ALL.map(RunState::as_str).join(", ")
            )
        })
}

fn rows(text: &str) -> Result<usize, String> {
    let rows = text
        .parse()
        .ok()
        .filter(|rows| (1..=limits::PAGE_ROWS_MAX).contains(rows));
    rows.ok_or_else(|| format!("a number from 1 to {}", limits::PAGE_ROWS_MAX))
}
