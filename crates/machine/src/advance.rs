//! What is due by itself: consequences of the state and of time, without anything from outside.
//!
//! One layer of consequences at a time; the turn asks again until nothing is due. Nothing here may
//! depend on who asks or how often.

use mainstay_graph::OnLimit;
use mainstay_types::{
    CallId, Code, Failure, FailureKind, Reason, Refusal, Sent, Timestamp, Tokens, limits,
};

use crate::call::{Call, Phase};
use crate::decision::NextAction;
use crate::ending::Why;
use crate::event::{AttemptEnd, Event};
use crate::ground::Ground;
use crate::guard::Site;
use crate::needs::{self, Needs};
use crate::run::{Head, Run};
use crate::{attempt, caps, ending, lap, next, offered, orphan, twin, yields};

/// The events that are due now.
pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    let Some(head) = run
        .head()
        .filter(|head| head.quarantined.is_none() && !head.closed)
    else {
        return Vec::new();
    };
    let calls = due_of_calls(run, head, now);
    if !calls.is_empty() {
        return calls;
    }
    let overdue = orphan::overdue(run, now);
    if !overdue.is_empty() {
        return overdue;
    }
    lap::due(run, head, now)
}

/// Of a lap that has its outcome: what undoes an effect goes on.
///
/// One layer: at most one hard loss or stopped read at a time, so that each is decided on the state
/// it is in.
fn due_of_calls(run: &Run, head: &Head, now: Timestamp) -> Vec<Event> {
    let is_open = head.lap.outcome.is_none();
    let goes_on = |(_, call): &(CallId, &Call)| is_open || call.is_undo();
    let preparing = run
        .calls
        .preparing()
        .filter(goes_on)
        .map(|(id, call)| of_needs(run, id, call));
    let items = run.calls.with_items().filter(goes_on);
    let items = items.map(|(id, call)| {
        let asked = call.asked.as_ref();
        match (call.items, asked) {
            (Some(items), _) if items.open == 0 => ending::of_each(run, id, call, items),
            (None, Some(asked)) => offered::ended(run, id, asked),
            (Some(_) | None, _) => Vec::new(),
        }
    });
    let ready = run.calls.ready().filter(goes_on).map(|(id, call)| {
        let site = Site {
            run,
            head,
            id,
            call,
            now,
        };
        of_ready(site)
    });
    let mut events = Vec::new();
    for of_call in preparing.chain(items).chain(ready) {
        events.extend(of_call);
        let is_last = events.last().is_some_and(ends_a_layer);
        if is_last || limits::ADVANCE_EVENTS_MAX <= events.len() {
            return events;
        }
    }
    events
}

