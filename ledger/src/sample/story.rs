//! Logs of runs of the sample class that go through most of what can happen to one.
//!
//! In contrast to the loose samples these events follow each other, so a state can be made of them.
//! The golden states are made from them, so they are never edited.

use mainstay_graph::Budget;
use mainstay_machine::{
    Admission, AttemptEnd, AttemptStarted, Decision, Event, LapStarted, NextAction, OutcomeKind,
    Prepared, Quarantine, RunStarted, Verdict,
};
use mainstay_types::{
    AttemptNo, BusinessId, CallId, Code, CostUnits, Digest, Failure, FailureKind, LapNo, Millis,
    Payload, Reason, Rung, Sent, Tokens,
};

use super::events::{admission, decision, raise};
use super::{at, class, class_ref, effect_key, large_payload, run, started, taken};
use crate::commit::Stamped;

const POLICY: CallId = CallId(0);
const DRAFT: CallId = CallId(1);
const TICKETS: CallId = CallId(2);
const FIRST: CallId = CallId(3);
const SECOND: CallId = CallId(4);
const THIRD: CallId = CallId(5);

/// The log of the `n`-th sample run, of `class("meeting-analysis", 3)`, an event each 10 ms.
#[must_use]
pub fn story(n: u32) -> Vec<Stamped> {
    let events = [
        vec![begun(n)],
        read(),
        written(),
        taken_over(),
        doubts(),
        ended(),
        second_lap(),
    ];
    timed(n, events.concat())
}

/// The log of a run of the same class that had nothing to write.
#[must_use]
pub fn short_story(n: u32) -> Vec<Stamped> {
    let events = vec![
        begun(n),
        Event::BudgetRaised(raise()),
        Event::CallOmitted {
            call: POLICY,
            reason: Reason::SoftYields,
        },
        Event::CallSettled {
            call: DRAFT,
            rung: Rung(0),
            result: Payload::from("[]"),
        },
        Event::CallSkipped { call: TICKETS },
        Event::LapEnded {
            outcome: OutcomeKind::Degraded,
            reason: Reason::AllSettled,
            result: Some(large_payload('r')),
            at: at(900),
        },
        Event::RunClosed,
    ];
    timed(n, events)
}

