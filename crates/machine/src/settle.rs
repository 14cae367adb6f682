//! The end of an attempt: its cost, its value or failure, and what follows.
//!
//! Evidence is never refused for its age: an answer that ends a doubt ends it, one that comes too
//! late is recorded as late, and a second report of the same attempt changes nothing.

use mainstay_types::{
    AttemptNo, CallId, Code, CostUnits, Failure, FailureKind, Payload, Reason, Refusal, Sent,
    Timestamp,
};

use crate::attempt::Used;
use crate::call::{Attempt, AttemptState, Phase};
use crate::command::{Settle, SettleEnd};
use crate::event::{AttemptEnd, Event};
use crate::guard::{self, Site};
use crate::run::Run;
use crate::{doubt, effect, next, orphan};

pub(crate) fn settle(run: &Run, report: &Settle, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    let site = guard::evidence_site(run, report.call, now)?;
    let attempt = site
        .call
        .attempt(report.attempt)
        .ok_or_else(|| unknown(run, report))?;
    if site.call.phase == Phase::InFlight(report.attempt) {
        return Ok(in_time(site, attempt, report));
    }
    late(site, attempt, report)
}

fn unknown(run: &Run, report: &Settle) -> Refusal {
    Refusal::new(Code::AttemptUnknown)
        .with("attempt", report.attempt.get())
        .about(run.path(report.call))
}

/// A second report of an attempt whose end is known: a duplicate, which changes nothing.
fn settled_before(run: &Run, report: &Settle) -> Refusal {
    Refusal::new(Code::AttemptSettled)
        .with("attempt", report.attempt.get())
        .about(run.path(report.call))
}

fn in_time(site: Site<'_>, attempt: &Attempt, report: &Settle) -> Vec<Event> {
    let request = (report.call, report.attempt);
    match &report.end {
        SettleEnd::Answered {
            result,
            cost,
            client_retries,
        } => {
            let cost = cost.unwrap_or(attempt.reserved);
            let used = Used {
                cost,
                client_retries: *client_retries,
            };
            let mut events = vec![settled(request, AttemptEnd::Answered, used)];
            events.extend(value(site, attempt, result));
            events
        }
        SettleEnd::Failed(failure) => {
            let cost = failed_cost(attempt, failure);
            let used = Used {
                cost,
                client_retries: failure.client_retries,
            };
            let mut events = vec![settled(request, AttemptEnd::Failed(failure.clone()), used)];
            let next = next::after_failure(site, failure, report.evidence);
            let doubt = next
                .iter()
                .any(|event| matches!(event, Event::EffectInDoubt { .. }));
            if site.writes() && !doubt {
                events.extend(effect::absent(site.run, site.id, not_applied(failure)));
            }
            events.extend(next);
            events
        }
    }
}

fn settled((call, attempt): (CallId, AttemptNo), end: AttemptEnd, used: Used) -> Event {
    let Used {
        cost,
        client_retries,
    } = used;
    Event::AttemptSettled {
        call,
        attempt,
        end,
        cost,
        client_retries,
    }
}

/// The call has its value.
fn value(site: Site<'_>, attempt: &Attempt, result: &Payload) -> Vec<Event> {
    if site.writes() {
        return effect::applied(site.run, site.id, result.clone(), Reason::Answered);
    }
    vec![Event::CallSettled {
        call: site.id,
        rung: attempt.rung,
        result: result.clone(),
    }]
}

