//! One effect for people: how it stands, what was tried, and what may be said of it.

use mainstay_types::Millis;

use super::layout::Sheet;
use super::{calls, rows};
use crate::view::{OneEffect, OtherEffect};

/// One effect as text, with a line feed at its end.
#[must_use]
pub fn render_effect(view: &OneEffect) -> String {
    let mut sheet = Sheet::default();
    sheet.whole("effect ", &view.key);
    sheet.field("run", &view.run_id);
    let (class, version) = (&view.class.name, view.class.version);
    sheet.field("class", &format!("{class} v{version}"));
    sheet.field("tenant", &view.tenant);
    let outcome = view.run_outcome.map(|outcome| format!(", {outcome}"));
    let outcome = outcome.unwrap_or_default();
    sheet.field("run's state", &format!("{}{outcome}", view.run_state));
    promise(&mut sheet, view);
    other(&mut sheet, "undone by", view.undone_by.as_ref());
    other(&mut sheet, "undoes", view.undoes.as_ref());
    sheet.field("to be done", &advice(view));
    sheet.heading("call");
    calls::alone(&mut sheet, &view.call);
    if !view.timeline.is_empty() {
        sheet.heading("timeline");
        rows(&mut sheet, &view.timeline);
    }
    sheet.into_text()
}

fn promise(sheet: &mut Sheet, view: &OneEffect) {
    let promise = &view.promise;
    let word = |word: &str| word.replace('_', " ");
    let kind = format!("{}, {}", word(promise.semantics), word(promise.rule));
    sheet.field("kind", &kind);
    let bound = Millis::new(promise.receiver_bound_ms);
    let horizon = Millis::new(promise.horizon_ms);
    sheet.field(
        "found out",
        &format!(
            "{}; a request may land up to {horizon} after it is sent, of which {bound} are the \
             receiver's",
            word(promise.resolution)
        ),
    );
    let ttl = promise.receiver_key_ttl_ms.map(Millis::new);
    let ttl = ttl.map_or_else(|| "for good".to_owned(), |ttl| format!("for {ttl}"));
    let memory = Millis::new(promise.key_memory_ms);
    sheet.field(
        "key",
        &format!("the receiver remembers it {ttl}, it is remembered here for {memory}"),
    );
}

fn other(sheet: &mut Sheet, label: &str, other: Option<&OtherEffect>) {
    if let Some(OtherEffect {
        key,
        call,
        call_state,
        state,
        key_holder,
    }) = other
    {
        let state = state.unwrap_or(call_state).replace('_', " ");
        let held = key_holder.as_ref().map_or_else(String::new, |run| {
            let to_do = match *call_state {
                "failed" => ": undo it by hand, at its receiver",
                _ => "",
            };
            format!("; run {run} has this key for what it undid{to_do}")
        });
        sheet.field(label, &format!("{key} ({call}, {state}{held})"));
    }
}

/// What a person can do about it, with the command that does it.
fn advice(view: &OneEffect) -> String {
    let undo = view.undone_by.as_ref();
    let is_by_hand =
        undo.is_some_and(|undo| undo.call_state == "failed" && undo.key_holder.is_some());
    let undo = match view.may_be_compensated && !is_by_hand {
        true => "`mainstay effect settle KEY compensate` has it undone, with --by and --why",
        false => "",
    };
    if !view.may_be_settled {
        return match undo {
            "" => "nothing".to_owned(),
            undo => format!("nothing; {undo}"),
        };
    }
    let undo = match undo {
        "" => String::new(),
        undo => format!("; {undo}"),
    };
    let age = view.in_doubt_for_ms.map(Millis::new);
    let age = age.map_or_else(String::new, |age| format!("in doubt for {age}; "));
    let from = view.not_applied_from.as_ref();
    let from = from.map_or_else(String::new, |from| format!(" (not before {from})"));
    format!(
        "{age}look for it at the receiver, then `mainstay effect settle KEY applied --result JSON` \
         or `mainstay effect settle KEY not-applied`{from}, with --by and --why{undo}"
    )
}
