//! Attempts: may one leave, what is reserved for it, what follows when it is over.
//!
//! Asked in this order, cheapest first: meaning, times, retry token, concurrency, cost. The
//! refusal names the first that failed, with its numbers. Nothing leaves that `plan` refuses.

mod apply;

use mainstay_graph::Contract;
use mainstay_types::{
    AttemptNo, CallId, Code, CostUnits, FailureKind, Millis, Reason, Refusal, Rung, Timestamp,
    Tokens, limits,
};

pub(crate) use apply::{
    Used, apply_interrupted, apply_late, apply_settled, apply_started, is_remote,
};

use crate::call::{Attempt, AttemptState, Call, EffectStatus, Phase};
use crate::command::Evidence;
use crate::event::{AttemptStarted, Event};
use crate::guard::Site;
use crate::run::{Head, Run};
use crate::rung::{self, RungSpec};
use crate::{caps, effect, guard, key_age, lap, yields};

/// Whether an attempt could start now; the refusal names the call.
pub(crate) fn may_start(run: &Run, id: CallId, now: Timestamp) -> Result<AttemptStarted, Refusal> {
    plan(run, id, now).map_err(|refusal| named(run, id, refusal))
}

fn named(run: &Run, id: CallId, refusal: Refusal) -> Refusal {
    match refusal.about {
        Some(_) => refusal,
        None => refusal.about(run.path(id)),
    }
}

/// The attempt that could start now, or why none may. Asked for every ready call of every turn,
/// so what refuses most often does not spell the call's path.
pub(crate) fn plan(run: &Run, id: CallId, now: Timestamp) -> Result<AttemptStarted, Refusal> {
    plan_on(run, (id, Evidence::default()), now)
}

/// The same, with what was observed of such attempts.
fn plan_on(
    run: &Run,
    (id, evidence): (CallId, Evidence),
    now: Timestamp,
) -> Result<AttemptStarted, Refusal> {
    let site = guard::site(run, id, now)?;
    let call = site.call;
    guard::begins(run, call)?;
    check_meaning(site)?;
    let contract = site.contract().ok_or_else(|| site.not_ready())?;
    let spec = rung::spec(contract, call.rung).ok_or_else(|| site.not_ready())?;
    key_age::check(site)?;
    let timeout = check_times(site, contract, &spec)?;
    check_attempts(run, id, call, &spec)?;
    let retry_tokens = check_limits(site, contract, &spec)?;
    let attempt = AttemptNo(u32::try_from(call.attempts.len()).unwrap_or(u32::MAX)).next();
    let (rung, cost) = (call.rung, reserved(site, &spec, evidence));
    Ok(AttemptStarted {
        call: id,
        attempt,
        rung,
        at: now,
        timeout,
        cost,
        retry_tokens,
    })
}

/// What is reserved for the attempt: its contract's cost, and as much of what such attempts were
/// observed to cost as is left. What was observed never refuses what the contract allows: whether a
/// call may start has to be known from the run alone, and an outlier must not stop a class.
fn reserved(site: Site<'_>, spec: &RungSpec, evidence: Evidence) -> CostUnits {
    let Some(observed) = evidence.predicted_cost else {
        return spec.cost;
    };
    let of_budget = site.head.lap.budget.cost_left();
    let of_budget = of_budget.less(yields::cost_of_others(site.run, site.call));
    spec.cost
        .max(observed.min(of_budget).min(caps::cost_left(site)))
}

/// The retry tokens that the attempt uses, when budget and caps allow it.
pub(crate) fn check_limits(
    site: Site<'_>,
    contract: &Contract,
    spec: &RungSpec,
) -> Result<Tokens, Refusal> {
    let Site {
        run, head, call, ..
    } = site;
    let retry_tokens = retry_tokens(head, call, spec);
    if call.is_undo() {
        // It yields to nobody and has no cap: somebody asked for it and pays for its attempts.
        head.lap.budget.check_place(head.held_at(site.now))?;
        return Ok(retry_tokens);
    }
    check_retry_cap(site, contract, retry_tokens)?;
    let kept = yields::cost_kept(run, call);
    let held = match spec.is_local {
        true => Tokens::ZERO,
        false => head.held_at(site.now),
    };
    head.lap
        .budget
        .check(retry_tokens, held, (spec.cost, kept))?;
    yields::check_retries(site, retry_tokens)?;
    // Before the caps, since it is cheaper: what those keep is counted call by call.
    yields::check_concurrency(site)?;
    caps::check(site, spec, retry_tokens)?;
    Ok(retry_tokens)
}

/// What somebody would have to raise so that the call can start, whatever the time.
pub(crate) fn stops(site: Site<'_>) -> Option<Refusal> {
    let contract = site.contract()?;
    let spec = rung::spec(contract, site.call.rung)?;
    let refusal = check_limits(site, contract, &spec).err()?;
    caps::is_raisable(&refusal).then_some(refusal)
}

