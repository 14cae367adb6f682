//! Keys that another run holds: its result is adopted, its settling is awaited, or what it cannot
//! go on with is taken over.
//!
//! Whatever another run may have sent is asked about before anything of this one leaves.

use mainstay_types::{
    CallId, Code, Corrupt, EffectKey, FailureKind, Millis, Reason, Refusal, RunId, Timestamp,
    limits,
};

use crate::call::{Call, Doubt, EffectStatus, Phase};
use crate::command::{Abandoned, EffectEntry, EntryState};
use crate::effect::{self, absent, applied};
use crate::ending::Why;
use crate::event::Event;
use crate::life::{Happens, Stage};
use crate::run::Run;
use crate::{attempt, compensate, ending, guard, life};

/// Another run has the key: adopt its result, wait for it, or refuse the mismatch.
pub(crate) fn key_held(
    run: &Run,
    (id, entry, abandoned): (CallId, &EffectEntry, Option<Abandoned>),
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let call = guard::call(run, id)?;
    if effect::is_adopted(call) {
        return Ok(adopted_since(run, id, entry));
    }
    guard::begins(run, call)?;
    let (&Phase::Ready { not_before }, Some(made)) = (&call.phase, &call.prepared) else {
        return Err(guard::not_ready(run, id, call));
    };
    if effect::key(run, id, call)? != entry.key {
        return Err(Refusal::new(Code::KeyHeld).about(entry.key.to_string()));
    }
    if call.is_undo() {
        return undo_held(run, (id, call), entry, now);
    }
    if made.fingerprint != entry.fingerprint {
        let (kind, reason) = (FailureKind::InvalidInput, Reason::IdempotencyMismatch);
        return Ok(ending::give_up(run, id, call, Why { kind, reason }));
    }
    if let Some(abandoned) = abandoned.filter(|_| is_open(&entry.state)) {
        let landed_by = abandoned
            .absent_after
            .unwrap_or(entry.at + horizon(run, call));
        return Ok(vec![Event::KeyTakenOver {
            call: id,
            holder: entry.run,
            sent_at: abandoned.sent_at,
            lookup_at: now,
            absent_after: landed_by,
        }]);
    }
    match &entry.state {
        EntryState::Applied(result) => Ok(applied(
            run,
            id,
            result.clone(),
            Reason::AdoptedFromOtherRun,
        )),
        EntryState::Open | EntryState::InDoubt | EntryState::PartlyApplied => {
            let is_told = call.key_holder == Some(entry.run) && now < not_before;
            let awaited = (!is_told).then(|| awaited(run, (id, call), entry, now));
            Ok(awaited.into_iter().collect())
        }
        EntryState::Compensated => {
            let (kind, reason) = (FailureKind::InvalidInput, Reason::Compensated);
            Ok(ending::give_up(run, id, call, Why { kind, reason }))
        }
        EntryState::NotApplied => Err(guard::not_ready(run, id, call)),
    }
}

fn awaited(run: &Run, (id, call): (CallId, &Call), entry: &EffectEntry, now: Timestamp) -> Event {
    Event::KeyAwaited {
        call: id,
        holder: entry.run,
        until: asks_again_at(run, call, now),
    }
}

/// The key of what undoes an effect is another undo's: of another order that was under the same
/// business id before. What that one did is not this one's, and its doubt is not taken over:
/// nobody could tell which order was undone. While nobody knows what became of it, this one waits,
/// for a bounded number of asks; else a person undoes it by hand.
fn undo_held(
    run: &Run,
    (id, call): (CallId, &Call),
    entry: &EffectEntry,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let made = call.prepared.as_ref();
    let is_same = made.is_some_and(|made| made.fingerprint == entry.fingerprint);
    let asked = call.undoes.map_or(0, |undoes| undoes.asked);
    let is_told = call.key_holder == Some(entry.run)
        && matches!(call.phase, Phase::Ready { not_before } if now < not_before);
    let reason = match &entry.state {
        EntryState::NotApplied => return Err(guard::not_ready(run, id, call)),
        EntryState::Open | EntryState::InDoubt if is_told => return Ok(Vec::new()),
        EntryState::Open | EntryState::InDoubt if asked < limits::UNDO_KEY_ASKS_MAX => {
            return Ok(vec![awaited(run, (id, call), entry, now)]);
        }
        EntryState::Applied(_) | EntryState::PartlyApplied | EntryState::Compensated
            if !is_same =>
        {
            Reason::IdempotencyMismatch
        }
        EntryState::Open
        | EntryState::InDoubt
        | EntryState::Applied(_)
        | EntryState::PartlyApplied
        | EntryState::Compensated => Reason::KeyHeldByOtherRun,
    };
    Ok(undo_refused(run, (id, call), (entry.run, reason), now))
}

/// What undoes an effect fails because another undo has its key; whose is recorded before.
pub(crate) fn undo_refused(
    run: &Run,
    (id, call): (CallId, &Call),
    (holder, reason): (RunId, Reason),
    now: Timestamp,
) -> Vec<Event> {
    let kind = FailureKind::InvalidInput;
    let mut events = vec![Event::KeyAwaited {
        call: id,
        holder,
        until: now,
    }];
    events.extend(ending::give_up(run, id, call, Why { kind, reason }));
    events
}

/// What became since of an effect whose value was taken from another run's entry: what was undone
/// is nobody's value.
fn adopted_since(run: &Run, id: CallId, entry: &EffectEntry) -> Vec<Event> {
    match &entry.state {
        EntryState::Compensated => compensate::undone(run, id),
        EntryState::Open
        | EntryState::InDoubt
        | EntryState::Applied(_)
        | EntryState::PartlyApplied
        | EntryState::NotApplied => Vec::new(),
    }
}

