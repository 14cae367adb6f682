//! The next lap of a run: what stays as it is, and what opens again.
//!
//! Every settled result, request, recorded list and effect stays. Only calls that failed, were left
//! out or never started open again. What a settled value was made without stays left out, because
//! that value still lacks it and its notice has to say so.

use mainstay_types::{
    CallId, Code, Corrupt, LapNo, NodeId, Refusal, Rung, Timestamp, Tokens, limits,
};

use crate::call::{AT_ONCE, Call, EffectStatus, Items, Phase};
use crate::event::{Event, LapStarted, OutcomeKind};
use crate::run::{Asked, Head, Lap, Run, node_call_id};
use crate::streak::Streak;
use crate::{doubt, guard, start};

/// The next lap, or a quarantined run that is driven again.
pub(crate) fn go_on(
    run: &Run,
    from: LapNo,
    asked: Asked,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let head = guard::started(run)?;
    if from < head.lap.no {
        return Ok(Vec::new());
    }
    let mut events = Vec::new();
    if head.quarantined.is_some() {
        let Asked { by, why } = asked.clone();
        events.push(Event::QuarantineLifted { by, why });
    }
    match may_go_on(head) {
        Ok(()) => {
            events.push(next_lap(run, head, asked, now));
            events.extend(lost_for_good(run));
            Ok(events)
        }
        // Lifted into the lap it is in, or to what it still owes.
        Err(_) if !events.is_empty() => Ok(events),
        Err(refusal) => Err(refusal),
    }
}

fn next_lap(run: &Run, head: &Head, asked: Asked, at: Timestamp) -> Event {
    let (class, Asked { by, why }) = (run.class(), asked);
    Event::LapStarted(LapStarted {
        lap: head.lap.no.next(),
        by,
        why,
        at,
        times: start::lap_times(class, at, None),
        budget: class.budget,
    })
}

/// A hard call that stays failed: only a person can do something about it, so the lap is lost from
/// its beginning, and what else is missing may still be had.
fn lost_for_good(run: &Run) -> Option<Event> {
    let mut calls = run.calls.iter().filter(|(_, call)| call.item.is_none());
    let lost = calls.find(|(id, call)| {
        let failed = matches!(call.phase, Phase::Failed { .. });
        failed && !opens(run, *id, call) && run.is_on_hard_path(call.node)
    });
    lost.map(|(call, _)| Event::HardPathLost { call })
}

fn may_go_on(head: &Head) -> Result<(), Refusal> {
    let refused = |what: &str| {
        let about = format!("{}: lap {} {what}", head.run, head.lap.no);
        Err(Refusal::new(Code::ContinueRefused).about(about))
    };
    let laps = head.past.len() + 1;
    match head.lap.outcome.as_ref().map(|outcome| outcome.kind) {
        None => refused("has no outcome yet"),
        Some(kind @ (OutcomeKind::Completed | OutcomeKind::Canceled | OutcomeKind::Terminated)) => {
            refused(kind.as_str())
        }
        Some(
            OutcomeKind::Degraded
            | OutcomeKind::HandedOff
            | OutcomeKind::Failed
            | OutcomeKind::Rejected,
        ) if limits::LAPS_MAX <= laps => refused("is the last a run may have"),
        Some(
            OutcomeKind::Degraded
            | OutcomeKind::HandedOff
            | OutcomeKind::Failed
            | OutcomeKind::Rejected,
        ) => Ok(()),
    }
}

pub(crate) fn apply(run: &mut Run, event: &LapStarted) -> Result<(), Corrupt> {
    let name = "LapStarted";
    let head = guard::head_mut(run, name)?;
    if event.lap != head.lap.no.next() || head.lap.outcome.is_none() {
        let detail = format!("lap {} cannot follow lap {} yet", event.lap, head.lap.no);
        return Err(Corrupt::new(name, detail));
    }
    let on_failure = head.lap.on_failure;
    let begun = (event.lap, event.at);
    let uses = head.lap.uses.next();
    let mut lap = Lap::new(begun, event.times, (event.budget, uses), on_failure);
    lap.continued = Some(Asked::of(&event.by, &event.why));
    // Writes of the last lap that are still out keep their places.
    let out = std::mem::replace(&mut head.lap.budget.in_flight, Tokens::ZERO);
    (lap.budget.in_flight, lap.budget.in_flight_peak) = (out, out);
    head.past.push(std::mem::replace(&mut head.lap, lap));
    (head.cancel, head.closed) = (None, false);
    reopen(run, event.at);
    Ok(())
}

