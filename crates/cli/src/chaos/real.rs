//! `chaos real`: real processes of this program, killed over and over; and the worker that is
//! killed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use mainstay_chaos::real::{self, Options, RealError, Trouble};
use mainstay_chaos::{Offered, built_in};

use super::campaign::{chosen, found, misused};
use crate::error::CliError;
use crate::output::Output;
use crate::progress::Progress;

/// More deaths take longer than anybody waits: a week and more.
const KILLS_MAX: i64 = 1_000_000;

/// What a worker of a campaign is called by.
const WORKER: &str = "real-worker";

pub(super) const REAL: &str = "Kill real processes over and over, and see that nothing is lost.\n\n\
    Workers of this program drive runs of a class on real stores, against services that do what \
    they are asked and lose the reply. They are killed (kill -9) at random, one in five deaths with a \
    loss of power (what was not synced may be gone), and between that they are stopped for \
    seconds, their disk gets full, their clock jumps, another process wants their store, and runs \
    are canceled. When the faults are over everything has to end. Then every acknowledged start, \
    cancel, answer and outcome has to be in the store, each key done once, and every guarantee of \
    `chaos campaign` has to hold; else the exit code is 1, and the stores are kept in --folder.\n\n\
    A loss of power needs a C compiler (cc), a full disk the right to mount a small volume in \
    memory (root, or sudo without a password); what cannot be tried is said. A seed fixes what is \
    done; when it strikes, real processes decide. No store that was there before is touched. \
    SIGINT and SIGTERM end it with nothing left behind; after a kill -9 of the campaign itself its \
    folders stay, and volumes stay mounted in them.";

/// How many deaths, of which class.
#[derive(Args, Clone, Debug)]
pub struct RealArgs {
    /// The class; this program's own first one when it is not said, else the built-in model
    #[arg(long, value_name = "NAME")]
    pub class: Option<String>,

    /// How many times a process dies; 1000 is what a release is held to
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = value_parser!(u32).range(1..=KILLS_MAX))]
    pub kills: u32,

    /// What is drawn comes from it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Leave this out; may be given again
    #[arg(long = "without", value_name = "TROUBLE", value_parser = troubles())]
    pub without: Vec<Trouble>,

    /// Make the stores in this folder, which is there; the system's one for temporary files else
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Let the log's syncs do nothing under losses of power: something is lost, and has to be seen
    #[arg(long)]
    pub without_syncs: bool,
}

fn troubles() -> impl TypedValueParser<Value = Trouble> {
    let names = PossibleValuesParser::new(Trouble::ALL.map(Trouble::as_str));
    names.map(|name| {
        let mut all = Trouble::ALL.into_iter();
        let found = all.find(|trouble| trouble.as_str() == name);
        found.expect("only names of troubles are let through")
    })
}

/// What a campaign tells its worker.
#[derive(Args, Clone, Debug)]
pub struct RealWorkerArgs {
    /// The errand, as the campaign wrote it
    pub errand: String,
}

/// Tries a class with real processes.
pub(crate) fn run(args: &RealArgs, offered: &[Offered], output: &Output) -> Result<(), CliError> {
    let class = chosen(offered, args.class.as_deref())?;
    let program = std::env::current_exe().map_err(|error| {
        let message = format!("this program cannot find itself: {error}");
        CliError::outside(message, "start it by its full path")
    })?;
    let options = Options {
        program,
        arguments: words_of_a_worker(),
        folder: args.folder.clone().unwrap_or_else(std::env::temp_dir),
        kills: args.kills,
        seed: args.seed,
        without: args.without.clone(),
        without_syncs: args.without_syncs,
    };
    let bar = Progress::new(output);
    let report = real::run(&class, &options, move |progress| {
        let (kills, of) = (progress.kills.into(), progress.of.into());
        bar.portion("killed", (kills, of), "processes");
    });
    bar.clear();
    let report = report.map_err(failed)?;
    match output.json {
        true => output.print_json(&report)?,
        false => output.print(&report.to_string())?,
    }
    match report.violations.len() {
        0 => Ok(()),
        count => Err(found(
            format!("{count} violations"),
            "the report says where the stores are kept",
        )),
    }
}

/// Does what a campaign tells it until it is killed.
pub(crate) fn work(args: &RealWorkerArgs, offered: &[Offered]) -> Result<(), CliError> {
    let mut all = offered.to_vec();
    all.push(built_in());
    let hint = "it is started by `chaos real`, and by nobody else";
    real::work(&all, &args.errand).map_err(|why| CliError::outside(why, hint))
}

/// The words before a worker's errand: those that this program was called by, up to its `chaos`,
/// wherever that is mounted.
fn words_of_a_worker() -> Vec<OsString> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is_ours = |pair: &[OsString]| pair[0] == "chaos" && pair[1] == "real";
    let place = words.windows(2).position(is_ours).map_or(0, |at| at + 1);
    let mut before = words[..place].to_vec();
    before.push(WORKER.into());
    before
}

fn failed(error: RealError) -> CliError {
    match error {
        RealError::Misuse(misuse) => misused(misuse),
        RealError::System(_) => CliError::outside(
            error.to_string(),
            "choose another --folder, and leave this program where it is",
        ),
        RealError::Interrupted => {
            CliError::outside(error.to_string(), "nothing of it is left; start it again")
        }
    }
}
