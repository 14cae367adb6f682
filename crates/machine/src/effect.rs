//! Effects: their keys, what became of them, and how that is found out.
//!
//! ```text
//! Intended -> Dispatched -> Applied | Absent
//!                        \-> InDoubt -> Applied | PartlyApplied | Absent
//! Absent -> Dispatched (same key)
//! Applied | PartlyApplied -> Compensated (by another effect)
//! ```
//! The whole of it is the table in `life`, and there is no other way through; a write never leaves
//! while its effect is in doubt.

use mainstay_graph::{NodeKind, ScopeKind};
use mainstay_types::{
    CallId, Corrupt, EffectKey, Millis, Payload, Position, Reason, Refusal, Rung, Scope, Timestamp,
};

use crate::call::{AT_ONCE, Call, Doubt, Effect, EffectStatus, Phase, Undoes};
use crate::command::{EffectEntry, EntryState};
use crate::event::Event;
use crate::life::{Happens, Stage};
use crate::run::Run;
use crate::{compensate, ending, guard, life, twin};

/// The key of the effect this call intends. Made from the run, never from a model's output.
pub fn key(run: &Run, id: CallId, call: &Call) -> Result<EffectKey, Refusal> {
    key_of(run, call).ok_or_else(|| guard::not_ready(run, id, call))
}

/// The same; `None` where the call writes nothing, or is not prepared.
pub(crate) fn key_of(run: &Run, call: &Call) -> Option<EffectKey> {
    let head = run.head()?;
    let node = run.class().node(call.node);
    let effect = node.effect()?;
    if let Some(Undoes { call, .. }) = call.undoes {
        // Where that one is unique, this one is.
        let undone = run.calls.get(call)?.effect.as_ref()?;
        let effect = effect.name.clone();
        return Some(EffectKey {
            effect,
            ..undone.key.clone()
        });
    }
    let scope = match effect.scope {
        ScopeKind::Business => {
            let made = call.prepared.as_ref()?;
            Scope::Business(made.business_id.clone()?)
        }
        ScopeKind::Run => Scope::Run {
            run: head.run,
            path: node.name.to_string(),
        },
    };
    let position = call
        .item
        .filter(|_| node.tool.is_none())
        .map_or(Position::Slot(call.slot), |item| {
            Position::Item(item.position)
        });
    Some(EffectKey {
        tenant: head.tenant.clone(),
        effect: effect.name.clone(),
        scope,
        position,
    })
}

/// The effect is in the world; after the outcome that is an addendum.
pub(crate) fn applied(run: &Run, id: CallId, result: Payload, reason: Reason) -> Vec<Event> {
    let mut events = vec![Event::EffectApplied {
        call: id,
        result,
        reason,
    }];
    let undoes = run.calls.get(id).and_then(|call| call.undoes);
    match undoes {
        Some(Undoes { call, .. }) if compensate::has_undone(run, call) => {
            events.extend(compensate::undone(run, call));
        }
        Some(_) | None => events.extend(addendum(run, id, reason)),
    }
    events
}

/// The effect is proven not to be in the world; after the outcome that is an addendum.
pub(crate) fn absent(run: &Run, id: CallId, reason: Reason) -> Vec<Event> {
    let mut events = vec![Event::EffectAbsent { call: id, reason }];
    // What undoes an effect goes on after the outcome, and tells of its end alone.
    let is_undo = run.calls.get(id).is_some_and(Call::is_undo);
    events.extend(addendum(run, id, reason).filter(|_| !is_undo));
    events
}

pub(crate) fn addendum(run: &Run, id: CallId, reason: Reason) -> Option<Event> {
    let ended = run.head().is_some_and(|head| head.lap.outcome.is_some());
    ended.then_some(Event::AddendumRecorded { call: id, reason })
}

/// The doubt of a call's effect.
#[must_use]
pub fn doubt(call: &Call) -> Option<&Doubt> {
    match call.effect.as_ref().map(|effect| &effect.status) {
        Some(EffectStatus::InDoubt(doubt)) => Some(doubt),
        Some(
            EffectStatus::Intended
            | EffectStatus::Dispatched
            | EffectStatus::Applied(_)
            | EffectStatus::PartlyApplied
            | EffectStatus::Absent(_)
            | EffectStatus::Compensated,
        )
        | None => None,
    }
}

