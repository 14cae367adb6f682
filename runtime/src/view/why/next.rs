//! What comes next by itself, as the core itself would decide it.
//!
//! "What if nothing comes back" is played on a copy: the same functions, on the same state.

use mainstay_machine::{
    Action, Command, Event, Evidence, Run, Settle, SettleEnd, apply, decide, pending,
};
use mainstay_types::{AttemptNo, CallId, Failure, FailureKind, Rung, Sent, Timestamp, limits};
use serde::Serialize;

use super::About;
use crate::view::call::dependency;
use crate::view::{decided, raw};

/// Attempts whose "what then" is played; of more, only their moments are told.
const PLAYED_MAX: usize = 32;

/// Layers that one moment can decide, beyond any class's depth.
const LAYERS_MAX: usize = 1_000;

/// Something that comes next.
#[derive(Clone, Debug, Serialize)]
pub struct NextView {
    /// When, at the latest; `None`: at once.
    pub at: Option<String>,
    /// The call's path; `None` for the run as a whole.
    pub call: Option<String>,
    /// What.
    pub what: String,
}

/// The soonest first.
pub(super) fn rows(about: About<'_>) -> Vec<NextView> {
    let About { run, head, now } = about;
    if head.quarantined.is_some() {
        return Vec::new();
    }
    let actions = pending(run, now);
    let mut rows: Vec<(Option<Timestamp>, NextView)> = Vec::new();
    let (mut played, mut is_over) = (0, false);
    for action in actions {
        let row = match action {
            Action::Advance => (None, None, "the core decides what follows".to_owned()),
            Action::Prepare { call } => (None, Some(call), "its own code runs".to_owned()),
            Action::Start { call, rung } => (None, Some(call), starts(run, call, rung)),
            Action::Assemble => (None, None, "the result is put together".to_owned()),
            Action::Attempt { call, attempt } => {
                played += 1;
                let is_played = played <= PLAYED_MAX;
                let Some((until, then)) = unanswered(run, (call, attempt), is_played) else {
                    continue;
                };
                (Some(until), Some(call), then)
            }
            Action::LookUp { call, number, at } => {
                let what = format!("its receiver is asked what became of it, time {number}");
                (Some(at), Some(call), what)
            }
            Action::WakeAt(at) if head.held.iter().any(|held| held.until == at) => {
                let what = "a place is free that an attempt of a process that is gone may have";
                (Some(at), None, what.to_owned())
            }
            Action::WakeAt(at) if let Some((call, what)) = unheard(run, at) => {
                (Some(at), Some(call), what)
            }
            Action::WakeAt(at) => {
                let Some(what) = at_moment(about, at) else {
                    continue;
                };
                is_over |= head.lap.times.answer_by == at;
                (Some(at), None, what)
            }
        };
        rows.push(view(run, row));
    }
    let answer_by = head.lap.times.answer_by;
    let is_open = head.lap.outcome.is_none() && head.lap.later.is_none();
    if is_open && !is_over && now < answer_by {
        rows.extend(
            at_moment(about, answer_by).map(|what| view(run, (Some(answer_by), None, what))),
        );
    }
    rows.sort_by_key(|(at, _)| *at);
    let rows = rows.into_iter().map(|(_, row)| row);
    rows.take(limits::WHY_ROWS_MAX).collect()
}

/// The orphan of which somebody hears at that moment when nothing is heard of it before.
fn unheard(run: &Run, at: Timestamp) -> Option<(CallId, String)> {
    run.calls().watched().find_map(|(id, call)| {
        let made = call.attempts.iter();
        let mut orphans = made.filter_map(|made| Some((made.no, made.orphan()?)));
        let (no, orphan) = orphans.find(|(_, it)| it.holds() && it.until == at)?;
        let owner = &orphan.owner;
        Some((
            id,
            format!("if nothing is heard of attempt {no}, which was given up, {owner} is told"),
        ))
    })
}

type Row = (Option<Timestamp>, Option<CallId>, String);

fn view(run: &Run, (at, call, what): Row) -> (Option<Timestamp>, NextView) {
    let view = NextView {
        at: at.map(raw::time),
        call: call.map(|call| run.path(call)),
        what,
    };
    (at, view)
}

fn starts(run: &Run, id: CallId, rung: Rung) -> String {
    let call = run.calls().get(id);
    let no = call.map_or(0, |call| call.attempts.len()) + 1;
    let contract = call.and_then(|call| run.class().node(call.node).contract());
    let whom = contract.and_then(|contract| dependency(contract, rung));
    match whom {
        Some(whom) => format!("attempt {no} may leave, to {whom}"),
        None => format!("attempt {no} may begin"),
    }
}

/// Until when an attempt may take, and what is done when nothing came back by then.
fn unanswered(
    run: &Run,
    (id, attempt): (CallId, AttemptNo),
    is_played: bool,
) -> Option<(Timestamp, String)> {
    let made = run.calls().get(id)?.attempt(attempt)?;
    let until = made.at + made.timeout;
    let over = format!("attempt {attempt} is over by then");
    if !is_played {
        return Some((until, over));
    }
    let failure = Failure::new(FailureKind::TransientTransport, Sent::MaybeSent);
    let report = Command::Settle(Settle {
        call: id,
        attempt,
        end: SettleEnd::Failed(failure),
        evidence: Evidence::default(),
    });
    let events = decide(run, report, until).unwrap_or_default();
    let then = events.iter().find_map(|event| {
        let Event::NextDecided(decision) = event else {
            return None;
        };
        Some(decided::action(&decision.next))
    });
    Some(match then {
        Some(then) => (until, format!("{over}; without an answer the call {then}")),
        None => (until, over),
    })
}

/// What a moment brings when nothing else has happened before it.
fn at_moment(about: About<'_>, at: Timestamp) -> Option<String> {
    let mut run = about.run.clone();
    for _ in 0..LAYERS_MAX {
        let events = decide(&run, Command::Advance, at).unwrap_or_default();
        if events.is_empty() {
            break;
        }
        for event in &events {
            apply(&mut run, event).ok()?;
        }
    }
    let (before, after) = (&about.head.lap, &run.head()?.lap);
    if let (None, Some(end)) = (&before.outcome, &after.outcome) {
        return Some(format!(
            "if nothing else happens, the lap ends {}: {}",
            end.kind.as_str(),
            end.reason
        ));
    }
    if before.later.is_none() && after.later.is_some() {
        return Some("if nothing else happens, the caller is told that it comes later".to_owned());
    }
    (run.seq() != about.run.seq()).then(|| "what is due is decided".to_owned())
}