/// Whether only attempts whose process is gone have all places, and so long that what the call is
/// expected to take does not fit behind them.
pub(crate) fn is_held_too_long(site: Site<'_>) -> bool {
    // No time of the run binds what undoes an effect.
    if site.call.is_undo() {
        return false;
    }
    let budget = &site.head.lap.budget;
    let contract = site.contract();
    let spec = contract.and_then(|contract| rung::spec(contract, site.call.rung));
    let (Some(contract), Some(spec)) = (contract, spec) else {
        return false;
    };
    let need = spec.estimate.max(spec.min_useful) + reserve_after(site.run, site.call, contract);
    budget.in_flight == Tokens::ZERO && work_until(site.head).minus(need) < place_free_at(site)
}

/// When the first place is free again of those that nobody gives back.
fn place_free_at(site: Site<'_>) -> Timestamp {
    let budget = &site.head.lap.budget;
    let mut held: Vec<Timestamp> = site.head.held.iter().map(|held| held.until).collect();
    held.retain(|until| site.now < *until);
    held.sort();
    let places = usize::try_from(budget.limits.concurrency_tokens.get()).unwrap_or(usize::MAX);
    let first = held.len().checked_sub(places);
    let first = first.and_then(|first| held.get(first));
    first.copied().unwrap_or(site.now)
}

fn check_meaning(site: Site<'_>) -> Result<(), Refusal> {
    let Site {
        run,
        head,
        id,
        call,
        now,
    } = site;
    let about = |what: &str| {
        Err(Refusal::new(Code::CallNotReady).about(format!("{}: {what}", run.path(id))))
    };
    match call.phase {
        Phase::Ready { not_before } if now < not_before => Err(Refusal::new(Code::CallNotReady)
            .with("wait_ms", now.until(not_before).get())
            .about(run.path(id))),
        Phase::Ready { .. } if call.is_undo() => Ok(()),
        Phase::Ready { .. } if head.cancel.is_some() => about("the run is canceled"),
        Phase::Ready { .. } if lap::is_stopped(run, head, call) => about("the hard path is lost"),
        Phase::Ready { .. } if call.kept.is_some() => about("a late answer of it is kept"),
        Phase::Ready { .. } => Ok(()),
        Phase::InDoubt => Err(Refusal::new(Code::EffectInDoubt).about(run.path(id))),
        Phase::Waiting
        | Phase::Preparing
        | Phase::InFlight(_)
        | Phase::Items
        | Phase::Settled { .. }
        | Phase::Omitted { .. }
        | Phase::Skipped
        | Phase::Failed { .. } => Err(site.not_ready()),
    }
}

/// The time an attempt may take: what is left before work_by, less all reserves.
fn check_times(site: Site<'_>, contract: &Contract, spec: &RungSpec) -> Result<Millis, Refusal> {
    if site.call.is_undo() {
        return Ok(spec.timeout);
    }
    let until = work_until(site.head);
    let reserve = reserve_after(site.run, site.call, contract);
    let left = site.now.until(until).less(reserve);
    let need = spec.min_useful.max(Millis::new(1));
    if left < need {
        return Err(Refusal::new(Code::DeadlineExhausted)
            .with("need_ms", need.get())
            .with("left_ms", left.get())
            .with("reserve_ms", reserve.get())
            .about(site.run.path(site.id)));
    }
    Ok(spec.timeout.min(left))
}

/// Until when attempts of the lap may run.
pub(crate) fn work_until(head: &Head) -> Timestamp {
    let times = &head.lap.times;
    times
        .expires_at
        .map_or(times.work_by, |expires| times.work_by.min(expires))
}

/// Time to keep after an attempt of this call: what follows it, and the rungs below it.
pub(crate) fn reserve_after(run: &Run, call: &Call, contract: &Contract) -> Millis {
    run.downstream(call.node).max(contract.deadline_reserve)
        + rung::reserve_below(contract, call.rung)
}

/// The last moment at which the call's current rung may start; `None` for what undoes an effect,
/// which is never too late.
pub(crate) fn latest_start(run: &Run, head: &Head, call: &Call) -> Option<Timestamp> {
    if call.is_undo() {
        return None;
    }
    let contract = run.class().node(call.node).contract()?;
    let spec = rung::spec(contract, call.rung)?;
    let need = spec.min_useful.max(Millis::new(1)) + reserve_after(run, call, contract);
    Some(work_until(head).minus(need))
}

fn check_attempts(run: &Run, id: CallId, call: &Call, spec: &RungSpec) -> Result<(), Refusal> {
    let all = u32::try_from(call.attempts.len()).unwrap_or(u32::MAX);
    let left = call.streak.left(call.rung_attempts, spec.max_attempts);
    if 0 < left && all < limits::CALL_ATTEMPTS_MAX {
        return Ok(());
    }
    Err(Refusal::new(Code::AttemptsExhausted)
        .with("made", call.rung_attempts)
        .with("limit", spec.max_attempts)
        .with("given_up", call.streak.forfeited)
        .about(run.path(id)))
}

