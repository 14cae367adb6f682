//! `bench open`: how long a store takes to open, after a kill and after a clean close.
//!
//! All runs are made by one process that is killed. The store is then opened as that process left
//! it, closed in order, and opened again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde::Serialize;
use tokio::task::JoinSet;

use super::args::OpenArgs;
use super::classes::{self, Echo, Numbers, WAITS};
use super::load::{joined, one_run};
use super::maker;
use super::outside;
use super::place::{self, Place};
use super::store::Opened;
use crate::error::CliError;
use crate::output::Output;
use crate::progress::Progress;
use crate::table::table;

/// Runs under way at once while the store is made.
const CLIENTS: u32 = 64;

const HOW_TO_READ: &str = "\
`open` is until the store answers, `start` from there until every driven run is in the hands of the\n\
new engine. The files may still be in the system's memory.";

/// One opening. The keys are relied upon.
#[derive(Serialize)]
struct Row {
    after: &'static str,
    closed: u32,
    driven: u32,
    open_ms: f64,
    start_ms: f64,
    store_bytes: u64,
}

#[derive(Serialize)]
struct Report {
    rows: Vec<Row>,
}

/// Makes a store, has its process killed, opens it twice.
pub(crate) fn measure(args: &OpenArgs, output: &Output) -> Result<(), CliError> {
    let progress = Progress::new(output);
    if let Some(folder) = maker::folder() {
        let _opened = make(args, &folder, &progress)?;
        return maker::ready();
    }
    let place = Place::new(&args.place)?;
    let folder = place.at("store");
    maker::made_and_killed(&folder)?;
    let mut rows = Vec::new();
    for after in ["kill", "close"] {
        progress.say(&format!("opening after a {after}"));
        let bytes = place::held_bytes(&folder);
        let store_bytes = bytes.map_err(|error| outside("reading what the store holds", error))?;
        let opened = Opened::on_disk(&folder, &class(&Echo::at_once())?)?;
        let (open, start) = opened.took;
        check(&opened, args)?;
        opened.close()?;
        rows.push(Row {
            after,
            closed: args.closed,
            driven: args.driven,
            open_ms: ms(open),
            start_ms: ms(start),
            store_bytes,
        });
    }
    progress.clear();
    let report = Report { rows };
    match output.json {
        true => output.print_json(&report)?,
        false => output.print(&text(&report.rows))?,
    }
    place.told(output)
}

fn class(echo: &Echo) -> Result<Numbers, CliError> {
    classes::chain(1, echo).map_err(|problems| outside("building the class", problems))
}

/// Makes the runs that are over, then those that are driven.
fn make(args: &OpenArgs, folder: &Path, progress: &Progress) -> Result<Opened, CliError> {
    let echo = Echo::at_once();
    let class = class(&echo)?;
    let opened = Opened::on_disk(folder, &class)?;
    let left = Arc::new(AtomicU32::new(args.closed));
    opened.runtime.block_on(async {
        let mut clients = JoinSet::new();
        for _ in 0..CLIENTS {
            let (engine, class, left) = (opened.engine.clone(), class.clone(), Arc::clone(&left));
            clients.spawn(async move {
                while take_one(&left) {
                    one_run(&engine, &class).await?;
                }
                Ok::<(), CliError>(())
            });
        }
        let told = tell(&left, args.closed, progress);
        tokio::select! {
            biased;
            ended = joined(clients) => ended,
            () = told => unreachable!("it tells until it is dropped"),
        }
    })?;
    maker::start_waiting(&opened, (&class, &echo), (args.driven, WAITS), progress)?;
    progress.clear();
    Ok(opened)
}

/// Takes one of what is left.
fn take_one(left: &AtomicU32) -> bool {
    let one_less = |left: u32| left.checked_sub(1);
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
        .is_ok()
}

async fn tell(left: &AtomicU32, of: u32, progress: &Progress) {
    loop {
        let made = of - left.load(Ordering::Relaxed);
        progress.say(&format!("making runs: {made} of {of} are over"));
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// A store that opened fast because it lost its runs is no result.
fn check(opened: &Opened, args: &OpenArgs) -> Result<(), CliError> {
    let live = opened.engine.status().live;
    if live == args.driven as usize {
        return Ok(());
    }
    Err(CliError::outside(
        format!("{live} of {} driven runs were taken up", args.driven),
        "report this, with the store: --keep leaves it there",
    ))
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

fn text(rows: &[Row]) -> String {
    let heading = [
        "after a", "closed", "driven", "open ms", "start ms", "store MB",
    ];
    let rows = rows.iter().map(|row| {
        [
            row.after.to_owned(),
            row.closed.to_string(),
            row.driven.to_string(),
            format!("{:.0}", row.open_ms),
            format!("{:.0}", row.start_ms),
            format!("{:.1}", row.store_bytes as f64 / 1e6),
        ]
    });
    format!("{}\n{HOW_TO_READ}\n", table(heading, rows.collect()))
}
