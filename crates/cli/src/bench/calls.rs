//! `bench calls`: runs of calls that do nothing, through the whole engine, beside the raw disk.
//!
//! Each row has a store and an engine of its own, so that no row pays for another. What the disk
//! can do is measured right after the row, at the same concurrency.

use std::time::Duration;

use serde::Serialize;

use super::args::{CallsArgs, LedgerChoice};
use super::classes::{self, Echo, Numbers};
use super::load::{self, Done, Load};
use super::memory;
use super::outside;
use super::place::{self, Place};
use super::raw::{self, Raw};
use super::store::Opened;
use crate::error::CliError;
use crate::output::Output;
use crate::progress::Progress;
use crate::table::table;

/// The raw disk is measured for no longer than this.
const RAW_LENGTH_MAX: Duration = Duration::from_secs(1);

const HOW_TO_READ: &str = "\
Each row: so many clients, each starting its next run when the last one has its outcome; every run\n\
is durable before it starts and when it ends. p50 and p99 are from start to outcome. `held` is what\n\
the store's files hold, without room reserved ahead. Raw is the same disk without an engine: one\n\
512-byte record appended and synced alone, and as many writers as the row has clients, synced in\n\
groups. `ratio` is the engine's durable appends a second over the raw grouped ones: 1.00 would be\n\
an engine that costs nothing.";

/// A load that is measured.
#[derive(Clone, Copy, Debug)]
struct Shape {
    clients: u32,
    calls: u32,
    /// How many of them are out at once.
    at_once: u32,
    /// Runs that are over before it is measured.
    stored: u32,
}

/// What one load came to. The keys are relied upon.
#[derive(Debug, Serialize)]
struct Row {
    concurrency: u32,
    calls_per_run: u32,
    fan_out: u32,
    stored: u32,
    runs_per_s: f64,
    calls_per_s: f64,
    p50_ms: f64,
    p99_ms: f64,
    bytes_per_call: Option<f64>,
    peak_mb: Option<f64>,
    raw_sync_ms_p50: Option<f64>,
    raw_grouped_per_s: Option<f64>,
    ratio: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    rows: Vec<Row>,
}

/// Measures every load that is asked for.
pub(crate) fn measure(args: &CallsArgs, output: &Output) -> Result<(), CliError> {
    let place = Place::new(&args.place)?;
    let progress = Progress::new(output);
    let rows: Result<Vec<Row>, CliError> = shapes(args)
        .into_iter()
        .enumerate()
        .map(|(at, shape)| row(args, (&place, at), shape, &progress))
        .collect();
    progress.clear();
    let report = Report { rows: rows? };
    match output.json {
        true => output.print_json(&report)?,
        false => output.print(&text(&report.rows))?,
    }
    place.told(output)
}

fn shapes(args: &CallsArgs) -> Vec<Shape> {
    let chain = |clients: &u32, calls: &u32| Shape {
        clients: *clients,
        calls: *calls,
        at_once: 1,
        stored: 0,
    };
    let calls = args.calls_per_run.iter();
    let mut shapes: Vec<Shape> = calls
        .flat_map(|calls| {
            args.concurrency
                .iter()
                .map(move |clients| chain(clients, calls))
        })
        .collect();
    if 0 < args.fan_out {
        shapes.push(Shape {
            at_once: args.fan_out,
            ..chain(&args.fan_out_concurrency, &args.fan_out)
        });
    }
    let each = |stored: &u32| {
        let stored = *stored;
        shapes.iter().map(move |shape| Shape { stored, ..*shape })
    };
    args.stored.iter().flat_map(each).collect()
}

