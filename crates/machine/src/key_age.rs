//! How old a key is at its receiver: an old one is forgotten, and protects from nothing.
//!
//! Its age counts from the first request that may have arrived, whatever was found out since: a
//! receiver that broke its bound is still met by a key it knows. Only a person's word outranks it.

use mainstay_graph::{EffectSemantics, Resolution};
use mainstay_types::{Code, Millis, Reason, Refusal, Sent, Timestamp, limits};

use crate::call::{Attempt, AttemptState, Call, EffectStatus};
use crate::guard::Site;
use crate::next::{self, Move};
use crate::run::Run;
use crate::{doubt, effect, rung, twin};

/// Refuses a request that might land, or be looked up, when its key is forgotten.
pub(crate) fn check(site: Site<'_>) -> Result<(), Refusal> {
    let Site { run, call, now, .. } = site;
    match of(run, call) {
        Some(age) if age.is_old_at <= now => Err(Refusal::new(Code::KeyTooOld)
            .with("age_ms", age.sent.until(now).get())
            .with("need_ms", age.need.get())
            .with("ttl_ms", age.ttl.get())
            .about(run.path(site.id))),
        Some(_) | None => Ok(()),
    }
}

/// From when on the call may not be sent again under its key, by time alone.
pub(crate) fn old_at(run: &Run, call: &Call) -> Option<Timestamp> {
    of(run, call).map(|age| age.is_old_at)
}

struct Age {
    sent: Timestamp,
    need: Millis,
    ttl: Millis,
    is_old_at: Timestamp,
}

/// `now + timeout + horizon < first send + TTL - skew`, as the first moment at which it does not
/// hold. Source: architecture, section 6.
fn of(run: &Run, call: &Call) -> Option<Age> {
    let node = run.class().node(call.node);
    let (contract, effect) = (node.contract()?, node.effect()?);
    let ttl = effect.receiver_key_ttl?;
    if contract.effect != EffectSemantics::WriteIdempotentWithKey {
        return None;
    }
    let sent = first_send(run, call)?;
    let need = contract.resend_needs(effect, rung::spec(contract, call.rung)?.timeout);
    let is_old_at = (sent + ttl).minus(need);
    Some(Age {
        sent,
        need,
        ttl,
        is_old_at,
    })
}

/// Whether the receiver may have forgotten the key by `at`, so that "not found" proves nothing.
pub(crate) fn is_forgotten(run: &Run, call: &Call, at: Timestamp) -> bool {
    let Some(effect) = run.class().node(call.node).effect() else {
        return false;
    };
    let (Some(ttl), Some(sent)) = (effect.receiver_key_ttl, first_send(run, call)) else {
        return false;
    };
    match effect.resolution {
        Resolution::ByKey => sent + ttl <= at,
        Resolution::ByStatus
        | Resolution::ByBusinessKey
        | Resolution::ByUpsert
        | Resolution::ByLedger
        | Resolution::ByHuman => false,
    }
}

/// Whether the receiver may have forgotten the key before it came to a question that left at
/// `asked_at`: it may be on its way for as long as a question may take.
pub(crate) fn may_be_forgotten(run: &Run, call: &Call, asked_at: Timestamp) -> bool {
    let on_its_way = Millis::new(limits::CONTROL_TIMEOUT_MS + limits::KEY_TTL_SKEW_MS);
    is_forgotten(run, call, asked_at + on_its_way)
}

/// When a request under the call's key left first that may have arrived. Calls that a model asked
/// for one after the other may share a key; others have one of their own.
fn first_send(run: &Run, call: &Call) -> Option<Timestamp> {
    if !twin::may_be(run, call) {
        return first_send_of(run, call);
    }
    let key = effect::key_of(run, call)?;
    let calls = twin::under(run, &key);
    calls
        .filter_map(|(_, other)| first_send_of(run, other))
        .min()
}

fn first_send_of(run: &Run, call: &Call) -> Option<Timestamp> {
    let semantics = run.class().node(call.node).contract()?.effect;
    if is_settled_absent(call) {
        return None;
    }
    let mut made = call.attempts.iter();
    let first = made.find(|made| may_have_arrived(made, semantics));
    // What another run sent under the key, before this one took it over, is older.
    let own = call.attempts.first().map(|made| made.at);
    let theirs = call.effect.as_ref().and_then(|effect| effect.first_sent_at);
    let theirs = theirs.filter(|theirs| own.is_none_or(|own| *theirs < own));
    theirs.into_iter().chain(first.map(|made| made.at)).min()
}

/// A person's word that it is not in the world, and nothing of it is on its way.
fn is_settled_absent(call: &Call) -> bool {
    let status = call.effect.as_ref().map(|effect| &effect.status);
    status == Some(&EffectStatus::Absent(Reason::SettledByHand))
}

/// Whether the receiver may know the key from this attempt: not from one that never left, nor from
/// one that it refused as it was.
fn may_have_arrived(made: &Attempt, semantics: EffectSemantics) -> bool {
    match &made.state {
        AttemptState::InFlight
        | AttemptState::Answered { .. }
        | AttemptState::Interrupted { .. }
        | AttemptState::Late { .. } => true,
        AttemptState::Failed { failure, .. } => {
            let follows = next::table(failure.kind, failure.sent, semantics);
            failure.sent != Sent::NotSent
                && (follows == Move::Reconcile || doubt::proves_nothing(failure))
        }
    }
}
