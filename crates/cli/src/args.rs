//! What can be asked on the command line.
//!
//! Arguments are checked here, once; a value that passed is valid inside.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use mainstay_machine::{OutcomeKind, RunState};
use mainstay_socket::Verdict;
use mainstay_socket::ask::{ROWS_DEFAULT, outcome, rows, state, verdict};
use mainstay_types::{ClassName, CostUnits, EffectKey, RunId, Tenant, limits};

pub(crate) mod orphans;

use self::orphans::{OrphanCommand, OrphansArgs};
use crate::bench::BenchVerb;
#[cfg(feature = "chaos")]
use crate::chaos::ChaosVerb;
use crate::prefix::RunPrefix;
use crate::said::Said;
use crate::store::{EraseArgs, ExportArgs, ImportArgs, PruneArgs, RepairArgs};

const ABOUT: &str = "Looks at the runs of a Mainstay store, and stops or continues them";

const LONG_ABOUT: &str = "Looks at the runs of a Mainstay store, and stops or continues them.\n\n\
    It asks the process that holds the store, through the store's local socket; a store that no \
    process holds is opened for the time of the command, and nothing is driven. Looking changes \
    nothing of what is stored. stdout is data, stderr the rest; with --json stdout is one JSON \
    value, and an error is one JSON object {code, message, hint, retry_helps} on stderr.";

const REPAIR: &str = "Bring back what can be brought back of a store that is hurt.\n\n\
    Without --apply it only says what it would do and what would be lost. A table that is not what \
    was written is made anew from the log. A log that is refused is written anew from everything in \
    it that proves itself, and from what the table knows beyond that; runs of which nobody knows \
    what they did last stop, for a person to look. What is replaced is kept in a folder beside.";

const ERASE: &str = "Take everything of one closed run out of every file.\n\n\
    Its records, its waiting and former commands, its start key and the results of its effects are \
    overwritten wherever they lie, the table is made anew, and who asked and why is noted. The keys \
    of its effects stay, so that no later run does them again. It is refused while the run is not \
    closed or one of its effects is open or in doubt.";

const SETTLE: &str = "Say what became of an effect that no machine can tell: one that is in doubt, or \
    was applied in part. Look at the receiver first.\n\n\
    What is said is recorded with who said it and why, and believed as the receiver would be: after \
    `applied` the call has its value, which --result gives, after `not-applied` it may be sent again \
    under the same key. `not-applied` is refused while a request that was sent may still land. A \
    result that the class cannot read is refused; only a process with the class's code can tell, so \
    `applied` needs one that holds the store or mounts these commands.";

const EXIT_CODES: &str = "Exit codes:\n  \
    0  done\n  \
    1  not found, or refused\n  \
    2  the arguments are wrong\n  \
    3  the store cannot be used (missing, unreadable, or held by a process that cannot be asked),\n     \
       or the output cannot be written\n  \
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
    /// Look at one run, stop it or let it go on
    #[command(subcommand)]
    Run(RunVerb),
    /// List what a person should hear of: hand-offs, doubts, late ends, quarantines, orphans
    Alerts(AlertsArgs),
    /// List effects in the outside world, applied or not, known or in doubt
    Effects(EffectsArgs),
    /// Look at one effect, or say what became of it when no machine can tell
    #[command(subcommand)]
    Effect(EffectVerb),
    /// List remote work that runs gave up and that may still be going on
    Orphans(OrphansArgs),
    /// Take over what an attempt that was given up goes on doing, or say that nobody waits for it
    #[command(subcommand)]
    Orphan(OrphanCommand),
    /// Show how the engine is: live runs, what is not driven, limits in force
    Status,
    /// Show a task class: its calls, contracts, critical path and budget
    Graph(GraphArgs),
    /// Count what is in the store, and what it takes on the disk
    Stats,
    /// Read every file of the store and prove everything in it; changes nothing
    Verify,
    /// Bring back what can be brought back of a store that is hurt
    #[command(long_about = REPAIR)]
    Repair(RepairArgs),
    /// Write runs as lines of JSON that prove themselves
    Export(ExportArgs),
    /// Read runs from a file that `export` wrote; refused when one of them is there already
    Import(ImportArgs),
    /// Take out closed runs and keys whose time is over, and free their room
    Prune(PruneArgs),
    /// Take everything of one closed run out of every file
    #[command(long_about = ERASE)]
    Erase(EraseArgs),
    /// Measure this build on this disk, in a store of its own
    #[command(subcommand)]
    Bench(BenchVerb),
    /// Try ways of doing things on services and connections that fail on purpose
    #[cfg(feature = "chaos")]
    #[command(subcommand)]
    Chaos(ChaosVerb),
    /// Explain an error code; without one, list them
    Error(ErrorArgs),
    /// Print the completion script of a shell
    Completion(CompletionArgs),
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

    /// Only those in this state, for example running, ended or quarantined
    #[arg(long, value_parser = state)]
    pub state: Option<RunState>,

    /// Only those whose newest lap ended so, for example completed or handed_off
    #[arg(long, value_parser = outcome)]
    pub outcome: Option<OutcomeKind>,

    /// Only those with an effect in doubt
    #[arg(long)]
    pub in_doubt: bool,

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
    /// Say why it stands where it stands: what is in the way, what comes next, what nobody knows,
    /// what it spent on what, and which number would have to change
    Why(WhyArgs),
    /// Ask it to stop: nothing new starts, writes that are out are settled first
    Cancel(CommandArgs),
    /// End it whatever its state; effects that are in doubt stay to be looked up
    Terminate(CommandArgs),
    /// Open the next lap of one that has ended: fresh times and budget, the same keys and effects
    Continue(CommandArgs),
    /// Let its open lap spend more; a run that waits at that limit goes on
    Raise(RaiseArgs),
}

