//! What is due by itself: consequences of the state and of time, without anything from outside.
//!
//! One layer of consequences at a time; the turn asks again until nothing is due. Nothing here may
//! depend on who asks or how often.

use mainstay_graph::OnLimit;
use mainstay_types::{CallId, Code, FailureKind, Reason, Timestamp, limits};

use crate::call::{Call, Phase};
use crate::ending::Why;
use crate::event::Event;
use crate::guard::Site;
use crate::needs::{self, Needs};
use crate::run::{Head, Run};
use crate::{attempt, caps, ending, lap, next, yields};

/// The events that are due now.
pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    let Some(head) = run
        .head()
        .filter(|head| head.quarantined.is_none() && !head.closed)
    else {
        return Vec::new();
    };
    if head.lap.outcome.is_none() {
        let calls = due_of_calls(run, head, now);
        if !calls.is_empty() {
            return calls;
        }
    }
    lap::due(run, head, now)
}

/// One layer: at most one hard loss at a time, so that each is decided on the state it is in.
fn due_of_calls(run: &Run, head: &Head, now: Timestamp) -> Vec<Event> {
    let preparing = run
        .calls
        .preparing()
        .map(|(id, call)| of_needs(run, id, call));
    let items = run.calls.with_items().map(|(id, call)| match call.items {
        Some(items) if items.open == 0 => ending::of_each(run, id, call, items),
        Some(_) | None => Vec::new(),
    });
    let ready = run.calls.ready().map(|(id, call)| {
        let site = Site {
            run,
            head,
            id,
            call,
            now,
        };
        blocked(site).map_or_else(Vec::new, |why| next::fall_back(site, why))
    });
    let mut events = Vec::new();
    for of_call in preparing.chain(items).chain(ready) {
        events.extend(of_call);
        let is_lost = matches!(events.last(), Some(Event::HardPathLost { .. }));
        if is_lost || limits::ADVANCE_EVENTS_MAX <= events.len() {
            return events;
        }
    }
    events
}

/// What the settled needs of a call decide by themselves.
fn of_needs(run: &Run, id: CallId, call: &Call) -> Vec<Event> {
    match needs::of(run, call) {
        Needs::Met => Vec::new(),
        Needs::Skip => vec![Event::CallSkipped { call: id }],
        Needs::Missing => {
            let (kind, reason) = (FailureKind::PermanentProvider, Reason::InputMissing);
            ending::give_up(run, id, call, Why { kind, reason })
        }
    }
}

/// Why a ready call can never start on its rung in this lap; `None` while it still may.
fn blocked(site: Site<'_>) -> Option<Why> {
    let Site {
        run,
        head,
        id,
        call,
        now,
    } = site;
    let kind = call.last_failure().map(|failure| failure.kind);
    let kind = kind.unwrap_or(FailureKind::DeadlineExhausted);
    let Phase::Ready { not_before } = call.phase else {
        return None;
    };
    let latest = attempt::latest_start(run, head, call)?;
    if latest < now.max(not_before) {
        let reason = match call.key_holder {
            Some(_) => Reason::KeyHeldByOtherRun,
            None => Reason::DeadlineExhausted,
        };
        return Some(Why { kind, reason });
    }
    let refusal = attempt::plan(run, id, now).err()?;
    // What attempts in flight have reserved may come back.
    let may_refund = run.calls.in_flight().next().is_some();
    let may_lift = |code| matches!(code, Code::CostExhausted | Code::CapReached) && may_refund;
    let (_, reason) = FINAL
        .into_iter()
        .filter(|&(code, _)| !may_lift(code))
        .filter(|&(code, _)| code != Code::SoftYields || yields::is_deadlock(run))
        .find(|&(code, _)| code == refusal.code)?;
    // Until its time is up it waits for somebody who raises the limit.
    let pauses = caps::is_limit(reason) && caps::rule(site) == OnLimit::Pause;
    (!pauses).then_some(Why { kind, reason })
}

/// Refusals that time alone does not lift.
const FINAL: [(Code, Reason); 6] = [
    (Code::AttemptsExhausted, Reason::AttemptsExhausted),
    (Code::RetryTokensExhausted, Reason::RetryTokensExhausted),
    (Code::CostExhausted, Reason::CostExhausted),
    (Code::CapReached, Reason::CapReached),
    (Code::DeadlineExhausted, Reason::DeadlineExhausted),
    (Code::SoftYields, Reason::SoftYields),
];
