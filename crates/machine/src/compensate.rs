//! Undoing an effect: a write of its own, with a key of its own, that somebody asks for.
//!
//! Nothing is rolled back by itself: whoever wants an effect undone says so, and what undoes it is
//! recorded, sent, doubted and asked about like any other write. It is bound to no lap: it may
//! begin after the run has ended, and it brings the budget it needs.

use mainstay_graph::{Contract, Criticality};
use mainstay_types::{
    CallId, Code, Corrupt, FailureKind, NodeId, Reason, Refusal, Timestamp, Tokens, limits,
};

use crate::call::{AT_ONCE, Call, EffectStatus, Phase, Undoes};
use crate::command::AskCompensate;
use crate::effect::addendum;
use crate::ending::{self, Why};
use crate::event::{CompensationWanted, Event};
use crate::life::{self, Happens};
use crate::run::Run;
use crate::streak::Streak;
use crate::{by_hand, effect, guard, twin};

/// The call that undoes the effect of `id`, once somebody asked for it.
#[must_use]
pub fn of(run: &Run, id: CallId) -> Option<(CallId, &Call)> {
    let mut calls = run.calls.iter();
    calls.find(|(_, call)| call.undoes.is_some_and(|undoes| undoes.call == id))
}

/// Whether what undoes an effect is still to be done, or nobody knows whether it is.
pub(crate) fn is_owed(run: &Run) -> bool {
    let waiting = run.calls.preparing().chain(run.calls.ready());
    waiting.into_iter().any(|(_, call)| call.is_undo())
}

/// Somebody wants the effect undone.
pub(crate) fn decide(run: &Run, ask: AskCompensate, at: Timestamp) -> Result<Vec<Event>, Refusal> {
    guard::started(run)?;
    let (id, call) = (ask.call, guard::call(run, ask.call)?);
    let before = of(run, id).map(|(_, undo)| undo);
    let wanted = before
        .and_then(|undo| undo.undoes)
        .map_or(0, |undoes| undoes.wanted);
    if ask.after < wanted || call.is_undone() {
        // It was taken, or somebody else wanted it first.
        return Ok(Vec::new());
    }
    match before.map(|undo| &undo.phase) {
        Some(phase) if !phase.is_final() => {
            return Err(by_hand::refused(run, id, "it is being undone"));
        }
        // Its key is used up.
        Some(Phase::Settled { .. }) => {
            let what = "what undoes it was done for an earlier request: undo it by hand";
            return Err(by_hand::refused(run, id, what));
        }
        Some(_) | None => {}
    }
    let contract = contract(run, call).ok_or_else(|| cannot_be_undone(run, id))?;
    check_status(run, (id, call), before)?;
    by_hand::check_landed(run, (id, call), at)?;
    // What its attempts are expected to take at most is granted with the wish, whatever the lap has
    // left: the lap's limits follow each of them (`BudgetState::cover`).
    let attempts = contract.max_attempts;
    let mut events = vec![Event::CompensationWanted(Box::new(CompensationWanted {
        call: id,
        wanted: wanted + 1,
        by: ask.by,
        why: ask.why,
        at,
        cost: contract.cost.times(u64::from(attempts)),
        retry_tokens: Tokens::new(attempts.saturating_sub(1)),
    }))];
    if call.phase == Phase::InDoubt {
        let (kind, reason) = (FailureKind::EffectUnknown, Reason::PartlyApplied);
        events.extend(ending::give_up(run, id, call, Why { kind, reason }));
    }
    Ok(events)
}

/// Nothing that may change while its run has the key.
fn cannot_be_undone(run: &Run, id: CallId) -> Refusal {
    let class = run.head().map(|head| (head.run, &head.class.name));
    let holder = class.map_or_else(String::new, |(run, class)| {
        format!(", which run {run} of class {class} holds")
    });
    let (path, hand) = (run.path(id), "undo it by hand, at its receiver");
    Refusal::new(Code::CannotBeUndone).about(format!("{path}{holder}; {hand}"))
}