/// Which run is shown.
#[derive(Args, Clone, Debug)]
pub struct ShowArgs {
    /// The run's id, or its first characters (at least 8) when they fit no other run
    #[arg(value_name = "ID")]
    pub id: RunPrefix,

    /// Show payloads too: results, packages, and what receivers and providers said
    #[arg(long)]
    pub payloads: bool,
}

/// Which run is explained.
#[derive(Args, Clone, Debug)]
pub struct WhyArgs {
    /// The run's id, or its first characters (at least 8) when they fit no other run
    #[arg(value_name = "ID")]
    pub id: RunPrefix,
}

/// Which run a command is for, who asks and why; both are recorded with it.
#[derive(Args, Clone, Debug)]
pub struct CommandArgs {
    /// The run's id, or its first characters (at least 8) when they fit no other run
    #[arg(value_name = "ID")]
    pub id: RunPrefix,

    /// Who asks and why.
    #[command(flatten)]
    pub asker: AskerArgs,
}

/// Who asks and why; both are recorded.
#[derive(Args, Clone, Debug)]
pub struct AskerArgs {
    /// Who asks; the user number of this process is recorded beside it
    #[arg(long, value_name = "WHO", env = "USER", hide_env_values = true)]
    #[arg(value_parser = Said { bytes_max: limits::KEY_BYTES_MAX })]
    pub by: String,

    /// Why
    #[arg(long, value_name = "TEXT")]
    #[arg(value_parser = Said { bytes_max: limits::TEXT_BYTES_MAX })]
    pub why: String,
}

/// By how much a lap's limits grow.
#[derive(Args, Clone, Debug)]
#[group(id = "more", required = true, multiple = true, args = ["cost", "retries", "concurrency"])]
pub struct RaiseArgs {
    /// Which run, who asks and why.
    #[command(flatten)]
    pub command: CommandArgs,

    /// Cost units more, for example +5 or 0.25
    #[arg(long, value_name = "UNITS", value_parser = more::<CostUnits>)]
    pub cost: Option<CostUnits>,

    /// Retry tokens more
    #[arg(long, value_name = "N", value_parser = more::<u32>)]
    pub retries: Option<u32>,

    /// Attempts more that may be in flight at once
    #[arg(long, value_name = "N", value_parser = more::<u32>)]
    pub concurrency: Option<u32>,
}

/// A number with or without a plus sign before it.
fn more<T: FromStr>(text: &str) -> Result<T, T::Err> {
    text.strip_prefix('+').unwrap_or(text).parse()
}

/// Which alerts are listed.
#[derive(Args, Clone, Debug)]
pub struct AlertsArgs {
    /// Only those after this one: the last number that was seen
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub after: u64,

    /// How many at once, at most 1000
    #[arg(long, value_name = "N", default_value_t = ROWS_DEFAULT, value_parser = rows)]
    pub limit: usize,

    /// Go on with those to come until the process that holds the store ends: a line per alert,
    /// with --json one JSON value per line
    #[arg(long)]
    pub follow: bool,
}

/// Which effects are listed.
#[derive(Args, Clone, Debug)]
pub struct EffectsArgs {
    /// Whose, and from where on.
    #[command(flatten)]
    pub page: PageArgs,

    /// Only those in doubt
    #[arg(long)]
    pub in_doubt: bool,
}

/// Which page of what runs have.
#[derive(Args, Clone, Debug)]
pub struct PageArgs {
    /// Only this run's
    #[arg(long, value_name = "ID")]
    pub run: Option<RunPrefix>,

    /// Go on after this run: what the page before said
    #[arg(long, value_name = "RUN", value_parser = |text: &str| text.parse::<RunId>())]
    pub cursor: Option<RunId>,
}

/// What is asked about one effect.
#[derive(Clone, Debug, Subcommand)]
pub enum EffectVerb {
    /// Show how it stands, what was tried, what its receiver promises, and what can be said of it
    Show(EffectShowArgs),
    /// Say what became of it, after looking at the receiver; its run goes on by itself
    #[command(long_about = SETTLE)]
    Settle(SettleArgs),
}

/// Which effect is shown.
#[derive(Args, Clone, Debug)]
pub struct EffectShowArgs {
    /// Its key, whole, as `effects` prints it
    #[arg(value_name = "KEY", value_parser = |text: &str| text.parse::<EffectKey>())]
    pub key: EffectKey,

    /// Show payloads too: what the receiver answered, and what it said
    #[arg(long)]
    pub payloads: bool,
}

/// What is said of an effect, by whom and why; all of it is recorded.
#[derive(Args, Clone, Debug)]
pub struct SettleArgs {
    /// Its key, whole, as `effects` prints it
    #[arg(value_name = "KEY", value_parser = |text: &str| text.parse::<EffectKey>())]
    pub key: EffectKey,

    /// What became of it: applied or not-applied; or compensate, to have it undone as its class
    /// says how
    #[arg(value_name = "VERDICT", value_parser = verdict)]
    pub verdict: Verdict,

    /// For `applied`: what the receiver answered, or would have, as JSON
    #[arg(long, value_name = "JSON")]
    pub result: Option<String>,

    /// Who says so, and how they know or why it is to be undone.
    #[command(flatten)]
    pub asker: AskerArgs,
}

/// For which shell.
#[derive(Args, Clone, Debug)]
pub struct CompletionArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
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
