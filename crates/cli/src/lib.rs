//! The command line of Mainstay, as a library: a user's binary mounts it with its own classes.
//!
//! It looks at a store that no engine holds and changes nothing of what is stored. stdout is data,
//! one JSON value with `--json`; everything else is stderr. Nothing here panics on what it reads,
//! and a reader that goes away early is no error.
//!
//! ```no_run
//! // src/bin/acme-runs.rs of a user: the same commands, with the classes of this program.
//! fn main() -> std::process::ExitCode {
//!     mainstay_cli::main_with(Vec::new())
//! }
//! ```

mod args;
mod error;
mod explain;
mod graph;
mod output;
mod run;
mod runs;
mod store;
mod table;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use clap::error::ErrorKind;
use mainstay_graph::TaskClass;

pub use args::{Cli, ErrorArgs, GraphArgs, GraphFormat, RunVerb, RunsArgs, ShowArgs, Verb};

use error::{CliError, Exit};
use output::Output;

/// The whole program: reads the arguments, does what they ask, says how it went.
///
/// `classes` are known to `graph` beside those of the store; the binary `mainstay` has none.
#[must_use = "it is the program's exit code"]
pub fn main_with(classes: Vec<Arc<TaskClass>>) -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    match Cli::try_parse_from(&args) {
        Ok(cli) => cli.run(&classes),
        Err(error) => usage(&error, args.iter().any(|arg| arg == "--json")),
    }
}

impl Cli {
    /// Does what the arguments ask. Blocks; not to be called from inside an async runtime.
    #[must_use = "it is the program's exit code"]
    pub fn run(self, classes: &[Arc<TaskClass>]) -> ExitCode {
        let output = Output {
            json: self.json,
            store: self.store.clone(),
            program: program(),
        };
        let done = match &self.verb {
            Verb::Runs(args) => runs::list(args, &output),
            Verb::Run(RunVerb::Show(args)) => run::show(args, &output),
            Verb::Graph(args) => graph::draw(args, classes, &output),
            Verb::Error(args) => explain::explain(args, &output),
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
