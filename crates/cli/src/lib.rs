//! The command line of Mainstay, as a library: a user's binary mounts it with its own classes.
//!
//! Every command asks whoever answers for the store: the process that holds it, through its local
//! socket, or the store itself when nobody does. Looking changes nothing of what is stored. stdout
//! is data, one JSON value with `--json`; everything else is stderr. Nothing here panics on what it
//! reads, and a reader that goes away early is no error, except of an export,
//! which has to be whole.
//!
//! ```no_run
//! // src/bin/acme-runs.rs of a user: the same commands, with the classes of this program.
//! fn main() -> std::process::ExitCode {
//!     mainstay_cli::main_with(Vec::new())
//! }
//! ```
//!
//! Or below a command of the user's own:
//!
//! ```no_run
//! use clap::{Parser, Subcommand};
//!
//! #[derive(Parser)]
//! struct Acme {
//!     #[command(subcommand)]
//!     verb: Verb,
//! }
//!
//! #[derive(Subcommand)]
//! enum Verb {
//!     /// Serve requests
//!     Serve,
//!     /// Look at runs, stop them, let them go on
//!     Ops(mainstay_cli::Cli),
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     match Acme::parse().verb {
//!         Verb::Serve => std::process::ExitCode::SUCCESS,
//!         Verb::Ops(cli) => cli.run(&[]),
//!     }
//! }
//! ```

mod alerts;
mod args;
mod bench;
#[cfg(feature = "chaos")]
mod chaos;
mod completion;
mod effects;
mod error;
mod explain;
mod graph;
mod mounted;
mod operator;
mod orphans;
mod output;
mod prefix;
mod progress;
mod reasons;
mod run;
mod runs;
mod said;
mod shell;
mod status;
mod store;
mod table;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use clap::error::ErrorKind;
use mainstay_graph::TaskClass;
use mainstay_socket::CommandVerb;

pub use args::orphans::{AdoptArgs, OrphanArgs, OrphanCommand, OrphansArgs};
pub use args::{
    AlertsArgs, AskerArgs, Cli, CommandArgs, CompletionArgs, EffectShowArgs, EffectVerb,
    EffectsArgs, ErrorArgs, GraphArgs, GraphFormat, PageArgs, RunVerb, RunsArgs, SettleArgs,
    ShowArgs, Verb,
};
pub use bench::{BenchVerb, CallsArgs, LedgerChoice, OpenArgs, PlaceArgs, ResumeArgs};
#[cfg(feature = "chaos")]
pub use chaos::{CampaignArgs, ChaosVerb, ProxyArgs, RunPlanArgs, SelfTestArgs};
#[cfg(feature = "experiment")]
pub use chaos::{ExperimentVerb, IdempotencyArgs};
#[cfg(feature = "real")]
pub use chaos::{RealArgs, RealWorkerArgs};
pub use mounted::Mounted;
pub use prefix::RunPrefix;
pub use store::{EraseArgs, ExportArgs, ImportArgs, PruneArgs, RepairArgs};

use error::{CliError, Exit};
use output::Output;

/// The whole program: reads the arguments, does what they ask, says how it went.
///
/// `classes` are known to `graph` beside those of the store; the binary `mainstay` has none.
#[must_use = "it is the program's exit code"]
pub fn main_with(classes: Vec<Arc<TaskClass>>) -> ExitCode {
    main_mounting(&Mounted::new().classes(classes))
}

/// [`main_with`] for a program that mounts more than classes.
#[must_use = "it is the program's exit code"]
pub fn main_mounting(mounted: &Mounted) -> ExitCode {
    mainstay_ledger_sled::hide_sled_panics();
    let args: Vec<OsString> = std::env::args_os().collect();
    match Cli::try_parse_from(&args) {
        Ok(cli) => cli.run_mounting(mounted),
        Err(error) => usage(&error, args.iter().any(|arg| arg == "--json")),
    }
}

impl Cli {
    /// Does what the arguments ask. Blocks; not to be called from inside an async runtime.
    #[must_use = "it is the program's exit code"]
    pub fn run(self, classes: &[Arc<TaskClass>]) -> ExitCode {
        self.run_mounting(&Mounted::new().classes(classes.to_vec()))
    }

    /// [`Cli::run`] for a program that mounts more than classes.
    #[must_use = "it is the program's exit code"]
    pub fn run_mounting(self, mounted: &Mounted) -> ExitCode {
        let output = Output {
            json: self.json,
            store: self.store.clone(),
            program: program(),
        };
        let done = match &self.verb {
            Verb::Runs(args) => runs::list(args, &output),
            Verb::Run(RunVerb::Show(args)) => run::show(args, &output),
            Verb::Run(RunVerb::Why(args)) => run::why(args, &output),
            Verb::Run(RunVerb::Cancel(args)) => run::command(CommandVerb::Cancel, args, &output),
            Verb::Run(RunVerb::Terminate(args)) => {
                run::command(CommandVerb::Terminate, args, &output)
            }
            Verb::Run(RunVerb::Raise(args)) => run::raise(args, &output),
            Verb::Run(RunVerb::Continue(args)) => {
                run::command(CommandVerb::Continue, args, &output)
            }
            Verb::Alerts(args) => alerts::list(args, &output),
            Verb::Effects(args) => effects::list(args, &output),
            Verb::Effect(EffectVerb::Show(args)) => effects::show(args, &output),
            Verb::Effect(EffectVerb::Settle(args)) => effects::settle(args, &output),
            Verb::Orphans(args) => orphans::list(args, &output),
            Verb::Orphan(OrphanCommand::Adopt(args)) => orphans::adopt(args, &output),
            Verb::Orphan(OrphanCommand::Close(args)) => orphans::close(args, &output),
            Verb::Status => status::show(&output),
            Verb::Graph(args) => graph::draw(args, &mounted.classes, &output),
            Verb::Stats => store::stats(&output),
            Verb::Verify => store::verify(&output),
            Verb::Repair(args) => store::repair(args, &output),
            Verb::Export(args) => store::export(args, &output),
            Verb::Import(args) => store::import(args, &output),
            Verb::Prune(args) => store::prune(args, &output),
            Verb::Erase(args) => store::erase(args, &output),
            Verb::Bench(verb) => bench::bench(verb, &output),
            #[cfg(feature = "chaos")]
            Verb::Chaos(verb) => chaos::chaos(verb, &mounted.campaigns, &output),
            Verb::Error(args) => explain::explain(args, &output),
            Verb::Completion(args) => completion::print(args, &output),
        };
        match done {
            Ok(()) => Exit::Ok.into(),
            Err(error) => {
                output.fail(&error);
                error.exit.into()
            }
        }
    }
}

/// The name this program was called by.
fn program() -> String {
    let called = std::env::args_os().next();
    let name = called.as_deref().map(Path::new).and_then(Path::file_name);
    name.map_or_else(
        || "mainstay".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Help and version are data; everything else the arguments can be wrong about is not.
fn usage(error: &clap::Error, json: bool) -> ExitCode {
    let wanted = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if wanted || !json {
        // A reader that has gone away wants no help.
        let _ = error.print();
    } else {
        let output = Output {
            json,
            store: Path::new("").into(),
            program: program(),
        };
        output.fail(&CliError::usage(error.render().to_string().trim_end()));
    }
    if wanted {
        Exit::Ok.into()
    } else {
        Exit::Usage.into()
    }
}
