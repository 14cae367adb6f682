//! Cores with a bug: what they are told, or what they decided, is changed on the way.

use std::sync::Arc;

use mainstay_graph::{Criticality, OnLate};
use mainstay_machine::{
    Action, AttemptEnd, Command, Core, Event, Finding, Machine, OutcomeKind, Phase, Run, SettleEnd,
};
use mainstay_types::{
    AttemptNo, CallId, Corrupt, CostUnits, Millis, Payload, Reason, Refusal, Rung, Sent, Timestamp,
};

/// What is wrong.
#[derive(Clone, Copy, PartialEq)]
enum Bend {
    SkipsDoubt,
    BelievesAbsentAtOnce,
    ResendsInDoubt,
    DropsARefund,
    RefundsTwice,
    DeliversALateResult,
    IgnoresReserves,
    AnswersLate,
    StarvesTheHardPath,
    SaysNothingOfGaps,
    Resurrects,
}

macro_rules! bends {
    ($($name:ident => $bend:ident,)*) => {$(
        pub(super) fn $name() -> Arc<dyn Core> {
            Arc::new(Bent(Bend::$bend))
        }
    )*};
}

bends! {
    skips_doubt => SkipsDoubt,
    believes_absent_at_once => BelievesAbsentAtOnce,
    resends_in_doubt => ResendsInDoubt,
    drops_a_refund => DropsARefund,
    refunds_twice => RefundsTwice,
    delivers_a_late_result => DeliversALateResult,
    ignores_reserves => IgnoresReserves,
    answers_late => AnswersLate,
    starves_the_hard_path => StarvesTheHardPath,
    says_nothing_of_gaps => SaysNothingOfGaps,
    resurrects => Resurrects,
}

/// How far the time is off where it is.
const OFF: Millis = Millis::from_secs(3);

struct Bent(Bend);

impl Bent {
    /// The time as this core sees it when it starts something.
    fn start_time(&self, now: Timestamp) -> Timestamp {
        if self.0 == Bend::IgnoresReserves {
            return earlier(now);
        }
        now
    }

    /// The time as this core sees it when it looks what is due.
    fn due_time(&self, now: Timestamp) -> Timestamp {
        if self.0 == Bend::AnswersLate {
            return earlier(now);
        }
        now
    }

    fn told(&self, run: &Run, mut command: Command) -> Command {
        match (self.0, &mut command) {
            (Bend::BelievesAbsentAtOnce, Command::LookedUp(report))
                if report.finding == Finding::NotFound =>
            {
                report.asked_at = report.asked_at + Millis::from_mins(10);
            }
            (Bend::SkipsDoubt, Command::Settle(report)) => {
                if let SettleEnd::Failed(failure) = &mut report.end
                    && is_write(run, report.call)
                    && failure.sent == Sent::MaybeSent
                {
                    failure.sent = Sent::NotSent;
                    failure.kind = mainstay_types::FailureKind::TransientTransport;
                }
            }
            _ => {}
        }
        command
    }

    /// What an attempt is charged that really cost so much, and for which so much was reserved.
    fn price(&self, end: &AttemptEnd, (cost, reserved): (CostUnits, CostUnits)) -> CostUnits {
        match end {
            AttemptEnd::Failed(failure)
                if self.0 == Bend::DropsARefund && failure.sent == Sent::NotSent =>
            {
                reserved
            }
            AttemptEnd::Answered if self.0 == Bend::RefundsTwice => CostUnits::ZERO,
            AttemptEnd::Answered | AttemptEnd::Failed(_) => cost,
        }
    }

