//! What a decision about a call is made of: the state of the call, what failed, the volatile facts,
//! and the numbers that follow from them.
//!
//! It decides nothing; `next` does, and records these numbers beside what it decided.

use mainstay_graph::Backoff;
use mainstay_types::{Failure, FailureKind, Millis, Reason, Refusal};

use crate::command::Evidence;
use crate::decision::{Allowed, Decision, NextAction, Numbers, Refused};
use crate::event::Event;
use crate::guard::Site;
use crate::streak::Streak;
use crate::{attempt, caps, rung};

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
    pub(crate) fn decided(self, next: NextAction, reason: Reason) -> Event {
        self.decision(next, reason).recorded()
    }

    /// The same about an attempt that is stopped from here, which does not count.
    pub(crate) fn stopped(self, failure: &Failure, next: NextAction, reason: Reason) -> Event {
        let mut decision = self.decision(next, reason);
        (decision.kind, decision.sent) = (failure.kind, Some(failure.sent));
        let made = self.site.call.rung_attempts.saturating_sub(1);
        decision.numbers.attempts_left = self.streak().left(made, self.most());
        decision.recorded()
    }

    fn decision(self, next: NextAction, reason: Reason) -> Decision {
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
                wait: self.wait.wait,
                wait_max: self.wait.most,
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

/// Why a call is not tried again on its rung.
pub(crate) struct Short {
    pub(crate) reason: Reason,
    /// What refuses the tokens, where it is the run that does.
    pub(crate) refusal: Option<Refusal>,
    /// How long it would have waited.
    pub(crate) wait: Wait,
}

impl Short {
    pub(crate) fn is_raisable(&self) -> bool {
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

/// How long the next attempt waits, and what that was drawn from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// How long.
    pub(crate) wait: Millis,
    most: Millis,
}

impl Wait {
    pub(crate) const NONE: Self = Self {
        wait: Millis::ZERO,
        most: Millis::ZERO,
    };

    /// Full jitter, but no less than the provider asked for.
    pub(crate) fn drawn(backoff: Backoff, ground: Ground<'_>, asked: Option<Millis>) -> Self {
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
