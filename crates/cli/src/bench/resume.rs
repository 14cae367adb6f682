//! `bench resume`: runs whose process was killed in the middle, until all of them are finished.
//!
//! Every run has so many calls answered and its next one out when its process is killed. What is
//! told is how long the next process takes from an open store to the last outcome.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use mainstay_ledger::RunFilter;
use serde::Serialize;

use super::args::ResumeArgs;
use super::classes::{self, Echo, Numbers};
use super::maker;
use super::outside;
use super::place::Place;
use super::store::{Opened, failed};
use crate::error::CliError;
use crate::output::Output;
use crate::progress::Progress;
use crate::table::table;

/// How often is looked whether all runs are finished.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// What was found. The keys are relied upon.
#[derive(Serialize)]
struct Report {
    runs: u32,
    calls_per_run: u32,
    answered_before: u32,
    open_ms: f64,
    finished_ms: f64,
    completed: u32,
}

/// Has runs begun and their process killed, then finishes them.
pub(crate) fn measure(args: &ResumeArgs, output: &Output) -> Result<(), CliError> {
    let answered = answered(args)?;
    let progress = Progress::new(output);
    if let Some(folder) = maker::folder() {
        let _opened = make(args, answered, &folder, &progress)?;
        return maker::ready();
    }
    let place = Place::new(&args.place)?;
    let folder = place.at("store");
    maker::made_and_killed(&folder)?;
    progress.say("resuming");
    let class = class(args, &Echo::at_once())?;
    let opened = Opened::on_disk(&folder, &class)?;
    let (open, start) = opened.took;
    let finishing = Instant::now();
    opened.runtime.block_on(async {
        while 0 < opened.engine.status().live {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    });
    let finished = start + finishing.elapsed();
    progress.clear();
    let report = Report {
        runs: args.runs,
        calls_per_run: args.calls_per_run,
        answered_before: answered,
        open_ms: open.as_secs_f64() * 1e3,
        finished_ms: finished.as_secs_f64() * 1e3,
        completed: completed(&opened, args.runs)?,
    };
    opened.close()?;
    match output.json {
        true => output.print_json(&report)?,
        false => output.print(&text(&report))?,
    }
    place.told(output)
}

/// Calls that are answered before. Never fewer than were asked for: that is another load.
fn answered(args: &ResumeArgs) -> Result<u32, CliError> {
    let (answered, calls) = (args.answered, args.calls_per_run);
    if answered < calls {
        return Ok(answered);
    }
    let message = format!(
        "--answered {answered} has to be less than --calls-per-run {calls}: the process is killed \
         while each run has a call out"
    );
    Err(CliError::usage(&message))
}

fn class(args: &ResumeArgs, echo: &Echo) -> Result<Numbers, CliError> {
    let class = classes::chain(args.calls_per_run, echo);
    class.map_err(|problems| outside("building the class", problems))
}

fn make(
    args: &ResumeArgs,
    answered: u32,
    folder: &Path,
    progress: &Progress,
) -> Result<Opened, CliError> {
    let echo = Echo::below(u64::from(answered));
    let class = class(args, &echo)?;
    let opened = Opened::on_disk(folder, &class)?;
    maker::start_waiting(&opened, (&class, &echo), (args.runs, 0), progress)?;
    progress.clear();
    Ok(opened)
}

/// How many runs completed. All of them, or the time that was taken says nothing.
fn completed(opened: &Opened, runs: u32) -> Result<u32, CliError> {
    let mut kinds: BTreeMap<&'static str, u32> = BTreeMap::new();
    let mut cursor = None;
    loop {
        let page = opened.engine.runs(RunFilter::default(), cursor);
        let page = opened.runtime.block_on(page).map_err(failed)?;
        for row in &page.rows {
            let kind = row.outcome.map_or("open", |kind| kind.as_str());
            *kinds.entry(kind).or_default() += 1;
        }
        cursor = page.rows.last().map(|row| row.run);
        if !page.more {
            break;
        }
    }
    let completed = kinds.get("completed").copied().unwrap_or(0);
    if completed == runs {
        return Ok(completed);
    }
    Err(CliError::outside(
        format!("of {runs} runs that were interrupted there are now: {kinds:?}"),
        "report this, with the store: --keep leaves it there",
    ))
}

fn text(report: &Report) -> String {
    let heading = [
        "runs",
        "calls each",
        "answered before",
        "open ms",
        "finished ms",
    ];
    let row = [
        report.runs.to_string(),
        report.calls_per_run.to_string(),
        report.answered_before.to_string(),
        format!("{:.0}", report.open_ms),
        format!("{:.0}", report.finished_ms),
    ];
    let told = "`finished` is from the open store until every run has completed.";
    format!("{}\n{told}\n", table(heading, vec![row]))
}
