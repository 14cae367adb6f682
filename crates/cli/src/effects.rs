//! `effects` and `effect`: what was changed in the outside world, or may have been, and what a
//! person says became of it.

use mainstay_socket::{Ask, EffectAsk, EffectsAsk, Form, SettleAsk, Verdict};
use mainstay_types::Payload;
use serde::Deserialize;

use crate::args::{EffectShowArgs, EffectsArgs, SettleArgs};
use crate::error::CliError;
use crate::operator::{reach, read};
use crate::output::Output;
use crate::prefix::RunPrefix;
use crate::table::{ago, dash, table};

#[derive(Deserialize)]
struct Page {
    effects: Vec<Row>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    key: String,
    state: String,
    run_id: String,
    call: String,
    reason: Option<String>,
    first_sent_at: Option<String>,
    lookups: u32,
    next_lookup_at: Option<String>,
}

/// Prints effects, by run.
pub(crate) fn list(args: &EffectsArgs, output: &Output) -> Result<(), CliError> {
    let mut operator = reach(&output.store)?;
    let run = RunPrefix::run_of(args.page.run.as_ref(), &mut *operator, output)?;
    let ask = Ask::Effects(EffectsAsk {
        run,
        in_doubt: args.in_doubt,
        cursor: args.page.cursor,
    });
    let reply = operator.ask(&ask)?;
    if output.json {
        return output.print(&reply.body);
    }
    let page: Page = read(&reply)?;
    output.print(&text(&page.effects))?;
    if page.effects.is_empty() {
        output.note("no effects");
    }
    output.more("--cursor", page.next_cursor.as_deref());
    Ok(())
}

/// Prints one effect.
pub(crate) fn show(args: &EffectShowArgs, output: &Output) -> Result<(), CliError> {
    let mut operator = reach(&output.store)?;
    let form = if output.json { Form::Json } else { Form::Text };
    let reply = operator.ask(&Ask::Effect(EffectAsk {
        key: args.key.clone(),
        payloads: args.payloads,
        form,
    }))?;
    match form {
        Form::Json => output.print(&reply.body),
        // Its commands are to be pasted: they name this program and this store.
        Form::Text => output.print(
            &reply
                .body
                .replace("`mainstay ", &format!("`{}", output.call(""))),
        ),
    }
}

/// As much of what was taken as is said.
#[derive(Deserialize)]
struct Settled {
    key: String,
    ruling: String,
    state: String,
    undone_by: Option<String>,
    by: String,
    why: String,
}

/// Has it taken what became of an effect.
pub(crate) fn settle(args: &SettleArgs, output: &Output) -> Result<(), CliError> {
    if let Some(result) = &args.result
        && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(result)
    {
        return Err(CliError::usage(&format!("--result is no JSON: {error}")));
    }
    if args.result.is_some() && args.verdict == Verdict::Compensate {
        return Err(CliError::usage("only what was applied has a --result"));
    }
    let mut operator = reach(&output.store)?;
    let reply = operator.ask(&Ask::Settle(SettleAsk {
        key: args.key.clone(),
        verdict: args.verdict,
        result: args.result.as_deref().map(Payload::from),
        by: args.asker.by.clone(),
        why: args.asker.why.clone(),
    }))?;
    if output.json {
        return output.print(&reply.body);
    }
    output.print(&said(&read(&reply)?))?;
    if !operator.is_served() {
        output.note("no process holds the store: the next engine that drives the run goes on");
    }
    Ok(())
}

/// What was taken, in words.
fn said(settled: &Settled) -> String {
    let Settled {
        key,
        ruling,
        state,
        undone_by,
        by,
        why,
    } = settled;
    let state = state.replace('_', " ");
    match undone_by.as_ref().filter(|_| ruling == "compensate") {
        // An engine may have done it before this was read.
        Some(undo) if state == "compensated" => {
            format!("effect {key} is compensated: {undo} has undone it, for {by}: {why}")
        }
        Some(undo) => {
            format!("effect {key}, which is {state}, is to be undone by {undo}, for {by}: {why}")
        }
        None => format!("effect {key} is {state}, by {by}: {why}"),
    }
}

fn text(effects: &[Row]) -> String {
    let heading = [
        "EFFECT KEY",
        "STATE",
        "RUN",
        "CALL",
        "WHY",
        "FIRST SENT",
        "AGE",
        "ASKED",
        "NEXT LOOK-UP",
    ];
    let row = |effect: &Row| {
        [
            effect.key.clone(),
            effect.state.clone(),
            effect.run_id.clone(),
            effect.call.clone(),
            dash(effect.reason.as_deref()),
            dash(effect.first_sent_at.as_deref()),
            dash(effect.first_sent_at.as_deref().map(ago)),
            effect.lookups.to_string(),
            dash(effect.next_lookup_at.as_deref()),
        ]
    };
    table(heading, effects.iter().map(row).collect())
}
