//! What follows a failed attempt: one table, then what the budget, the gates and the times allow.
//!
//! The table looks at the failure kind, at whether the request may have left, and at what the
//! attempt does to the world; nothing else. A write that may have left is always asked about first.
//! Each decision is recorded with its numbers before it is carried out.

use mainstay_graph::{Backoff, Criticality, EffectSemantics, OnLimit};
use mainstay_types::{Failure, FailureKind, Millis, Reason, Refusal, Sent};

use crate::command::Evidence;
use crate::decision::{Allowed, Decision, NextAction, Numbers, Refused};
use crate::ending::{self, Why};
use crate::event::Event;
use crate::guard::Site;
use crate::streak::Streak;
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

/// What a decision about a call is made of.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) site: Site<'a>,
    /// What failed; `None` when a limit or the time stops the call.
    pub(crate) failure: Option<&'a Failure>,
    pub(crate) evidence: Evidence,
    /// What refuses the next attempt.
    pub(crate) refusal: Option<&'a Refusal>,
    /// How long the next attempt would have waited.
    pub(crate) wait: Wait,
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
    match doubt::is_open(ground.site.call) {
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
        ground.decided(NextAction::Reconcile, reason, Wait::NONE),
        doubt::in_doubt(ground.site, out, reason),
    ]
}

/// Why a call is not tried again on its rung.
pub(crate) struct Short {
    pub(crate) reason: Reason,
    /// What refuses the tokens, where it is the run that does.
    refusal: Option<Refusal>,
    /// How long it would have waited.
    wait: Wait,
}

impl Short {
    fn is_raisable(&self) -> bool {
        self.refusal.as_ref().is_some_and(caps::is_raisable)
    }
}

impl From<Reason> for Short {
    fn from(reason: Reason) -> Self {
        let (refusal, wait) = (None, Wait::NONE);
        Self {
            reason,
            refusal,
            wait,
        }
    }
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
    let latest = attempt::latest_start(run, head, call).ok_or(Reason::DeadlineExhausted)?;
    if latest < not_before + ground.predicted().less(spec.min_useful) {
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
        Ground { refusal, ..ground }.decided(next, reason, wait),
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
                ground.decided(NextAction::Fallback { rung }, reason, Wait::NONE),
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
    let mut events = vec![ground.decided(next, why.reason, Wait::NONE)];
    events.extend(ending::give_up(run, id, call, why));
    events
}

impl<'a> Ground<'a> {
    /// The state of the call alone.
    pub(crate) fn of(site: Site<'a>) -> Self {
        Self {
            site,
            failure: None,
            evidence: Evidence::default(),
            refusal: None,
            wait: Wait::NONE,
        }
    }

    /// The decision, with the numbers it was made on.
    pub(crate) fn decided(self, next: NextAction, reason: Reason, wait: Wait) -> Event {
        self.decision(next, reason, wait).recorded()
    }

    /// The same about an attempt that is stopped from here, which does not count.
    pub(crate) fn stopped(self, failure: &Failure, next: NextAction, reason: Reason) -> Event {
        let mut decision = self.decision(next, reason, Wait::NONE);
        (decision.kind, decision.sent) = (failure.kind, Some(failure.sent));
        let made = self.site.call.rung_attempts.saturating_sub(1);
        decision.numbers.attempts_left = self.streak().left(made, self.most());
        decision.recorded()
    }

    fn decision(self, next: NextAction, reason: Reason, wait: Wait) -> Decision {
        let Site {
            run,
            head,
            id,
            call,
            now,
        } = self.site;
        let latest = self.site.contract().map(|contract| {
            attempt::work_until(head).minus(attempt::reserve_after(run, call, contract))
        });
        let known = call.last_failure();
        Decision {
            call: id,
            attempt: call.attempts.last().map(|last| last.no),
            kind: self
                .failure
                .or(known)
                .map_or(FailureKind::DeadlineExhausted, |failure| failure.kind),
            sent: self.failure.map(|failure| failure.sent),
            next,
            reason,
            numbers: Numbers {
                in_a_row: self.streak().length,
                attempts_left: self.attempts_left(),
                allowed: self.allowed(),
                wait: wait.or(self.wait).wait,
                wait_max: wait.or(self.wait).most,
                retry_after: self.failure.and_then(|failure| failure.retry_after),
                predicted: self.predicted(),
                left: latest.map_or(Millis::ZERO, |latest| now.until(latest)),
            },
            refused: self.refusal.map(Refused::of),
        }
    }

