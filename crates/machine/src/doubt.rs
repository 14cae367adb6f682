//! Doubts: nobody knows what became of a write, and the receiver is asked until someone does.
//!
//! "Not found" is believed only once nothing sent can land any more and as long as the receiver
//! remembers keys. Nothing here sends a write.

use mainstay_graph::Resolution;
use mainstay_types::{
    CallId, Corrupt, Failure, FailureKind, Millis, Reason, Refusal, Sent, Timestamp, limits,
};

use crate::call::{Attempt, AttemptState, Call, Doubt, Effect, EffectStatus, Phase};
use crate::command::{Evidence, Finding, LookedUp};
use crate::effect::{absent, addendum, applied, doubt};
use crate::ending::Why;
use crate::event::Event;
use crate::guard::Site;
use crate::life::{Happens, Stage};
use crate::run::{Head, Run};
use crate::{ending, ground, guard, held, key_age, life};

/// The event that puts the effect of `attempt` in doubt.
pub(crate) fn in_doubt(site: Site<'_>, attempt: &Attempt, reason: Reason) -> Event {
    let effect = site.run.class().node(site.call.node).effect();
    let bound = effect.map_or(Millis::ZERO, |effect| effect.receiver_bound);
    let horizon = Millis::new(limits::SEND_WINDOW_MS) + attempt.timeout + bound;
    let absent_after = attempt.at + horizon;
    Event::EffectInDoubt {
        call: site.id,
        reason,
        lookup_at: site.now,
        absent_after,
    }
}

/// Whether a write that waits for its next attempt may be in the world all the same: one of its
/// attempts was refused in a way that proves nothing, and its receiver was not asked since.
pub(crate) fn is_open(call: &Call) -> bool {
    let refused = [Reason::RefusedByReceiver, Reason::NotSent].map(EffectStatus::Absent);
    let status = call.effect.as_ref().map(|effect| &effect.status);
    let is_refused = status.is_some_and(|status| refused.contains(status));
    is_refused && may_have_landed(call) && matches!(call.phase, Phase::Ready { .. })
}

/// Whether another run has the key, and only a person can tell: what is found out about the key is
/// said to that run, and a doubt of this one's own would last for ever.
pub(crate) fn is_with_the_key(run: &Run, call: &Call, at: Timestamp) -> bool {
    call.key_holder.is_some() && !is_askable(run, call, at)
}

/// Whether an attempt of a write was refused in a way that proves nothing.
pub(crate) fn may_have_landed(call: &Call) -> bool {
    call.effect.is_some()
        && call.attempts.iter().any(|made| match &made.state {
            AttemptState::Failed { failure, .. } => proves_nothing(failure),
            AttemptState::InFlight
            | AttemptState::Answered { .. }
            | AttemptState::Interrupted { .. }
            | AttemptState::Late { .. } => false,
        })
}

/// An overloaded receiver, or a proxy before it, may have done it all the same. While the same key
/// is sent again that does no harm; before the call is given up, the receiver is asked.
pub(crate) fn proves_nothing(failure: &Failure) -> bool {
    failure.sent == Sent::Answered && failure.kind == FailureKind::Overloaded
}

/// The doubts that a lap may not end without: writes that wait to be sent again and may be in the
/// world all the same.
pub(crate) fn before_the_end(run: &Run, head: &Head, now: Timestamp) -> Vec<Event> {
    let waiting = run.calls.ready();
    let waiting = waiting.filter(|(_, call)| is_open(call) && !is_with_the_key(run, call, now));
    let doubts = waiting.filter_map(|(id, call)| {
        let site = Site {
            run,
            head,
            id,
            call,
            now,
        };
        let last = call.attempts.last()?;
        Some(in_doubt(site, last, Reason::WriteResponseLost))
    });
    doubts.collect()
}

pub(crate) fn looked_up(
    run: &Run,
    report: LookedUp,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    guard::started(run)?;
    let id = report.call;
    let call = guard::call(run, id)?;
    let doubt = doubt(call).ok_or_else(|| guard::not_ready(run, id, call))?;
    let about = call.attempts.last().map(|attempt| attempt.at);
    if report.number != next_number(call) || about.is_some_and(|sent| report.asked_at < sent) {
        return Err(guard::not_ready(run, id, call));
    }
    let believed = doubt.absent_after <= report.asked_at
        && !key_age::may_be_forgotten(run, call, report.asked_at);
    Ok(match report.finding {
        Finding::Applied(result) => applied(run, id, result, Reason::FoundApplied),
        Finding::Partly => {
            let mut events = vec![Event::EffectPartlyApplied { call: id }];
            events.extend(addendum(run, id, Reason::PartlyApplied));
            let (kind, reason) = (FailureKind::EffectUnknown, Reason::PartlyApplied);
            events.extend(ending::give_up(run, id, call, Why { kind, reason }));
            events
        }
        Finding::NotFound if believed => absent(run, id, Reason::AbsentAfterHorizon),
        Finding::NotFound if doubt.absent_after <= report.asked_at => {
            let at = next_lookup(run, doubt, report.evidence, now);
            vec![asked(&report, Reason::CannotTell, at)]
        }
        Finding::NotFound => {
            let at = next_lookup(run, doubt, report.evidence, now).max(doubt.absent_after);
            vec![asked(&report, Reason::NotFoundInsideHorizon, at)]
        }
        Finding::InProgress => {
            let at = next_lookup(run, doubt, report.evidence, now);
            vec![asked(&report, Reason::StillInProgress, at)]
        }
        Finding::CannotTell => {
            let at = next_lookup(run, doubt, report.evidence, now);
            vec![asked(&report, Reason::CannotTell, at)]
        }
        Finding::Held(entry) => held::lost(run, (id, call), &entry),
    })
}

