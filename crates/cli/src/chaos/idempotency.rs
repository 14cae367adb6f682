//! `chaos experiment idempotency`: runs it, says its figures as a table or JSON, and draws them.
//!
//! It must never change a figure on its way out.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use mainstay_chaos::experiment::idempotency::{
    self as experiment, ExperimentError, Faults, Hears, Options, Report, Seed, Strategy, strategies,
};

use super::experiment::IdempotencyArgs;
use crate::error::CliError;
use crate::output::Output;
use crate::progress::Progress;
use crate::table::table;

/// How often the progress line changes, in sessions.
const TELL_EVERY: u32 = 20;

/// Where other programs want the cores, a reply that wakes another thread may wait for the system
/// to run it: with more threads than one, many times as many sends come late.
const THREADS: usize = 1;

const HOW_TO_READ: &str = "\
What is counted is sessions; `swallowed` is orders that somebody really wanted, was told are done,\n\
and never got. `reported failed` were placed all the same. `reordered` are duplicates whose request\n\
was sent after the order had been confirmed. Order of the rows and zeros come from how a strategy\n\
is made; how large the other figures are comes from the assumptions of the fault model.";

/// Runs the experiment that is asked for.
pub(crate) fn run(args: &IdempotencyArgs, output: &Output) -> Result<(), CliError> {
    let strategies = strategies::all();
    let titles: Vec<&str> = strategies.iter().map(|one| one.title()).collect();
    let report = measure(args, &strategies, output)?;
    match output.json {
        true => output.print_json(&report)?,
        false => output.print(&text(&report, &titles))?,
    }
    // The figures are out before a file can fail.
    if let Some(file) = &args.svg {
        write(file, &experiment::svg(&report, &titles))?;
    }
    if is_disturbed(&report) {
        output.note("\nhint: the machine was busy, and that shows in the figures: run it again");
    }
    Ok(())
}

fn measure(
    args: &IdempotencyArgs,
    strategies: &[Arc<dyn Strategy>],
    output: &Output,
) -> Result<Report, CliError> {
    let options = Options {
        sessions: args.sessions,
        seed: Seed(args.seed),
        faults: Faults::of_the_experiment(),
    };
    let progress = Arc::new(Progress::new(output));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(|error| outside("starting threads", &error))?;
    let hears = hears(Arc::clone(&progress));
    let report = runtime.block_on(experiment::run(&options, strategies, &hears));
    progress.clear();
    report.map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let (what, source) = (error.to_string(), source.unwrap_or_default());
        match error {
            ExperimentError::Strategy { .. } => CliError::outside(
                format!("{what}: {source}"),
                "check the folder for temporary files (TMPDIR) and its room",
            ),
            ExperimentError::Listen(_) | ExperimentError::Client(_) => outside(&what, source),
        }
    })
}

fn hears(progress: Arc<Progress>) -> Hears {
    Arc::new(move |strategy, done, total| {
        if done % TELL_EVERY == 0 || done == total {
            let of = (u64::from(done), u64::from(total));
            progress.portion(&format!("strategy {strategy}:"), of, "sessions");
        }
    })
}

fn write(file: &Path, drawn: &str) -> Result<(), CliError> {
    fs::write(file, drawn).map_err(|error| {
        CliError::outside(
            format!("{} cannot be written: {error}", file.display()),
            "check its folder, given by --svg",
        )
    })
}

/// Whether the machine's load made more than one send of a thousand late.
fn is_disturbed(report: &Report) -> bool {
    let sends = report.rows.iter().map(|row| row.sends_per_session);
    let sends = sends.sum::<f64>() * f64::from(report.sessions);
    sends < report.late_by_load as f64 * 1_000.0
}

fn text(report: &Report, titles: &[&str]) -> String {
    let heading = [
        "strategy",
        "",
        "duplicates",
        "never placed",
        "reported failed",
        "swallowed",
        "to people",
        "reordered",
        "sends/session",
    ];
    let rows = report.rows.iter().zip(titles).map(|(row, title)| {
        [
            row.strategy.to_owned(),
            (*title).to_owned(),
            row.duplicates.to_string(),
            row.never_placed.to_string(),
            row.placed_but_reported_failed.to_string(),
            row.real_orders_swallowed.to_string(),
            row.handed_to_people.to_string(),
            row.reordered_after_confirmation.to_string(),
            format!("{:.2}", row.sends_per_session),
        ]
    });
    let table = table(heading, rows.collect());
    let (sessions, seed, late) = (report.sessions, report.seed, report.late_by_load);
    format!(
        "{table}\n{sessions} sessions each, seed {seed}; {late} sends were late because the machine \
         was busy.\n{HOW_TO_READ}\n"
    )
}

/// Something of this machine went wrong.
fn outside(what: &str, error: impl std::fmt::Display) -> CliError {
    CliError::outside(
        format!("{what}: {error}"),
        "check that programs may listen on the loopback, and how many files they may open",
    )
}
