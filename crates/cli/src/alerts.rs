//! `alerts`: what a person should hear of, oldest first.
//!
//! The reader keeps the place: nothing is taken away by being read.

use mainstay_socket::{AlertsAsk, Ask, Reply};
use mainstay_types::{Code, limits};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::args::AlertsArgs;
use crate::error::CliError;
use crate::operator::{Operator, reach, read};
use crate::output::{Output, Reader};
use crate::table::{ago, dash, table};

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    alerts: Vec<&'a RawValue>,
    next_after: u64,
    more: bool,
}

#[derive(Deserialize)]
struct Row {
    seq: u64,
    at: String,
    kind: String,
    run_id: String,
    lap: u32,
    call: Option<String>,
    reason: String,
    key: Option<String>,
}

/// Prints alerts after the reader's place; with `--follow` also those to come.
pub(crate) fn list(args: &AlertsArgs, output: &Output) -> Result<(), CliError> {
    let mut operator = reach(&output.store)?;
    if args.follow {
        return follow(args, operator, output);
    }
    let reply = operator.ask(&ask(args, args.after, 0))?;
    if output.json {
        return output.print(&reply.body);
    }
    let page: Page<'_> = read(&reply)?;
    output.print(&text(&page)?)?;
    if page.alerts.is_empty() {
        output.note("no alerts");
    }
    let next = page.more.then(|| page.next_after.to_string());
    output.more("--after", next.as_deref());
    Ok(())
}

/// Until the engine ends: one line per alert, in JSON one value per line.
fn follow(
    args: &AlertsArgs,
    mut operator: Box<dyn Operator>,
    output: &Output,
) -> Result<(), CliError> {
    if !operator.is_served() {
        let message = "nothing will happen in a store that no process holds";
        let hint = "leave out --follow, or start the program that drives the runs";
        return Err(CliError::new(Code::RunNotLive, message, hint));
    }
    let mut after = args.after;
    while operator.is_served() {
        match operator.ask(&ask(args, after, limits::SOCKET_ALERT_WAIT_MS_MAX)) {
            Ok(reply) => match print_lines(&reply, output)? {
                Some(next) => after = next,
                None => return Ok(()),
            },
            // Connections have a bounded life; the next one, or the free store, tells what it was.
            Err(error) if ends(&error) => operator = reach(&output.store)?,
            Err(error) => return Err(error),
        }
    }
    // What came between the last answer and the engine's end.
    print_lines(&operator.ask(&ask(args, after, 0))?, output)?;
    output.note("the process that held the store has ended");
    Ok(())
}

fn ends(error: &CliError) -> bool {
    matches!(error.code, Some(Code::SocketFailed | Code::EngineStopping))
}

fn ask(args: &AlertsArgs, after: u64, wait_ms: u64) -> Ask {
    Ask::Alerts(AlertsAsk {
        after,
        limit: args.limit,
        wait_ms,
    })
}

/// The reader's next place; `None` when nobody reads any more.
fn print_lines(reply: &Reply, output: &Output) -> Result<Option<u64>, CliError> {
    let page: Page<'_> = read(reply)?;
    for alert in &page.alerts {
        let reader = if output.json {
            output.offer(alert.get())?
        } else {
            output.offer(&line(&row(alert)?))?
        };
        if reader == Reader::Gone {
            return Ok(None);
        }
    }
    Ok(Some(page.next_after))
}

fn row(alert: &RawValue) -> Result<Row, CliError> {
    read(&Reply {
        is_json: true,
        body: alert.get().to_owned(),
    })
}

fn line(row: &Row) -> String {
    let call = row
        .call
        .as_ref()
        .map_or_else(String::new, |call| format!(" {call}"));
    let key = row
        .key
        .as_ref()
        .map_or_else(String::new, |key| format!(" {key}"));
    let Row {
        seq,
        at,
        kind,
        run_id,
        lap,
        reason,
        ..
    } = row;
    mainstay_runtime::view::text::plain(&format!(
        "{seq} {at} {kind} run {run_id} lap {lap}{call}: {reason}{key}"
    ))
}

fn text(page: &Page<'_>) -> Result<String, CliError> {
    let heading = [
        "SEQ",
        "AT",
        "AGE",
        "ALERT",
        "RUN",
        "LAP",
        "CALL",
        "WHY",
        "EFFECT KEY",
    ];
    let cells = |alert: &&RawValue| {
        let row = row(alert)?;
        Ok([
            row.seq.to_string(),
            row.at.clone(),
            ago(&row.at),
            row.kind,
            row.run_id,
            row.lap.to_string(),
            dash(row.call),
            row.reason,
            dash(row.key),
        ])
    };
    let rows: Result<Vec<_>, CliError> = page.alerts.iter().map(cells).collect();
    Ok(table(heading, rows?))
}
