//! A lap's answer and outcome: when it is complete, lost, late, canceled; when a run is closed.
//!
//! An answer is given once, an outcome is given once. What is learned later is an addendum.

use mainstay_graph::{Criticality, FallbackKind, OnFailure, OnLimit};
use mainstay_types::Timestamp;
use mainstay_types::{CallId, Code, Corrupt, Failure, FailureKind, Payload, Reason, Refusal, Sent};

use crate::call::{Call, Phase};
use crate::event::{AttemptEnd, Event, OutcomeKind};
use crate::guard;
use crate::orphan::OWNER_DEFAULT;
use crate::run::{Asked, Head, LapOutcome, Later, Run};
use crate::{advance, attempt, caps, compensate, doubt, orphan, prepare};

/// Whether every value of the result is there to be put together.
pub(crate) fn can_assemble(run: &Run) -> bool {
    run.head().is_some_and(|head| {
        head.lap.outcome.is_none()
            && head.lap.lost.is_none()
            && head.cancel.is_none()
            && head.quarantined.is_none()
    }) && run.calls.open() == 0
}

pub(crate) fn assembled(
    run: &Run,
    result: Result<Payload, Failure>,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    guard::open(run)?;
    if !can_assemble(run) {
        return Err(Refusal::new(Code::CallNotReady).about("the result is not complete"));
    }
    let said = result.as_ref().err();
    let mut events: Vec<Event> = said
        .map(|failure| prepare::code_failed(None, failure))
        .into_iter()
        .collect();
    events.push(match result {
        Ok(result) => Event::LapEnded {
            outcome: if is_degraded(run) {
                OutcomeKind::Degraded
            } else {
                OutcomeKind::Completed
            },
            reason: Reason::AllSettled,
            result: Some(result),
            at: now,
        },
        Err(_) => Event::LapEnded {
            outcome: OutcomeKind::Failed,
            reason: Reason::SameInputFails,
            result: None,
            at: now,
        },
    });
    Ok(events)
}

/// Whether the result lacks something that was wanted.
fn is_degraded(run: &Run) -> bool {
    run.calls.iter().any(|(_, call)| match &call.phase {
        Phase::Settled { rung, .. } => 0 < rung.get() && !is_advisory(run, call),
        Phase::Omitted { .. } => !is_advisory(run, call),
        Phase::Waiting
        | Phase::Preparing
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items
        | Phase::Skipped
        | Phase::Failed { .. } => false,
    })
}

/// Whether the result is as good without the call.
fn is_advisory(run: &Run, call: &Call) -> bool {
    match run.class().node(call.node).criticality {
        Criticality::Advisory { .. } => true,
        Criticality::Hard | Criticality::Soft { .. } => false,
    }
}

/// What the lap itself has come to, beside its calls. It does not end while a write that waits to
/// be sent again may be in the world: that is asked first.
pub(crate) fn due(run: &Run, head: &Head, now: Timestamp) -> Vec<Event> {
    let events = come_to(run, head, now);
    let is_end = |event: &Event| matches!(event, Event::LapEnded { .. });
    if !events.iter().any(is_end) {
        return events;
    }
    match doubt::before_the_end(run, head, now) {
        doubts if doubts.is_empty() => events,
        doubts => doubts,
    }
}

fn come_to(run: &Run, head: &Head, now: Timestamp) -> Vec<Event> {
    if head.lap.outcome.is_some() {
        let owes = open_effects(run).next().is_some()
            || run.calls.in_flight().next().is_some()
            || compensate::is_owed(run)
            || run.calls.watched().next().is_some();
        return if owes {
            Vec::new()
        } else {
            vec![Event::RunClosed]
        };
    }
    if head.cancel.is_some() && open_effects(run).next().is_none() {
        return ended(run, OutcomeKind::Canceled, Reason::Requested, now);
    }
    if let Some(lost) = head.lap.lost
        && !is_moving(run, head, now)
    {
        let outcome = on_failure(run, head, lost);
        return ended(run, outcome, Reason::HardCallFailed, now);
    }
    late(run, head, now)
}

