//! What the events about attempts do to a run: reserved, settled, given back, once each.
//!
//! Nothing here decides. What is out counts against the lap that is driven, what it costs against
//! the lap that sent it.

use mainstay_graph::{CancelSemantics, Contract, FallbackKind};
use mainstay_types::{
    AttemptNo, CallId, Corrupt, CostUnits, FailureKind, LapNo, Rung, Sent, Tokens,
};

use crate::call::{AT_ONCE, Attempt, AttemptState, Phase};
use crate::event::{AttemptEnd, AttemptStarted};
use crate::run::{Held, Lap, Run};
use crate::{caps, effect, guard, rung};

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
    let (newest, is_undo) = (call.attempts.last().map(|made| made.lap), call.is_undo());
    let head = guard::head_mut(run, name)?;
    head.held.retain(|held| event.at < held.until);
    if is_undo {
        let cost = (CostUnits::ZERO, event.cost);
        head.lap.budget.cover(event.retry_tokens, cost);
    }
    head.lap.budget.reserve(event.retry_tokens, event.cost);
    let (lap, epoch) = (head.lap.no, head.epoch);
    let place = caps::Place {
        dependency,
        is_branch: newest != Some(lap),
    };
    if !is_undo {
        head.lap.uses.begin(place, (event.retry_tokens, event.cost));
    }
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
            orphan: None,
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
    if let AttemptEnd::Failed(failure) = end {
        count_failure(run, id, failure.kind);
    }
    hold_stopped(run, (id, no), end, over.dependency)?;
    let sender = sender(run, over.lap, "AttemptSettled")?;
    sender.budget.settle(over.reserved, cost);
    sender.budget.deduct(used.client_retries);
    if over.is_undo {
        let tokens = Tokens::new(used.client_retries);
        sender.budget.cover(tokens, (over.reserved, cost));
    }
    if let Some(taken) = sender.uses.dependency(over.dependency) {
        taken.settle(over.reserved, cost, used.client_retries);
    }
    Ok(())
}

/// A read that nothing can stop works on after it was given up: it keeps its token until its own
/// timeout.
fn hold_stopped(
    run: &mut Run,
    (id, no): (CallId, AttemptNo),
    end: &AttemptEnd,
    dependency: Option<usize>,
) -> Result<(), Corrupt> {
    let name = "AttemptSettled";
    let AttemptEnd::Failed(failure) = end else {
        return Ok(());
    };
    let call = guard::stored(run, id, name)?;
    let contract = run.class().node(call.node).contract();
    let goes_on = contract.is_some_and(|contract| contract.cancel == CancelSemantics::None)
        && failure.sent == Sent::MaybeSent;
    let held = copy(run, (id, no), dependency).filter(|_| goes_on);
    guard::head_mut(run, name)?.held.extend(held);
    Ok(())
}

/// The token of an attempt that may work on elsewhere; none of a write, which is asked about.
fn copy(run: &Run, (id, no): (CallId, AttemptNo), dependency: Option<usize>) -> Option<Held> {
    let call = run.calls.get(id)?;
    let out = call.attempt(no)?;
    let contract = run.class().node(call.node).contract()?;
    (!run.writes(call) && is_remote(contract, call.rung)).then(|| Held {
        until: out.at + out.timeout,
        place: dependency.and_then(|place| u32::try_from(place).ok()),
    })
}

/// What a failure means for the attempts that are left. One that was stopped from here is no
/// failure of its provider and counts as none.
fn count_failure(run: &mut Run, id: CallId, kind: FailureKind) {
    let Some(call) = run.calls.get(id) else {
        return;
    };
    let contract = run.class().node(call.node).contract();
    let spec = contract.and_then(|contract| rung::spec(contract, call.rung));
    let most = spec.map_or(0, |spec| spec.max_attempts);
    run.calls.update(id, |call| match kind {
        FailureKind::Canceled => call.rung_attempts = call.rung_attempts.saturating_sub(1),
        FailureKind::InvalidInput
        | FailureKind::Unauthorized
        | FailureKind::RateLimited
        | FailureKind::Overloaded
        | FailureKind::TransientTransport
        | FailureKind::PermanentProvider
        | FailureKind::ResultInvalid
        | FailureKind::EffectUnknown
        | FailureKind::DeadlineExhausted => {
            call.streak = call.streak.after(kind, call.rung_attempts, most);
        }
    });
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
    let held = copy(run, (id, no), over.dependency);
    run.calls.update(id, |call| {
        call.rung_attempts = call.rung_attempts.saturating_sub(1)
    });
    guard::head_mut(run, name)?.held.extend(held);
    let sender = sender(run, over.lap, name)?;
    sender.budget.assume(cost);
    if let Some(taken) = sender.uses.dependency(over.dependency) {
        taken.settle(over.reserved, cost, 0);
    }
    Ok(())
}

/// Whether what stands on the rung works outside our own process, and so may outlive it.
pub(crate) fn is_remote(contract: &Contract, rung: Rung) -> bool {
    contract
        .fallback(rung)
        .is_none_or(|fallback| match fallback.kind {
            FallbackKind::Provider
            | FallbackKind::ApprovedSnapshot { .. }
            | FallbackKind::Cache => true,
            FallbackKind::OmitWithNotice | FallbackKind::LocalCompute | FallbackKind::Human => {
                false
            }
        })
}

/// An attempt that is not out any more: who pays for it, and how much was reserved.
struct Over {
    lap: LapNo,
    reserved: CostUnits,
    dependency: Option<usize>,
    is_undo: bool,
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
            is_undo: call.undoes.is_some(),
        })
    })
}

pub(crate) fn apply_late(
    run: &mut Run,
    (id, no): (CallId, AttemptNo),
    used: Used,
) -> Result<(), Corrupt> {
    let (name, cost) = ("LateResult", used.cost);
    let call = guard::stored(run, id, name)?;
    let (node, is_undo) = (call.node, call.is_undo());
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
    sender.budget.deduct(used.client_retries);
    if is_undo {
        let tokens = Tokens::new(used.client_retries);
        sender.budget.cover(tokens, (counted, cost));
    }
    if let Some(taken) = sender.uses.dependency(dependency) {
        taken.correct(counted, used);
    }
    Ok(())
}