fn row(
    args: &CallsArgs,
    (place, at): (&Place, usize),
    shape: Shape,
    progress: &Progress,
) -> Result<Row, CliError> {
    let (class, folder) = (class(shape)?, place.at(&format!("store-{at}")));
    let opened = match args.ledger {
        LedgerChoice::Store => Opened::on_disk(&folder, &class)?,
        LedgerChoice::Memory => Opened::in_memory(&class)?,
    };
    let load = Load {
        clients: shape.clients,
        before: u64::from(shape.stored),
        length: args.seconds,
    };
    let title = format!("{} runs at once, {} calls each", shape.clients, shape.calls);
    let counts_memory = memory::forget_peak();
    let begun = opened.engine.appends();
    let driven = load::drive(&opened.engine, &class, load, (progress, &title));
    let done = opened.runtime.block_on(driven)?;
    let peak_mb = memory::peak_mb().filter(|_| counts_memory);
    let appended = opened.engine.appends() - begun;
    opened.close()?;
    let on_disk = args.ledger == LedgerChoice::Store;
    let held = on_disk.then(|| place::held_bytes(&folder)).transpose();
    let held = held.map_err(|error| outside("reading what the store holds", error))?;
    progress.say(&format!("{title}: the disk alone"));
    let raw = on_disk.then(|| raw_limit(place, shape, args.seconds));
    let row = Row {
        peak_mb,
        bytes_per_call: held.map(|held| per_call(held, appended, &done, shape)),
        ..told(shape, &done, raw.transpose()?)
    };
    Ok(row)
}

fn class(shape: Shape) -> Result<Numbers, CliError> {
    let echo = Echo::at_once();
    let class = match shape.at_once {
        1 => classes::chain(shape.calls, &echo),
        calls => classes::fan_out(calls, &echo),
    };
    class.map_err(|problems| outside("building the class", problems))
}

fn raw_limit(place: &Place, shape: Shape, seconds: Duration) -> Result<Raw, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build()
        .map_err(|error| outside("starting threads", error))?;
    let length = seconds.min(RAW_LENGTH_MAX);
    runtime.block_on(raw::measure(&place.at("raw"), shape.clients, length))
}

/// The store holds more runs than were measured; appends tell how many.
fn per_call(held: u64, appended: u64, done: &Done, shape: Shape) -> f64 {
    let measured = done.times.count() * u64::from(shape.calls);
    let calls = measured as f64 * appended as f64 / done.appends.max(1) as f64;
    held as f64 / calls.max(1.0)
}

fn told(shape: Shape, done: &Done, raw: Option<Raw>) -> Row {
    let runs_per_s = done.per_s(done.times.count());
    Row {
        concurrency: shape.clients,
        calls_per_run: shape.calls,
        fan_out: shape.at_once,
        stored: shape.stored,
        runs_per_s,
        calls_per_s: runs_per_s * f64::from(shape.calls),
        p50_ms: done.times.per_mille_ms(500),
        p99_ms: done.times.per_mille_ms(990),
        bytes_per_call: None,
        peak_mb: None,
        raw_sync_ms_p50: raw.map(|raw| raw.sync_ms_p50),
        raw_grouped_per_s: raw.map(|raw| raw.grouped_per_s),
        ratio: raw.map(|raw| done.per_s(done.appends) / raw.grouped_per_s),
    }
}

fn text(rows: &[Row]) -> String {
    let heading = [
        "at once",
        "calls a run",
        "stored",
        "runs/s",
        "calls/s",
        "p50 ms",
        "p99 ms",
        "held B/call",
        "peak MB",
        "raw sync ms",
        "raw appends/s",
        "ratio",
    ];
    let rows = rows.iter().map(|row| {
        let calls = match row.fan_out {
            1 => row.calls_per_run.to_string(),
            at_once => format!("{} ({at_once} at once)", row.calls_per_run),
        };
        let number = |value: Option<f64>, places: usize| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.places$}"))
        };
        [
            row.concurrency.to_string(),
            calls,
            row.stored.to_string(),
            number(Some(row.runs_per_s), 0),
            number(Some(row.calls_per_s), 0),
            number(Some(row.p50_ms), 2),
            number(Some(row.p99_ms), 2),
            number(row.bytes_per_call, 0),
            number(row.peak_mb, 0),
            number(row.raw_sync_ms_p50, 2),
            number(row.raw_grouped_per_s, 0),
            number(row.ratio, 2),
        ]
    });
    format!("{}\n{HOW_TO_READ}\n", table(heading, rows.collect()))
}
