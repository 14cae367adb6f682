//! The four functions, as tables of contents, behind one port.
//!
//! One line per arm; the work sits in the noun's file. The runtime calls them through [`Core`]
//! alone, so that a simulator can stand in between.

use mainstay_types::{CallId, Corrupt, Refusal, Timestamp};

use crate::action::Action;
use crate::attempt::Used;
use crate::call::{Doubt, Phase};
use crate::command::Command;
use crate::event::Event;
use crate::run::{Asked, LapOutcome, Run};
use crate::{
    admission, attempt, by_hand, compensate, doubt, effect, ending, found, guard, halt, held, lap,
    lease, orphan, prepare, raise, relay, repair, settle, start, tools,
};

/// The core as the runtime sees it.
pub trait Core: Send + Sync {
    /// Whether an attempt of `call` could be authorised now; reserves nothing.
    fn may_start(&self, run: &Run, call: CallId, now: Timestamp) -> Result<(), Refusal>;

    /// What follows from `command`; an empty list when it changes nothing.
    fn decide(&self, run: &Run, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal>;

    /// Changes the state by one event.
    fn apply(&self, run: &mut Run, event: &Event) -> Result<(), Corrupt>;

    /// What has to be done outside.
    fn pending(&self, run: &Run, now: Timestamp) -> Vec<Action>;
}

/// The production core.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Core for Machine {
    fn may_start(&self, run: &Run, call: CallId, now: Timestamp) -> Result<(), Refusal> {
        may_start(run, call, now)
    }

    fn decide(&self, run: &Run, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        decide(run, command, now)
    }

    fn apply(&self, run: &mut Run, event: &Event) -> Result<(), Corrupt> {
        apply(run, event)
    }

    fn pending(&self, run: &Run, now: Timestamp) -> Vec<Action> {
        pending(run, now)
    }
}

/// Whether an attempt of `call` could be authorised now; reserves nothing.
pub fn may_start(run: &Run, call: CallId, now: Timestamp) -> Result<(), Refusal> {
    attempt::may_start(run, call, now).map(|_| ())
}

/// What follows from `command`.
pub fn decide(run: &Run, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Start(started) => start::decide(run, *started),
        Command::TakeOver { worker, downtime } => lease::take_over(run, worker, downtime, now),
        Command::Prepared { call, prepared } => prepare::prepared(run, call, prepared),
        Command::Listed { call, items } => prepare::listed(run, call, items),
        Command::Computed { call, result } => prepare::computed(run, call, result),
        Command::Unpreparable { call, failure } => {
            prepare::unpreparable(run, (call, &failure), now)
        }
        Command::Authorize {
            call,
            rung,
            evidence,
        } => attempt::authorize(run, (call, rung, evidence), now),
        Command::Settle(report) => settle::settle(run, &report, now),
        Command::SettleHeld { report, entry } => settle::held(run, &report, &entry, now),
        Command::FoundByOther(found) => found::decide(run, *found, now),
        Command::LookedUp(report) => doubt::looked_up(run, report, now),
        Command::SettleByHand(ask) => by_hand::decide(run, ask, now),
        Command::Compensate(ask) => compensate::decide(run, ask, now),
        Command::Orphan(ask) => orphan::decide(run, ask, now),
        Command::ToolCall(ask) => tools::called(run, *ask),
        Command::ToolsDone { call } => tools::done(run, call),
        Command::KeyHeld {
            call,
            entry,
            abandoned,
        } => held::key_held(run, (call, &entry, abandoned), now),
        Command::KeySettled { key } => held::key_settled(run, &key, now),
        Command::Assembled { result } => lap::assembled(run, result, now),
        Command::Cancel { by, why } => lap::cancel(run, by, why),
        Command::Continue { from, by, why } => relay::go_on(run, from, Asked { by, why }, now),
        Command::Raise(ask) => raise::decide(run, ask, now),
        Command::Terminate { by, why } => halt::terminate(run, Asked { by, why }, now),
        Command::Advance => lap::advance(run, now),
        Command::Quarantine(why) => halt::quarantine(run, why, now),
    }
}