fn contract<'a>(run: &'a Run, call: &Call) -> Option<&'a Contract> {
    let undo = run.class().compensation_of(call.node)?;
    run.class().node(undo).contract()
}

/// Whether something of the effect is, or may be, in the world that can be undone.
fn check_status(
    run: &Run,
    (id, call): (CallId, &Call),
    before: Option<&Call>,
) -> Result<(), Refusal> {
    let refused = |what: &str| Err(by_hand::refused(run, id, what));
    match by_hand::status(call) {
        // It is another run's.
        Some(EffectStatus::Applied(Reason::AdoptedFromOtherRun)) => {
            return refused("another run has done it: ask again, its key leads to that run by now");
        }
        Some(EffectStatus::Applied(_) | EffectStatus::PartlyApplied | EffectStatus::InDoubt(_)) => {
        }
        Some(EffectStatus::Intended | EffectStatus::Dispatched) => {
            return refused("a request is out");
        }
        Some(EffectStatus::Absent(Reason::KeyHeldByOtherRun)) => {
            return refused("another run has taken it over: ask again, its key leads there by now");
        }
        Some(EffectStatus::Absent(_) | EffectStatus::Compensated) => {
            return refused("it is not in the world");
        }
        None => return refused("nothing of it was sent"),
    }
    match twin::undo_before(run, id).map(|other| other.phase.is_final()) {
        Some(true) => {
            return refused("its undo's key is used up by an earlier call's: undo it by hand");
        }
        Some(false) => {
            return refused("an earlier call under its key is being undone");
        }
        None => {}
    }
    match before.and_then(by_hand::status) {
        Some(EffectStatus::PartlyApplied) => {
            refused("it was undone in part: settle what undoes it")
        }
        Some(
            EffectStatus::Intended
            | EffectStatus::Dispatched
            | EffectStatus::InDoubt(_)
            | EffectStatus::Applied(_)
            | EffectStatus::Absent(_)
            | EffectStatus::Compensated,
        )
        | None => match before {
            None if 2 * limits::RUN_CALLS_MAX <= run.calls.len() => {
                refused("the run has as many calls as it may have")
            }
            Some(_) | None => Ok(()),
        },
    }
}

/// The call that undoes the effect begins, or begins again under its key: its request is made anew,
/// from what is known of the effect by now.
pub(crate) fn apply_wanted(run: &mut Run, event: &CompensationWanted) -> Result<(), Corrupt> {
    let name = "CompensationWanted";
    let call = guard::stored(run, event.call, name)?;
    let (is_in_doubt, slot) = (call.phase == Phase::InDoubt, call.slot);
    let node = run.class().compensation_of(call.node);
    let node = node.filter(|_| life::may(call.effect.as_ref(), Happens::Unwanted));
    let node = node.ok_or_else(|| guard::misplaced(run, event.call, name))?;
    let undoes = Undoes {
        call: event.call,
        wanted: event.wanted,
        asked: 0,
    };
    begin(run, (undoes, slot), node)?;
    if is_in_doubt {
        // Whatever of it is in the world is to be undone.
        run.calls.update(event.call, |call| {
            if let Some(effect) = &mut call.effect {
                life::pass(effect, Happens::Unwanted, EffectStatus::PartlyApplied);
            }
            call.phase = Phase::Ready {
                not_before: AT_ONCE,
            };
        });
    }
    let head = guard::head_mut(run, name)?;
    head.closed = false;
    Ok(())
}

fn begin(run: &mut Run, (undoes, slot): (Undoes, u32), node: NodeId) -> Result<(), Corrupt> {
    let Some((id, before)) = of(run, undoes.call) else {
        let mut undo = Call::new(node, None, 0, Phase::Preparing);
        (undo.undoes, undo.slot) = (Some(undoes), slot);
        run.calls.push(undo);
        return Ok(());
    };
    let has_failed = matches!(before.phase, Phase::Failed { .. });
    let may_be_sent = before.effect.is_none() || life::may(before.effect.as_ref(), Happens::Sent);
    if !has_failed || !may_be_sent {
        return Err(guard::misplaced(run, id, "CompensationWanted"));
    }
    run.calls.update(id, |undo| {
        (undo.undoes, undo.rung_attempts) = (Some(undoes), 0);
        undo.streak = Streak::default();
        (undo.prepared, undo.phase) = (None, Phase::Preparing);
    });
    Ok(())
}