/// A hard loss or a stopped read: what else is due depends on it.
const fn ends_a_layer(event: &Event) -> bool {
    matches!(
        event,
        Event::HardPathLost { .. }
            | Event::CallRescheduled {
                reason: Reason::Preempted,
                ..
            }
    )
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

/// What follows for a ready call that may not start: nothing while it still may later.
fn of_ready(site: Site<'_>) -> Vec<Event> {
    let found = twin::found_out(site);
    if !found.is_empty() {
        return found;
    }
    if let Some(event) = from_kept(site) {
        return vec![event];
    }
    let (why, refusal) = match blocked(site) {
        Blocked::Not => return Vec::new(),
        Blocked::ForAPlace => return preempt(site),
        Blocked::Late(why) => (why, None),
        Blocked::For(why, refusal) => (why, Some(refusal)),
    };
    let ground = Ground {
        refusal: refusal.as_ref(),
        ..Ground::of(site)
    };
    next::go_on_without(ground, why)
}

/// The value of a call that could start, from a late answer that was kept: nobody is asked again.
fn from_kept(site: Site<'_>) -> Option<Event> {
    let (no, result) = site.call.kept.as_ref()?;
    let rung = site.call.attempt(*no)?.rung;
    let result = result.clone();
    Some(Event::CallSettled {
        call: site.id,
        rung,
        result,
    })
}

/// Stops a running soft read, so that a hard call has its place. It may begin again later.
fn preempt(site: Site<'_>) -> Vec<Event> {
    let Some((id, call, out)) = yields::victim(site) else {
        return Vec::new();
    };
    let failure = Failure::new(FailureKind::Canceled, Sent::MaybeSent);
    let ground = Ground::of(Site { id, call, ..site });
    let (rung, not_before, reason) = (call.rung, site.now, Reason::Preempted);
    let decided = ground.stopped(&failure, NextAction::Retry { at: not_before }, reason);
    let mut events = vec![Event::AttemptSettled {
        call: id,
        attempt: out.no,
        end: AttemptEnd::Failed(failure),
        cost: out.reserved,
        client_retries: 0,
    }];
    let owner = orphan::owner(site.head);
    events.extend(orphan::given_up(site.run, (id, call), out, owner));
    events.push(decided);
    events.push(Event::CallRescheduled {
        call: id,
        rung,
        not_before,
        reason,
    });
    events
}

/// Why a ready call does not start.
enum Blocked {
    /// It may, or may later.
    Not,
    /// A running soft read has its place.
    ForAPlace,
    /// Its time is over.
    Late(Why),
    /// This refuses it for good on its rung in this lap.
    For(Why, Refusal),
}

fn blocked(site: Site<'_>) -> Blocked {
    let Site {
        run,
        head,
        id,
        call,
        now,
    } = site;
    let Phase::Ready { not_before } = call.phase else {
        return Blocked::Not;
    };
    let latest = attempt::latest_start(run, head, call);
    if latest.is_some_and(|latest| latest < now.max(not_before)) {
        return late(site);
    }
    let Err(refusal) = attempt::plan(run, id, now) else {
        return Blocked::Not;
    };
    // Only copies that nobody drives any more have its place, until it would be too late.
    if refusal.code == Code::ConcurrencyExhausted && attempt::is_held_too_long(site) {
        let (kind, reason) = (kind_of(call), Reason::DeadlineExhausted);
        return Blocked::For(Why { kind, reason }, refusal);
    }
    if let Some(why) = final_for(site, &refusal) {
        return Blocked::For(why, refusal);
    }
    let is_hard = head.lap.lost.is_none() && run.is_on_hard_path(call.node);
    let lacks_a_place = matches!(refusal.code, Code::ConcurrencyExhausted | Code::CapReached);
    match is_hard && lacks_a_place {
        true => Blocked::ForAPlace,
        false => Blocked::Not,
    }
}

/// Why a call is too late: what it waited for says more than that its time is over.
fn late(site: Site<'_>) -> Blocked {
    let kind = kind_of(site.call);
    if site.call.key_holder.is_some() {
        let reason = Reason::KeyHeldByOtherRun;
        return Blocked::Late(Why { kind, reason });
    }
    let paused = match caps::rule(site) {
        OnLimit::Pause => attempt::stops(site),
        OnLimit::Degrade | OnLimit::HandOff | OnLimit::Fail => None,
    };
    let limit = paused.and_then(|refusal| {
        let found = FINAL.into_iter().find(|&(code, _)| code == refusal.code);
        Some((found?.1, refusal))
    });
    match limit {
        Some((reason, refusal)) => Blocked::For(Why { kind, reason }, refusal),
        None => {
            let reason = Reason::DeadlineExhausted;
            Blocked::Late(Why { kind, reason })
        }
    }
}

/// The kind a call that is stopped ends with.
fn kind_of(call: &Call) -> FailureKind {
    let failure = call.last_failure();
    failure.map_or(FailureKind::DeadlineExhausted, |failure| failure.kind)
}

/// Why this refusal stops the call on its rung for good in this lap; `None` while it may pass.
pub(crate) fn final_for(site: Site<'_>, refusal: &Refusal) -> Option<Why> {
    let Site { run, call, .. } = site;
    // What attempts in flight have reserved may come back, and tokens that are held do.
    let is_held = Tokens::ZERO < site.head.held_at(site.now);
    let may_refund = is_held || run.calls.in_flight().next().is_some();
    let may_lift = |code| matches!(code, Code::CostExhausted | Code::CapReached) && may_refund;
    let (_, reason) = FINAL
        .into_iter()
        .filter(|&(code, _)| !may_lift(code))
        .filter(|&(code, _)| code != Code::SoftYields || yields::is_deadlock(run))
        .find(|&(code, _)| code == refusal.code)?;
    // Until its time is up it waits for somebody who raises the limit.
    let pauses = caps::is_raisable(refusal) && caps::rule(site) == OnLimit::Pause;
    let kind = kind_of(call);
    (!pauses).then_some(Why { kind, reason })
}

/// Refusals that time alone does not lift.
const FINAL: [(Code, Reason); 7] = [
    (Code::AttemptsExhausted, Reason::AttemptsExhausted),
    (Code::RetryTokensExhausted, Reason::RetryTokensExhausted),
    (Code::CostExhausted, Reason::CostExhausted),
    (Code::CapReached, Reason::CapReached),
    (Code::DeadlineExhausted, Reason::DeadlineExhausted),
    (Code::KeyTooOld, Reason::KeyTooOld),
    (Code::SoftYields, Reason::SoftYields),
];
