//! `effects`: what was changed in the outside world, or may have been.

use mainstay_socket::{Ask, EffectsAsk};
use serde::Deserialize;

use crate::args::EffectsArgs;
use crate::error::CliError;
use crate::operator::{reach, read};
use crate::output::Output;
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
    let run = match &args.run {
        Some(prefix) => Some(prefix.run(&mut *operator, output)?),
        None => None,
    };
    let ask = Ask::Effects(EffectsAsk {
        run,
        in_doubt: args.in_doubt,
        cursor: args.cursor,
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
