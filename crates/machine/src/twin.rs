//! Calls of one run under one key: what a model asked for again after it was told "not applied".
//!
//! They are one effect for the world. What is learned late of an earlier one holds for the later
//! ones, too: nothing more leaves under a key that is found to have been used.

use mainstay_types::{CallId, EffectKey, FailureKind, Reason};

use crate::call::{Call, EffectStatus};
use crate::effect::{applied, key_of};
use crate::ending::{self, Why};
use crate::event::Event;
use crate::guard::Site;
use crate::held;
use crate::run::Run;

/// Every call of the run whose effect has this key, oldest first.
pub(crate) fn under<'a>(
    run: &'a Run,
    key: &'a EffectKey,
) -> impl Iterator<Item = (CallId, &'a Call)> {
    let has_it = move |call: &Call| call.effect.as_ref().is_some_and(|made| made.key == *key);
    run.calls.iter().filter(move |(_, call)| has_it(call))
}

/// Whether calls of this node may share a key with others.
pub(crate) fn may_be(run: &Run, call: &Call) -> bool {
    run.class().node(call.node).tool.is_some()
}

/// The call that the effect under the key of `id` is booked under, and the one that says most of
/// it.
pub(crate) fn telling(run: &Run, id: CallId) -> Option<(CallId, (CallId, &Call))> {
    let call = run.calls.get(id)?;
    if !may_be(run, call) {
        return Some((id, (id, call)));
    }
    let key = &call.effect.as_ref()?.key;
    let booked = under(run, key).next().map(|(first, _)| first)?;
    Some((booked, most(run, key)?))
}

/// The call that says most of the effect under `key`.
pub(crate) fn most<'a>(run: &'a Run, key: &'a EffectKey) -> Option<(CallId, &'a Call)> {
    // Of what says the same, the newest.
    under(run, key).max_by_key(|(id, call)| (weight(call), *id))
}

/// Another undo under the key of what undoes the effect of `id`: of another call that had that
/// effect's key before. What it did was not done to this one.
pub(crate) fn undo_before(run: &Run, id: CallId) -> Option<&Call> {
    let undoes = |call: &Call| call.undoes.map(|undoes| undoes.call);
    let undone = run.calls.get(id)?.effect.as_ref()?;
    let of_twin = |call: &&Call| {
        let twin = undoes(call).filter(|&twin| twin != id);
        let twin = twin.and_then(|twin| run.calls.get(twin)?.effect.as_ref());
        twin.is_some_and(|twin| twin.key == undone.key)
    };
    let others = run.calls.iter().map(|(_, call)| call).filter(of_twin);
    let binds = |call: &&Call| is_done(call) || !call.phase.is_final();
    others.filter(binds).max_by_key(|call| weight(call))
}

/// What is in the world weighs more than what may be, and that more than what is not.
fn weight(call: &Call) -> u8 {
    match call.effect.as_ref().map(|effect| &effect.status) {
        Some(EffectStatus::Compensated) => 7,
        // Its entry is the one of whoever did it.
        Some(EffectStatus::Applied(Reason::AdoptedFromOtherRun)) => 5,
        Some(EffectStatus::Applied(_)) => 6,
        Some(EffectStatus::PartlyApplied) => 4,
        Some(EffectStatus::InDoubt(_)) => 3,
        Some(EffectStatus::Dispatched) => 2,
        Some(EffectStatus::Intended) => 1,
        Some(EffectStatus::Absent(_)) | None => 0,
    }
}

/// What follows for a call that waits to be sent when an earlier one under its key is found to be
/// in the world after all: it is this one's result, or this one is another request.
pub(crate) fn found_out(site: Site<'_>) -> Vec<Event> {
    let Site { run, id, call, .. } = site;
    if let Some(undoes) = call.undoes {
        // What is found late of another call's undo was not done to this one's effect.
        let before = undo_before(run, undoes.call).filter(|before| is_done(before));
        let held = before.map(|_| (site.head.run, Reason::KeyHeldByOtherRun));
        return held.map_or_else(Vec::new, |held| {
            held::undo_refused(run, (id, call), held, site.now)
        });
    }
    if !may_be(run, call) {
        return Vec::new();
    }
    let key = key_of(run, call);
    let done = key.as_ref().and_then(|key| {
        let mut others = under(run, key).filter(|(other, _)| *other != id);
        others.find(|(_, other)| is_done(other))
    });
    let Some((_, done)) = done else {
        return Vec::new();
    };
    let made = |call: &Call| call.prepared.as_ref().map(|made| made.fingerprint);
    match done.value().filter(|_| made(done) == made(call)) {
        Some(result) => applied(run, id, result.clone(), Reason::AdoptedFromOtherRun),
        None => {
            let (kind, reason) = (FailureKind::InvalidInput, Reason::IdempotencyMismatch);
            ending::give_up(run, id, call, Why { kind, reason })
        }
    }
}

fn is_done(call: &Call) -> bool {
    let status = call.effect.as_ref().map(|effect| &effect.status);
    matches!(
        status,
        Some(EffectStatus::Applied(_) | EffectStatus::Compensated | EffectStatus::PartlyApplied)
    )
}
