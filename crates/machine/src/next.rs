//! What follows a failed attempt: one table, then what the budget and the times allow.
//!
//! The table looks at the failure kind, at whether the request may have left, and at what the
//! attempt does to the world; nothing else. A write that may have left is always asked about first.

use mainstay_graph::{Backoff, OnLimit};
use mainstay_types::{Failure, FailureKind, Millis, Reason, Sent};

use crate::command::Evidence;
use crate::ending::{self, Why};
use crate::event::Event;
use crate::guard::Site;
use crate::{attempt, caps, doubt, rung};

/// What a failure asks for, before budget and times are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Find out what became of it.
    Reconcile,
    /// The same provider again, else the next rung.
    Retry,
    /// The next rung.
    Fallback,
    /// Nothing: no provider will do better.
    GiveUp,
}

/// The table. Source: mission A7, A8, A10.
#[must_use]
pub const fn table(kind: FailureKind, sent: Sent, writes: bool) -> Move {
    match (writes, sent, kind) {
        (true, Sent::MaybeSent, _) | (true, _, FailureKind::EffectUnknown) => Move::Reconcile,
        // An answer that cannot be read, or that only says that something on the way failed or took
        // too long, does not say that nothing was done.
        (
            true,
            Sent::Answered,
            FailureKind::ResultInvalid
            | FailureKind::TransientTransport
            | FailureKind::DeadlineExhausted,
        ) => Move::Reconcile,
        (_, _, FailureKind::InvalidInput | FailureKind::Unauthorized | FailureKind::Canceled) => {
            Move::GiveUp
        }
        (true, _, FailureKind::PermanentProvider)
        | (true, Sent::NotSent, FailureKind::ResultInvalid) => Move::GiveUp,
        (false, _, FailureKind::PermanentProvider | FailureKind::ResultInvalid) => Move::Fallback,
        (_, _, FailureKind::DeadlineExhausted) => Move::Fallback,
        (
            _,
            _,
            FailureKind::RateLimited | FailureKind::Overloaded | FailureKind::TransientTransport,
        )
        | (false, _, FailureKind::EffectUnknown) => Move::Retry,
    }
}

/// The events after an attempt of the call failed; the attempt itself is settled before them.
pub(crate) fn after_failure(site: Site<'_>, failure: &Failure, evidence: Evidence) -> Vec<Event> {
    let kind = failure.kind;
    match table(kind, failure.sent, site.writes()) {
        Move::Reconcile => reconcile(site),
        Move::Retry => match retry(site, failure, evidence) {
            Ok(event) => vec![event],
            Err(_) if is_unsure(site, failure) => reconcile(site),
            Err(reason) => fall_back(site, Why { kind, reason }),
        },
        Move::Fallback => fall_back(
            site,
            Why {
                kind,
                reason: Reason::SameInputFails,
            },
        ),
        Move::GiveUp => {
            let canceled = kind == FailureKind::Canceled;
            let reason = if canceled {
                Reason::Requested
            } else {
                Reason::SameInputFails
            };
            ending::give_up(site.run, site.id, site.call, Why { kind, reason })
        }
    }
}

/// An overloaded receiver, or a proxy before it, may have done it all the same. While the same key
/// is sent again that does no harm; before the call is given up, the receiver is asked.
fn is_unsure(site: Site<'_>, failure: &Failure) -> bool {
    let said_so = failure.sent == Sent::Answered && failure.kind == FailureKind::Overloaded;
    site.writes() && said_so
}

fn reconcile(site: Site<'_>) -> Vec<Event> {
    let out = site.call.in_flight();
    out.map(|out| doubt::in_doubt(site, out, Reason::WriteResponseLost))
        .into_iter()
        .collect()
}

/// Another attempt on the same rung, if attempts, tokens and times allow it.
fn retry(site: Site<'_>, failure: &Failure, evidence: Evidence) -> Result<Event, Reason> {
    let Site {
        run,
        head,
        id,
        call,
        now,
    } = site;
    let contract = site.contract().ok_or(Reason::AttemptsExhausted)?;
    let spec = rung::spec(contract, call.rung).ok_or(Reason::AttemptsExhausted)?;
    if spec.max_attempts <= call.rung_attempts {
        return Err(Reason::AttemptsExhausted);
    }
    let reason = match attempt::tokens_left(site, contract, &spec) {
        Ok(()) => Reason::RetryAllowed,
        // It stays with its provider until somebody raises the limit.
        Err(reason) if caps::rule(site) == OnLimit::Pause => reason,
        Err(reason) => return Err(reason),
    };
    let drawn = jitter(contract.backoff, call.rung_attempts, evidence);
    let wait = failure.retry_after.map_or(drawn, |asked| asked.max(drawn));
    let not_before = now + wait;
    let latest = attempt::latest_start(run, head, call).ok_or(Reason::DeadlineExhausted)?;
    if latest < not_before + spec.estimate.less(spec.min_useful) {
        return Err(match failure.retry_after {
            Some(asked) if drawn <= asked => Reason::RetryAfterExceedsRemaining,
            Some(_) | None => Reason::DeadlineExhausted,
        });
    }
    let rung = call.rung;
    Ok(Event::CallRescheduled {
        call: id,
        rung,
        not_before,
        reason,
    })
}

/// The next rung at once, or the end of the call. A class that ends its lap at a limit tries
/// nothing else.
pub(crate) fn fall_back(site: Site<'_>, why: Why) -> Vec<Event> {
    let Site {
        run, id, call, now, ..
    } = site;
    let ends = match caps::rule(site) {
        OnLimit::HandOff | OnLimit::Fail => caps::is_limit(why.reason),
        OnLimit::Degrade | OnLimit::Pause => false,
    };
    match attempt::rung_below(run, call).filter(|_| !ends) {
        Some(rung) => {
            let (not_before, reason) = (now, why.reason);
            vec![Event::CallRescheduled {
                call: id,
                rung,
                not_before,
                reason,
            }]
        }
        None => ending::give_up(run, id, call, why),
    }
}

/// Full jitter: a draw from zero to `min(max, base * 2^n)`, n from 0 after the first attempt.
fn jitter(backoff: Backoff, made: u32, evidence: Evidence) -> Millis {
    let doublings = made.saturating_sub(1).min(32);
    let top = backoff.base.times(1u64 << doublings).min(backoff.max);
    scale(top, evidence.draw)
}

/// `top * draw / 2^32`, in integers.
pub(crate) fn scale(top: Millis, draw: u32) -> Millis {
    let scaled = (u128::from(top.get()) * u128::from(draw)) >> 32;
    Millis::new(u64::try_from(scaled).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_may_have_left_is_always_asked_about_first() {
        for kind in FailureKind::ALL {
            assert_eq!(
                table(kind, Sent::MaybeSent, true),
                Move::Reconcile,
                "{kind}"
            );
        }
    }

    #[test]
    fn jitter_never_exceeds_its_bound_and_reaches_zero() {
        let backoff = Backoff {
            base: Millis::new(100),
            max: Millis::new(1_000),
        };
        for made in 1..80 {
            let top = 100u64.saturating_mul(1 << (made - 1).min(32)).min(1_000);
            let highest = jitter(backoff, made, Evidence { draw: u32::MAX }).get();
            assert!(highest < top, "{made}: {highest} of {top}");
            assert!(top - 2 <= highest, "{made}: {highest} of {top}");
            assert_eq!(jitter(backoff, made, Evidence { draw: 0 }), Millis::ZERO);
        }
    }
}
