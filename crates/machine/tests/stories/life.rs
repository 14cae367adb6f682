//! The life of an effect, whole: each thing that may happen, wherever the effect stands.
//!
//! The table is written out by hand; nothing of it is computed from the table under test.

use std::sync::Arc;

use mainstay_machine::life::{Happens, Stage, table};
use mainstay_machine::{
    AttemptEnd, AttemptStarted, CompensationWanted, Event, Ruling, Run, SettledByHand, apply,
    effect,
};
use mainstay_types::{
    AttemptNo, CallId, CostUnits, Failure, FailureKind, Millis, Payload, Reason, RunId, Rung, Sent,
    Tokens,
};

use crate::scenario::build;
use crate::scenario::parse::Script;
use crate::scenario::world::{Facts, ORIGIN, World};

/// What happens, then where it leads from each stage; `-` where it may not happen.
const TABLE: &str = "
    from      not_there  intended   dispatched in_doubt   applied    partly     absent     undone
    Intended  intended   -          -          -          -          -          -          -
    Sent      -          dispatched -          -          -          -          dispatched -
    Doubted   -          -          in_doubt   -          -          -          in_doubt   -
    Asked     -          -          -          in_doubt   -          -          -          -
    Applied   -          -          applied    applied    -          applied    applied    -
    Adopted   applied    -          applied    applied    -          -          applied    -
    Taken     in_doubt   -          -          -          -          -          in_doubt   -
    Partly    -          -          -          partly     -          -          -          -
    Absent    -          -          absent     absent     -          absent     -          -
    Ruled     -          -          -          in_doubt   -          partly     -          -
    Unwanted  -          -          -          partly     applied    partly     -          -
    Undone    -          -          -          -          undone     undone     -          -
";

const fn word(stage: Stage) -> &'static str {
    match stage {
        Stage::NotThere => "not_there",
        Stage::Intended => "intended",
        Stage::Dispatched => "dispatched",
        Stage::InDoubt => "in_doubt",
        Stage::Applied => "applied",
        Stage::PartlyApplied => "partly",
        Stage::Absent => "absent",
        Stage::Compensated => "undone",
    }
}