fn reopen(run: &mut Run, at: Timestamp) {
    let ids: Vec<CallId> = run.calls.iter().map(|(id, _)| id).collect();
    // Items before their eaches, which count them.
    for &id in ids.iter().rev() {
        let opens = run.calls.get(id).is_some_and(|call| opens(run, id, call));
        run.calls.update(id, |call| renew(call, opens, at));
        open_items(run, id, opens);
    }
    let nodes: Vec<NodeId> = run.class().ids().map(|(id, _)| id).collect();
    for node in nodes {
        count_needs(run, node);
    }
}

/// Whether the call opens again.
fn opens(run: &Run, id: CallId, call: &Call) -> bool {
    match &call.phase {
        // The model was told; it may ask again.
        Phase::Failed { .. } if run.class().node(call.node).tool.is_some() => false,
        // Somebody asks for it again, or does not.
        Phase::Failed { .. } if call.is_undo() => false,
        Phase::Failed { .. } | Phase::Omitted { .. } if is_for_a_person(call) => false,
        Phase::Failed { .. } => true,
        Phase::Omitted { .. } => !is_built_upon(run, id, call),
        Phase::Waiting
        | Phase::Preparing
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items
        | Phase::Settled { .. }
        | Phase::Skipped => false,
    }
}

/// Whether only a person can do something about it: a part of it is in the world, or it was undone
/// and its key is used up.
fn is_for_a_person(call: &Call) -> bool {
    let status = call.effect.as_ref().map(|effect| &effect.status);
    matches!(
        status,
        Some(EffectStatus::PartlyApplied | EffectStatus::Compensated)
    )
}

/// Whether a request, list or value was made without this one's value.
fn is_built_upon(run: &Run, id: CallId, call: &Call) -> bool {
    let dependents = run.dependents(call.node).iter();
    let mut made = dependents.filter_map(|&node| run.node_call(node));
    node_call_id(call.node) == id
        && made.any(|other| {
            other.prepared.is_some() || other.items.is_some() || other.value().is_some()
        })
}

/// A lap begins with the first provider and all attempts; what is out keeps counting, and what is
/// in doubt is asked about at once: somebody waits again.
fn renew(call: &mut Call, opens: bool, at: Timestamp) {
    let is_repaired = call.phase == Phase::Preparing && call.repair.is_some();
    if opens && call.asked.is_some() {
        call.phase = Phase::Items;
    } else if opens || is_repaired {
        call.phase = if call.prepared.is_some() {
            Phase::Ready {
                not_before: AT_ONCE,
            }
        } else {
            Phase::Waiting
        };
    }
    call.streak = Streak::default();
    if !matches!(call.phase, Phase::InFlight(_)) {
        call.repair = None;
    }
    match &mut call.phase {
        Phase::InFlight(_) => call.rung_attempts = 1,
        Phase::InDoubt => {
            call.rung_attempts = 0;
            doubt::hurry(call, at);
        }
        Phase::Ready { not_before } => {
            if call.rung != Rung(0) {
                *not_before = AT_ONCE;
            }
            (call.rung, call.rung_attempts) = (Rung(0), 0);
        }
        Phase::Waiting | Phase::Preparing | Phase::Items => {}
        Phase::Settled { .. } | Phase::Omitted { .. } | Phase::Skipped | Phase::Failed { .. } => {}
    }
}

/// An each that is open, or opens again, waits for its items that are not final.
fn open_items(run: &mut Run, id: CallId, opens: bool) {
    let each = run.calls.get(id);
    let each = each.filter(|call| opens || call.phase == Phase::Items);
    let Some(items) = each.and_then(|call| call.items) else {
        return;
    };
    let open = items.calls().filter_map(|item| run.calls.get(item));
    let open = open.filter(|item| !item.phase.is_final()).count();
    let open = u32::try_from(open).unwrap_or(u32::MAX);
    run.calls.update(id, |call| {
        call.items = Some(Items { open, ..items });
        call.phase = Phase::Items;
    });
}

/// A node's call waits for what it needs and is not there; what waits for nothing has its turn.
fn count_needs(run: &mut Run, node: NodeId) {
    let needs = run.class().node(node).needs();
    let open = needs
        .filter_map(|need| run.node_call(need))
        .filter(|need| !need.phase.is_final())
        .count();
    let open = u32::try_from(open).unwrap_or(u32::MAX);
    run.calls.update(node_call_id(node), |call| {
        call.needs_open = open;
        if open == 0 && call.phase == Phase::Waiting {
            call.phase = Phase::Preparing;
        }
    });
}