/// Whether something may still happen in a lap whose hard path is lost.
fn is_moving(run: &Run, head: &Head, now: Timestamp) -> bool {
    if open_effects(run).next().is_some() {
        return true;
    }
    match rule(run, head) {
        OnFailure::Fail => false,
        OnFailure::HandOff => {
            now < attempt::work_until(head)
                && (run.calls.in_flight().next().is_some()
                    || run.calls.ready().any(|(_, call)| !run.writes(call))
                    || run.calls.preparing().any(|(_, call)| !run.writes(call)))
        }
    }
}

/// How a lap ends whose hard path is lost: by the class's rule for limits when one stopped the
/// call, else by its rule for failures.
fn rule(run: &Run, head: &Head) -> OnFailure {
    let lost = head.lap.lost.and_then(|lost| run.calls.get(lost));
    let by_limit = lost.is_some_and(
        |call| matches!(call.phase, Phase::Failed { reason, .. } if caps::is_limit(reason)),
    );
    match run.class().on_limit {
        OnLimit::HandOff if by_limit => OnFailure::HandOff,
        OnLimit::Fail if by_limit => OnFailure::Fail,
        OnLimit::HandOff | OnLimit::Fail | OnLimit::Degrade | OnLimit::Pause => head.lap.on_failure,
    }
}

fn on_failure(run: &Run, head: &Head, lost: CallId) -> OutcomeKind {
    let human = run
        .calls
        .get(lost)
        .is_some_and(|call| asks_a_person(run, call));
    match rule(run, head) {
        OnFailure::HandOff => OutcomeKind::HandedOff,
        OnFailure::Fail if human => OutcomeKind::HandedOff,
        OnFailure::Fail => OutcomeKind::Failed,
    }
}

fn asks_a_person(run: &Run, call: &Call) -> bool {
    run.class()
        .node(call.node)
        .contract()
        .is_some_and(|contract| {
            contract
                .fallbacks
                .iter()
                .any(|fallback| fallback.kind == FallbackKind::Human)
        })
}

/// Time is up: the caller is told "later" when effects are open or work goes on, else the lap ends.
fn late(run: &Run, head: &Head, now: Timestamp) -> Vec<Event> {
    let times = &head.lap.times;
    let is_void = times.expires_at.is_some_and(|expires| expires <= now);
    if now < times.answer_by && !is_void {
        return Vec::new();
    }
    let doubts: Vec<CallId> = open_effects(run).map(|(id, _)| id).collect();
    let end_by = attempt::work_until(head).max(times.doubt_until);
    if end_by <= now && !doubts.is_empty() {
        return ended(run, OutcomeKind::HandedOff, Reason::DoubtWaitOver, now);
    }
    if end_by <= now || (doubts.is_empty() && !goes_on(run, head, now)) {
        let outcome = match head.lap.on_failure {
            OnFailure::HandOff => OutcomeKind::HandedOff,
            OnFailure::Fail => OutcomeKind::Failed,
        };
        let reason = if is_void {
            Reason::Expired
        } else {
            Reason::AnswerTimeReached
        };
        return ended(run, outcome, reason, now);
    }
    if head.lap.later.is_some() {
        return Vec::new();
    }
    // Without a write there is nothing that a doubt could hold up.
    let expected_by = match run.class().writes() {
        true => end_by,
        false => attempt::work_until(head),
    };
    vec![Event::AnsweredLater {
        doubts,
        expected_by,
    }]
}

/// Whether a lap without open effects may still come to its result after `answer_by`: the class
/// works longer than its callers wait, or only its own code has to run, or a doubt was resolved
/// and what it held up follows by itself.
fn goes_on(run: &Run, head: &Head, now: Timestamp) -> bool {
    now < attempt::work_until(head) || head.lap.later.is_some() || needs_only_code(run)
}

fn needs_only_code(run: &Run) -> bool {
    let by_code = |call: &Call| {
        let node = run.class().node(call.node);
        // What is offered to a model needs the model.
        node.contract().is_none() && node.offers().is_empty()
    };
    run.calls
        .iter()
        .all(|(_, call)| call.phase.is_final() || by_code(call))
}

/// Whether the call may not begin any more, because the hard path is lost.
pub(crate) fn is_stopped(run: &Run, head: &Head, call: &Call) -> bool {
    let for_all = match rule(run, head) {
        OnFailure::HandOff => false,
        OnFailure::Fail => true,
    };
    head.lap.lost.is_some() && (for_all || run.writes(call))
}

