//! A soft call leaves the hard path what it needs, and stops first.
//!
//! Only calls the run can be completed without are held back here; a hard call never yields.

use std::cmp::Reverse;

use mainstay_graph::Contract;
use mainstay_types::{CallId, Code, CostUnits, Refusal, Tokens};

use crate::call::{Attempt, Call};
use crate::guard::Site;
use crate::run::{Head, Run};
use crate::{attempt, rung};

/// Cost a call must leave: for soft calls, one attempt of every hard call that has not begun.
pub(crate) fn cost_kept(run: &Run, call: &Call) -> CostUnits {
    // Without a token the budget refuses before it looks at any cost.
    let counts =
        |head: &Head| head.lap.budget.concurrency_left() != Tokens::ZERO && yields(run, head, call);
    if !run.head().is_some_and(counts) {
        return CostUnits::ZERO;
    }
    hard_unstarted(run)
        .map(|(contract, calls)| contract.cost.times(u64::from(calls)))
        .sum()
}

/// Calls a call must leave room for in the lap's caps: for soft calls, every hard call that has
/// not begun and will be attempted.
pub(crate) fn calls_kept(run: &Run, call: &Call) -> u32 {
    if !run.head().is_some_and(|head| yields(run, head, call)) {
        return 0;
    }
    hard_unstarted(run).map(|(_, calls)| calls).sum()
}

/// Calls of the hard path that have not begun and will be attempted: by node, how many.
fn hard_unstarted(run: &Run) -> impl Iterator<Item = (&Contract, u32)> {
    let unstarted = run.calls.unstarted();
    unstarted
        .filter(|&(node, _)| run.is_on_hard_path(node))
        .filter_map(|(node, calls)| Some((run.class().node(node).contract()?, calls)))
}

/// A soft call takes a concurrency token only when the hard calls that want one, now or at the end
/// of a wait, keep one each.
pub(crate) fn check_concurrency(site: Site<'_>) -> Result<(), Refusal> {
    let Site {
        run,
        head,
        id,
        call,
        now,
    } = site;
    if !yields(run, head, call) {
        return Ok(());
    }
    let waiting = run.calls.ready().chain(run.calls.preparing());
    let hard = waiting
        .filter(|(_, other)| run.is_on_hard_path(other.node))
        .count();
    let wanted = u32::try_from(hard).unwrap_or(u32::MAX);
    let left = head
        .lap
        .budget
        .concurrency_left()
        .less(head.held_at(now))
        .get();
    if wanted < left {
        return Ok(());
    }
    Err(Refusal::new(Code::SoftYields)
        .with("hard_waiting", wanted)
        .with("left", left)
        .about(run.path(id)))
}

/// The running soft read that is stopped for a hard call which waits for its place: the one that
/// began last, so that the least work is lost.
pub(crate) fn victim(run: &Run) -> Option<(CallId, &Call, &Attempt)> {
    let soft = run
        .calls
        .in_flight()
        .filter(|(_, call)| !run.writes(call) && !run.is_on_hard_path(call.node));
    soft.filter_map(|(id, call)| Some((id, call, call.in_flight()?)))
        .min_by_key(|&(id, _, out)| (Reverse(out.at), Reverse(id)))
}

/// A soft call takes a retry token only when the hard calls that wait for another attempt keep one
/// each: without it they would have waited for nothing.
pub(crate) fn check_retries(site: Site<'_>, tokens: Tokens) -> Result<(), Refusal> {
    let Site {
        run, head, call, ..
    } = site;
    if tokens == Tokens::ZERO || !yields(run, head, call) {
        return Ok(());
    }
    let hard = run.calls.ready().map(|(_, other)| other);
    let hard = hard.filter(|other| run.is_on_hard_path(other.node));
    let wanted = hard.filter_map(|other| {
        let contract = run.class().node(other.node).contract()?;
        let spec = rung::spec(contract, other.rung)?;
        Some(attempt::retry_tokens(head, other, &spec))
    });
    let kept = wanted.fold(Tokens::ZERO, |sum, wanted| sum + wanted);
    let left = head.lap.budget.retries_left();
    if tokens + kept <= left {
        return Ok(());
    }
    Err(Refusal::new(Code::SoftYields)
        .with("need", tokens.get())
        .with("kept", kept.get())
        .with("left", left.get())
        .about(run.path(site.id)))
}

/// Whether the call has to leave the hard path anything: once that is lost, it needs nothing.
fn yields(run: &Run, head: &Head, call: &Call) -> bool {
    head.lap.lost.is_none() && !run.is_on_hard_path(call.node)
}

/// Whether nothing but soft calls that yield is left to move, so that waiting brings nothing: the
/// hard path waits for them.
pub(crate) fn is_deadlock(run: &Run) -> bool {
    run.calls.in_flight().next().is_none()
        && run.calls.in_doubt().next().is_none()
        && run.calls.preparing().next().is_none()
        && !run
            .calls
            .ready()
            .any(|(_, call)| run.is_on_hard_path(call.node))
}
