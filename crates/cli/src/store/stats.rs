//! `stats`: how much of what is in the store.

use std::fmt::Write as _;

use mainstay_ledger_sled::StoreStats;
use serde::Serialize;

use super::{failed, hold};
use crate::error::CliError;
use crate::output::Output;

/// A `String` takes any text; only memory bounds it.
const INFALLIBLE: &str = "writing into a String cannot fail";

#[derive(Serialize)]
struct View<'a> {
    store: String,
    format: u32,
    id: &'a str,
    runs_open: u64,
    runs_closed: u64,
    runs_driven: u64,
    effects: u64,
    effects_in_doubt: u64,
    start_keys: u64,
    alerts: u64,
    classes: u64,
    snapshots: u64,
    snapshot_bytes: u64,
    log_segments: u64,
    log_bytes: u64,
    table_bytes: u64,
    store_bytes: u64,
    unapplied_rows: u64,
    newest_event_at_ms: Option<i64>,
    next_expiry_at_ms: Option<i64>,
}

/// Prints counts and sizes.
pub(crate) fn stats(output: &Output) -> Result<(), CliError> {
    let store = hold(output)?;
    let stats = store.stats().map_err(failed)?;
    store.close().map_err(failed)?;
    let view = view(&stats, output);
    match output.json {
        true => output.print_json(&view),
        false => output.print(&text(&view)),
    }
}

fn view<'a>(stats: &'a StoreStats, output: &Output) -> View<'a> {
    View {
        store: output.store.display().to_string(),
        format: stats.format,
        id: &stats.id,
        runs_open: stats.runs_open,
        runs_closed: stats.runs_closed,
        runs_driven: stats.runs_driven,
        effects: stats.effects,
        effects_in_doubt: stats.effects_in_doubt,
        start_keys: stats.start_keys,
        alerts: stats.alerts,
        classes: stats.classes,
        snapshots: stats.snapshots,
        snapshot_bytes: stats.snapshot_bytes,
        log_segments: stats.log_segments,
        log_bytes: stats.log_bytes,
        table_bytes: stats.table_bytes,
        store_bytes: stats.store_bytes,
        unapplied_rows: stats.unapplied_rows,
        newest_event_at_ms: stats.newest_event_at.map(|at| at.as_millis()),
        next_expiry_at_ms: stats.next_expiry_at.map(|at| at.as_millis()),
    }
}

fn text(view: &View<'_>) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(out, "{name:<12}  {value}").expect(INFALLIBLE);
    };
    line(
        "store",
        format!("{} (format {}, {})", view.store, view.format, view.id),
    );
    line(
        "runs",
        format!(
            "{} open ({} driven), {} closed",
            view.runs_open, view.runs_driven, view.runs_closed
        ),
    );
    line(
        "effects",
        format!("{} ({} in doubt)", view.effects, view.effects_in_doubt),
    );
    line("start keys", view.start_keys.to_string());
    line("alerts", view.alerts.to_string());
    line("classes", view.classes.to_string());
    line("snapshots", view.snapshots.to_string());
    line(
        "log",
        format!("{} bytes in {} segments", view.log_bytes, view.log_segments),
    );
    line("table", format!("{} bytes", view.table_bytes));
    line("on disk", format!("{} bytes", view.store_bytes));
    out
}
