//! The tree of calls: each with its attempts and its effect.

use mainstay_types::Millis;

use super::layout::Sheet;
use super::payload;
use crate::view::sentence::moment;
use crate::view::{AttemptView, CallView, EffectView, RunView, SettledView};

/// Columns of paths; a longer one moves its line.
const PATH_COLUMNS_MAX: usize = 32;

pub(super) fn write(sheet: &mut Sheet, view: &RunView) {
    let widest = view
        .calls
        .iter()
        .map(|call| indent(call).len() + call.path.len())
        .max();
    let columns = widest.unwrap_or(0).min(PATH_COLUMNS_MAX);
    for call in &view.calls {
        one(sheet, call, columns);
    }
}

/// One call by itself.
pub(super) fn alone(sheet: &mut Sheet, call: &CallView) {
    one(sheet, call, call.path.len() + indent(call).len());
}

/// Items stand below their each.
fn indent(call: &CallView) -> &'static str {
    if call.kind == "item" { "    " } else { "  " }
}

fn one(sheet: &mut Sheet, call: &CallView, columns: usize) {
    let indent = indent(call);
    let width = columns.saturating_sub(indent.len());
    let (path, kind, weight) = (&call.path, call.kind, call.criticality);
    sheet.line(
        &format!("{indent}{path:<width$}  {kind:<5}  {weight:<8}  "),
        &state(call),
    );
    for attempt in &call.attempts {
        let number = format!("{indent}  attempt {}  ", attempt.no);
        sheet.line(&number, &attempt_words(attempt));
    }
    if let Some(effect) = &call.effect {
        sheet.line(&format!("{indent}  effect     "), &effect_words(effect));
        sheet.line(&format!("{indent}  key        "), &effect.key);
        if let Some(settled) = &effect.settled_by {
            sheet.line(&format!("{indent}  settled    "), &settled_words(settled));
        }
        if let Some(result) = &effect.result {
            sheet.line(&format!("{indent}  receiver   "), &payload(result));
        }
    }
}

fn state(call: &CallView) -> String {
    let mut text = call.state.to_owned();
    let reasons: Vec<&str> = [call.failure, call.reason].into_iter().flatten().collect();
    if !reasons.is_empty() {
        text = format!("{text}: {}", reasons.join(", "));
    }
    match (&call.answered_by, call.rung) {
        (Some(whom), 0) => text = format!("{text}, answered by {whom}"),
        (Some(whom), rung) => text = format!("{text}, answered by fallback {rung} ({whom})"),
        (None, 0) => {}
        (None, rung) => text = format!("{text}, on fallback {rung}"),
    }
    match &call.key_holder {
        Some(holder) => format!("{text}, its effect key was held by run {holder}"),
        None => text,
    }
}

fn attempt_words(attempt: &AttemptView) -> String {
    let whom = attempt.dependency.as_deref().unwrap_or("nobody");
    let start = moment(Millis::new(attempt.at_ms));
    let mut parts = vec![format!("to {whom} at {start}: {}", attempt.state)];
    parts.extend(
        attempt
            .took_ms
            .map(|took| format!("after {}", Millis::new(took))),
    );
    if attempt.failure.is_some() || attempt.state == "interrupted" {
        parts.extend(attempt.failure.map(str::to_owned));
        parts.extend(attempt.sent.map(str::to_owned));
    }
    parts.extend(
        attempt
            .provider_code
            .as_ref()
            .map(|code| format!("provider code {code}")),
    );
    let reserved = attempt.reserved_units.get();
    match attempt.cost_units.as_ref().map(|cost| cost.get()) {
        Some(cost) if cost == reserved => parts.push(format!("cost {cost}")),
        Some(cost) => parts.push(format!("cost {cost} of {reserved} reserved")),
        None => {
            parts.push(format!("timeout {}", Millis::new(attempt.timeout_ms)));
            parts.push(format!("cost {reserved} reserved"));
        }
    }
    match attempt.retry_tokens {
        0 => {}
        1 => parts.push("1 retry token".to_owned()),
        many => parts.push(format!("{many} retry tokens")),
    }
    parts.extend(attempt.orphan.as_ref().map(|orphan| {
        let (state, owner) = (orphan.state.replace('_', " "), &orphan.owner);
        format!("given up and {state}, {owner}'s until {}", orphan.until)
    }));
    let message = attempt.message.as_ref();
    let message = message.map_or_else(String::new, |message| format!(": {message}"));
    format!("{}{message}", parts.join(", "))
}

pub(super) fn settled_words(settled: &SettledView) -> String {
    let ruling = settled.ruling.replace('_', " ");
    let SettledView { by, why, at, .. } = settled;
    format!("by hand, {ruling}, by {by} at {at}: {why}")
}

fn effect_words(effect: &EffectView) -> String {
    let mut text = effect.state.to_owned();
    if let Some(reason) = effect.reason {
        text = format!("{text}: {reason}");
    }
    let moments = [
        ("first sent at", &effect.first_sent_at),
        ("in doubt since", &effect.in_doubt_since),
        ("next look-up at", &effect.next_lookup_at),
        ("\"not found\" counts from", &effect.absent_after),
    ];
    for (words, at) in moments {
        if let Some(at) = at {
            text = format!("{text}, {words} {at}");
        }
    }
    match effect.lookups {
        0 => text,
        1 => format!("{text}, 1 look-up"),
        many => format!("{text}, {many} look-ups"),
    }
}
