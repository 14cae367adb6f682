//! A soft call leaves the hard path what it needs, and stops first.
//!
//! Only calls the run can be completed without are held back here; a hard call never yields.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use mainstay_graph::{CancelSemantics, Contract};
use mainstay_types::{CallId, Code, CostUnits, DependencyName, Refusal, Tokens};

use crate::call::{Attempt, Call};
use crate::guard::Site;
use crate::run::{Head, Run};
use crate::rung::{self, RungSpec};
use crate::{attempt, caps};

/// Cost a call must leave: for soft calls, one attempt of every hard call that has not begun.
pub(crate) fn cost_kept(run: &Run, call: &Call) -> CostUnits {
    // Without a token the budget refuses before it looks at any cost.
    let counts =
        |head: &Head| head.lap.budget.concurrency_left() != Tokens::ZERO && yields(run, head, call);
    if !run.head().is_some_and(counts) {
        return CostUnits::ZERO;
    }
    hard_cost(run, |_| true)
}

/// Cost that whatever is reserved beyond a contract leaves: one attempt of every other hard call
/// that has not begun. Hard calls leave it to each other too: an observation takes nobody's place.
pub(crate) fn cost_of_others(run: &Run, call: &Call) -> CostUnits {
    let own = match run.is_on_hard_path(call.node) {
        true => run.class().node(call.node).contract(),
        false => None,
    };
    hard_cost(run, |_| true).less(own.map_or(CostUnits::ZERO, |own| own.cost))
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

/// What one attempt of each of those costs whose contracts are meant.
fn hard_cost(run: &Run, is_meant: impl Fn(&Contract) -> bool) -> CostUnits {
    let meant = hard_unstarted(run).filter(|(contract, _)| is_meant(contract));
    meant
        .map(|(contract, calls)| contract.cost.times(u64::from(calls)))
        .sum()
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
    let to_come = match was_stopped(site) {
        true => hard_to_come(site),
        false => 0,
    };
    let wanted = u32::try_from(hard.max(to_come)).unwrap_or(u32::MAX);
    let left = head
        .lap
        .budget
        .concurrency_left()
        .less(head.held_at(now))
        .get();
    if wanted < left && to_come == 0 {
        return Ok(());
    }
    Err(Refusal::new(Code::SoftYields)
        .with("hard_waiting", wanted)
        .with("left", left)
        .about(run.path(id)))
}

/// Whether the call was stopped for a hard one in this lap.
fn was_stopped(site: Site<'_>) -> bool {
    let last = site.call.attempts.last();
    last.is_some_and(|last| last.lap == site.head.lap.no && attempt::is_stopped(last))
}

/// Hard calls that have not begun and do not wait for this one. A soft call that was stopped for
/// one of them begins again when none is left: else it would be stopped for the next, at its own
/// cost.
fn hard_to_come(site: Site<'_>) -> usize {
    let run = site.run;
    let mut behind = BTreeSet::from([site.call.node]);
    let mut open = vec![site.call.node];
    while let Some(node) = open.pop() {
        for &next in run.dependents(node) {
            if behind.insert(next) {
                open.push(next);
            }
        }
    }
    let unstarted = run.calls.unstarted();
    let others = unstarted.filter(|(node, _)| {
        let is_attempted = run.class().node(*node).contract().is_some();
        is_attempted && run.is_on_hard_path(*node) && !behind.contains(node)
    });
    others.count()
}

/// What a soft call leaves of a dependency's caps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// One attempt of every hard call of it that has not begun.
    pub(crate) cost: CostUnits,
    /// One for every hard call of it that waits for one, now or at the end of a wait.
    pub(crate) places: Tokens,
    /// One for every hard call of it that waits for another attempt.
    pub(crate) retry_tokens: Tokens,
}

/// What the call has to leave of the dependency's caps: nothing, when it is on the hard path.
pub(crate) fn kept_of(site: Site<'_>, dependency: &DependencyName) -> Kept {
    let Site {
        run, head, call, ..
    } = site;
    if !yields(run, head, call) {
        return Kept::default();
    }
    let mut kept = Kept {
        cost: hard_cost(run, |contract| contract.dependency == *dependency),
        ..Kept::default()
    };
    for (other, spec) in hard_waiting(run) {
        let contract = run.class().node(other.node).contract();
        if contract.and_then(|contract| contract.asked(other.rung)) == Some(dependency) {
            kept.places = kept.places + Tokens::new(1);
            kept.retry_tokens = kept.retry_tokens + attempt::retry_tokens(head, other, &spec);
        }
    }
    kept
}

/// Cost that the call has to leave of what may be out at once: an attempt of every hard call that
/// waits for its own.
pub(crate) fn kept_at_once(site: Site<'_>) -> CostUnits {
    match yields(site.run, site.head, site.call) {
        true => hard_waiting(site.run).map(|(_, spec)| spec.cost).sum(),
        false => CostUnits::ZERO,
    }
}

/// Hard calls whose next attempt waits, now or at the end of a wait, with what it is.
fn hard_waiting(run: &Run) -> impl Iterator<Item = (&Call, RungSpec)> {
    let waiting = run.calls.ready().chain(run.calls.preparing());
    let hard = waiting.filter(|(_, other)| run.is_on_hard_path(other.node));
    hard.filter_map(|(_, other)| {
        let contract = run.class().node(other.node).contract()?;
        Some((other, rung::spec(contract, other.rung)?))
    })
}

/// The running soft read that is stopped for a hard call: the one that began last, so that the
/// least work is lost, of those without which the call could start. None is stopped for nothing.
pub(crate) fn victim(site: Site<'_>) -> Option<(CallId, &Call, &Attempt)> {
    let run = site.run;
    let soft = run
        .calls
        .in_flight()
        .filter(|(_, call)| !run.is_on_hard_path(call.node) && can_be_stopped(run, call));
    let mut out: Vec<_> = soft
        .filter_map(|(id, call)| Some((id, call, call.in_flight()?)))
        .collect();
    out.sort_by_key(|&(id, _, out)| (Reverse(out.at), Reverse(id)));
    out.into_iter()
        .find(|&(_, call, out)| helps(site, call, out))
}

/// Whether stopping the call's attempt makes room: a write is never stopped, and what nothing can
/// stop works on all the same.
fn can_be_stopped(run: &Run, call: &Call) -> bool {
    let contract = run.class().node(call.node).contract();
    !run.writes(call) && contract.is_some_and(|contract| contract.cancel != CancelSemantics::None)
}

/// Whether the hard call could start if this attempt was over, at what was reserved for it.
fn helps(site: Site<'_>, soft: &Call, out: &Attempt) -> bool {
    let Some(contract) = site.contract() else {
        return false;
    };
    let mut head = site.head.clone();
    let place = caps::place_of(site.run, soft.node, out.rung);
    head.lap.budget.came_back();
    if let Some(taken) = head.lap.uses.dependency(place) {
        taken.came_back();
    }
    if out.lap == head.lap.no {
        head.lap.budget.settle(out.reserved, out.reserved);
        if let Some(taken) = head.lap.uses.dependency(place) {
            taken.settle(out.reserved, out.reserved, 0);
        }
    }
    let without = Site {
        head: &head,
        ..site
    };
    rung::spec(contract, site.call.rung)
        .is_some_and(|spec| attempt::check_limits(without, contract, &spec).is_ok())
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
    let wanted = hard_waiting(run);
    let wanted = wanted.map(|(other, spec)| attempt::retry_tokens(head, other, &spec));
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