    /// The failures of the rung, the one that is decided on included.
    fn streak(self) -> Streak {
        let call = self.site.call;
        match self.failure {
            Some(failure) => call
                .streak
                .after(failure.kind, call.rung_attempts, self.most()),
            None => call.streak,
        }
    }

    /// Attempts that the rung still has.
    pub(crate) fn attempts_left(self) -> u32 {
        self.streak()
            .left(self.site.call.rung_attempts, self.most())
    }

    fn most(self) -> u32 {
        let contract = self.site.contract();
        let spec = contract.and_then(|contract| rung::spec(contract, self.site.call.rung));
        spec.map_or(0, |spec| spec.max_attempts)
    }

    /// How long an attempt of the rung is expected to take.
    pub(crate) fn predicted(self) -> Millis {
        let contract = self.site.contract();
        let spec = contract.and_then(|contract| rung::spec(contract, self.site.call.rung));
        let estimate = spec.map_or(Millis::ZERO, |spec| spec.estimate);
        self.evidence.predicted.unwrap_or(estimate)
    }

    /// How many retries each party allows.
    fn allowed(self) -> Allowed {
        let Evidence {
            dependency_capacity: dependency,
            tenant_quota: tenant,
            global_ratio: global,
            ..
        } = self.evidence;
        Allowed {
            run: attempt::retries_allowed(self.site),
            dependency,
            tenant,
            global,
        }
    }

    /// Whether everybody allows the retry tokens that another attempt of the rung uses.
    pub(crate) fn tokens_left(self) -> Result<(), Short> {
        let site = self.site;
        let contract = site.contract().ok_or(Reason::AttemptsExhausted)?;
        let spec = rung::spec(contract, site.call.rung).ok_or(Reason::AttemptsExhausted)?;
        attempt::tokens_left(site, contract, &spec).map_err(|(reason, refusal)| Short {
            reason,
            refusal: Some(refusal),
            wait: Wait::NONE,
        })?;
        let need = attempt::retry_tokens(site.head, site.call, &spec).get();
        let allowed = self.allowed();
        let parties = [
            (allowed.dependency, Reason::DependencyAtCapacity),
            (allowed.tenant, Reason::TenantQuotaReached),
            (allowed.global, Reason::RetryRatioReached),
        ];
        let short = parties
            .into_iter()
            .find(|(limit, _)| limit.is_some_and(|limit| limit < need));
        short.map_or(Ok(()), |(_, reason)| Err(reason.into()))
    }
}

/// How long the next attempt waits, and what that was drawn from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    wait: Millis,
    most: Millis,
}

impl Wait {
    pub(crate) const NONE: Self = Self {
        wait: Millis::ZERO,
        most: Millis::ZERO,
    };

    /// This one, or the other where there is none.
    fn or(self, other: Self) -> Self {
        if self.wait.max(self.most) == Millis::ZERO {
            return other;
        }
        self
    }

    /// Full jitter, but no less than the provider asked for.
    fn drawn(backoff: Backoff, ground: Ground<'_>, asked: Option<Millis>) -> Self {
        let made = ground.site.call.rung_attempts;
        let most = wait_max(backoff, made, ground.streak().doublings());
        let drawn = scale(most, ground.evidence.draw);
        let wait = asked.map_or(drawn, |asked| asked.max(drawn));
        Self { wait, most }
    }
}

/// The upper end of a wait: `min(max, base * 2^repeats * 2^n)`, n from 0 after the first attempt.
fn wait_max(backoff: Backoff, made: u32, repeats: u32) -> Millis {
    let doublings = made.saturating_sub(1).saturating_add(repeats).min(32);
    backoff.base.times(1u64 << doublings).min(backoff.max)
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
            for effect in [
                EffectSemantics::WriteIdempotentWithKey,
                EffectSemantics::WriteWithoutKey,
            ] {
                let next = table(kind, Sent::MaybeSent, effect);
                assert_eq!(next, Move::Reconcile, "{kind}");
            }
        }
    }

    #[test]
    fn a_wait_never_exceeds_its_bound_and_reaches_zero() {
        let backoff = Backoff {
            base: Millis::new(100),
            max: Millis::new(1_000),
        };
        for made in 1..80 {
            for repeats in 0..40 {
                let doublings = (made - 1 + repeats).min(32);
                let top = 100u64.saturating_mul(1 << doublings).min(1_000);
                let most = wait_max(backoff, made, repeats);
                assert_eq!(most.get(), top, "{made} {repeats}");
                let highest = scale(most, u32::MAX).get();
                assert!(highest < top && top - 2 <= highest, "{highest} of {top}");
                assert_eq!(scale(most, 0), Millis::ZERO);
            }
        }
    }
}
