//! `status`: how the engine is that holds the store, and the limits in force.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use mainstay_runtime::view::text::plain;
use mainstay_socket::Ask;
use serde_json::value::RawValue;

use crate::error::CliError;
use crate::operator::{reach, read};
use crate::output::Output;
use crate::table::{ago, table};

/// A `String` takes any text; only memory bounds it.
const INFALLIBLE: &str = "writing into a String cannot fail";

#[derive(Deserialize)]
struct Status<'a> {
    mainstay: String,
    pid: u32,
    drives: bool,
    worker: String,
    started_at: String,
    draining: bool,
    live_runs: usize,
    out: usize,
    runs_max: usize,
    appends: u64,
    #[serde(borrow)]
    limits: BTreeMap<String, &'a RawValue>,
    not_driven: Vec<NotDriven>,
    not_driven_more: usize,
}

#[derive(Deserialize)]
struct NotDriven {
    run_id: String,
    reason: String,
    detail: String,
}

/// Prints the status.
pub(crate) fn show(output: &Output) -> Result<(), CliError> {
    let reply = reach(&output.store)?.ask(&Ask::Status)?;
    if output.json {
        return output.print(&reply.body);
    }
    let status: Status<'_> = read(&reply)?;
    output.print(&text(&status, &output.store.display().to_string()))
}

fn text(status: &Status<'_>, store: &str) -> String {
    let mut out = String::new();
    for (name, value) in facts(status, store) {
        writeln!(out, "{name:<10}  {}", plain(&value)).expect(INFALLIBLE);
    }
    if !status.not_driven.is_empty() {
        out.push_str("\nnot driven\n");
        let row = |entry: &NotDriven| {
            [
                entry.run_id.clone(),
                entry.reason.clone(),
                entry.detail.clone(),
            ]
        };
        let rows = status.not_driven.iter().map(row).collect();
        out.push_str(&table(["RUN", "WHY", "DETAIL"], rows));
        if 0 < status.not_driven_more {
            writeln!(out, "and {} more", status.not_driven_more).expect(INFALLIBLE);
        }
    }
    out.push_str("\nlimits in force\n");
    let row = |(name, value): (&String, &&RawValue)| [name.clone(), value.get().to_owned()];
    let limits = status.limits.iter().map(row).collect();
    out.push_str(&table(["LIMIT", "VALUE"], limits));
    out
}

fn facts(status: &Status<'_>, store: &str) -> [(&'static str, String); 8] {
    let engine = match (status.drives, status.draining) {
        (false, _) => "none: no process holds the store".to_owned(),
        (true, true) => format!("pid {}, going down", status.pid),
        (true, false) => format!("pid {}, running", status.pid),
    };
    let live = format!("{} of at most {}", status.live_runs, status.runs_max);
    let (at, ago) = (&status.started_at, ago(&status.started_at));
    [
        ("store", store.to_owned()),
        ("engine", engine),
        ("mainstay", status.mainstay.clone()),
        ("worker", status.worker.clone()),
        ("started", format!("{at}, {ago} ago")),
        ("live runs", live),
        ("out now", status.out.to_string()),
        ("appends", status.appends.to_string()),
    ]
}