/// Another run has taken over what this one is in doubt about, so it is that one's to find out.
/// What that one knows already is adopted; else the call asks for its key like any that wants it.
pub(crate) fn lost(run: &Run, (id, call): (CallId, &Call), entry: &EffectEntry) -> Vec<Event> {
    let made = call.prepared.as_ref();
    let is_same = made.is_some_and(|made| made.fingerprint == entry.fingerprint);
    let mut events = match &entry.state {
        EntryState::Applied(result) if is_same && !call.is_undo() => {
            return applied(run, id, result.clone(), Reason::AdoptedFromOtherRun);
        }
        EntryState::Applied(_)
        | EntryState::Open
        | EntryState::InDoubt
        | EntryState::PartlyApplied
        | EntryState::NotApplied
        | EntryState::Compensated => absent(run, id, Reason::KeyHeldByOtherRun),
    };
    let reason = match &entry.state {
        EntryState::Compensated => Some(Reason::Compensated),
        EntryState::Applied(_) => Some(Reason::IdempotencyMismatch),
        EntryState::Open
        | EntryState::InDoubt
        | EntryState::PartlyApplied
        | EntryState::NotApplied => None,
    };
    let kind = FailureKind::InvalidInput;
    // An undo asks for its key, and hears then what that means for it.
    let reason = reason.filter(|_| !call.is_undo());
    let why = reason.map(|reason| Why { kind, reason });
    events.extend(
        why.into_iter()
            .flat_map(|why| ending::give_up(run, id, call, why)),
    );
    events
}

/// Whether nobody knows yet what became of it: what is known is taken over by nobody.
const fn is_open(state: &EntryState) -> bool {
    match state {
        EntryState::Open | EntryState::InDoubt => true,
        EntryState::Applied(_)
        | EntryState::PartlyApplied
        | EntryState::NotApplied
        | EntryState::Compensated => false,
    }
}

fn horizon(run: &Run, call: &Call) -> Millis {
    let node = run.class().node(call.node);
    let promised = node.contract().zip(node.effect());
    promised.map_or(Millis::ZERO, |(contract, effect)| contract.horizon(effect))
}

/// When a call asks again by itself: in the last moment at which it may start, at the latest.
fn asks_again_at(run: &Run, call: &Call, now: Timestamp) -> Timestamp {
    let later = now + Millis::new(limits::KEY_HELD_RETRY_MS);
    let latest = run
        .head()
        .and_then(|head| attempt::latest_start(run, head, call));
    let until = latest.map_or(later, |latest| later.min(latest));
    until.max(now + Millis::new(1))
}

/// What waits for `key` may ask for it at once.
pub(crate) fn key_settled(
    run: &Run,
    wanted: &EffectKey,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    guard::driven(run)?;
    let waits = |id: CallId, call: &Call| {
        let begins = guard::begins(run, call).is_ok();
        let later = matches!(call.phase, Phase::Ready { not_before } if now < not_before);
        let same = || effect::key(run, id, call).is_ok_and(|key| key == *wanted);
        call.key_holder.is_some() && begins && later && same()
    };
    let waiting = run.calls.ready().filter(|&(id, call)| waits(id, call));
    let reason = Reason::KeyHeldByOtherRun;
    let ask = waiting.map(|(id, call)| Event::CallRescheduled {
        call: id,
        rung: call.rung,
        not_before: now,
        reason,
    });
    Ok(ask.collect())
}

pub(crate) fn apply_awaited(
    run: &mut Run,
    id: CallId,
    holder: RunId,
    until: Timestamp,
) -> Result<(), Corrupt> {
    let call = guard::stored(run, id, "KeyAwaited")?;
    let Phase::Ready { .. } = call.phase else {
        return Err(guard::misplaced(run, id, "KeyAwaited"));
    };
    run.calls.update(id, |call| {
        call.key_holder = Some(holder);
        call.phase = Phase::Ready { not_before: until };
        if let Some(undoes) = &mut call.undoes {
            undoes.asked = undoes.asked.saturating_add(1);
        }
    });
    Ok(())
}

/// The write of another run that cannot go on is this one's doubt now.
pub(crate) fn apply_taken_over(
    run: &mut Run,
    id: CallId,
    sent_at: Timestamp,
    (lookup_at, absent_after): (Timestamp, Timestamp),
) -> Result<(), Corrupt> {
    let name = "KeyTakenOver";
    let call = guard::stored(run, id, name)?;
    let may = life::may(call.effect.as_ref(), Happens::Taken) && run.writes(call);
    let Phase::Ready { .. } = call.phase else {
        return Err(guard::misplaced(run, id, name));
    };
    if !may {
        return Err(guard::misplaced(run, id, name));
    }
    let key = effect::key(run, id, call);
    let key = key.map_err(|refusal| Corrupt::new(name, refusal.to_string()))?;
    run.calls.update(id, |call| {
        let doubt = Doubt::of_other(lookup_at, absent_after);
        let is_new = Stage::of(call.effect.as_ref()) == Stage::NotThere;
        let effect = call.effect.get_or_insert_with(|| effect::intended(key));
        let status = EffectStatus::InDoubt(doubt);
        match is_new {
            true => effect.status = status,
            false => life::pass(effect, Happens::Taken, status),
        }
        effect.first_sent_at = effect
            .first_sent_at
            .map_or(Some(sent_at), |own| Some(own.min(sent_at)));
        (call.key_holder, call.phase) = (None, Phase::InDoubt);
    });
    Ok(())
}