/// A report about an attempt that is not out any more: evidence, once.
fn late(site: Site<'_>, attempt: &Attempt, report: &Settle) -> Result<Vec<Event>, Refusal> {
    let (unanswered, assumed, counted) = match &attempt.state {
        AttemptState::Failed { failure, .. } => (true, false, failure.client_retries),
        AttemptState::Interrupted { .. } => (true, true, 0),
        AttemptState::InFlight | AttemptState::Answered { .. } | AttemptState::Late { .. } => {
            (false, false, 0)
        }
    };
    let seen = orphan::seen(site, attempt, &report.end);
    let (used, recorded, then) = match &report.end {
        SettleEnd::Answered {
            result,
            cost,
            client_retries,
        } if unanswered => {
            let used = Used::of(cost.unwrap_or(attempt.reserved), *client_retries);
            let then = late_value(site, attempt, result);
            let is_taken = !then.is_empty();
            let recorded = orphan::late_value(site, attempt, result).filter(|_| !is_taken);
            (used, recorded, then)
        }
        // One that was given up is over for its call, whatever it reports.
        SettleEnd::Failed(failure) if seen.is_some() => (late_cost(attempt, failure), None, vec![]),
        SettleEnd::Failed(failure) if assumed => {
            let then = late_failure(site, report, failure);
            (late_cost(attempt, failure), None, then)
        }
        SettleEnd::Answered { .. } | SettleEnd::Failed(_) => {
            return Err(settled_before(site.run, report));
        }
    };
    let (call, attempt) = (report.call, attempt.no);
    let mut events = vec![Event::LateResult {
        call,
        attempt,
        cost: used.cost,
        client_retries: used.client_retries.saturating_sub(counted),
    }];
    events.extend(recorded);
    events.extend(seen.map(|seen| Event::OrphanObserved {
        call,
        attempt,
        seen,
    }));
    events.extend(then);
    Ok(events)
}

fn late_cost(attempt: &Attempt, failure: &Failure) -> Used {
    Used::of(failed_cost(attempt, failure), failure.client_retries)
}

/// What a late value still changes. A write that is in the world is in the world, whatever was
/// believed before; a read may still use the value. A newer attempt is not waited for any more.
fn late_value(site: Site<'_>, attempt: &Attempt, result: &Payload) -> Vec<Event> {
    // What was undone stays so: this tells of a request that landed before it was.
    let is_undone = site.call.is_undone();
    let (wanted, newer) = match &site.call.phase {
        Phase::Settled { .. } | Phase::Omitted { .. } | Phase::Skipped => (false, None),
        Phase::Failed { .. } | Phase::InDoubt => (site.writes() && !is_undone, None),
        Phase::InFlight(newer) => (true, site.call.attempt(*newer)),
        Phase::Ready { .. } => (site.writes() || guard::open(site.run).is_ok(), None),
        Phase::Waiting | Phase::Preparing | Phase::Items => (false, None),
    };
    if !wanted {
        return Vec::new();
    }
    let mut events = Vec::new();
    if let Some(newer) = newer {
        let failure = Failure::new(FailureKind::Canceled, Sent::MaybeSent);
        let used = Used::of(newer.reserved, 0);
        events.push(settled(
            (site.id, newer.no),
            AttemptEnd::Failed(failure),
            used,
        ));
        let (call, owner) = ((site.id, site.call), orphan::owner(site.head));
        events.extend(orphan::given_up(site.run, call, newer, owner));
    }
    events.extend(value(site, attempt, result));
    events
}

/// What a late failure still changes: one that is sure ends the doubt about its own attempt.
fn late_failure(site: Site<'_>, report: &Settle, failure: &Failure) -> Vec<Event> {
    let newest = site.call.attempts.last().map(|last| last.no);
    let next = next::table(failure.kind, failure.sent, site.semantics());
    let is_sure = next != next::Move::Reconcile && !doubt::proves_nothing(failure);
    if site.call.phase != Phase::InDoubt || newest != Some(report.attempt) || !is_sure {
        return Vec::new();
    }
    let mut events = effect::absent(site.run, site.id, not_applied(failure));
    events.extend(next::after_failure(site, failure, report.evidence));
    events
}

/// What proves that a failed write changed nothing.
const fn not_applied(failure: &Failure) -> Reason {
    match failure.sent {
        Sent::NotSent => Reason::NotSent,
        Sent::MaybeSent | Sent::Answered => Reason::RefusedByReceiver,
    }
}

/// What a failed attempt cost: as its provider said, else nothing when it never left, else the
/// estimate.
fn failed_cost(attempt: &Attempt, failure: &Failure) -> CostUnits {
    failure.cost.unwrap_or(match failure.sent {
        Sent::NotSent => CostUnits::ZERO,
        Sent::MaybeSent | Sent::Answered => attempt.reserved,
    })
}
