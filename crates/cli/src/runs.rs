//! `runs`: the listing, from stored summaries alone.

use mainstay_socket::{Ask, RunsAsk};
use mainstay_types::Millis;
use serde::Deserialize;

use crate::args::RunsArgs;
use crate::error::CliError;
use crate::operator::{reach, read};
use crate::output::Output;
use crate::table::{cut, dash, table};

/// Characters of a start key in the table: a key may be a whole digest.
const KEY_CHARS_MAX: usize = 24;

#[derive(Deserialize)]
struct Listing {
    runs: Vec<Row>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    run_id: String,
    class: Class,
    tenant: String,
    start_key: Option<String>,
    state: String,
    state_reason: Option<String>,
    outcome: Option<String>,
    in_doubt: u32,
    started_at: String,
    took_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Class {
    name: String,
    version: u32,
}

/// Prints the runs that pass the filter.
pub(crate) fn list(args: &RunsArgs, output: &Output) -> Result<(), CliError> {
    let ask = Ask::Runs(RunsAsk {
        tenant: args.tenant.clone(),
        class: args.class.clone(),
        state: args.state,
        outcome: args.outcome,
        in_doubt: args.in_doubt.then_some(true),
        cursor: args.cursor,
        limit: args.limit,
    });
    let reply = reach(&output.store)?.ask(&ask)?;
    if output.json {
        return output.print(&reply.body);
    }
    let listing: Listing = read(&reply)?;
    output.print(&text(&listing.runs))?;
    if listing.runs.is_empty() {
        output.note("no runs");
    }
    output.more("--cursor", listing.next_cursor.as_deref());
    Ok(())
}

fn text(runs: &[Row]) -> String {
    let heading = [
        "RUN", "STATE", "OUTCOME", "IN DOUBT", "STARTED", "TOOK", "CLASS", "TENANT", "KEY",
    ];
    let row = |run: &Row| {
        [
            run.run_id.clone(),
            state(run),
            dash(run.outcome.as_deref()),
            run.in_doubt.to_string(),
            run.started_at.clone(),
            dash(run.took_ms.map(|took| Millis::new(took).to_string())),
            format!("{} v{}", run.class.name, run.class.version),
            run.tenant.clone(),
            dash(run.start_key.as_deref().map(|key| cut(key, KEY_CHARS_MAX))),
        ]
    };
    table(heading, runs.iter().map(row).collect())
}

/// With the reason in one word, so that columns stay columns.
fn state(run: &Row) -> String {
    match &run.state_reason {
        Some(reason) => format!("{}({reason})", run.state),
        None => run.state.clone(),
    }
}