fn asked(report: &LookedUp, reason: Reason, next_at: Timestamp) -> Event {
    Event::ControlSettled {
        call: report.call,
        number: report.number,
        reason,
        next_at,
    }
}

/// Half of the doubled wait is sure, half is drawn, so that many doubts do not ask in step. Once
/// the lap has its outcome nobody waits, and the waits grow longer.
fn next_lookup(run: &Run, doubt: &Doubt, evidence: Evidence, now: Timestamp) -> Timestamp {
    let ended = run.head().is_some_and(|head| head.lap.outcome.is_some());
    let max = if ended {
        limits::LOOKUP_BACKOFF_ENDED_MAX_MS
    } else {
        limits::LOOKUP_BACKOFF_MAX_MS
    };
    let doubled = Millis::new(limits::LOOKUP_BACKOFF_BASE_MS).times(1 << doubt.asked.min(20));
    let top = doubled.min(Millis::new(max));
    let half = Millis::new(top.get() / 2);
    now + half + ground::scale(half, evidence.draw)
}

/// The number of the next look-up: none is used twice over the effect's life, so that an answer
/// about an earlier doubt is never taken for one about this.
pub(crate) fn next_number(call: &Call) -> u32 {
    call.effect
        .as_ref()
        .map_or(1, |effect| effect.lookups.saturating_add(1))
}

/// Whether a machine can find out at `at` what became of the call's effect.
pub(crate) fn is_askable(run: &Run, call: &Call, at: Timestamp) -> bool {
    let resolution = run
        .class()
        .node(call.node)
        .effect()
        .map(|effect| effect.resolution);
    match resolution {
        Some(Resolution::ByKey) => !key_age::is_forgotten(run, call, at),
        Some(
            Resolution::ByStatus
            | Resolution::ByBusinessKey
            | Resolution::ByUpsert
            | Resolution::ByLedger,
        ) => true,
        Some(Resolution::ByHuman) | None => false,
    }
}

/// The receiver is asked from `at` on, and again as often as about a new doubt.
pub(crate) fn hurry(call: &mut Call, at: Timestamp) {
    if let Some(effect) = &mut call.effect
        && let EffectStatus::InDoubt(doubt) = &mut effect.status
    {
        (doubt.lookup_at, doubt.asked) = (doubt.lookup_at.min(at), 0);
    }
}

pub(crate) fn apply_in_doubt(run: &mut Run, id: CallId, doubt: Doubt) -> Result<(), Corrupt> {
    let name = "EffectInDoubt";
    let call = guard::stored(run, id, name)?;
    // One that is absent is in doubt again only while nothing but a refusal says so.
    let is_absent = Stage::of(call.effect.as_ref()) == Stage::Absent;
    let was_sent = life::may(call.effect.as_ref(), Happens::Doubted);
    let Phase::Ready { .. } = call.phase else {
        return Err(guard::misplaced(run, id, name));
    };
    if !was_sent || (is_absent && !is_open(call)) {
        return Err(Corrupt::new(
            name,
            format!("nothing of {} was sent", run.path(id)),
        ));
    }
    run.calls.update(id, |call| {
        if let Some(effect) = &mut call.effect {
            life::pass(effect, Happens::Doubted, EffectStatus::InDoubt(doubt));
        }
        call.phase = Phase::InDoubt;
    });
    Ok(())
}

pub(crate) fn apply_asked(
    run: &mut Run,
    id: CallId,
    number: u32,
    next_at: Timestamp,
) -> Result<(), Corrupt> {
    let name = "ControlSettled";
    let call = guard::stored(run, id, name)?;
    if !life::may(call.effect.as_ref(), Happens::Asked) {
        return Err(guard::misplaced(run, id, name));
    }
    let asked = run.calls.update(id, |call| match call.effect.as_mut() {
        Some(Effect {
            status: EffectStatus::InDoubt(doubt),
            lookups,
            ..
        }) => {
            (doubt.asked, doubt.lookup_at) = (doubt.asked.saturating_add(1), next_at);
            *lookups = number;
            true
        }
        Some(_) | None => false,
    });
    if asked {
        Ok(())
    } else {
        Err(guard::misplaced(run, id, name))
    }
}
