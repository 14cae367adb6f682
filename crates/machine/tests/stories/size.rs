//! A long list comes to its end: every item once, at what it costs.

use std::sync::Arc;

use mainstay_machine::{Command, OutcomeKind, Phase, apply, decide};
use mainstay_types::{CallId, CostUnits, Payload, Reason, limits};

use crate::scenario::build;
use crate::scenario::fair::{self, Fate, Receiver};
use crate::scenario::parse::Script;
use crate::scenario::world::{Facts, World};

fn list_of(items: u32) -> World {
    let script = Script::parse(
        "
        each   ticket_write cost=0.01 max=1000 scope=business
        start  concurrency=64 answer_by=1h
    ",
    );
    let mut facts = Facts::default();
    facts.lists.insert("ticket_write".to_owned(), items);
    let mut world = World::new(Arc::new(build::class(&script)), facts);
    world.rehearse = false;
    world.begin();
    world
}

fn outcome(world: &World) -> Option<OutcomeKind> {
    let head = world.run.head().expect("started");
    head.lap.outcome.as_ref().map(|outcome| outcome.kind)
}

#[test]
fn three_hundred_items_are_three_hundred_effects() {
    let mut world = list_of(300);
    let mut receiver = Receiver::of(&world, Fate::Lost);
    assert!(fair::drive(&mut world, &mut receiver));
    assert_eq!(outcome(&world), Some(OutcomeKind::Completed));
    let spent = world.run.head().expect("started").lap.budget.spent;
    assert_eq!(spent, CostUnits::units(3));
}

#[test]
fn a_list_of_values_beyond_the_bound_fails_its_call_and_keeps_every_effect() {
    let mut world = list_of(5);
    let mut receiver = Receiver::of(&world, Fate::Lost);
    let mib = format!("\"{}\"", "x".repeat(1 << 20));
    receiver.reply = Some(Payload::from(mib));
    assert!(fair::drive(&mut world, &mut receiver));
    assert_eq!(outcome(&world), Some(OutcomeKind::HandedOff));
    let each = &world.run.calls().get(CallId(0)).expect("the each").phase;
    let Phase::Failed { reason, .. } = each else {
        panic!("{each:?}")
    };
    assert_eq!(*reason, Reason::ResultTooLarge);
    let applied = world
        .run
        .calls()
        .iter()
        .filter(|(_, call)| call.value().is_some());
    assert_eq!(applied.count(), 5);
}

#[test]
fn a_thousand_calls_that_time_out_at_once_end_in_bounded_appends() {
    let mut world = list_of(1_000);
    world.now = world.run.head().expect("started").lap.times.answer_by;
    while let Ok(events) = decide(&world.run, Command::Advance, world.now) {
        if events.is_empty() {
            break;
        }
        assert!(
            events.len() <= limits::ADVANCE_EVENTS_MAX + 2,
            "{}",
            events.len()
        );
        for event in &events {
            apply(&mut world.run, event).expect("decided on this state");
        }
    }
}
