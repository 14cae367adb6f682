//! What follows a failed attempt: one table, then what the budget, the gates and the times allow.
//!
//! The table looks at the failure kind, at whether the request may have left, and at what the
//! attempt does to the world; nothing else. A write that may have left is always asked about first.
//! Each decision is recorded with its numbers before it is carried out.

use mainstay_graph::{Criticality, EffectSemantics, OnLimit};
use mainstay_types::{Failure, FailureKind, Reason, Sent};

use crate::command::Evidence;
use crate::decision::NextAction;
use crate::ending::{self, Why};
use crate::event::Event;
use crate::ground::{Ground, Short, Wait};
use crate::guard::Site;
use crate::{attempt, caps, doubt, repair, rung};

/// What a failure asks for, before budget and times are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Find out what became of it.
    Reconcile,
    /// The same provider again, else the next rung.
    Retry,
    /// The same provider once more with what was wrong, where the class can say it, else the next
    /// rung.
    Repair,
    /// The next rung.
    Fallback,
    /// Nothing: no provider will do better.
    GiveUp,
}

/// The table. Source: mission A7, A8, A10.
///
/// Three columns for each effect semantics: not sent, maybe sent, answered.
#[must_use]
#[rustfmt::skip]
pub const fn table(kind: FailureKind, sent: Sent, effect: EffectSemantics) -> Move {
    use Move::{Fallback as F, GiveUp as G, Reconcile as R, Repair as P, Retry as T};
    let row = match kind {
        //                                   reads      keyed      keyless
        FailureKind::InvalidInput       => [[G, G, G], [G, R, G], [G, R, G]],
        FailureKind::Unauthorized       => [[G, G, G], [G, R, G], [G, R, G]],
        FailureKind::RateLimited        => [[T, T, T], [T, R, T], [T, R, T]],
        // An overloaded receiver may have done it all the same: the same key again does no harm,
        // a second change would.
        FailureKind::Overloaded         => [[T, T, T], [T, R, T], [T, R, R]],
        // An answer that cannot be read, or that only says that something on the way failed or
        // took too long, does not say that nothing was done.
        FailureKind::TransientTransport => [[T, T, T], [T, R, R], [T, R, R]],
        FailureKind::PermanentProvider  => [[F, F, F], [G, R, G], [G, R, G]],
        FailureKind::ResultInvalid      => [[P, P, P], [G, R, R], [G, R, R]],
        FailureKind::EffectUnknown      => [[T, T, T], [R, R, R], [R, R, R]],
        FailureKind::DeadlineExhausted  => [[F, F, F], [F, R, R], [F, R, R]],
        FailureKind::Canceled           => [[G, G, G], [G, R, G], [G, R, G]],
    };
    let of_effect = match effect {
        EffectSemantics::ReadOnly => row[0],
        EffectSemantics::WriteIdempotentWithKey => row[1],
        EffectSemantics::WriteWithoutKey => row[2],
    };
    match sent {
        Sent::NotSent => of_effect[0],
        Sent::MaybeSent => of_effect[1],
        Sent::Answered => of_effect[2],
    }
}

/// The events after an attempt of the call failed; the attempt itself is settled before them.
pub(crate) fn after_failure(site: Site<'_>, failure: &Failure, evidence: Evidence) -> Vec<Event> {
    let kind = failure.kind;
    let ground = Ground {
        site,
        failure: Some(failure),
        evidence,
        refusal: None,
        wait: Wait::NONE,
    };
    // What came of an earlier attempt may be as open as what came of this one.
    let is_open =
        site.writes() && (doubt::proves_nothing(failure) || doubt::may_have_landed(site.call));
    match table(kind, failure.sent, site.semantics()) {
        Move::Reconcile => reconcile(ground),
        Move::Retry => match retry(ground, failure) {
            Ok(events) => events,
            Err(_) if is_open => reconcile(ground),
            Err(short) => fall_back_short(ground, kind, &short),
        },
        Move::Repair => match repair::after(ground) {
            Ok(events) => events,
            Err(short) => fall_back_short(ground, kind, &short),
        },
        Move::Fallback | Move::GiveUp if is_open => reconcile(ground),
        Move::Fallback => {
            let reason = Reason::SameInputFails;
            fall_back(ground, Why { kind, reason })
        }
        Move::GiveUp => {
            let reason = match kind == FailureKind::Canceled {
                true => Reason::Requested,
                false => Reason::SameInputFails,
            };
            give_up(ground, Why { kind, reason })
        }
    }
}

/// A call that waited for its next attempt and does not get it: asked about first, when its last
/// one may have done it all the same; else as after any failure.
pub(crate) fn go_on_without(ground: Ground<'_>, why: Why) -> Vec<Event> {
    let Site { run, call, now, .. } = ground.site;
    match doubt::is_open(call) && !doubt::is_with_the_key(run, call, now) {
        true => reconcile(ground),
        false => fall_back(ground, why),
    }
}