/// A retry is load: every attempt beyond the lap's first of a call costs a token, unless it asks
/// nothing of a provider (snapshot, cache, local compute). A write whose owner died and that is
/// proven to have never arrived was no load either, so a crash does not eat the run's tokens.
pub(crate) fn retry_tokens(head: &Head, call: &Call, spec: &RungSpec) -> Tokens {
    let tried = call
        .attempts
        .iter()
        .any(|attempt| attempt.lap == head.lap.no && !is_stopped(attempt));
    if tried && spec.is_load && !never_arrived(call) {
        Tokens::new(1)
    } else {
        Tokens::ZERO
    }
}

/// Whether the attempt was stopped from here: no failure of its provider, and so no try.
pub(crate) fn is_stopped(attempt: &Attempt) -> bool {
    // Also when it was heard of since.
    if attempt.orphan.is_some() {
        return true;
    }
    match &attempt.state {
        AttemptState::Failed { failure, .. } => failure.kind == FailureKind::Canceled,
        AttemptState::InFlight
        | AttemptState::Answered { .. }
        | AttemptState::Interrupted { .. }
        | AttemptState::Late { .. } => false,
    }
}

/// Whether the lap has the retry tokens that another attempt of the call on this rung uses; what
/// refuses them, and what that means for the call.
pub(crate) fn tokens_left(
    site: Site<'_>,
    contract: &Contract,
    spec: &RungSpec,
) -> Result<(), (Reason, Refusal)> {
    if site.call.is_undo() {
        return Ok(());
    }
    let tokens = retry_tokens(site.head, site.call, spec);
    let budget = &site.head.lap.budget;
    budget
        .check_retries(tokens)
        .and_then(|()| yields::check_retries(site, tokens))
        .and_then(|()| check_retry_cap(site, contract, tokens))
        .map_err(|refusal| (Reason::RetryTokensExhausted, refusal))?;
    caps::check_retries(site, tokens).map_err(|refusal| (Reason::CapReached, refusal))
}

/// Retries that the run's tokens, the call's own cap and its dependency's cap leave; for what
/// undoes an effect, and is held to none of them, those that its attempts leave.
pub(crate) fn retries_allowed(site: Site<'_>) -> u32 {
    if site.call.is_undo() {
        let spec = site
            .contract()
            .and_then(|contract| rung::spec(contract, site.call.rung));
        let most = spec.map_or(0, |spec| spec.max_attempts);
        return site.call.streak.left(site.call.rung_attempts, most);
    }
    let of_run = site.head.lap.budget.retries_left();
    let of_call = site
        .contract()
        .and_then(|contract| contract.retry_cap)
        .map(|cap| cap.less(retries_used(site)));
    let of_dependency = caps::retries_of_dependency(site);
    let others = [of_call, of_dependency].into_iter().flatten();
    others.fold(of_run, Tokens::min).get()
}

/// Retry tokens that the call has used in this lap.
fn retries_used(site: Site<'_>) -> Tokens {
    let made = site.call.attempts.iter();
    made.filter(|made| made.lap == site.head.lap.no)
        .fold(Tokens::ZERO, |sum, made| sum + made.retry_tokens)
}

/// Whether the last attempt's owner died and the receiver is known to have got nothing.
fn never_arrived(call: &Call) -> bool {
    let absent = call
        .effect
        .as_ref()
        .is_some_and(|effect| effect.status == EffectStatus::Absent(Reason::AbsentAfterHorizon));
    let interrupted = call
        .attempts
        .last()
        .is_some_and(|last| matches!(last.state, AttemptState::Interrupted { .. }));
    absent && interrupted
}

fn check_retry_cap(site: Site<'_>, contract: &Contract, tokens: Tokens) -> Result<(), Refusal> {
    let Some(cap) = contract.retry_cap else {
        return Ok(());
    };
    let used = retries_used(site);
    if used + tokens <= cap {
        return Ok(());
    }
    Err(Refusal::new(Code::RetryTokensExhausted)
        .with("used", used.get())
        .with("cap", cap.get())
        .about(site.run.path(site.id)))
}

/// The attempt that leaves.
pub(crate) fn authorize(
    run: &Run,
    (id, rung, evidence): (CallId, Rung, Evidence),
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let call = guard::call(run, id)?;
    if call.rung != rung {
        return Err(guard::not_ready(run, id, call));
    }
    let started = plan_on(run, (id, evidence), now).map_err(|refusal| named(run, id, refusal))?;
    let mut events = Vec::new();
    if run.writes(call) && call.effect.is_none() {
        events.push(Event::EffectIntended {
            call: id,
            key: effect::key(run, id, call)?,
        });
    }
    events.push(Event::AttemptStarted(started));
    Ok(events)
}

/// The rung a call would go on with after this one.
pub(crate) fn rung_below(run: &Run, call: &Call) -> Option<Rung> {
    rung::below(run.class().node(call.node).contract()?, call.rung)
}
