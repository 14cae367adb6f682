//! A class that offers a tool to a model, and the log of a run in which one was asked for twice.
//!
//! The golden states are made from it, so it is never edited.

use mainstay_graph::{NodeKind, SameRequestRule, TaskClass, Tool};
use mainstay_machine::{
    AttemptEnd, AttemptStarted, Event, OutcomeKind, Ruling, RunStarted, SettledByHand, ToolCalled,
    ToolMade,
};
use mainstay_types::{
    AttemptNo, CallId, CostUnits, EffectKey, Failure, FailureKind, Millis, NodeId, Payload,
    Position, Reason, Rung, Sent, Tokens,
};

use super::class::{class, each, node, schema};
use super::events::prepared;
use super::{at, class_ref, effect_key, started};
use crate::commit::Stamped;

const SHOP: CallId = CallId(1);
const FIRST: CallId = CallId(2);
const SECOND: CallId = CallId(3);

/// The sample class whose model may order something.
#[must_use]
pub fn shop() -> TaskClass {
    let NodeKind::Each {
        contract,
        mut effect,
        ..
    } = each().kind
    else {
        unreachable!("it is an each");
    };
    effect.rule = SameRequestRule::PerSlot;
    let mut order = node("order", NodeKind::Write { contract, effect }, Vec::new());
    order.tool = Some(Tool {
        about: "Orders an item".to_owned(),
        per_run_max: 2,
        arguments: schema(),
    });
    let offers = NodeKind::Tools {
        tools: vec![NodeId(0)],
        calls_max: 8,
    };
    TaskClass {
        nodes: vec![order, node("shop", offers, Vec::new())],
        result: vec![NodeId(1)],
        ..class("shop", 1)
    }
}

/// The log of the `n`-th sample run, of [`shop`], an event each 10 ms.
#[must_use]
pub fn asked_story(n: u32) -> Vec<Stamped> {
    let mut class_ref = class_ref("shop", 1);
    class_ref.fingerprint = shop().fingerprint();
    let begun = Event::RunStarted(Box::new(RunStarted {
        class: class_ref,
        ..started(n, Payload::from(r#"{"request_no":"PR-7"}"#))
    }));
    let brief = Event::CallPrepared {
        call: SHOP,
        prepared: prepared(r#""buy a desk""#, None),
    };
    let events = [vec![begun, brief], first(), second(), end()].concat();
    let timed = (0u64..).zip(events);
    let stamped = timed.map(|(n_th, event)| Stamped {
        at: at(u64::from(n) + 10 * n_th),
        event,
    });
    stamped.collect()
}

fn asks(id: &str, made: ToolMade, told: &[&str]) -> Event {
    Event::ToolCalled(Box::new(ToolCalled {
        tools: SHOP,
        id: id.to_owned(),
        made,
        told: told.iter().map(|&id| id.to_owned()).collect(),
    }))
}

fn new(slot: u32) -> ToolMade {
    ToolMade::New {
        node: NodeId(0),
        slot,
        prepared: prepared(r#"{"item":"desk"}"#, Some("PR-7")),
    }
}

fn sent(call: CallId, slot: u32) -> [Event; 2] {
    let key = EffectKey {
        position: Position::Slot(slot),
        ..effect_key("PR-7", 0)
    };
    let started = AttemptStarted {
        call,
        attempt: AttemptNo(1),
        rung: Rung(0),
        at: at(600),
        timeout: Millis::new(2_900),
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

/// Its reply is lost, the model asks again, and a person finds it.
fn first() -> Vec<Event> {
    let lost = Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent);
    let by_hand = SettledByHand {
        call: FIRST,
        attempt: AttemptNo(1),
        ruling: Ruling::Applied,
        by: "anna (uid:1000)".to_owned(),
        why: "it is in their list".to_owned(),
        at: at(700),
    };
    let mut events = vec![asks("call_1", new(1), &[])];
    events.extend(sent(FIRST, 1));
    events.extend([
        over(FIRST, AttemptEnd::Failed(lost)),
        Event::EffectInDoubt {
            call: FIRST,
            reason: Reason::WriteResponseLost,
            lookup_at: at(700),
            absent_after: at(9_000),
        },
        asks("call_2", ToolMade::Joined(FIRST), &[]),
        Event::EffectSettledByHand(Box::new(by_hand)),
        Event::EffectApplied {
            call: FIRST,
            result: Payload::from(r#"{"id":"PO-1"}"#),
            reason: Reason::SettledByHand,
        },
    ]);
    events
}

/// The model was told of the first, and orders a second.
fn second() -> Vec<Event> {
    let mut events = vec![asks("call_3", new(2), &["call_2"])];
    events.extend(sent(SECOND, 2));
    events.extend([
        over(SECOND, AttemptEnd::Answered),
        Event::EffectApplied {
            call: SECOND,
            result: Payload::from(r#"{"id":"PO-2"}"#),
            reason: Reason::Answered,
        },
    ]);
    events
}

fn end() -> Vec<Event> {
    vec![
        Event::ToolsDone { call: SHOP },
        Event::CallSettled {
            call: SHOP,
            rung: Rung(0),
            result: Payload::from("[]"),
        },
        Event::LapEnded {
            outcome: OutcomeKind::Completed,
            reason: Reason::AllSettled,
            result: Some(Payload::from("[]")),
            at: at(900),
        },
        Event::RunClosed,
    ]
}