fn reconcile(ground: Ground<'_>) -> Vec<Event> {
    let call = ground.site.call;
    let Some(out) = call.in_flight().or(call.attempts.last()) else {
        return Vec::new();
    };
    let reason = Reason::WriteResponseLost;
    vec![
        ground.decided(NextAction::Reconcile, reason),
        doubt::in_doubt(ground.site, out, reason),
    ]
}

/// Another attempt on the same rung, if attempts, tokens, gates and times allow it.
fn retry(ground: Ground<'_>, failure: &Failure) -> Result<Vec<Event>, Short> {
    let Site {
        run,
        head,
        id,
        call,
        now,
    } = ground.site;
    let contract = ground.site.contract().ok_or(Reason::AttemptsExhausted)?;
    let spec = rung::spec(contract, call.rung).ok_or(Reason::AttemptsExhausted)?;
    if ground.attempts_left() == 0 {
        return Err(Reason::AttemptsExhausted.into());
    }
    let refusal = match ground.tokens_left() {
        Ok(()) => None,
        // It stays with its provider until somebody raises the limit.
        Err(short) if short.is_raisable() && is_paused(ground) => Some(short),
        Err(short) => return Err(short),
    };
    let wait = Wait::drawn(contract.backoff, ground, failure.retry_after);
    let not_before = now + wait.wait;
    let need_by = not_before + ground.predicted().less(spec.min_useful);
    let latest = attempt::latest_start(run, head, call);
    if latest.is_some_and(|latest| latest < need_by) {
        let reason = match failure.retry_after {
            Some(asked) if asked == wait.wait => Reason::RetryAfterExceedsRemaining,
            Some(_) | None => Reason::DeadlineExhausted,
        };
        return Err(Short {
            wait,
            ..reason.into()
        });
    }
    let (next, reason) = match &refusal {
        Some(short) => (NextAction::Wait, short.reason),
        None => (NextAction::Retry { at: not_before }, Reason::RetryAllowed),
    };
    let refusal = refusal.as_ref().and_then(|short| short.refusal.as_ref());
    let rung = call.rung;
    Ok(vec![
        Ground {
            refusal,
            wait,
            ..ground
        }
        .decided(next, reason),
        Event::CallRescheduled {
            call: id,
            rung,
            not_before,
            reason,
        },
    ])
}

/// The next rung, with what kept the call from its own.
fn fall_back_short(ground: Ground<'_>, kind: FailureKind, short: &Short) -> Vec<Event> {
    let (refusal, wait, reason) = (short.refusal.as_ref(), short.wait, short.reason);
    let ground = Ground {
        refusal,
        wait,
        ..ground
    };
    fall_back(ground, Why { kind, reason })
}

/// Whether the class has a call that meets a limit wait for more.
fn is_paused(ground: Ground<'_>) -> bool {
    caps::rule(ground.site) == OnLimit::Pause
}

/// The next rung at once, or the end of the call. A class that ends its lap at a limit tries
/// nothing else.
pub(crate) fn fall_back(ground: Ground<'_>, why: Why) -> Vec<Event> {
    let Site {
        run, id, call, now, ..
    } = ground.site;
    let ends = match caps::rule(ground.site) {
        OnLimit::HandOff | OnLimit::Fail => caps::is_limit(why.reason),
        OnLimit::Degrade | OnLimit::Pause => false,
    };
    match attempt::rung_below(run, call).filter(|_| !ends) {
        Some(rung) => {
            let (not_before, reason) = (now, why.reason);
            vec![
                ground.decided(NextAction::Fallback { rung }, reason),
                Event::CallRescheduled {
                    call: id,
                    rung,
                    not_before,
                    reason,
                },
            ]
        }
        None => give_up(ground, why),
    }
}

fn give_up(ground: Ground<'_>, why: Why) -> Vec<Event> {
    let Site { run, id, call, .. } = ground.site;
    let is_omitted = call.item.is_none()
        && match run.class().node(call.node).criticality {
            Criticality::Soft { .. } | Criticality::Advisory { .. } => true,
            Criticality::Hard => false,
        };
    let next = match is_omitted {
        true => NextAction::Omit,
        false => NextAction::Fail,
    };
    let mut events = vec![ground.decided(next, why.reason)];
    events.extend(ending::give_up(run, id, call, why));
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_may_have_left_is_always_asked_about_first() {
        for kind in FailureKind::ALL {
            for effect in [
                EffectSemantics::WriteIdempotentWithKey,
                EffectSemantics::WriteWithoutKey,
            ] {
                let next = table(kind, Sent::MaybeSent, effect);
                assert_eq!(next, Move::Reconcile, "{kind}");
            }
        }
    }
}
