//! Who drives a run: taking it over, and what that says about attempts that were out.
//!
//! There is no recovery mode. A take-over is a command; what was out belongs to a dead process:
//! a read is settled at its estimate and may be tried again, a write is in doubt.

use mainstay_graph::OnDowntime;
use mainstay_types::{CallId, Corrupt, Millis, Reason, Refusal, Timestamp, WorkerId};

use crate::event::{Event, LeaseTaken};
use crate::guard::Site;
use crate::run::{Head, Run};
use crate::{doubt, guard};

pub(crate) fn take_over(
    run: &Run,
    worker: WorkerId,
    downtime: Millis,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let head = guard::started(run)?;
    if head.worker == worker {
        return Ok(Vec::new());
    }
    let extended = extension(run, head, downtime);
    let epoch = head.epoch.next();
    let mut events = vec![Event::LeaseTaken(LeaseTaken {
        epoch,
        worker,
        at: now,
        downtime,
        extended,
    })];
    events.extend(interrupt(run, head, now));
    Ok(events)
}

/// Whoever made the attempts that are out will not report them: reads are settled at what was
/// reserved, writes are in doubt.
pub(crate) fn interrupt(run: &Run, head: &Head, now: Timestamp) -> Vec<Event> {
    let mut events = Vec::new();
    for (id, call) in run.calls.in_flight() {
        let Some(attempt) = call.in_flight() else {
            continue;
        };
        let site = Site {
            run,
            head,
            id,
            call,
            now,
        };
        let (no, cost) = (attempt.no, attempt.reserved);
        events.push(Event::AttemptInterrupted {
            call: id,
            attempt: no,
            cost,
        });
        if run.writes(call) {
            events.push(doubt::in_doubt(site, attempt, Reason::OwnerLost));
        }
    }
    events
}

/// By how much the lap's times move: all of the downtime, as long as the class's maximum lasts.
fn extension(run: &Run, head: &Head, downtime: Millis) -> Millis {
    if head.lap.outcome.is_some() {
        return Millis::ZERO;
    }
    match run.class().on_downtime {
        OnDowntime::Absolute => Millis::ZERO,
        OnDowntime::Extend { max } => downtime.min(max.less(head.lap.extended)),
    }
}

pub(crate) fn apply(run: &mut Run, event: &LeaseTaken) -> Result<(), Corrupt> {
    let head = guard::head_mut(run, "LeaseTaken")?;
    if event.epoch != head.epoch.next() {
        let detail = format!("epoch {} after {}", event.epoch, head.epoch);
        return Err(Corrupt::new("LeaseTaken", detail));
    }
    (head.epoch, head.worker) = (event.epoch, event.worker);
    head.lap.extended = head.lap.extended + event.extended;
    let times = &mut head.lap.times;
    for moment in [
        &mut times.answer_by,
        &mut times.work_by,
        &mut times.doubt_until,
    ] {
        *moment = *moment + event.extended;
    }
    // What is void as business stays so, whoever was down.
    times.doubt_until = times
        .expires_at
        .map_or(times.doubt_until, |e| times.doubt_until.min(e));
    ask_at_once(run, event.at);
    Ok(())
}

/// A new owner asks about every doubt at once: how long the last one would have waited says
/// nothing about a receiver that may be back by now.
fn ask_at_once(run: &mut Run, at: Timestamp) {
    let open: Vec<CallId> = run.calls.in_doubt().map(|(id, _)| id).collect();
    for id in open {
        run.calls.update(id, |call| doubt::hurry(call, at));
    }
}
