//! Attempts: may one leave, what is reserved for it, what follows when it is over.
//!
//! Asked in this order, cheapest first: meaning, times, retry token, concurrency, cost. The
//! refusal names the first that failed, with its numbers. Nothing leaves that `plan` refuses.

use mainstay_graph::Contract;
use mainstay_types::{
    AttemptNo, CallId, Code, Corrupt, CostUnits, LapNo, Millis, Reason, Refusal, Rung, Timestamp,
    Tokens, limits,
};

use crate::call::{AT_ONCE, Attempt, AttemptState, Call, EffectStatus, Phase};
use crate::event::{AttemptEnd, AttemptStarted, Event};
use crate::guard::Site;
use crate::run::{Head, Lap, Run};
use crate::rung::{self, RungSpec};
use crate::{caps, effect, guard, lap, yields};

/// Whether an attempt could start now; the refusal names the call.
pub(crate) fn may_start(run: &Run, id: CallId, now: Timestamp) -> Result<AttemptStarted, Refusal> {
    plan(run, id, now).map_err(|refusal| match refusal.about {
        Some(_) => refusal,
        None => refusal.about(run.path(id)),
    })
}

/// The attempt that could start now, or why none may. Asked for every ready call of every turn,
/// so what refuses most often does not spell the call's path.
pub(crate) fn plan(run: &Run, id: CallId, now: Timestamp) -> Result<AttemptStarted, Refusal> {
    guard::open(run)?;
    let site = guard::site(run, id, now)?;
    let call = site.call;
    check_meaning(site)?;
    let contract = site.contract().ok_or_else(|| site.not_ready())?;
    let spec = rung::spec(contract, call.rung).ok_or_else(|| site.not_ready())?;
    let timeout = check_times(site, contract, &spec)?;
    check_attempts(run, id, call, &spec)?;
    let retry_tokens = check_limits(site, contract, &spec)?;
    yields::check_concurrency(run, id, call)?;
    let attempt = AttemptNo(u32::try_from(call.attempts.len()).unwrap_or(u32::MAX)).next();
    let (rung, cost) = (call.rung, spec.cost);
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

/// The retry tokens that the attempt uses, when budget and caps allow it.
fn check_limits(site: Site<'_>, contract: &Contract, spec: &RungSpec) -> Result<Tokens, Refusal> {
    let Site {
        run, head, call, ..
    } = site;
    let retry_tokens = retry_tokens(head, call, spec);
    check_retry_cap(site, contract, retry_tokens)?;
    let kept = yields::cost_kept(run, call);
    head.lap.budget.check(retry_tokens, spec.cost, kept)?;
    yields::check_retries(site, retry_tokens)?;
    caps::check(site, spec, retry_tokens)?;
    Ok(retry_tokens)
}

/// The limit of the lap that stops the call, if one does, whatever the time.
pub(crate) fn stopped_by(site: Site<'_>) -> Option<Code> {
    let contract = site.contract()?;
    let spec = rung::spec(contract, site.call.rung)?;
    let code = check_limits(site, contract, &spec).err()?.code;
    let is_limit = matches!(
        code,
        Code::RetryTokensExhausted | Code::CostExhausted | Code::CapReached
    );
    is_limit.then_some(code)
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
        Phase::Ready { .. } if head.cancel.is_some() => about("the run is canceled"),
        Phase::Ready { .. } if lap::is_stopped(run, head, call) => about("the hard path is lost"),

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

/// The last moment at which the call's current rung may start.
pub(crate) fn latest_start(run: &Run, head: &Head, call: &Call) -> Option<Timestamp> {
    let contract = run.class().node(call.node).contract()?;
    let spec = rung::spec(contract, call.rung)?;
    let need = spec.min_useful.max(Millis::new(1)) + reserve_after(run, call, contract);
    Some(work_until(head).minus(need))
}

fn check_attempts(run: &Run, id: CallId, call: &Call, spec: &RungSpec) -> Result<(), Refusal> {
    let all = u32::try_from(call.attempts.len()).unwrap_or(u32::MAX);
    if call.rung_attempts < spec.max_attempts && all < limits::CALL_ATTEMPTS_MAX {
        return Ok(());
    }
    Err(Refusal::new(Code::AttemptsExhausted)
        .with("made", call.rung_attempts)
        .with("limit", spec.max_attempts)
        .about(run.path(id)))
}

/// A retry is load: every attempt beyond the lap's first of a call costs a token, unless it asks
/// nothing of a provider (snapshot, cache, local compute). A write whose owner died and that is
/// proven to have never arrived was no load either, so a crash does not eat the run's tokens.
pub(crate) fn retry_tokens(head: &Head, call: &Call, spec: &RungSpec) -> Tokens {
    let tried = call
        .attempts
        .iter()
        .any(|attempt| attempt.lap == head.lap.no);
    if tried && spec.is_load && !never_arrived(call) {
        Tokens::new(1)
    } else {
        Tokens::ZERO
    }
}

/// Whether the lap has the retry tokens that another attempt of the call on this rung uses.
pub(crate) fn tokens_left(
    site: Site<'_>,
    contract: &Contract,
    spec: &RungSpec,
) -> Result<(), Reason> {
    let tokens = retry_tokens(site.head, site.call, spec);
    if site.head.lap.budget.retries_left() < tokens
        || yields::check_retries(site, tokens).is_err()
        || check_retry_cap(site, contract, tokens).is_err()
    {
        return Err(Reason::RetryTokensExhausted);
    }
    match caps::retries_left(site, tokens) {
        true => Ok(()),
        false => Err(Reason::CapReached),
    }
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
    let made = site.call.attempts.iter();
    let used = made
        .filter(|made| made.lap == site.head.lap.no)
        .fold(Tokens::ZERO, |sum, made| sum + made.retry_tokens);
    if used + tokens <= cap {
        return Ok(());
    }
    Err(Refusal::new(Code::RetryTokensExhausted)
        .with("used", used.get())
        .with("cap", cap.get())
        .about(site.run.path(site.id)))
}

pub(crate) fn authorize(run: &Run, id: CallId, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    let started = may_start(run, id, now)?;
    let call = guard::call(run, id)?;
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

pub(crate) fn apply_started(run: &mut Run, event: &AttemptStarted) -> Result<(), Corrupt> {
    let name = "AttemptStarted";
    let call = guard::stored(run, event.call, name)?;
    let Phase::Ready { .. } = call.phase else {
        return Err(guard::misplaced(run, event.call, name));
    };
    if call.rung != event.rung {
        return Err(Corrupt::new(name, "it is on another rung than its call"));
    }
    if run.writes(call) && !effect::may_be_sent(call) {
        return Err(Corrupt::new(name, "its effect is not one that may be sent"));
    }
    if usize::try_from(event.attempt.get()).ok() != Some(call.attempts.len() + 1) {
        return Err(Corrupt::new(
            name,
            "its number does not follow the last attempt's",
        ));
    }
    let dependency = caps::place_of(run, call.node, event.rung);
    let newest = call.attempts.last().map(|made| made.lap);
    let head = guard::head_mut(run, name)?;
    head.lap.budget.reserve(event.retry_tokens, event.cost);
    let (lap, epoch) = (head.lap.no, head.epoch);
    let place = caps::Place {
        dependency,
        is_branch: newest != Some(lap),
    };
    head.lap.uses.begin(place, (event.retry_tokens, event.cost));
    run.calls.update(event.call, |call| {
        call.attempts.push(Attempt {
            no: event.attempt,
            rung: event.rung,
            lap,
            epoch,
            at: event.at,
            timeout: event.timeout,
            reserved: event.cost,
            retry_tokens: event.retry_tokens,
            state: AttemptState::InFlight,
        });
        call.rung_attempts += 1;
        call.key_holder = None;
        call.phase = Phase::InFlight(event.attempt);
        effect::sent(call, event.at);
    });
    Ok(())
}

/// What an attempt really used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) cost: CostUnits,
    pub(crate) client_retries: u32,
}

impl Used {
    pub(crate) const fn of(cost: CostUnits, client_retries: u32) -> Self {
        Self {
            cost,
            client_retries,
        }
    }
}

pub(crate) fn apply_settled(
    run: &mut Run,
    (id, no): (CallId, AttemptNo),
    end: &AttemptEnd,
    used: Used,
) -> Result<(), Corrupt> {
    let cost = used.cost;
    let state = match end {
        AttemptEnd::Answered => AttemptState::Answered { cost },
        AttemptEnd::Failed(failure) => AttemptState::Failed {
            failure: failure.clone(),
            cost,
        },
    };
    let over = close(run, (id, no), state, "AttemptSettled")?;
    let sender = sender(run, over.lap, "AttemptSettled")?;
    sender.budget.settle(over.reserved, cost);
    sender.budget.deduct(used.client_retries);
    if let Some(taken) = sender.uses.dependency(over.dependency) {
        taken.settle(over.reserved, cost, used.client_retries);
    }
    Ok(())
}

/// The lap that sent an attempt, and pays for it.
fn sender<'a>(run: &'a mut Run, lap: LapNo, name: &'static str) -> Result<&'a mut Lap, Corrupt> {
    let lap = guard::head_mut(run, name)?.lap_mut(lap);
    lap.ok_or_else(|| Corrupt::new(name, "its attempt belongs to no lap"))
}

/// The attempt's process is gone. It does not count against the rung's maximum: it is paid for
/// with a retry token when it is tried again.
pub(crate) fn apply_interrupted(
    run: &mut Run,
    id: CallId,
    no: AttemptNo,
    cost: CostUnits,
) -> Result<(), Corrupt> {
    let name = "AttemptInterrupted";
    let over = close(run, (id, no), AttemptState::Interrupted { cost }, name)?;
    run.calls.update(id, |call| {
        call.rung_attempts = call.rung_attempts.saturating_sub(1)
    });
    let sender = sender(run, over.lap, name)?;
    sender.budget.assume(cost);
    if let Some(taken) = sender.uses.dependency(over.dependency) {
        taken.settle(over.reserved, cost, 0);
    }
    Ok(())
}

/// An attempt that is not out any more: who pays for it, and how much was reserved.
struct Over {
    lap: LapNo,
    reserved: CostUnits,
    dependency: Option<usize>,
}

/// Ends the attempt that is out; what the call does next is said by the event that follows.
fn close(
    run: &mut Run,
    (id, no): (CallId, AttemptNo),
    state: AttemptState,
    name: &'static str,
) -> Result<Over, Corrupt> {
    let call = guard::stored(run, id, name)?;
    if call.phase != Phase::InFlight(no) {
        return Err(guard::misplaced(run, id, name));
    }
    let dependency = caps::place_of(run, call.node, call.rung);
    let newest = &mut guard::head_mut(run, name)?.lap;
    newest.budget.came_back();
    if let Some(taken) = newest.uses.dependency(dependency) {
        taken.came_back();
    }
    run.calls.update(id, |call| {
        call.phase = Phase::Ready {
            not_before: AT_ONCE,
        };
        let attempt = call.attempts.iter_mut().find(|attempt| attempt.no == no);
        let attempt = attempt.ok_or_else(|| Corrupt::new(name, format!("no attempt {no}")))?;
        attempt.state = state;
        Ok(Over {
            lap: attempt.lap,
            reserved: attempt.reserved,
            dependency,
        })
    })
}

pub(crate) fn apply_late(
    run: &mut Run,
    id: CallId,
    no: AttemptNo,
    cost: CostUnits,
) -> Result<(), Corrupt> {
    let name = "LateResult";
    let node = guard::stored(run, id, name)?.node;
    let counted = run.calls.update(id, |call| {
        let attempt = call.attempts.iter_mut().find(|attempt| attempt.no == no)?;
        let counted = match &attempt.state {
            AttemptState::Failed { cost, .. } => (*cost, CostUnits::ZERO),
            AttemptState::Interrupted { cost } => (*cost, *cost),
            AttemptState::InFlight | AttemptState::Answered { .. } | AttemptState::Late { .. } => {
                return None;
            }
        };
        attempt.state = AttemptState::Late { cost };
        Some((attempt.lap, attempt.rung, counted))
    });
    let Some((lap, rung, (counted, assumed))) = counted else {
        return Err(Corrupt::new(name, format!("attempt {no} cannot be late")));
    };
    let dependency = caps::place_of(run, node, rung);
    let sender = sender(run, lap, name)?;
    sender.budget.correct(counted, assumed, cost);
    if let Some(taken) = sender.uses.dependency(dependency) {
        taken.correct(counted, cost);
    }
    Ok(())
}

/// The rung a call would go on with after this one.
pub(crate) fn rung_below(run: &Run, call: &Call) -> Option<Rung> {
    rung::below(run.class().node(call.node).contract()?, call.rung)
}