/// Changes the state by one event.
// One line per arm: a table that is read down, which formatting would spread over 130 lines.
#[rustfmt::skip]
pub fn apply(run: &mut Run, event: &Event) -> Result<(), Corrupt> {
    match event {
        Event::RunStarted(started) => start::apply(run, started),
        Event::AdmissionDecided(admission) => admission::apply(run, admission),
        Event::LeaseTaken(lease) => lease::apply(run, lease),
        Event::CallPrepared { call, prepared } => prepare::apply_prepared(run, *call, prepared),
        Event::ListRecorded { call, items } => prepare::apply_listed(run, *call, items),
        Event::AttemptStarted(started) => attempt::apply_started(run, started),
        Event::AttemptSettled { call, attempt, end, cost, client_retries } =>
            attempt::apply_settled(run, (*call, *attempt), end, Used::of(*cost, *client_retries)),
        Event::AttemptInterrupted { call, attempt, cost } =>
            attempt::apply_interrupted(run, *call, *attempt, *cost),
        Event::CallSettled { call, rung, result } =>
            ending::apply(run, *call, Phase::settled(result, *rung), event.name()),
        Event::CallRescheduled { call, rung, not_before, reason: _ } =>
            ending::apply_rescheduled(run, *call, *rung, *not_before),
        Event::NextDecided(decision) => guard::stored(run, decision.call, event.name()).map(|_| ()),
        Event::RepairWanted { call, of } => repair::apply(run, *call, *of),
        Event::CallOmitted { call, reason } =>
            ending::apply(run, *call, Phase::Omitted { reason: *reason }, event.name()),
        Event::CallSkipped { call } => ending::apply(run, *call, Phase::Skipped, event.name()),
        Event::CallFailed { call, kind, reason } =>
            ending::apply(run, *call, Phase::Failed { kind: *kind, reason: *reason }, event.name()),
        Event::CodeFailed { call, kind: _, message: _ } => prepare::apply_code_failed(run, *call),
        Event::EffectIntended { call, key } => effect::apply_intended(run, *call, key),
        Event::EffectApplied { call, result, reason } =>
            effect::apply_applied(run, *call, result, *reason),
        Event::EffectInDoubt { call, reason, lookup_at, absent_after } =>
            doubt::apply_in_doubt(run, *call, Doubt::new(*reason, *lookup_at, *absent_after)),
        Event::EffectAbsent { call, reason } => effect::apply_absent(run, *call, *reason),
        Event::EffectPartlyApplied { call } => effect::apply_partly(run, *call),
        Event::EffectSettledByHand(settled) => by_hand::apply(run, settled),
        Event::CompensationWanted(wanted) => compensate::apply_wanted(run, wanted),
        Event::EffectCompensated { call } => compensate::apply_compensated(run, *call),
        Event::ToolCalled(called) => tools::apply_called(run, called),
        Event::ToolsDone { call } => tools::apply_done(run, *call),
        Event::ControlSettled { call, number, reason: _, next_at } =>
            doubt::apply_asked(run, *call, *number, *next_at),
        Event::KeyAwaited { call, holder, until } =>
            held::apply_awaited(run, *call, *holder, *until),
        Event::KeyTakenOver { call, holder: _, sent_at, lookup_at, absent_after } =>
            held::apply_taken_over(run, *call, *sent_at, (*lookup_at, *absent_after)),
        Event::LateResult { call, attempt, cost, client_retries } =>
            attempt::apply_late(run, (*call, *attempt), Used::of(*cost, *client_retries)),
        Event::LateValueRecorded { call, attempt, policy, value } =>
            orphan::apply_late_value(run, (*call, *attempt), *policy, value.as_ref()),
        Event::AttemptOrphaned { call, attempt, owner, until } =>
            orphan::apply_given_up(run, (*call, *attempt), owner, *until),
        Event::OrphanObserved { call, attempt, seen } =>
            orphan::apply_observed(run, (*call, *attempt), *seen),
        Event::OrphanAdopted { call, attempt, by, why: _, until } =>
            orphan::apply_adopted(run, (*call, *attempt), by, *until),
        Event::OrphanClosed { call, attempt, by: _, why: _ } =>
            orphan::apply_closed(run, (*call, *attempt)),
        Event::CancelRequested { by, why } => lap::apply_cancel(run, by, why),
        Event::HardPathLost { call } => lap::apply_lost(run, *call),
        Event::AnsweredLater { doubts, expected_by } => lap::apply_later(run, doubts, *expected_by),
        Event::LapEnded { outcome, reason, result, at } =>
            lap::apply_ended(run, LapOutcome::of(*outcome, *reason, result.as_ref(), *at)),
        Event::AddendumRecorded { call, reason } => lap::apply_addendum(run, *call, *reason),
        Event::RunClosed => lap::apply_closed(run),
        Event::RunQuarantined(why) => halt::apply_quarantined(run, why),
        Event::QuarantineLifted { by: _, why: _ } => halt::apply_lifted(run),
        Event::RunTerminated { by, why } => halt::apply_terminated(run, by, why),
        Event::BudgetRaised(raised) => raise::apply(run, raised),
        Event::LapStarted(started) => relay::apply(run, started),
    }?;
    run.seq = run.seq.next();
    Ok(())
}

/// What has to be done outside.
#[must_use]
pub fn pending(run: &Run, now: Timestamp) -> Vec<Action> {
    crate::pending::pending(run, now)
}
