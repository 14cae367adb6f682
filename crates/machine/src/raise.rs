//! A lap's budget raised from outside: an entry of its own, never an edit of what was granted.
//!
//! What was given up before stays given up; what waits for the limit goes on.

use mainstay_graph::Budget;
use mainstay_types::{Code, Corrupt, CostUnits, Refusal, Timestamp, Tokens, limits};

use crate::command::AskRaise;
use crate::event::{Event, Raise};
use crate::guard;
use crate::run::Run;

pub(crate) fn decide(run: &Run, ask: AskRaise, at: Timestamp) -> Result<Vec<Event>, Refusal> {
    let head = guard::started(run)?;
    let made = u32::try_from(head.lap.raises.len()).unwrap_or(u32::MAX);
    if ask.lap < head.lap.no || (ask.lap == head.lap.no && ask.after < made) {
        // It was taken, or another one came first; whoever asked sees which.
        return Ok(Vec::new());
    }
    let head = guard::open(run)?;
    check(&head.lap.budget.limits, &ask.more)?;
    if limits::LAP_RAISES_MAX <= head.lap.raises.len() {
        return Err(Refusal::new(Code::RaiseRefused)
            .with(
                "raises",
                u64::try_from(limits::LAP_RAISES_MAX).unwrap_or(u64::MAX),
            )
            .about("the lap has been raised as often as it may be; terminate or continue it"));
    }
    let AskRaise { more, by, why, .. } = ask;
    Ok(vec![Event::BudgetRaised(Raise { by, why, at, more })])
}

/// Whether there is anything to raise, within the bounds that hold for every class.
fn check(now: &Budget, more: &Budget) -> Result<(), Refusal> {
    let refused = |about: &str| Refusal::new(Code::RaiseRefused).about(about.to_owned());
    let Budget {
        retry_tokens,
        concurrency_tokens,
        cost_units,
    } = more;
    if (*retry_tokens, *concurrency_tokens, *cost_units)
        == (Tokens::ZERO, Tokens::ZERO, CostUnits::ZERO)
    {
        return Err(refused("nothing is raised"));
    }
    for (what, sum, most) in [
        (
            "retry tokens",
            now.retry_tokens + *retry_tokens,
            limits::RUN_RETRIES_MAX,
        ),
        (
            "concurrency tokens",
            now.concurrency_tokens + *concurrency_tokens,
            limits::RUN_CONCURRENCY_MAX,
        ),
    ] {
        if most < sum.get() {
            return Err(refused(what).with("wanted", sum.get()).with("limit", most));
        }
    }
    Ok(())
}

pub(crate) fn apply(run: &mut Run, event: &Raise) -> Result<(), Corrupt> {
    let name = "BudgetRaised";
    let lap = &mut guard::head_mut(run, name)?.lap;
    if lap.outcome.is_some() {
        return Err(Corrupt::new(name, "the lap has its outcome"));
    }
    let limits = &mut lap.budget.limits;
    limits.retry_tokens = limits.retry_tokens + event.more.retry_tokens;
    limits.concurrency_tokens = limits.concurrency_tokens + event.more.concurrency_tokens;
    limits.cost_units = limits.cost_units + event.more.cost_units;
    lap.raises.push(event.clone());
    Ok(())
}