/// Whether what is there of the effect of `id` is what its undo, which is done, has undone.
/// Somebody may have said meanwhile that there was nothing; a request that left since is another
/// one.
pub(crate) fn has_undone(run: &Run, id: CallId) -> bool {
    let undo = of(run, id).map(|(_, undo)| undo);
    let (Some(call), Some(undo)) = (run.calls.get(id), undo) else {
        return false;
    };
    let newest = |call: &Call| call.attempts.last().map(|made| made.at);
    let is_newer = newest(undo).is_some_and(|undone| Some(undone) < newest(call));
    !is_newer && life::may(call.effect.as_ref(), Happens::Undone)
}

/// What follows from the effect of `id` being undone: its call has no value any more, and a lap
/// that needs it is lost.
pub(crate) fn undone(run: &Run, id: CallId) -> Vec<Event> {
    let mut events = vec![Event::EffectCompensated { call: id }];
    events.extend(addendum(run, id, Reason::Compensated));
    let loses = run.head.as_ref().is_some_and(|head| {
        head.lap.lost.is_none() && head.lap.outcome.is_none() && head.cancel.is_none()
    });
    let taken = loses_value(run, id).filter(|&call| loses && is_needed(run, call));
    events.extend(taken.map(|call| Event::HardPathLost { call }));
    events
}

/// The call whose value goes with the effect of `id`: the list's for an item of one. What a model
/// asked for is told to the model instead.
fn loses_value(run: &Run, id: CallId) -> Option<CallId> {
    let call = run.calls.get(id)?;
    let is_of_graph = run.class().node(call.node).tool.is_none();
    is_of_graph.then(|| call.item.map_or(id, |item| item.parent))
}

fn is_needed(run: &Run, id: CallId) -> bool {
    let call = run.calls.get(id);
    call.is_some_and(|call| call.value().is_some() && run.is_on_hard_path(call.node))
}

/// The effect that `undo` undoes is not in the world any more, and what was made of it is no value.
pub(crate) fn apply_compensated(run: &mut Run, id: CallId) -> Result<(), Corrupt> {
    let name = "EffectCompensated";
    let call = guard::stored(run, id, name)?;
    let what = Happens::Undone;
    let is_undone = of(run, id).is_some_and(|(_, undo)| undo.value().is_some());
    // Whoever did it knows what undid it.
    if !(is_undone || effect::is_adopted(call)) || !life::may(call.effect.as_ref(), what) {
        return Err(guard::misplaced(run, id, name));
    }
    run.calls.update(id, |call| {
        if let Some(effect) = &mut call.effect {
            life::pass(effect, what, EffectStatus::Compensated);
        }
    });
    for id in loses_value(run, id).into_iter().chain([id]) {
        take_value(run, id);
    }
    Ok(())
}

fn take_value(run: &mut Run, id: CallId) {
    let (kind, reason) = (FailureKind::InvalidInput, Reason::Compensated);
    let node = run.calls.get(id).map(|call| run.class().node(call.node));
    let is_taken = node.filter(|node| node.tool.is_none());
    let Some(criticality) = is_taken.map(|node| node.criticality.clone()) else {
        return;
    };
    run.calls.update(id, |call| {
        if matches!(call.phase, Phase::Settled { .. }) {
            call.phase = match criticality {
                Criticality::Hard => Phase::Failed { kind, reason },
                Criticality::Soft { .. } | Criticality::Advisory { .. } => {
                    Phase::Omitted { reason }
                }
            };
        }
    });
}
