//! Recovery: bounded, patient, and never in the way of somebody who asks.

use mainstay_class::{Budget, Class, TaskClass, mins};
use mainstay_machine::OutcomeKind;
use mainstay_types::RunId;

use crate::world::classes::chain;
use crate::world::{Does, Minutes, World, minutes};

/// Runs of a process that died, each with a read out.
fn left_open(world: &World, class: &Class<Minutes, String>, runs: usize) -> Vec<RunId> {
    let life = world.live(&[class.erased()]);
    let ids = (0..runs).map(|n| life.start(class, minutes(&n.to_string(), 0)).id());
    let ids = ids.collect();
    life.crash();
    ids
}

/// Two reads that may take their time.
fn slow(world: &World) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("slow", 1);
    g.budget(Budget::new().answer_by(mins(60)));
    let read = world.outside.read("link");
    let one = g.read("one", &read, (), |m, ()| m.question()).add();
    let two = g.read("two", &read, one, |m, _| m.question()).add();
    g.finish(two, |_, told| told.by.clone())
        .expect("a valid class")
}

/// F01: the keeper's own passes are as patient as the first one.
#[test]
fn f01_a_store_that_cannot_be_read_while_the_rest_is_recovered_loses_no_run_either() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let class = slow(&world);
    left_open(&world, &class, 250);
    let life = world.live_with(|builder| builder.register(&class).recovery_max(20));
    assert!(life.in_memory() <= 20);
    world.ledger.unreadable_after(30, 3);
    let closed = || world.ledger.count("RunClosed");
    assert!(
        life.until(60_000, || closed() == 250),
        "{} of 250",
        closed()
    );
    assert!(life.engine.not_driven().is_empty());
    world.must_be_sound();
}

#[test]
fn no_more_runs_are_recovered_at_once_than_there_is_room_for() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let class = slow(&world);
    let ids = left_open(&world, &class, 40);
    let life = world.live_with(|builder| builder.register(&class).recovery_max(3));
    let mut most = 0;
    let closed = || ids.iter().all(|&id| world.state(id).head().unwrap().closed);
    while !closed() {
        most = most.max(life.in_memory());
        life.run_for(20);
        assert!(world.elapsed() < 60_000, "they all end");
    }
    assert_eq!(most, 3);
    world.must_be_sound();
}

/// F07: an outcome is asked for while its run has not been recovered yet.
#[test]
fn f07_an_outcome_is_given_also_while_the_recovery_is_not_done() {
    let world = World::new();
    world.outside.script(|ask| match ask.at {
        0 => Does::Hang,
        _ => Does::Answer(1_000),
    });
    let class = slow(&world);
    let ids = left_open(&world, &class, 12);
    world.timers.advance(mainstay_types::Millis::new(10));
    let life = world.live_with(|builder| builder.register(&class).recovery_max(1));
    let began = world.elapsed();
    let last = *ids.last().unwrap();
    assert!(
        !life
            .engine
            .not_driven()
            .iter()
            .any(|entry| entry.run == last)
    );
    let outcome = life.outcome_of(&class, last);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert!(
        world.elapsed() - began < 4_000,
        "it does not queue: {}",
        world.elapsed() - began
    );
    // Everybody at once, several times each.
    life.block_on(async {
        let mut waiting = Vec::new();
        for &id in ids.iter().chain(&ids) {
            let run = life.engine.run(&class, id).await.unwrap();
            waiting.push(async move { run.outcome().await.unwrap().kind });
        }
        for kind in crate::real_threads::all(waiting).await {
            assert_eq!(kind, OutcomeKind::Completed);
        }
    });
    world.must_be_sound();
}

#[test]
fn a_command_reaches_a_run_that_has_not_been_recovered_yet() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = slow(&world);
    let ids = left_open(&world, &class, 5);
    let life = world.live_with(|builder| builder.register(&class).recovery_max(1));
    life.block_on(life.engine.terminate(ids[4], "me", "no more"))
        .unwrap();
    life.block_on(life.engine.cancel(ids[3], "me", "no more"))
        .unwrap();
    life.run_for(100);
    let kind = |id: RunId| {
        world
            .state(id)
            .head()
            .unwrap()
            .lap
            .outcome
            .clone()
            .map(|o| o.kind)
    };
    assert_eq!(kind(ids[4]), Some(OutcomeKind::Terminated));
    assert_eq!(kind(ids[3]), Some(OutcomeKind::Canceled));
    assert_eq!(kind(ids[2]), None);
}

#[test]
fn a_chain_of_calls_is_recovered_while_another_class_is_missing() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let (class, other) = (slow(&world), chain(&world.outside, 2));
    let missing = left_open(&world, &class, 30);
    let there = left_open(&world, &other, 30);
    let life = world.live_with(|builder| builder.register(&other).recovery_max(5));
    for id in there {
        assert_eq!(life.outcome_of(&other, id).kind, OutcomeKind::Completed);
    }
    let listed: Vec<RunId> = life
        .engine
        .not_driven()
        .iter()
        .map(|entry| entry.run)
        .collect();
    assert_eq!(listed, missing, "what cannot be driven takes no room");
}
