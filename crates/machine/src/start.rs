//! How a run begins to exist.
//!
//! The first event carries all that was volatile at the start; everything later is relative to it.

use mainstay_graph::TaskClass;
use mainstay_types::{Code, Corrupt, Millis, NodeId, Reason, Refusal, Timestamp};

use crate::admission::{self, Verdict};
use crate::call::{Call, Phase};
use crate::caps::Uses;
use crate::command::AskStart;
use crate::event::{Event, LapTimes, OutcomeKind, RunStarted};
use crate::run::{Head, Lap, Run};

/// The moments of a lap of `class` that begins at `at`, for a caller who waits for as long as the
/// class says, or only `within`.
#[must_use]
pub fn lap_times(class: &TaskClass, at: Timestamp, within: Option<Millis>) -> LapTimes {
    let times = &class.times;
    let answer_in = within.map_or(times.answer_by, |within| within.min(times.answer_by));
    let answer_by = at + answer_in;
    let in_time = answer_by.minus(class.reserve.deliver);
    let work_by = match times.work_by {
        // What is meant to go on behind the answer does.
        Some(work_by) if times.answer_by < work_by => at + work_by,
        Some(work_by) if within.is_none() => at + work_by,
        Some(work_by) => in_time.min(at + work_by),
        None => in_time,
    };
    let expires_at = times.expires_at.map(|after| at + after);
    let doubt_until = answer_by + times.doubt_wait;
    let doubt_until = expires_at.map_or(doubt_until, |expires| doubt_until.min(expires));
    LapTimes {
        answer_by,
        work_by,
        expires_at,
        doubt_until,
    }
}

pub(crate) fn decide(run: &Run, ask: AskStart) -> Result<Vec<Event>, Refusal> {
    if run.head.is_some() {
        return Err(Refusal::new(Code::CallNotReady).about("the run has started already"));
    }
    let AskStart {
        mut started,
        forecast,
    } = ask;
    let admission = admission::decide(run.class(), &mut started, &forecast)?;
    let at = started.at;
    let mut events = vec![Event::RunStarted(Box::new(started))];
    events.extend(admission.map(admission::recorded));
    if admission.is_some_and(|admission| admission.verdict == Verdict::Rejected) {
        events.push(Event::LapEnded {
            outcome: OutcomeKind::Rejected,
            reason: Reason::InsufficientTimeBudget,
            result: None,
            at,
        });
    }
    Ok(events)
}

pub(crate) fn apply(run: &mut Run, event: &RunStarted) -> Result<(), Corrupt> {
    if run.head.is_some() {
        return Err(Corrupt::new("RunStarted", "the run has started already"));
    }
    let class = run.class().clone();
    if event.class.name != class.name || event.class.version != class.version {
        return Err(Corrupt::new("RunStarted", "it names another class"));
    }
    run.head = Some(head_of(event, Uses::of(&class)));
    run.calls.expect(class.nodes.len());
    for (id, node) in class.ids() {
        let needs = node.needs().count();
        let needs = u32::try_from(needs).unwrap_or(u32::MAX);
        let phase = if !node.is_of_graph() {
            // It is made when a model or a person asks for it.
            Phase::Skipped
        } else if needs == 0 {
            Phase::Preparing
        } else {
            Phase::Waiting
        };
        let call = run.calls.push(Call::new(id, None, needs, phase));
        debug_assert_eq!(call, crate::run::node_call_id(NodeId(id.get())));
    }
    Ok(())
}

fn head_of(event: &RunStarted, uses: Uses) -> Head {
    Head {
        run: event.run,
        class: event.class.clone(),
        tenant: event.tenant.clone(),
        start_key: event.start_key.clone(),
        input: event.input.clone(),
        started_at: event.at,
        traceparent: event.traceparent.clone(),
        epoch: mainstay_types::Epoch(1),
        worker: event.worker,
        lap: Lap::new(
            (event.lap, event.at),
            event.times,
            (event.budget, uses),
            event.on_failure,
        ),
        past: Vec::new(),
        cancel: None,
        terminated: None,
        closed: false,
        quarantined: None,
        held: Vec::new(),
    }
}