/// The end of the lap; reads that are out are not waited for.
pub(crate) fn ended(run: &Run, outcome: OutcomeKind, reason: Reason, at: Timestamp) -> Vec<Event> {
    let owner = run.head.as_ref().map_or(OWNER_DEFAULT, orphan::owner);
    let mut events = stop_reads(run, reason, owner);
    events.push(Event::LapEnded {
        outcome,
        reason,
        result: None,
        at,
    });
    events
}

/// Settles the reads that are out, at what was reserved for them; what they go on doing is
/// `owner`'s.
fn stop_reads(run: &Run, reason: Reason, owner: &str) -> Vec<Event> {
    let mut events = Vec::new();
    for (id, call) in run.calls.in_flight().filter(|(_, call)| !run.writes(call)) {
        let Some(attempt) = call.in_flight() else {
            continue;
        };
        let failure = Failure::new(FailureKind::Canceled, Sent::MaybeSent);
        events.push(Event::AttemptSettled {
            call: id,
            attempt: attempt.no,
            end: AttemptEnd::Failed(failure),
            cost: attempt.reserved,
            client_retries: 0,
        });
        events.extend(orphan::given_up(run, (id, call), attempt, owner));
        let kind = FailureKind::Canceled;
        events.push(Event::CallFailed {
            call: id,
            kind,
            reason,
        });
    }
    events
}

/// Calls whose effect is out or in doubt.
pub(crate) fn open_effects(run: &Run) -> impl Iterator<Item = (CallId, &Call)> {
    let out = run.calls.in_flight().filter(|(_, call)| run.writes(call));
    run.calls.in_doubt().chain(out)
}

pub(crate) fn cancel(run: &Run, by: String, why: String) -> Result<Vec<Event>, Refusal> {
    let head = guard::open(run)?;
    if head.cancel.is_some() {
        return Ok(Vec::new());
    }
    let stopped = stop_reads(run, Reason::Requested, &by);
    let mut events = vec![Event::CancelRequested { by, why }];
    events.extend(stopped);
    Ok(events)
}

pub(crate) fn advance(run: &Run, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    guard::driven(run)?;
    Ok(advance::due(run, now))
}

pub(crate) fn apply_cancel(run: &mut Run, by: &str, why: &str) -> Result<(), Corrupt> {
    let head = guard::head_mut(run, "CancelRequested")?;
    head.cancel = Some(Asked::of(by, why));
    Ok(())
}

pub(crate) fn apply_lost(run: &mut Run, call: CallId) -> Result<(), Corrupt> {
    guard::head_mut(run, "HardPathLost")?.lap.lost = Some(call);
    Ok(())
}

pub(crate) fn apply_later(
    run: &mut Run,
    doubts: &[CallId],
    expected_by: Timestamp,
) -> Result<(), Corrupt> {
    let head = guard::head_mut(run, "AnsweredLater")?;
    if head.lap.later.is_some() || head.lap.outcome.is_some() {
        return Err(Corrupt::new("AnsweredLater", "the lap has been answered"));
    }
    head.lap.later = Some(Later {
        doubts: doubts.to_vec(),
        expected_by,
    });
    Ok(())
}

pub(crate) fn apply_ended(run: &mut Run, outcome: LapOutcome) -> Result<(), Corrupt> {
    let head = guard::head_mut(run, "LapEnded")?;
    if head.lap.outcome.is_some() {
        return Err(Corrupt::new("LapEnded", "the lap has its outcome"));
    }
    head.lap.outcome = Some(outcome);
    Ok(())
}

pub(crate) fn apply_addendum(run: &mut Run, call: CallId, reason: Reason) -> Result<(), Corrupt> {
    let head = guard::head_mut(run, "AddendumRecorded")?;
    head.lap.addenda.push((call, reason));
    Ok(())
}

pub(crate) fn apply_closed(run: &mut Run) -> Result<(), Corrupt> {
    let head = guard::head_mut(run, "RunClosed")?;
    if head.lap.outcome.is_none() || head.closed {
        return Err(Corrupt::new(
            "RunClosed",
            "the run is closed, or its lap has no outcome",
        ));
    }
    head.closed = true;
    Ok(())
}