#[test]
fn each_pair_of_a_stage_and_what_happens_leads_where_the_table_says() {
    let lines = TABLE.lines().filter(|line| !line.trim().is_empty());
    let mut lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let from: Vec<&str> = Stage::ALL.map(word).into();
    assert_eq!(lines.next().unwrap()[1..], from);
    for what in Happens::ALL {
        let line = lines.next().expect("a line for each");
        assert_eq!(line[0], format!("{what:?}"));
        for (stage, expected) in Stage::ALL.into_iter().zip(&line[1..]) {
            let to = table(stage, what).map_or("-", word);
            assert_eq!(to, *expected, "{what:?} from {stage:?}");
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn nothing_is_sent_while_it_is_in_doubt_or_known_to_be_in_the_world() {
    for stage in [
        Stage::Dispatched,
        Stage::InDoubt,
        Stage::Applied,
        Stage::PartlyApplied,
        Stage::Compensated,
    ] {
        assert_eq!(table(stage, Happens::Sent), None, "{stage:?}");
    }
    for what in Happens::ALL {
        let is_asked = matches!(what, Happens::Unwanted | Happens::Undone);
        let to = table(Stage::Applied, what);
        assert!(to.is_none() || is_asked, "{what:?} undoes nothing");
        assert_eq!(
            table(Stage::Compensated, what),
            None,
            "{what:?} brings nothing back"
        );
    }
}

const ORDER: CallId = CallId(0);
const UNDO: CallId = CallId(2);

/// A run whose order is prepared, and nothing of it sent.
fn ready() -> Run {
    let class = build::class(&Script::parse(
        "write order\n undo order-undo of=order\n result order\n start gates=closed",
    ));
    let facts = Facts {
        gates_closed: true,
        ..Facts::default()
    };
    let mut world = World::new(Arc::new(class), facts);
    world.begin();
    world.run
}

fn after(mut run: Run, events: impl IntoIterator<Item = Event>) -> Run {
    for event in events {
        apply(&mut run, &event).expect("it can follow");
    }
    run
}

fn failed(kind: FailureKind) -> Event {
    let failure = Failure::new(kind, Sent::Answered);
    Event::AttemptSettled {
        call: ORDER,
        attempt: AttemptNo(1),
        end: AttemptEnd::Failed(failure),
        cost: CostUnits::ZERO,
        client_retries: 0,
    }
}

fn absent(reason: Reason) -> Event {
    let call = ORDER;
    Event::EffectAbsent { call, reason }
}

/// The event by which it happens to the order of `run`.
fn event(what: Happens, run: &Run) -> Event {
    event_of(ORDER, what, run)
}

/// The event by which it happens to the effect of this call.
fn event_of(call: CallId, what: Happens, run: &Run) -> Event {
    let order = run.calls().get(call).expect("it is there");
    let (result, reason) = (Payload::from("1"), Reason::Answered);
    match what {
        Happens::Intended => Event::EffectIntended {
            call,
            key: effect::key(run, call, order).expect("it is prepared"),
        },
        Happens::Sent => Event::AttemptStarted(AttemptStarted {
            call,
            attempt: AttemptNo(u32::try_from(order.attempts.len()).expect("few") + 1),
            rung: Rung(0),
            at: ORIGIN,
            timeout: Millis::new(1_000),
            cost: CostUnits::ZERO,
            retry_tokens: Tokens::ZERO,
        }),
        Happens::Doubted => Event::EffectInDoubt {
            call,
            reason: Reason::WriteResponseLost,
            lookup_at: ORIGIN,
            absent_after: ORIGIN,
        },
        Happens::Asked => Event::ControlSettled {
            call,
            number: 1,
            reason: Reason::CannotTell,
            next_at: ORIGIN,
        },
        Happens::Applied => Event::EffectApplied {
            call,
            result,
            reason,
        },
        Happens::Adopted => Event::EffectApplied {
            call,
            result,
            reason: Reason::AdoptedFromOtherRun,
        },
        Happens::Taken => Event::KeyTakenOver {
            call,
            holder: RunId::from_bytes([9; 16]),
            sent_at: ORIGIN,
            lookup_at: ORIGIN,
            absent_after: ORIGIN,
        },
        Happens::Partly => Event::EffectPartlyApplied { call },
        Happens::Absent => absent(Reason::AbsentAfterHorizon),
        Happens::Unwanted => Event::CompensationWanted(Box::new(CompensationWanted {
            call,
            wanted: 1,
            by: "anna".to_owned(),
            why: "changed her mind".to_owned(),
            at: ORIGIN,
            cost: CostUnits::ZERO,
            retry_tokens: Tokens::ZERO,
        })),
        Happens::Undone => Event::EffectCompensated { call },
        Happens::Ruled => Event::EffectSettledByHand(Box::new(SettledByHand {
            call,
            attempt: AttemptNo(1),
            ruling: Ruling::Applied,
            by: "anna".to_owned(),
            why: "looked it up".to_owned(),
            at: ORIGIN,
        })),
    }
}

/// What undoes the order is asked for, sent and answered.
fn undoing(run: Run) -> Run {
    let wanted = event(Happens::Unwanted, &run);
    let order = run.calls().get(ORDER).expect("it is there");
    let prepared = Event::CallPrepared {
        call: UNDO,
        prepared: order.prepared.clone().expect("it is prepared"),
    };
    let mut run = after(run, [wanted, prepared]);
    for what in [Happens::Intended, Happens::Sent] {
        let event = event_of(UNDO, what, &run);
        run = after(run, [event]);
    }
    let answered = Event::AttemptSettled {
        call: UNDO,
        attempt: AttemptNo(1),
        end: AttemptEnd::Answered,
        cost: CostUnits::ZERO,
        client_retries: 0,
    };
    let run = after(run, [answered]);
    let done = event_of(UNDO, Happens::Applied, &run);
    after(run, [done])
}

/// Runs whose order stands at this stage, with each phase that its call can have there.
fn at(stage: Stage) -> Vec<Run> {
    let then = |run: Run, what| {
        let event = event(what, &run);
        after(run, [event])
    };
    let intended = || then(ready(), Happens::Intended);
    let out = || then(intended(), Happens::Sent);
    let back = |kind| after(out(), [failed(kind)]);
    let lost = || back(FailureKind::EffectUnknown);
    let in_doubt = || then(lost(), Happens::Doubted);
    let applied = || then(in_doubt(), Happens::Applied);
    let partly = || then(in_doubt(), Happens::Partly);
    let given_up = Event::CallFailed {
        call: ORDER,
        kind: FailureKind::EffectUnknown,
        reason: Reason::PartlyApplied,
    };
    match stage {
        Stage::NotThere => vec![ready()],
        Stage::Intended => vec![intended()],
        Stage::Dispatched => vec![out(), lost()],
        Stage::InDoubt => vec![in_doubt()],
        Stage::Applied => vec![applied(), undoing(applied())],
        Stage::PartlyApplied => vec![
            partly(),
            after(partly(), [given_up]),
            undoing(in_doubt()),
            undoing(partly()),
        ],
        Stage::Compensated => vec![
            then(undoing(applied()), Happens::Undone),
            then(undoing(partly()), Happens::Undone),
            then(undoing(in_doubt()), Happens::Undone),
        ],
        Stage::Absent => vec![
            then(in_doubt(), Happens::Absent),
            after(
                back(FailureKind::Overloaded),
                [absent(Reason::RefusedByReceiver)],
            ),
        ],
    }
}

fn stage(run: &Run) -> Stage {
    Stage::of(run.calls().get(ORDER).expect("it is there").effect.as_ref())
}

#[test]
fn a_run_takes_what_the_table_allows_and_refuses_everything_else() {
    for from in Stage::ALL {
        for what in Happens::ALL {
            let runs = at(from);
            assert!(runs.iter().all(|run| stage(run) == from), "{from:?}");
            let took = runs.into_iter().filter_map(|mut run| {
                let event = event(what, &run);
                apply(&mut run, &event).ok().map(|()| stage(&run))
            });
            let took: Vec<Stage> = took.collect();
            match table(from, what) {
                None => assert_eq!(took, [], "{what:?} from {from:?}"),
                Some(to) => {
                    assert!(!took.is_empty(), "{what:?} from {from:?} is never taken");
                    assert!(
                        took.iter().all(|stage| *stage == to),
                        "{took:?}, not {to:?}"
                    );
                }
            }
        }
    }
}
