//! A class that says what is done with late answers, and the log of a run of it that was canceled.
//!
//! The golden states are made from it, so it is never edited.

use mainstay_graph::{EffectSemantics, NodeKind, OnLate, TaskClass};
use mainstay_machine::{AttemptEnd, AttemptStarted, Event, OutcomeKind, RunStarted, Seen};
use mainstay_types::{
    AttemptNo, CallId, CostUnits, Failure, FailureKind, Millis, NodeId, Payload, Reason, Rung,
    Sent, Tokens,
};

use super::class::{class, contract, node};
use super::events::prepared;
use super::{at, class_ref, started};
use crate::commit::Stamped;

const DRAFT: CallId = CallId(0);
const FACTS: CallId = CallId(1);
const FIRST: AttemptNo = AttemptNo(1);

/// The sample class that keeps one late answer and has another reviewed.
#[must_use]
pub fn late() -> TaskClass {
    let read = |name: &str, on_late| {
        let mut contract = contract(EffectSemantics::ReadOnly);
        (contract.on_late, contract.orphan_ttl) = (Some(on_late), Some(Millis::from_mins(1)));
        node(name, NodeKind::Read { contract }, Vec::new())
    };
    TaskClass {
        nodes: vec![read("draft", OnLate::Keep), read("facts", OnLate::Review)],
        result: vec![NodeId(0), NodeId(1)],
        ..class("late", 1)
    }
}

/// The log of the `n`-th sample run, of [`late`], an event each 10 ms.
#[must_use]
pub fn orphaned_story(n: u32) -> Vec<Stamped> {
    let mut class_ref = class_ref("late", 1);
    class_ref.fingerprint = late().fingerprint();
    let begun = Event::RunStarted(Box::new(RunStarted {
        class: class_ref,
        ..started(n, Payload::from(r#"{"request_no":"PR-7"}"#))
    }));
    let mut events = vec![begun];
    events.extend([DRAFT, FACTS].into_iter().flat_map(sent));
    events.push(Event::CancelRequested {
        by: "uid 1000".to_owned(),
        why: "wrong minutes".to_owned(),
    });
    events.extend([DRAFT, FACTS].into_iter().flat_map(stopped));
    events.extend(heard());
    events.extend(looked_after());
    let timed = (0u64..).zip(events);
    let stamped = timed.map(|(n_th, event)| Stamped {
        at: at(u64::from(n) + 10 * n_th),
        event,
    });
    stamped.collect()
}

fn sent(call: CallId) -> [Event; 2] {
    [
        Event::CallPrepared {
            call,
            prepared: prepared(r#"{"q":"policy"}"#, None),
        },
        Event::AttemptStarted(AttemptStarted {
            call,
            attempt: FIRST,
            rung: Rung(0),
            at: at(600),
            timeout: Millis::new(2_900),
            cost: CostUnits::units(2),
            retry_tokens: Tokens::ZERO,
        }),
    ]
}

fn stopped(call: CallId) -> [Event; 3] {
    [
        Event::AttemptSettled {
            call,
            attempt: FIRST,
            end: AttemptEnd::Failed(Failure::new(FailureKind::Canceled, Sent::MaybeSent)),
            cost: CostUnits::units(2),
            client_retries: 0,
        },
        Event::AttemptOrphaned {
            call,
            attempt: FIRST,
            owner: "uid 1000".to_owned(),
            until: at(63_500),
        },
        Event::CallFailed {
            call,
            kind: FailureKind::Canceled,
            reason: Reason::Requested,
        },
    ]
}

/// The draft comes all the same.
fn heard() -> Vec<Event> {
    vec![
        Event::LapEnded {
            outcome: OutcomeKind::Canceled,
            reason: Reason::Requested,
            result: None,
            at: at(700),
        },
        Event::LateResult {
            call: DRAFT,
            attempt: FIRST,
            cost: CostUnits::micros(700_000),
            client_retries: 1,
        },
        Event::LateValueRecorded {
            call: DRAFT,
            attempt: FIRST,
            policy: OnLate::Keep,
            value: Some(Payload::from(r#"{"draft":1}"#)),
        },
        Event::OrphanObserved {
            call: DRAFT,
            attempt: FIRST,
            seen: Seen::CompletedLate,
        },
    ]
}

/// Of the facts nothing is heard: somebody takes them over, waits, and closes them.
fn looked_after() -> Vec<Event> {
    vec![
        Event::OrphanAdopted {
            call: FACTS,
            attempt: FIRST,
            by: "anna (uid:1000)".to_owned(),
            why: "it is our search".to_owned(),
            until: at(90_000),
        },
        Event::OrphanObserved {
            call: FACTS,
            attempt: FIRST,
            seen: Seen::StillRunning,
        },
        Event::OrphanClosed {
            call: FACTS,
            attempt: FIRST,
            by: "anna (uid:1000)".to_owned(),
            why: "it was restarted".to_owned(),
        },
        Event::RunClosed,
    ]
}