/// Whether the call has its value from another run that did it.
#[must_use]
pub fn is_adopted(call: &Call) -> bool {
    let effect = call.effect.as_ref();
    let adopted = EffectStatus::Applied(Reason::AdoptedFromOtherRun);
    effect.is_some_and(|effect| effect.status == adopted)
}

/// The call that says most of the effect under `key`: what a model asked for may be several, one
/// after the other. What is in the world goes before what nobody knows, and that before what is
/// not.
#[must_use]
pub fn under(run: &Run, key: &EffectKey) -> Option<CallId> {
    twin::most(run, key).map(|(id, _)| id)
}

/// Whether a request of the call may leave, as far as its effect goes.
pub(crate) fn may_be_sent(call: &Call) -> bool {
    life::may(call.effect.as_ref(), Happens::Sent)
}

/// A request of the call leaves.
pub(crate) fn sent(call: &mut Call, at: Timestamp) {
    if let Some(effect) = &mut call.effect {
        life::pass(effect, Happens::Sent, EffectStatus::Dispatched);
        effect.first_sent_at.get_or_insert(at);
    }
}

pub(crate) fn apply_intended(run: &mut Run, id: CallId, key: &EffectKey) -> Result<(), Corrupt> {
    let name = "EffectIntended";
    let call = guard::stored(run, id, name)?;
    let Phase::Ready { .. } = call.phase else {
        return Err(guard::misplaced(run, id, name));
    };
    if !life::may(call.effect.as_ref(), Happens::Intended) || !run.writes(call) {
        return Err(guard::misplaced(run, id, name));
    }
    run.calls
        .update(id, |call| call.effect = Some(intended(key.clone())));
    Ok(())
}

pub(crate) const fn intended(key: EffectKey) -> Effect {
    Effect {
        key,
        status: EffectStatus::Intended,
        first_sent_at: None,
        lookups: 0,
    }
}

pub(crate) fn apply_applied(
    run: &mut Run,
    id: CallId,
    result: &Payload,
    reason: Reason,
) -> Result<(), Corrupt> {
    let name = "EffectApplied";
    let call = guard::stored(run, id, name)?;
    let rung = call.attempts.last().map_or(Rung(0), |attempt| attempt.rung);
    let what = match reason == Reason::AdoptedFromOtherRun {
        true => Happens::Adopted,
        false => Happens::Applied,
    };
    if !life::may(call.effect.as_ref(), what) {
        return Err(guard::misplaced(run, id, name));
    }
    let adopted = match &call.effect {
        None => {
            Some(key(run, id, call).map_err(|refusal| Corrupt::new(name, refusal.to_string()))?)
        }
        Some(_) => None,
    };
    let was_failed = match call.phase {
        Phase::Ready { .. } | Phase::InDoubt => false,
        Phase::Failed { .. } => true,
        Phase::Waiting
        | Phase::Preparing
        | Phase::InFlight(_)
        | Phase::Items
        | Phase::Settled { .. }
        | Phase::Omitted { .. }
        | Phase::Skipped => return Err(guard::misplaced(run, id, name)),
    };
    let value = Phase::Settled {
        result: result.clone(),
        rung,
    };
    run.calls.update(id, |call| {
        let status = EffectStatus::Applied(reason);
        let effect = match &mut call.effect {
            Some(effect) => {
                life::pass(effect, what, status);
                effect
            }
            none @ None => none.insert(Effect {
                status,
                ..intended(adopted.expect("an effect that is not there is adopted"))
            }),
        };
        effect.lookups = effect.lookups.saturating_add(u32::from(is_finding(reason)));
        if was_failed {
            // What needed it has been told that it failed; only the truth about it changes.
            call.phase = value.clone();
        }
    });
    if was_failed {
        Ok(())
    } else {
        ending::apply_value(run, id, value, name)
    }
}

/// Whether a look-up told it.
const fn is_finding(reason: Reason) -> bool {
    matches!(reason, Reason::FoundApplied | Reason::AbsentAfterHorizon)
}

