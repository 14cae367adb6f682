//! A class whose write can be undone, and the log of a run in which it was, after its end.
//!
//! The golden states are made from it, so it is never edited.

use mainstay_graph::{NodeKind, SameRequestRule, TaskClass};
use mainstay_machine::{AttemptEnd, AttemptStarted, Event, OutcomeKind, RunStarted};
use mainstay_types::{
    AttemptNo, CallId, CostUnits, EffectKey, EffectName, Failure, FailureKind, Millis, NodeId,
    Payload, Position, Reason, Rung, Sent, Tokens,
};

use super::class::{class, each, node};
use super::events::{prepared, wanted};
use super::{at, class_ref, effect_key, started};
use crate::commit::Stamped;

const ORDER: CallId = CallId(0);
const UNDO: CallId = CallId(2);

/// The sample class whose order can be undone.
#[must_use]
pub fn returns() -> TaskClass {
    let NodeKind::Each {
        contract,
        mut effect,
        ..
    } = each().kind
    else {
        unreachable!("it is an each");
    };
    effect.rule = SameRequestRule::PerSlot;
    let mut undo = node("order-undo", write(&contract, &effect), Vec::new());
    if let NodeKind::Write { effect, .. } = &mut undo.kind {
        effect.name = EffectName::new("ticket-undo").expect("a sample name is valid");
    }
    undo.undoes = Some(NodeId(0));
    TaskClass {
        nodes: vec![node("order", write(&contract, &effect), Vec::new()), undo],
        result: vec![NodeId(0)],
        ..class("returns", 1)
    }
}

fn write(contract: &mainstay_graph::Contract, effect: &mainstay_graph::EffectContract) -> NodeKind {
    let (contract, effect) = (contract.clone(), effect.clone());
    NodeKind::Write { contract, effect }
}

/// The log of the `n`-th sample run, of [`returns`], an event each 10 ms.
#[must_use]
pub fn undone_story(n: u32) -> Vec<Stamped> {
    logged(n, [ordered(), undone()].concat())
}

/// The log of the `n`-th sample run, of [`returns`]: the order was another run's, which could not
/// go on with it.
#[must_use]
pub fn taken_story(n: u32) -> Vec<Stamped> {
    let taken = Event::KeyTakenOver {
        call: ORDER,
        holder: super::run(9),
        sent_at: at(1),
        lookup_at: at(2),
        absent_after: at(3),
    };
    let found = Event::EffectApplied {
        call: ORDER,
        result: Payload::from(r#"{"id":"PO-1"}"#),
        reason: Reason::FoundApplied,
    };
    let mut events = ordered();
    let end = events.split_off(events.len() - 2);
    events.truncate(1);
    events.extend([taken, found]);
    events.extend(end);
    logged(n, events)
}

fn logged(n: u32, events: Vec<Event>) -> Vec<Stamped> {
    let mut class_ref = class_ref("returns", 1);
    class_ref.fingerprint = returns().fingerprint();
    let begun = Event::RunStarted(Box::new(RunStarted {
        class: class_ref,
        ..started(n, Payload::from(r#"{"request_no":"PR-7"}"#))
    }));
    let timed = (0u64..).zip([vec![begun], events].concat());
    let stamped = timed.map(|(n_th, event)| Stamped {
        at: at(u64::from(n) + 10 * n_th),
        event,
    });
    stamped.collect()
}

fn sent(call: CallId, effect: &str) -> [Event; 2] {
    let key = EffectKey {
        effect: EffectName::new(effect).expect("a sample name is valid"),
        position: Position::Slot(1),
        ..effect_key("PR-7", 0)
    };
    let started = AttemptStarted {
        call,
        attempt: AttemptNo(1),
        rung: Rung(0),
        at: at(600),
        timeout: Millis::new(3_000),
        cost: CostUnits::units(2),
        retry_tokens: Tokens::ZERO,
    };
    [
        Event::EffectIntended { call, key },
        Event::AttemptStarted(started),
    ]
}

fn over(call: CallId, end: AttemptEnd) -> Event {
    Event::AttemptSettled {
        call,
        attempt: AttemptNo(1),
        end,
        cost: CostUnits::micros(700_000),
        client_retries: 0,
    }
}

fn ordered() -> Vec<Event> {
    let mut events = vec![Event::CallPrepared {
        call: ORDER,
        prepared: prepared(r#"{"item":"desk"}"#, Some("PR-7")),
    }];
    events.extend(sent(ORDER, "ticket"));
    events.extend([
        over(ORDER, AttemptEnd::Answered),
        Event::EffectApplied {
            call: ORDER,
            result: Payload::from(r#"{"id":"PO-1"}"#),
            reason: Reason::Answered,
        },
        Event::LapEnded {
            outcome: OutcomeKind::Completed,
            reason: Reason::AllSettled,
            result: Some(Payload::from("[]")),
            at: at(700),
        },
        Event::RunClosed,
    ]);
    events
}

/// Somebody wants it undone; the reply is lost, and the receiver is asked.
fn undone() -> Vec<Event> {
    let lost = Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent);
    let mut events = vec![
        wanted(ORDER),
        Event::CallPrepared {
            call: UNDO,
            prepared: prepared(r#"{"cancel":"PO-1"}"#, Some("PR-7")),
        },
    ];
    events.extend(sent(UNDO, "ticket-undo"));
    events.extend([
        over(UNDO, AttemptEnd::Failed(lost)),
        Event::EffectInDoubt {
            call: UNDO,
            reason: Reason::WriteResponseLost,
            lookup_at: at(900),
            absent_after: at(9_000),
        },
        Event::EffectApplied {
            call: UNDO,
            result: Payload::from(r#"{"canceled":"PO-1"}"#),
            reason: Reason::FoundApplied,
        },
        Event::EffectCompensated { call: ORDER },
        Event::AddendumRecorded {
            call: ORDER,
            reason: Reason::Compensated,
        },
        Event::RunClosed,
    ]);
    events
}
