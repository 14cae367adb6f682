//! What a call that offers tools gives: everything that the model asked for, and what came of it.

use mainstay_types::{CallId, FailureKind, Payload, Reason, Rung, limits};

use crate::call::{Call, Phase};
use crate::ending::Why;
use crate::event::Event;
use crate::run::Run;
use crate::tools::ToolsAsked;

/// The end of a call that offers tools, once the model is done and everything it asked for is over.
pub(crate) fn ended(run: &Run, id: CallId, asked: &ToolsAsked) -> Vec<Event> {
    let is_over = |id: CallId| run.calls.get(id).is_some_and(|call| call.phase.is_final());
    if !asked.done || !asked.made().all(is_over) {
        return Vec::new();
    }
    let rows = asked.calls.iter().filter_map(|(name, call)| {
        let call = run.calls.get(*call)?;
        Some(row(run, name, call))
    });
    let rows: Vec<Payload> = rows.collect();
    let bytes: usize = rows.iter().map(|row| row.len() + 1).sum();
    if limits::PAYLOAD_BYTES_MAX < bytes + 1 {
        let (kind, reason) = (FailureKind::ResultInvalid, Reason::ResultTooLarge);
        let call = run.calls.get(id);
        let ended = call.map(|call| crate::ending::give_up(run, id, call, Why { kind, reason }));
        return ended.unwrap_or_default();
    }
    vec![Event::CallSettled {
        call: id,
        rung: Rung(0),
        result: Payload::list(&rows),
    }]
}

/// One of the model's calls with what came of it, in canonical form.
fn row(run: &Run, id: &str, call: &Call) -> Payload {
    use mainstay_types::json::Value;
    let tool = run.class().node(call.node).name.to_string();
    let text = |text: &str| Value::Text(text.to_owned());
    let failed = |kind: &str, reason: &str| {
        let failure = Value::object([("kind", text(kind)), ("reason", text(reason))]);
        Value::object([("failed", failure)])
    };
    let outcome = match &call.phase {
        _ if call.is_undone() => {
            let kind = FailureKind::Canceled.as_str();
            failed(kind, Reason::Compensated.as_str())
        }
        Phase::Settled { result, .. } => {
            let value = std::str::from_utf8(result.as_bytes()).ok();
            let value = value.and_then(|value| mainstay_types::json::parse(value).ok());
            Value::object([("done", value.unwrap_or(Value::Null))])
        }
        Phase::Failed { kind, reason } => failed(kind.as_str(), reason.as_str()),
        Phase::Omitted { reason } => failed("", reason.as_str()),
        Phase::Waiting
        | Phase::Preparing
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items
        | Phase::Skipped => failed("", ""),
    };
    let row = Value::object([
        ("id", text(id)),
        ("tool", text(&tool)),
        ("outcome", outcome),
    ]);
    Payload::from(row.to_canonical())
}