/// The doubt is over, or there was none; `found` look-ups told it.
fn settle_status(run: &mut Run, id: CallId, (what, status): (Happens, EffectStatus), found: u32) {
    run.calls.update(id, |call| {
        if let Some(effect) = &mut call.effect {
            life::pass(effect, what, status);
            effect.lookups = effect.lookups.saturating_add(found);
        }
        call.phase = Phase::Ready {
            not_before: AT_ONCE,
        };
    });
}

pub(crate) fn apply_absent(run: &mut Run, id: CallId, reason: Reason) -> Result<(), Corrupt> {
    let call = guard::stored(run, id, "EffectAbsent")?;
    let what = Happens::Absent;
    if !life::may(call.effect.as_ref(), what) {
        return Err(guard::misplaced(run, id, "EffectAbsent"));
    }
    let is_part = Stage::of(call.effect.as_ref()) == Stage::PartlyApplied;
    let status = EffectStatus::Absent(reason);
    match &call.phase {
        Phase::Ready { .. } | Phase::InDoubt if !is_part => {
            let found = u32::from(is_finding(reason));
            settle_status(run, id, (what, status), found);
            Ok(())
        }
        // Its call was told that it failed; only the truth about it changes.
        Phase::Failed { .. } if is_part => {
            run.calls.update(id, |call| {
                if let Some(effect) = &mut call.effect {
                    life::pass(effect, what, status);
                }
            });
            Ok(())
        }
        Phase::Ready { .. }
        | Phase::InDoubt
        | Phase::Failed { .. }
        | Phase::Waiting
        | Phase::Preparing
        | Phase::InFlight(_)
        | Phase::Items
        | Phase::Settled { .. }
        | Phase::Omitted { .. }
        | Phase::Skipped => Err(guard::misplaced(run, id, "EffectAbsent")),
    }
}

pub(crate) fn apply_partly(run: &mut Run, id: CallId) -> Result<(), Corrupt> {
    let call = guard::stored(run, id, "EffectPartlyApplied")?;
    let what = Happens::Partly;
    if call.phase != Phase::InDoubt || !life::may(call.effect.as_ref(), what) {
        return Err(guard::misplaced(run, id, "EffectPartlyApplied"));
    }
    settle_status(run, id, (what, EffectStatus::PartlyApplied), 1);
    Ok(())
}

/// How long the entry of a call's effect is kept once its outcome is known; zero without one.
#[must_use]
pub fn memory(run: &Run, id: CallId) -> Millis {
    let call = run.calls.get(id);
    let effect = call.and_then(|call| run.class().node(call.node).effect());
    effect.map_or(Millis::ZERO, |effect| effect.key_memory)
}

/// The entry under which the ledger keeps a call's effect for all runs; `None` for effects no
/// other run can want, and for what is another run's: it has been adopted, or taken over.
#[must_use]
pub fn entry(run: &Run, id: CallId, at: Timestamp) -> Option<EffectEntry> {
    let (id, (told, call)) = twin::telling(run, id)?;
    let effect = call
        .effect
        .as_ref()
        .filter(|effect| effect.key.is_shared())?;
    let state = match &effect.status {
        EffectStatus::Intended | EffectStatus::Dispatched => EntryState::Open,
        EffectStatus::InDoubt(_) => EntryState::InDoubt,
        EffectStatus::Applied(Reason::AdoptedFromOtherRun)
        | EffectStatus::Absent(Reason::KeyHeldByOtherRun) => return None,
        EffectStatus::Applied(_) => EntryState::Applied(call.value()?.clone()),
        EffectStatus::PartlyApplied => EntryState::PartlyApplied,
        EffectStatus::Absent(_) => EntryState::NotApplied,
        // It was another run's that was undone there.
        EffectStatus::Compensated if compensate::of(run, told).is_none() => return None,
        EffectStatus::Compensated => EntryState::Compensated,
    };
    debug_assert!(match run.class().node(call.node).kind {
        NodeKind::Write { .. } | NodeKind::Each { .. } => true,
        NodeKind::Read { .. } | NodeKind::Tools { .. } | NodeKind::Local | NodeKind::When => false,
    });
    let fingerprint = call.prepared.as_ref()?.fingerprint;
    Some(EffectEntry {
        key: effect.key.clone(),
        run: run.head()?.run,
        call: id,
        fingerprint,
        state,
        at,
    })
}
