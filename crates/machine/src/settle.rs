//! The end of an attempt: its cost, its value or failure, and what follows.
//!
//! Evidence is never refused for its age: an answer that ends a doubt ends it, one that comes too
//! late is recorded as late, and a second report of the same attempt changes nothing.

use mainstay_types::{
    AttemptNo, CallId, Code, CostUnits, Failure, FailureKind, Payload, Reason, Refusal, Sent,
    Timestamp,
};

use crate::attempt::Used;
use crate::call::{Attempt, AttemptState, EffectStatus, Phase};
use crate::command::{EffectEntry, Settle, SettleEnd};
use crate::event::{AttemptEnd, Event};
use crate::guard::{self, Site};
use crate::run::Run;
use crate::{doubt, effect, held, next, orphan};

pub(crate) fn settle(run: &Run, report: &Settle, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    let site = guard::evidence_site(run, report.call, now)?;
    let attempt = site
        .call
        .attempt(report.attempt)
        .ok_or_else(|| unknown(run, report))?;
    if site.call.phase == Phase::InFlight(report.attempt) {
        return Ok(in_time(site, attempt, report));
    }
    late(site, attempt, report, None)
}

/// The end of an attempt whose key another run has taken over: what it used is recorded, and the
/// effect follows what that run has. What was answered goes to that run.
pub(crate) fn held(
    run: &Run,
    report: &Settle,
    entry: &EffectEntry,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let site = guard::evidence_site(run, report.call, now)?;
    let attempt = site
        .call
        .attempt(report.attempt)
        .ok_or_else(|| unknown(run, report))?;
    if site.call.phase != Phase::InFlight(report.attempt) {
        return late(site, attempt, report, Some(entry));
    }
    let (end, used) = ended(attempt, &report.end);
    let mut events = vec![settled((report.call, report.attempt), end, used)];
    events.extend(held::lost(run, (site.id, site.call), entry));
    Ok(events)
}

/// How an attempt ended, without its value, and what it used.
fn ended(attempt: &Attempt, end: &SettleEnd) -> (AttemptEnd, Used) {
    match end {
        SettleEnd::Answered {
            cost,
            client_retries,
            ..
        } => {
            let used = Used::of(cost.unwrap_or(attempt.reserved), *client_retries);
            (AttemptEnd::Answered, used)
        }
        SettleEnd::Failed(failure) => {
            let end = AttemptEnd::Failed(failure.clone());
            (end, late_cost(attempt, failure))
        }
    }
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
    let (end, used) = ended(attempt, &report.end);
    let mut events = vec![settled((report.call, report.attempt), end, used)];
    match &report.end {
        SettleEnd::Answered { result, .. } => {
            events.extend(value(site, attempt, result));
            events
        }
        SettleEnd::Failed(failure) => {
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

/// A report about an attempt that is not out any more: evidence, once. `held` is what another run
/// has under the key.
fn late(
    site: Site<'_>,
    attempt: &Attempt,
    report: &Settle,
    held: Option<&EffectEntry>,
) -> Result<Vec<Event>, Refusal> {
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
            let then = match held {
                Some(entry) => follows(site, entry, true),
                None => late_value(site, attempt, result),
            };
            let is_taken = !then.is_empty() || held.is_some();
            let recorded = orphan::late_value(site, attempt, result).filter(|_| !is_taken);
            (used, recorded, then)
        }
        // One that was given up is over for its call, whatever it reports.
        SettleEnd::Failed(failure) if seen.is_some() => (late_cost(attempt, failure), None, vec![]),
        SettleEnd::Failed(failure) if assumed => {
            let then = match held {
                Some(entry) => follows(site, entry, false),
                None => late_failure(site, report, failure),
            };
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

/// What is in doubt follows the run that has its key; what waits asks for its key anyway. That
/// something was answered which this run took for absent is an addendum here, too.
fn follows(site: Site<'_>, entry: &EffectEntry, is_answered: bool) -> Vec<Event> {
    if site.call.phase == Phase::InDoubt {
        return held::lost(site.run, (site.id, site.call), entry);
    }
    let status = site.call.effect.as_ref().map(|effect| &effect.status);
    let was_ruled_out = matches!(status, Some(EffectStatus::Absent(reason))
        if *reason != Reason::KeyHeldByOtherRun);
    let addendum = effect::addendum(site.run, site.id, Reason::Answered);
    let told = addendum.filter(|_| is_answered && was_ruled_out);
    told.into_iter().collect()
}

/// What a late value still changes. A write that is in the world is in the world, whatever was
/// believed before; a read may still use the value. A newer attempt is not waited for any more.
fn late_value(site: Site<'_>, attempt: &Attempt, result: &Payload) -> Vec<Event> {
    let Some(mut events) = takes_late(site) else {
        return Vec::new();
    };
    events.extend(value(site, attempt, result));
    events
}

/// Whether the call still takes a value that comes late, and what ends by that.
pub(crate) fn takes_late(site: Site<'_>) -> Option<Vec<Event>> {
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
        return None;
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
    Some(events)
}

/// What a late failure still changes: one that is sure ends the doubt about its own attempt. Of
/// what another run sent it says nothing.
fn late_failure(site: Site<'_>, report: &Settle, failure: &Failure) -> Vec<Event> {
    let newest = site.call.attempts.last().map(|last| last.no);
    let next = next::table(failure.kind, failure.sent, site.semantics());
    let is_sure = next != next::Move::Reconcile && !doubt::proves_nothing(failure);
    let open = effect::doubt(site.call);
    let is_own = open.is_none_or(|open| !open.of_other) && newest == Some(report.attempt);
    if site.call.phase != Phase::InDoubt || !is_own || !is_sure {
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
