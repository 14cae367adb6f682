//! How a call ends: with its value, left out, skipped or failed; and what that opens or loses.
//!
//! Ending a call is the only thing that lets its dependents begin.

use mainstay_graph::Criticality;
use mainstay_types::{CallId, Corrupt, FailureKind, Payload, Reason, Rung, Timestamp, limits};

use crate::call::{Call, Items, Phase};
use crate::event::Event;
use crate::run::{Run, node_call_id};
use crate::streak::Streak;
use crate::{guard, rung};

/// Why nothing more is tried for a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Why {
    /// The kind of its last failure.
    pub(crate) kind: FailureKind,
    pub(crate) reason: Reason,
}

/// What a call's failure means: an omission for what is soft, a lost lap for what is hard.
pub(crate) fn give_up(run: &Run, id: CallId, call: &Call, why: Why) -> Vec<Event> {
    let Why { kind, reason } = why;
    let failed = Event::CallFailed {
        call: id,
        kind,
        reason,
    };
    if call.item.is_some() {
        return vec![failed];
    }
    match run.class().node(call.node).criticality {
        Criticality::Soft { .. } | Criticality::Advisory { .. } => {
            vec![Event::CallOmitted { call: id, reason }]
        }
        Criticality::Hard => {
            let lost = run.head.as_ref().is_some_and(|head| {
                head.lap.lost.is_none() && head.lap.outcome.is_none() && head.cancel.is_none()
            });
            if lost && run.is_on_hard_path(call.node) {
                vec![failed, Event::HardPathLost { call: id }]
            } else {
                vec![failed]
            }
        }
    }
}

/// The end of an each whose items are all final: the list of their values, or a failure.
pub(crate) fn of_each(run: &Run, id: CallId, call: &Call, items: Items) -> Vec<Event> {
    let mut values = Vec::new();
    let mut worst = None;
    for item in items.calls().filter_map(|item| run.calls.get(item)) {
        match &item.phase {
            Phase::Settled { result, .. } => values.push(result.clone()),
            Phase::Failed { kind, reason } => worst = worst.or(Some((*kind, *reason))),
            Phase::Waiting
            | Phase::Preparing
            | Phase::Ready { .. }
            | Phase::InFlight(_)
            | Phase::InDoubt
            | Phase::Items
            | Phase::Omitted { .. }
            | Phase::Skipped => {}
        }
    }
    let bytes: usize = values.iter().map(|value| value.len() + 1).sum();
    if limits::PAYLOAD_BYTES_MAX < bytes + 1 {
        worst = worst.or(Some((FailureKind::ResultInvalid, Reason::ResultTooLarge)));
    }
    match worst {
        Some((kind, reason)) => give_up(run, id, call, Why { kind, reason }),
        None => {
            let result = Payload::list(&values);
            vec![Event::CallSettled {
                call: id,
                rung: Rung(0),
                result,
            }]
        }
    }
}

pub(crate) fn apply_rescheduled(
    run: &mut Run,
    id: CallId,
    rung: Rung,
    not_before: Timestamp,
) -> Result<(), Corrupt> {
    let call = guard::stored(run, id, "CallRescheduled")?;
    // A request that could not be made anew leaves its call where it waits for one.
    let may_move = match call.phase {
        Phase::Ready { .. } => true,
        Phase::Preparing => call.repair.is_some(),
        Phase::Waiting
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items
        | Phase::Settled { .. }
        | Phase::Omitted { .. }
        | Phase::Skipped
        | Phase::Failed { .. } => false,
    };
    if !may_move {
        return Err(guard::misplaced(run, id, "CallRescheduled"));
    }
    let contract = run.class().node(call.node).contract();
    if contract
        .and_then(|contract| rung::spec(contract, rung))
        .is_none()
    {
        return Err(Corrupt::new(
            "CallRescheduled",
            format!("there is no rung {rung}"),
        ));
    }
    run.calls.update(id, |call| {
        if call.rung != rung {
            (call.rung, call.rung_attempts) = (rung, 0);
            call.streak = Streak::default();
            // Another provider is asked with the first request; there is no second repair.
            if let Some(repair) = &mut call.repair {
                repair.prepared = None;
            }
        }
        call.phase = Phase::Ready { not_before };
    });
    Ok(())
}

/// Gives a call its final phase, and opens what waited for it. What is out or in doubt has to be
/// settled first, and only a receiver's word gives a write its value.
pub(crate) fn apply(
    run: &mut Run,
    id: CallId,
    phase: Phase,
    event: &'static str,
) -> Result<(), Corrupt> {
    let call = guard::stored(run, id, event)?;
    let is_value = matches!(phase, Phase::Settled { .. });
    let is_skip = matches!(phase, Phase::Skipped);
    let may_end = match &call.phase {
        Phase::Preparing => !is_value || run.class().node(call.node).contract().is_none(),
        Phase::Ready { .. } => !(is_skip || is_value && run.writes(call)),
        Phase::Items => {
            let is_done = call.asked.as_ref().is_some_and(|asked| asked.done);
            !is_skip && (is_done || call.items.is_some_and(|items| items.open == 0))
        }
        Phase::Waiting
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Settled { .. }
        | Phase::Omitted { .. }
        | Phase::Skipped
        | Phase::Failed { .. } => false,
    };
    if !may_end {
        return Err(guard::misplaced(run, id, event));
    }
    apply_value(run, id, phase, event)
}

/// Gives a call the final phase it was proven to have, and opens what waited for it.
pub(crate) fn apply_value(
    run: &mut Run,
    id: CallId,
    phase: Phase,
    event: &'static str,
) -> Result<(), Corrupt> {
    let call = guard::stored(run, id, event)?;
    let (node, item) = (call.node, call.item);
    run.calls.update(id, |call| call.phase = phase);
    match item {
        Some(item) => close_item(run, item.parent, event),
        None => {
            open_dependents(run, node);
            Ok(())
        }
    }
}

fn close_item(run: &mut Run, parent: CallId, event: &'static str) -> Result<(), Corrupt> {
    run.calls.update(parent, |call| match &mut call.items {
        Some(items) if 0 < items.open => {
            items.open -= 1;
            Ok(())
        }
        // What a model asked for is counted when it is done.
        None if call.asked.is_some() => Ok(()),
        Some(_) | None => Err(Corrupt::new(
            event,
            format!("call {parent} has no open item"),
        )),
    })
}

fn open_dependents(run: &mut Run, node: mainstay_types::NodeId) {
    for dependent in run.dependents(node).to_vec() {
        // A node may need the same value as input and as predicate.
        let times = run
            .class()
            .node(dependent)
            .needs()
            .filter(|&need| need == node)
            .count();
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        run.calls.update(node_call_id(dependent), |call| {
            call.needs_open = call.needs_open.saturating_sub(times);
            if call.needs_open == 0 && call.phase == Phase::Waiting {
                call.phase = Phase::Preparing;
            }
        });
    }
}
