//! What another run was answered under a key that it has lost to this one.
//!
//! It counts as what a look-up finds. That two requests under one key may be in the world is said
//! to people, once, and changes nothing of what is known.

use mainstay_graph::EffectSemantics;
use mainstay_types::{CallId, Code, Reason, Refusal, Sent, Timestamp};

use crate::call::{Attempt, AttemptState, EffectStatus};
use crate::command::FoundByOther;
use crate::event::Event;
use crate::guard::{self, Site};
use crate::life::{self, Happens};
use crate::run::Run;
use crate::{doubt, effect, settle, twin};

pub(crate) fn decide(
    run: &Run,
    found: FoundByOther,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    guard::started(run)?;
    let Some((id, call)) = twin::most(run, &found.key) else {
        return Err(Refusal::new(Code::CallUnknown).about(found.key.to_string()));
    };
    let site = guard::evidence_site(run, id, now)?;
    let made = call.prepared.as_ref();
    if made.is_none_or(|made| made.fingerprint != found.fingerprint) {
        // Another request, which this one's effect is not.
        return Ok(told(run, id).into_iter().collect());
    }
    let second = may_be_second(site, &found).then(|| told(run, id));
    let mut events = Vec::new();
    let takes = life::may(call.effect.as_ref(), Happens::Applied);
    if let Some(ends) = takes.then(|| settle::takes_late(site)).flatten() {
        events.extend(ends);
        let reason = Reason::FoundApplied;
        events.extend(effect::applied(run, id, found.result, reason));
    }
    events.extend(second.flatten());
    Ok(events)
}

/// Whether a request of this run's own may be in the world beside the one that was answered.
fn may_be_second(site: Site<'_>, found: &FoundByOther) -> bool {
    // A key that came back brings what was answered here.
    let is_own = found.run == site.head.run && found.call == site.id;
    let mut others = site.call.attempts.iter();
    let has_sent =
        others.any(|made| may_have_landed(made) && !(is_own && made.no == found.attempt));
    let is_known = site.call.value() == Some(&found.result);
    let status = site.call.effect.as_ref().map(|effect| &effect.status);
    let is_one = match status {
        // It is what was found, and not what was answered here.
        Some(EffectStatus::Applied(Reason::FoundApplied)) => is_known,
        // Whoever does the same key once answers the same twice.
        Some(EffectStatus::Applied(_)) => {
            is_known && site.semantics() == EffectSemantics::WriteIdempotentWithKey
        }
        Some(
            EffectStatus::Intended
            | EffectStatus::Dispatched
            | EffectStatus::InDoubt(_)
            | EffectStatus::PartlyApplied
            | EffectStatus::Absent(_)
            | EffectStatus::Compensated,
        )
        | None => false,
    };
    has_sent && !is_one
}

fn may_have_landed(made: &Attempt) -> bool {
    match &made.state {
        AttemptState::InFlight
        | AttemptState::Answered { .. }
        | AttemptState::Interrupted { .. }
        | AttemptState::Late { .. } => true,
        AttemptState::Failed { failure, .. } => {
            failure.sent == Sent::MaybeSent || doubt::proves_nothing(failure)
        }
    }
}

/// People hear of it, once per lap.
fn told(run: &Run, id: CallId) -> Option<Event> {
    let (call, reason) = (id, Reason::DoneTwice);
    let addenda = &run.head()?.lap.addenda;
    let is_told = addenda.contains(&(call, reason));
    (!is_told).then_some(Event::AddendumRecorded { call, reason })
}
