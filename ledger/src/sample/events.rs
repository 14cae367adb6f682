//! One sample of every kind of event, and of every shape inside it.
//!
//! Append only: each line of a golden file is one of these, in this order.

use mainstay_graph::{Budget, OnLate};
use mainstay_machine::{
    Admission, Allowed, AttemptEnd, AttemptStarted, CompensationWanted, Decision, Event,
    LapStarted, LapTimes, NextAction, Numbers, OutcomeKind, Prepared, Quarantine, Raise, Refused,
    Ruling, Seen, SettledByHand, ToolCalled, ToolMade, Verdict,
};
use mainstay_types::{
    AttemptNo, BusinessId, CallId, Code, CostUnits, Digest, EffectKey, EffectName, Failure,
    FailureKind, LapNo, Millis, NodeId, Payload, Position, Reason, Rung, Scope, Sent, Tokens,
};

use super::{at, effect_key, run, started, taken, tenant};

/// Every sample event.
#[must_use]
pub fn events() -> Vec<Event> {
    [
        of_runs(),
        of_calls(),
        of_attempts(),
        of_effects(),
        of_ends(),
        of_laps(),
        decisions(),
        orphans(),
    ]
    .concat()
}

fn of_runs() -> Vec<Event> {
    let full = started(1, Payload::from(r#"{"minutes":"회의록"}"#));
    let mut bare = started(2, Payload::from("null"));
    (bare.start_key, bare.times.expires_at) = (None, None);
    bare.traceparent = Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned());
    vec![
        Event::RunStarted(Box::new(full)),
        Event::RunStarted(Box::new(bare)),
        Event::LeaseTaken(taken(2)),
        Event::CancelRequested {
            by: "uid 1000".to_owned(),
            why: "wrong minutes".to_owned(),
        },
        Event::RunQuarantined(Quarantine {
            code: Code::TurnPanicked,
            message: "index out of bounds".to_owned(),
        }),
        Event::RunClosed,
    ]
}

pub(super) fn prepared(request: &str, business_id: Option<&str>) -> Prepared {
    let id = |text: &str| BusinessId::new(text).expect("a sample id is valid");
    Prepared {
        request: Payload::from(request),
        fingerprint: Digest::of(request.as_bytes()),
        business_id: business_id.map(id),
    }
}

fn of_calls() -> Vec<Event> {
    let call = CallId(3);
    let items = vec![
        prepared(r#"{"title":"a"}"#, Some("mtg-4711")),
        prepared(r#"{"title":"b"}"#, Some("mtg-4711")),
    ];
    vec![
        Event::CallPrepared {
            call,
            prepared: prepared(r#"{"q":"policy"}"#, None),
        },
        Event::CallPrepared {
            call,
            prepared: prepared(r#"{"q":"order"}"#, Some("PR-7/2026")),
        },
        Event::ListRecorded { call, items },
        Event::ListRecorded {
            call,
            items: Vec::new(),
        },
        Event::CallSettled {
            call,
            rung: Rung(1),
            result: Payload::from(r#"["x"]"#),
        },
        Event::CallRescheduled {
            call,
            rung: Rung(0),
            not_before: at(750),
            reason: Reason::RetryAllowed,
        },
        Event::CallOmitted {
            call,
            reason: Reason::SoftCallFailed,
        },
        Event::CallSkipped { call },
        Event::CallFailed {
            call,
            kind: FailureKind::PermanentProvider,
            reason: Reason::AttemptsExhausted,
        },
    ]
}

fn of_attempts() -> Vec<Event> {
    let (call, attempt) = (CallId(300), AttemptNo(2));
    let settled = |end| Event::AttemptSettled {
        call,
        attempt,
        end,
        cost: CostUnits::milli(100),
        client_retries: 1,
    };
    let full = Failure::new(FailureKind::RateLimited, Sent::Answered)
        .provider_code("429")
        .message("slow down")
        .retry_after(Millis::from_secs(2))
        .cost(CostUnits::milli(50));
    vec![
        Event::AttemptStarted(AttemptStarted {
            call,
            attempt,
            rung: Rung(1),
            at: at(800),
            timeout: Millis::from_secs(3),
            cost: CostUnits::units(2),
            retry_tokens: Tokens::new(1),
        }),
        settled(AttemptEnd::Answered),
        settled(AttemptEnd::Failed(full)),
        settled(AttemptEnd::Failed(Failure::new(
            FailureKind::EffectUnknown,
            Sent::MaybeSent,
        ))),
        Event::AttemptInterrupted {
            call,
            attempt,
            cost: CostUnits::units(2),
        },
        Event::LateResult {
            call,
            attempt,
            cost: CostUnits::micros(1),
            client_retries: 2,
        },
    ]
}

fn of_effects() -> Vec<Event> {
    let call = CallId(301);
    let run_scoped = EffectKey {
        tenant: tenant("acme"),
        effect: EffectName::new("order").expect("a sample name is valid"),
        scope: Scope::Run {
            run: run(1),
            path: "order".to_owned(),
        },
        position: Position::Slot(1),
    };
    vec![
        Event::EffectIntended {
            call,
            key: effect_key("mtg-4711", 4),
        },
        Event::EffectIntended {
            call,
            key: run_scoped,
        },
        Event::EffectApplied {
            call,
            result: Payload::from(r#"{"id":"T-1"}"#),
            reason: Reason::FoundApplied,
        },
        Event::EffectInDoubt {
            call,
            reason: Reason::WriteResponseLost,
            lookup_at: at(4_250),
            absent_after: at(9_000),
        },
        Event::EffectAbsent {
            call,
            reason: Reason::AbsentAfterHorizon,
        },
        Event::EffectPartlyApplied { call },
        Event::ControlSettled {
            call,
            number: 3,
            reason: Reason::NotFoundInsideHorizon,
            next_at: at(5_250),
        },
        Event::KeyAwaited {
            call,
            holder: run(2),
            until: at(6_000),
        },
        Event::KeyTakenOver {
            call,
            holder: run(2),
            sent_at: at(1_000),
            lookup_at: at(6_000),
            absent_after: at(9_000),
        },
    ]
}

fn of_ends() -> Vec<Event> {
    vec![
        Event::HardPathLost { call: CallId(5) },
        Event::AnsweredLater {
            doubts: vec![CallId(301), CallId(302)],
            expected_by: at(86_400_000),
        },
        Event::LapEnded {
            outcome: OutcomeKind::Degraded,
            reason: Reason::AllSettled,
            result: Some(Payload::from(r#"{"report":1}"#)),
            at: at(11_000),
        },
        Event::LapEnded {
            outcome: OutcomeKind::HandedOff,
            reason: Reason::DoubtWaitOver,
            result: None,
            at: at(86_412_000),
        },
        Event::AddendumRecorded {
            call: CallId(301),
            reason: Reason::FoundApplied,
        },
    ]
}

fn of_laps() -> Vec<Event> {
    let (by, why) = ("uid 1000".to_owned(), "the service is back".to_owned());
    let begun = at(90_000_000);
    vec![
        Event::QuarantineLifted {
            by: by.clone(),
            why: "fixed in 1.3".to_owned(),
        },
        Event::CodeFailed {
            call: Some(CallId(3)),
            kind: FailureKind::InvalidInput,
            message: "the minutes name no owner".to_owned(),
        },
        Event::RunTerminated {
            by: by.clone(),
            why: "obsolete".to_owned(),
        },
        Event::BudgetRaised(raise()),
        by_hand(Ruling::Applied),
        by_hand(Ruling::NotApplied),
        tool_called(ToolMade::New {
            node: NodeId(6),
            slot: 2,
            prepared: prepared(r#"{"item":"desk"}"#, Some("PR-7")),
        }),
        tool_called(ToolMade::Joined(CallId(9))),
        Event::ToolsDone { call: CallId(7) },
        wanted(CallId(301)),
        Event::EffectCompensated { call: CallId(301) },
        Event::AdmissionDecided(admission()),
        Event::RepairWanted {
            call: CallId(3),
            of: AttemptNo(1),
        },
        Event::LapStarted(LapStarted {
            lap: LapNo(2),
            by,
            why,
            at: begun,
            times: LapTimes {
                answer_by: begun + Millis::from_secs(12),
                work_by: begun + Millis::new(11_600),
                expires_at: None,
                doubt_until: begun + Millis::from_hours(24),
            },
            budget: Budget {
                retry_tokens: Tokens::new(4),
                concurrency_tokens: Tokens::new(5),
                cost_units: CostUnits::units(18),
            },
        }),
    ]
}

/// Each policy of a late answer, each thing that may be seen of an orphan, each wish.
fn orphans() -> Vec<Event> {
    let (call, attempt) = (CallId(301), AttemptNo(2));
    let (by, why) = (|| "anna (uid:1000)".to_owned(), || "it is ours".to_owned());
    let value = |policy, value: Option<&str>| Event::LateValueRecorded {
        call,
        attempt,
        policy,
        value: value.map(Payload::from),
    };
    let mut events = vec![
        Event::AttemptOrphaned {
            call,
            attempt,
            owner: by(),
            until: at(63_500),
        },
        Event::OrphanAdopted {
            call,
            attempt,
            by: by(),
            why: why(),
            until: at(90_000),
        },
        Event::OrphanClosed {
            call,
            attempt,
            by: by(),
            why: why(),
        },
        value(OnLate::Drop, None),
        value(OnLate::Keep, Some(r#"{"draft":1}"#)),
        value(OnLate::Review, Some(r#"{"id":"T-2"}"#)),
    ];
    events.extend(Seen::ALL.map(|seen| Event::OrphanObserved {
        call,
        attempt,
        seen,
    }));
    events
}

/// An admission that what was observed decided.
pub(super) fn admission() -> Admission {
    Admission {
        verdict: Verdict::Rejected,
        queue: Millis::new(20),
        path: Millis::new(10_400),
        synthesis: Millis::new(1_800),
        reconcile: Millis::new(1_200),
        deliver: Millis::new(400),
        left: Millis::from_secs(12),
        observed: 4,
    }
}

/// A decision with a number of each kind.
pub(super) fn decision() -> Decision {
    Decision {
        call: CallId(2),
        attempt: Some(AttemptNo(2)),
        kind: FailureKind::Overloaded,
        sent: Some(Sent::Answered),
        next: NextAction::Fail,
        reason: Reason::RetryTokensExhausted,
        numbers: Numbers {
            in_a_row: 2,
            attempts_left: 1,
            allowed: Allowed {
                run: 0,
                dependency: Some(3),
                tenant: None,
                global: Some(7),
            },
            wait: Millis::new(130),
            wait_max: Millis::new(400),
            retry_after: Some(Millis::new(100)),
            predicted: Millis::new(900),
            left: Millis::new(4_200),
        },
        refused: None,
    }
}

/// Each action, and one with what forbade another.
fn decisions() -> Vec<Event> {
    let refused = Refused {
        code: Code::RetryTokensExhausted,
        numbers: vec![("need".to_owned(), 1), ("left".to_owned(), 0)],
    };
    let nexts = [
        NextAction::Retry { at: at(5_000) },
        NextAction::Repair,
        NextAction::Fallback { rung: Rung(1) },
        NextAction::Reconcile,
        NextAction::Wait,
        NextAction::Omit,
        NextAction::Fail,
    ];
    let plain = nexts.map(|next| Decision { next, ..decision() });
    let all = plain.into_iter().chain([Decision {
        refused: Some(refused),
        ..decision()
    }]);
    all.map(|decision| Event::NextDecided(Box::new(decision)))
        .collect()
}

fn tool_called(made: ToolMade) -> Event {
    Event::ToolCalled(Box::new(ToolCalled {
        tools: CallId(7),
        id: "call_2".to_owned(),
        made,
        told: vec!["call_1".to_owned()],
    }))
}

fn by_hand(ruling: Ruling) -> Event {
    Event::EffectSettledByHand(Box::new(SettledByHand {
        call: CallId(301),
        attempt: AttemptNo(2),
        ruling,
        by: "anna (uid:1000)".to_owned(),
        why: "it is in the list of the service".to_owned(),
        at: super::at(5_000),
    }))
}

/// Somebody wants an effect undone.
pub(super) fn wanted(call: CallId) -> Event {
    Event::CompensationWanted(Box::new(CompensationWanted {
        call,
        wanted: 1,
        by: "anna (uid:1000)".to_owned(),
        why: "the customer changed their mind".to_owned(),
        at: super::at(5_000),
        cost: CostUnits::units(6),
        retry_tokens: Tokens::new(2),
    }))
}

/// A budget that somebody raised.
pub(super) fn raise() -> Raise {
    Raise {
        by: "uid 1000".to_owned(),
        why: "the customer waits".to_owned(),
        at: super::at(4_000),
        more: Budget {
            retry_tokens: Tokens::new(2),
            concurrency_tokens: Tokens::new(1),
            cost_units: CostUnits::units(5),
        },
    }
}
