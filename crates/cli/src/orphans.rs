//! `orphans` and `orphan`: remote work that no run waits for any more, and what a person does
//! about it.

use mainstay_socket::{Ask, OrphanAsk, OrphanVerb, OrphansAsk};
use mainstay_types::{AttemptNo, Millis, RunId, limits};
use serde::Deserialize;

use crate::args::orphans::{AdoptArgs, OrphanArgs, OrphansArgs};
use crate::error::CliError;
use crate::operator::{reach, read};
use crate::output::Output;
use crate::prefix::RunPrefix;
use crate::table::table;

#[derive(Deserialize)]
struct Page {
    orphans: Vec<Row>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    run_id: String,
    call: String,
    attempt: u32,
    owner: String,
    class: String,
    tenant: String,
    state: String,
    until: String,
    on_late: String,
}

/// Prints orphans, by run.
pub(crate) fn list(args: &OrphansArgs, output: &Output) -> Result<(), CliError> {
    let mut operator = reach(&output.store)?;
    let run = RunPrefix::run_of(args.page.run.as_ref(), &mut *operator, output)?;
    let ask = Ask::Orphans(OrphansAsk {
        run,
        overdue: args.overdue,
        cursor: args.page.cursor,
    });
    let reply = operator.ask(&ask)?;
    if output.json {
        return output.print(&reply.body);
    }
    let page: Page = read(&reply)?;
    output.print(&text(&page.orphans))?;
    if page.orphans.is_empty() {
        output.note("no orphans");
    }
    output.more("--cursor", page.next_cursor.as_deref());
    Ok(())
}

/// As much of what was taken as is said.
#[derive(Deserialize)]
struct Taken {
    run_id: String,
    call: String,
    attempt: u32,
    by: String,
    why: String,
    until: Option<String>,
}

/// Takes one over.
pub(crate) fn adopt(args: &AdoptArgs, output: &Output) -> Result<(), CliError> {
    let wait = args
        .wait
        .unwrap_or(Millis::new(limits::ORPHAN_ADOPT_MS_DEFAULT));
    want(&args.orphan, OrphanVerb::Adopt(wait), output)
}

/// Closes one.
pub(crate) fn close(args: &OrphanArgs, output: &Output) -> Result<(), CliError> {
    want(args, OrphanVerb::Close, output)
}

fn want(args: &OrphanArgs, verb: OrphanVerb, output: &Output) -> Result<(), CliError> {
    let mut operator = reach(&output.store)?;
    let run: RunId = args.run.run(&mut *operator, output)?;
    let reply = operator.ask(&Ask::Orphan(OrphanAsk {
        run,
        call: args.call.clone(),
        attempt: AttemptNo(args.attempt),
        verb,
        by: args.asker.by.clone(),
        why: args.asker.why.clone(),
    }))?;
    if output.json {
        return output.print(&reply.body);
    }
    let Taken {
        run_id,
        call,
        attempt,
        by,
        why,
        until,
    } = read(&reply)?;
    let done = match until {
        Some(until) => format!("is {by}'s until {until}"),
        None => format!("is closed, by {by}"),
    };
    output.print(&format!(
        "run {run_id}, {call} attempt {attempt} {done}: {why}"
    ))?;
    if !operator.is_served() {
        output.note("no process holds the store: the next engine that drives the run goes on");
    }
    Ok(())
}

fn text(orphans: &[Row]) -> String {
    let heading = [
        "RUN", "CALL", "ATTEMPT", "STATE", "OWNER", "UNTIL", "ON LATE", "CLASS", "TENANT",
    ];
    let row = |orphan: &Row| {
        [
            orphan.run_id.clone(),
            orphan.call.clone(),
            orphan.attempt.to_string(),
            orphan.state.clone(),
            orphan.owner.clone(),
            orphan.until.clone(),
            orphan.on_late.clone(),
            orphan.class.clone(),
            orphan.tenant.clone(),
        ]
    };
    table(heading, orphans.iter().map(row).collect())
}
