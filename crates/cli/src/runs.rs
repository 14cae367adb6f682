//! `runs`: the listing, from stored summaries alone.

use mainstay_ledger::RunFilter;
use mainstay_runtime::view::SummaryRow;
use mainstay_types::Millis;
use serde::Serialize;

use crate::args::RunsArgs;
use crate::error::CliError;
use crate::output::Output;
use crate::store::Store;
use crate::table::{cut, table};

/// Characters of a start key in the table: a key may be a whole digest.
const KEY_CHARS_MAX: usize = 24;

#[derive(Serialize)]
struct Listing {
    runs: Vec<SummaryRow>,
    /// What `--cursor` takes for the next page; null when this is the last.
    next_cursor: Option<String>,
}

/// Prints the runs that pass the filter.
pub(crate) fn list(args: &RunsArgs, output: &Output) -> Result<(), CliError> {
    let store = Store::open(&output.store)?;
    let filter = RunFilter {
        tenant: args.tenant.clone(),
        class: args.class.clone(),
        state: args.state,
    };
    let page = store.runs(filter, args.cursor)?;
    let more = page.more || args.limit < page.rows.len();
    let runs: Vec<SummaryRow> = page
        .rows
        .iter()
        .take(args.limit)
        .map(SummaryRow::of)
        .collect();
    let next_cursor = runs.last().filter(|_| more).map(|row| row.run_id.clone());
    let listing = Listing { runs, next_cursor };
    if output.json {
        return output.print_json(&listing);
    }
    output.print(&text(&listing.runs))?;
    if listing.runs.is_empty() {
        output.note("no runs");
    }
    if let Some(cursor) = &listing.next_cursor {
        output.note(&format!(
            "\nhint: there are more: the same with --cursor {cursor}"
        ));
    }
    Ok(())
}

fn text(runs: &[SummaryRow]) -> String {
    let heading = [
        "RUN", "STATE", "OUTCOME", "IN DOUBT", "STARTED", "TOOK", "CLASS", "TENANT", "KEY",
    ];
    let dash = || "-".to_owned();
    let row = |run: &SummaryRow| {
        [
            run.run_id.clone(),
            run.state.to_owned(),
            run.outcome.unwrap_or("-").to_owned(),
            run.in_doubt.to_string(),
            run.started_at.clone(),
            run.took_ms
                .map_or_else(dash, |took| Millis::new(took).to_string()),
            format!("{} v{}", run.class.name, run.class.version),
            run.tenant.clone(),
            run.start_key
                .as_deref()
                .map_or_else(dash, |key| cut(key, KEY_CHARS_MAX)),
        ]
    };
    table(heading, runs.iter().map(row).collect())
}