/// The log of a run of the same class whose read is tried again, and then repaired.
#[must_use]
pub fn repaired_story(n: u32) -> Vec<Stamped> {
    let (call, not_before) = (POLICY, at(900));
    let asked = |text: &str| Event::CallPrepared {
        call,
        prepared: prepared(Payload::from(text), None),
    };
    let admitted = Admission {
        verdict: Verdict::Admitted,
        ..admission()
    };
    let events = vec![
        begun(n),
        Event::AdmissionDecided(admitted),
        asked(r#"{"q":"policy"}"#),
        leaves(call, 1, 0),
        comes_back(call, 1, failed(FailureKind::Overloaded, Sent::Answered)),
        decided(call, NextAction::Retry { at: not_before }),
        Event::CallRescheduled {
            call,
            rung: Rung(0),
            not_before,
            reason: Reason::RetryAllowed,
        },
        leaves(call, 2, 0),
        comes_back(call, 2, failed(FailureKind::ResultInvalid, Sent::Answered)),
        decided(call, NextAction::Repair),
        Event::RepairWanted {
            call,
            of: AttemptNo(2),
        },
        asked(r#"{"q":"policy","wrong":"/answer: a text"}"#),
        leaves(call, 3, 0),
        comes_back(call, 3, AttemptEnd::Answered),
        Event::CallSettled {
            call,
            rung: Rung(0),
            result: large_payload('p'),
        },
        Event::CallSettled {
            call: DRAFT,
            rung: Rung(0),
            result: Payload::from("[]"),
        },
        Event::CallSkipped { call: TICKETS },
        Event::LapEnded {
            outcome: OutcomeKind::Completed,
            reason: Reason::AllSettled,
            result: Some(large_payload('r')),
            at: at(900),
        },
        Event::RunClosed,
    ];
    timed(n, events)
}

/// What a failure was followed by.
fn decided(call: CallId, next: NextAction) -> Event {
    Event::NextDecided(Box::new(Decision {
        call,
        next,
        ..decision()
    }))
}

fn timed(n: u32, events: Vec<Event>) -> Vec<Stamped> {
    let timed = (0u64..).zip(events);
    let stamped = timed.map(|(n_th, event)| Stamped {
        at: at(u64::from(n) + 10 * n_th),
        event,
    });
    stamped.collect()
}

fn begun(n: u32) -> Event {
    let mut class_ref = class_ref("meeting-analysis", 3);
    class_ref.fingerprint = class("meeting-analysis", 3).fingerprint();
    Event::RunStarted(Box::new(RunStarted {
        class: class_ref,
        ..started(n, Payload::from(r#"{"minutes":"회의록"}"#))
    }))
}

fn leaves(call: CallId, attempt: u32, rung: u8) -> Event {
    Event::AttemptStarted(AttemptStarted {
        call,
        attempt: AttemptNo(attempt),
        rung: Rung(rung),
        at: at(600),
        timeout: Millis::new(2_900),
        cost: CostUnits::units(2),
        retry_tokens: Tokens::new(u32::from(1 < attempt)),
    })
}

fn comes_back(call: CallId, attempt: u32, end: AttemptEnd) -> Event {
    Event::AttemptSettled {
        call,
        attempt: AttemptNo(attempt),
        end,
        cost: CostUnits::micros(700_000),
        client_retries: u32::from(call == POLICY),
    }
}

fn failed(kind: FailureKind, sent: Sent) -> AttemptEnd {
    let failure = Failure::new(kind, sent);
    AttemptEnd::Failed(failure.provider_code("503").message("try later"))
}

fn prepared(request: Payload, id: Option<&str>) -> Prepared {
    Prepared {
        fingerprint: Digest::of(request.as_bytes()),
        request,
        business_id: id.map(|id| BusinessId::new(id).expect("a sample id is valid")),
    }
}

/// A read that fails twice and is answered by its fallback; what is drafted from it.
fn read() -> Vec<Event> {
    let (call, not_before) = (POLICY, at(900));
    let overloaded = || failed(FailureKind::Overloaded, Sent::Answered);
    vec![
        Event::CallPrepared {
            call,
            prepared: prepared(Payload::from(r#"{"q":"policy"}"#), None),
        },
        leaves(call, 1, 0),
        comes_back(call, 1, overloaded()),
        Event::CallRescheduled {
            call,
            rung: Rung(0),
            not_before,
            reason: Reason::RetryAllowed,
        },
        leaves(call, 2, 0),
        comes_back(call, 2, overloaded()),
        Event::CallRescheduled {
            call,
            rung: Rung(1),
            not_before,
            reason: Reason::AttemptsExhausted,
        },
        leaves(call, 3, 1),
        comes_back(call, 3, AttemptEnd::Answered),
        Event::CallSettled {
            call,
            rung: Rung(1),
            result: large_payload('p'),
        },
        Event::CallSettled {
            call: DRAFT,
            rung: Rung(0),
            result: large_payload('d'),
        },
    ]
}

/// Three items, the first of them written, the second lost.
fn written() -> Vec<Event> {
    let item = |letter| prepared(large_payload(letter), Some("mtg-4711"));
    let intended = |call, position| Event::EffectIntended {
        call,
        key: effect_key("mtg-4711", position),
    };
    vec![
        Event::ListRecorded {
            call: TICKETS,
            items: vec![item('a'), item('a'), item('c')],
        },
        intended(FIRST, 0),
        leaves(FIRST, 1, 0),
        intended(SECOND, 1),
        leaves(SECOND, 1, 0),
        comes_back(FIRST, 1, AttemptEnd::Answered),
        Event::EffectApplied {
            call: FIRST,
            result: Payload::from(r#"{"id":"T-1"}"#),
            reason: Reason::Answered,
        },
        comes_back(
            SECOND,
            1,
            failed(FailureKind::EffectUnknown, Sent::MaybeSent),
        ),
        Event::EffectInDoubt {
            call: SECOND,
            reason: Reason::WriteResponseLost,
            lookup_at: at(1_000),
            absent_after: at(9_000),
        },
        Event::KeyAwaited {
            call: THIRD,
            holder: run(99),
            until: at(60_000),
        },
    ]
}

/// Another worker comes while the third item is out.
fn taken_over() -> Vec<Event> {
    let (call, attempt) = (THIRD, AttemptNo(1));
    vec![
        Event::EffectIntended {
            call,
            key: effect_key("mtg-4711", 2),
        },
        leaves(call, 1, 0),
        Event::LeaseTaken(taken(2)),
        Event::AttemptInterrupted {
            call,
            attempt,
            cost: CostUnits::units(2),
        },
        Event::EffectInDoubt {
            call,
            reason: Reason::OwnerLost,
            lookup_at: at(1_000),
            absent_after: at(9_000),
        },
        Event::LateResult {
            call,
            attempt,
            cost: CostUnits::micros(900_000),
            client_retries: 0,
        },
    ]
}

/// What becomes of the two doubts.
fn doubts() -> Vec<Event> {
    vec![
        Event::ControlSettled {
            call: SECOND,
            number: 1,
            reason: Reason::NotFoundInsideHorizon,
            next_at: at(2_000),
        },
        Event::EffectAbsent {
            call: SECOND,
            reason: Reason::AbsentAfterHorizon,
        },
        Event::CancelRequested {
            by: "uid 1000".to_owned(),
            why: "wrong minutes".to_owned(),
        },
        Event::HardPathLost { call: SECOND },
        Event::AnsweredLater {
            doubts: vec![THIRD],
            expected_by: at(90_000),
        },
        Event::CallFailed {
            call: SECOND,
            kind: FailureKind::Canceled,
            reason: Reason::Requested,
        },
    ]
}

fn ended() -> Vec<Event> {
    vec![
        Event::LapEnded {
            outcome: OutcomeKind::HandedOff,
            reason: Reason::DoubtWaitOver,
            result: None,
            at: at(80_000),
        },
        Event::EffectPartlyApplied { call: THIRD },
        Event::CallFailed {
            call: THIRD,
            kind: FailureKind::PermanentProvider,
            reason: Reason::PartlyApplied,
        },
        Event::AddendumRecorded {
            call: THIRD,
            reason: Reason::PartlyApplied,
        },
        Event::RunClosed,
    ]
}

/// It is gone on with, quarantined, let go on, and ended.
fn second_lap() -> Vec<Event> {
    let by = || "uid 1000".to_owned();
    let begun = at(90_000);
    let times = started(1, Payload::from("{}")).times;
    vec![
        Event::LapStarted(LapStarted {
            lap: LapNo(2),
            by: by(),
            why: "the tickets are there".to_owned(),
            at: begun,
            times,
            budget: Budget {
                retry_tokens: Tokens::new(2),
                concurrency_tokens: Tokens::new(3),
                cost_units: CostUnits::units(9),
            },
        }),
        Event::CallOmitted {
            call: SECOND,
            reason: Reason::SoftYields,
        },
        Event::CodeFailed {
            call: None,
            kind: FailureKind::InvalidInput,
            message: "no such owner".to_owned(),
        },
        Event::RunQuarantined(Quarantine {
            code: Code::TurnPanicked,
            message: "index out of bounds".to_owned(),
        }),
        Event::QuarantineLifted {
            by: by(),
            why: "repaired".to_owned(),
        },
        Event::RunTerminated {
            by: by(),
            why: "enough".to_owned(),
        },
    ]
}
