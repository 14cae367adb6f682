//! Events that cannot follow: what is stored and contradicts the state is said, never guessed at.

use std::sync::Arc;

use mainstay_machine::{
    AttemptStarted, Command, Event, Evidence, LeaseTaken, OutcomeKind, Prepared, Run, apply, decide,
};
use mainstay_types::{
    AttemptNo, CallId, CostUnits, Digest, Epoch, FailureKind, Millis, Payload, Reason, Rung, Tokens,
};

use crate::scenario::build;
use crate::scenario::parse::Script;
use crate::scenario::world::{Facts, ORIGIN, World, worker_id};

const CLASS: &str = "
    read  policy fallback=snapshot
    write order
    each  tickets
    local report
    start gates=closed
";

/// A run whose policy, order and ticket are ready, and whose report is computed.
fn run() -> Run {
    let class = build::class(&Script::parse(CLASS));
    let facts = Facts {
        gates_closed: true,
        ..Facts::default()
    };
    let mut world = World::new(Arc::new(class), facts);
    world.begin();
    world.run
}

fn started(call: u32, rung: u8, attempt: u32) -> Event {
    Event::AttemptStarted(AttemptStarted {
        call: CallId(call),
        attempt: AttemptNo(attempt),
        rung: Rung(rung),
        at: ORIGIN,
        timeout: Millis::new(1_000),
        cost: CostUnits::ZERO,
        retry_tokens: Tokens::ZERO,
    })
}

fn prepared() -> Prepared {
    let fingerprint = Digest::of(b"{}");
    Prepared {
        request: Payload::from("{}"),
        fingerprint,
        business_id: None,
    }
}

fn settled(call: u32) -> Event {
    Event::CallSettled {
        call: CallId(call),
        rung: Rung(0),
        result: Payload::from("1"),
    }
}

#[track_caller]
fn is_corrupt(run: &mut Run, event: &Event) {
    let before = run.clone();
    run.begin();
    let result = apply(run, event);
    run.undo();
    assert!(*run == before, "undo after {event:?}");
    assert_eq!(result.expect_err("it cannot follow").event, event.name());
}

#[test]
fn nothing_comes_before_the_start() {
    let mut unborn = Run::unborn(Arc::clone(run().class()));
    for event in [settled(0), Event::RunClosed, started(0, 0, 1)] {
        is_corrupt(&mut unborn, &event);
    }
}

#[test]
fn an_attempt_needs_its_calls_rung_its_number_and_an_effect_that_may_be_sent() {
    let mut run = run();
    for event in [
        started(0, 1, 1),
        started(0, 0, 2),
        started(1, 0, 1),
        started(2, 0, 1),
    ] {
        is_corrupt(&mut run, &event);
    }
    apply(&mut run, &started(0, 0, 1)).expect("policy is ready");
    is_corrupt(&mut run, &started(0, 0, 2));
}

#[test]
fn only_a_receiver_gives_a_write_its_value_and_only_once_it_was_sent() {
    let mut run = run();
    let call = CallId(1);
    let (result, reason) = (Payload::from("1"), Reason::Answered);
    let later = ORIGIN + Millis::new(1);
    for event in [
        settled(1),
        Event::EffectApplied {
            call,
            result,
            reason,
        },
        Event::EffectAbsent {
            call,
            reason: Reason::RefusedByReceiver,
        },
        Event::EffectPartlyApplied { call },
        Event::EffectInDoubt {
            call,
            reason,
            lookup_at: later,
            absent_after: later,
        },
        Event::ControlSettled {
            call,
            number: 1,
            reason,
            next_at: later,
        },
    ] {
        is_corrupt(&mut run, &event);
    }
}

#[test]
fn an_effect_that_was_not_sent_is_neither_absent_nor_intended_again() {
    let mut run = run();
    let command = Command::Authorize {
        call: CallId(1),
        rung: Rung(0),
        evidence: Evidence::default(),
    };
    let events = decide(&run, command, ORIGIN).expect("order may start");
    let [intended, started] = &events[..] else {
        panic!("{events:?}")
    };
    apply(&mut run, intended).expect("order is ready");
    let absent = Event::EffectAbsent {
        call: CallId(1),
        reason: Reason::RefusedByReceiver,
    };
    is_corrupt(&mut run, &absent);
    is_corrupt(&mut run, intended);
    apply(&mut run, started).expect("its effect is intended");
    is_corrupt(&mut run, &absent);
}

#[test]
fn what_is_out_is_settled_before_its_call_ends() {
    let mut run = run();
    apply(&mut run, &started(0, 0, 1)).expect("policy is ready");
    let (call, reason) = (CallId(0), Reason::SameInputFails);
    let kind = FailureKind::PermanentProvider;
    for event in [
        settled(0),
        Event::CallFailed { call, kind, reason },
        Event::CallOmitted { call, reason },
        Event::CallSkipped { call },
        Event::CallRescheduled {
            call,
            rung: Rung(0),
            not_before: ORIGIN,
            reason,
        },
    ] {
        is_corrupt(&mut run, &event);
    }
}

#[test]
fn a_call_gets_what_its_kind_is_made_of() {
    let mut run = run();
    let not_before = ORIGIN;
    let reason = Reason::RetryAllowed;
    for event in [
        Event::CallPrepared {
            call: CallId(3),
            prepared: prepared(),
        },
        Event::ListRecorded {
            call: CallId(0),
            items: vec![prepared()],
        },
        Event::CallRescheduled {
            call: CallId(0),
            rung: Rung(2),
            not_before,
            reason,
        },
        settled(2),
        settled(3),
    ] {
        is_corrupt(&mut run, &event);
    }
}

#[test]
fn a_lap_ends_once_a_run_closes_after_it_and_epochs_follow_each_other() {
    let mut run = run();
    is_corrupt(&mut run, &Event::RunClosed);
    let taken = |epoch| {
        Event::LeaseTaken(LeaseTaken {
            epoch: Epoch(epoch),
            worker: worker_id(2),
            at: ORIGIN,
            downtime: Millis::ZERO,
            extended: Millis::ZERO,
        })
    };
    is_corrupt(&mut run, &taken(3));
    is_corrupt(&mut run, &taken(1));
    let ended = Event::LapEnded {
        outcome: OutcomeKind::Canceled,
        reason: Reason::Requested,
        result: None,
        at: ORIGIN,
    };
    apply(&mut run, &ended).expect("the lap has no outcome yet");
    is_corrupt(&mut run, &ended);
    let doubts = Vec::new();
    is_corrupt(
        &mut run,
        &Event::AnsweredLater {
            doubts,
            expected_by: ORIGIN,
        },
    );
    apply(&mut run, &Event::RunClosed).expect("the lap has ended");
    is_corrupt(&mut run, &Event::RunClosed);
}