    fn decided(&self, run: &Run, now: Timestamp, event: Event) -> Event {
        match (self.0, event) {
            (Bend::DeliversALateResult, Event::LateValueRecorded { call, .. }) => {
                Event::CallSettled {
                    call,
                    rung: Rung(0),
                    result: Payload::from("\"late\""),
                }
            }
            (Bend::ResendsInDoubt, Event::EffectInDoubt { call, reason, .. }) => {
                Event::CallRescheduled {
                    call,
                    rung: Rung(0),
                    not_before: now,
                    reason,
                }
            }
            (
                Bend::DropsARefund | Bend::RefundsTwice,
                Event::AttemptSettled {
                    call,
                    attempt,
                    end,
                    cost,
                    client_retries,
                },
            ) => Event::AttemptSettled {
                call,
                attempt,
                cost: self.price(&end, (cost, reserved(run, call))),
                end,
                client_retries,
            },
            (Bend::IgnoresReserves, Event::AttemptStarted(mut started)) => {
                started.at = now;
                Event::AttemptStarted(started)
            }
            (Bend::StarvesTheHardPath, Event::AttemptStarted(mut started)) => {
                if is_soft(run, started.call) {
                    started.cost = left(run);
                }
                Event::AttemptStarted(started)
            }
            (
                Bend::SaysNothingOfGaps,
                Event::LapEnded {
                    outcome: OutcomeKind::Degraded,
                    reason,
                    result,
                    at,
                },
            ) => Event::LapEnded {
                outcome: OutcomeKind::Completed,
                reason,
                result,
                at,
            },
            (_, event) => event,
        }
    }
}

impl Core for Bent {
    fn may_start(&self, run: &Run, call: CallId, now: Timestamp) -> Result<(), Refusal> {
        Machine.may_start(run, call, self.start_time(now))
    }

    fn decide(&self, run: &Run, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let seen = if matches!(command, Command::Authorize { .. }) {
            self.start_time(now)
        } else if command == Command::Advance {
            self.due_time(now)
        } else {
            now
        };
        let events = Machine.decide(run, self.told(run, command), seen)?;
        let decided = events.into_iter();
        Ok(decided.map(|event| self.decided(run, now, event)).collect())
    }

    fn apply(&self, run: &mut Run, event: &Event) -> Result<(), Corrupt> {
        let seen = match (self.0, event) {
            (Bend::Resurrects, Event::AttemptInterrupted { call, .. }) => Event::AddendumRecorded {
                call: *call,
                reason: Reason::OwnerLost,
            },
            (Bend::DeliversALateResult, Event::CallSettled { call, .. }) if is_over(run, *call) => {
                Event::LateValueRecorded {
                    call: *call,
                    attempt: newest(run, *call),
                    policy: OnLate::Drop,
                    value: None,
                }
            }
            _ => return Machine.apply(run, event),
        };
        Machine.apply(run, &seen)
    }

    fn pending(&self, run: &Run, now: Timestamp) -> Vec<Action> {
        let seen = self.due_time(self.start_time(now));
        let mut actions = Machine.pending(run, seen);
        if seen != now {
            actions.iter_mut().for_each(wakes_later);
        }
        actions
    }
}

/// Who looks at a clock that is behind wakes by the same clock, and does not spin.
fn wakes_later(action: &mut Action) {
    if let Action::WakeAt(at) = action {
        *at = *at + OFF;
    }
}

fn is_write(run: &Run, call: CallId) -> bool {
    let call = run.calls().get(call);
    call.is_some_and(|call| call.effect.is_some())
}

fn is_soft(run: &Run, call: CallId) -> bool {
    let call = run.calls().get(call);
    call.is_some_and(|call| {
        matches!(
            run.class().node(call.node).criticality,
            Criticality::Soft { .. }
        )
    })
}

fn reserved(run: &Run, call: CallId) -> CostUnits {
    let call = run.calls().get(call);
    let out = call.and_then(|call| call.in_flight());
    out.map_or(CostUnits::ZERO, |out| out.reserved)
}

fn left(run: &Run) -> CostUnits {
    run.head()
        .map_or(CostUnits::ZERO, |head| head.lap.budget.cost_left())
}

fn earlier(now: Timestamp) -> Timestamp {
    let off = i64::try_from(OFF.get()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(off))
}

fn is_over(run: &Run, call: CallId) -> bool {
    let call = run.calls().get(call);
    call.is_some_and(|call| {
        matches!(
            call.phase,
            Phase::Settled { .. } | Phase::Omitted { .. } | Phase::Failed { .. }
        )
    })
}

fn newest(run: &Run, call: CallId) -> AttemptNo {
    let call = run.calls().get(call);
    let newest = call.and_then(|call| call.attempts.last());
    newest.map_or(AttemptNo(1), |newest| newest.no)
}
