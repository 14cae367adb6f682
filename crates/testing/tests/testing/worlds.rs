//! Time passes only when it is waited for, one seed gives one story, and a crash takes memory only.

use std::cell::Cell;
use std::rc::Rc;

use mainstay_class::{Budget, mins, secs};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::{Answer, Engine};
use mainstay_testing::{Fake, InMemory, World, fake};
use mainstay_types::{FailureKind, Millis};

use crate::classes::{purchase, purchase_as};

fn world(seed: u64, orders: &Fake) -> World {
    let prices = fake("prices").answers(100);
    prices.fails(FailureKind::Overloaded, 1);
    let builder = Engine::in_memory().seed(seed).with(&prices).with(orders);
    builder.register(&purchase()).start()
}

/// The whole story of a run with a retry and a lost reply.
fn story(seed: u64) -> String {
    let orders = fake("orders").answers("R-1").loses_the_reply();
    let world = world(seed, &orders);
    let run = world.start(&purchase(), "desk".to_owned());
    world.outcome(&run);
    world.story(run.id())
}

#[test]
fn one_seed_gives_one_story_and_another_seed_another() {
    assert_eq!(story(7), story(7));
    assert_ne!(story(7), story(8));
}

#[test]
fn a_slow_fake_takes_virtual_time_and_nobody_else_does() {
    let orders = fake("orders").answers("R-1").takes(Millis::from_secs(2));
    let prices = fake("prices").answers(100);
    let builder = Engine::in_memory().with(&prices).with(&orders);
    let world = builder.register(&purchase()).start();
    world.run(&purchase(), "desk".to_owned());
    assert_eq!(world.elapsed(), Millis::from_secs(2));
}

#[test]
fn a_dependency_without_a_fake_stays_what_it_is() {
    let orders = fake("orders").answers_with(|(_, cents): (String, u64)| cents.to_string());
    let world = Engine::in_memory().with(&orders).register(&purchase());
    let outcome = world.start().run(&purchase(), "desk".to_owned());
    assert_eq!(outcome.result.as_deref(), Some("4"));
}

#[test]
fn a_killed_engine_goes_on_where_it_was() {
    let orders = fake("orders").answers("R-1").takes(Millis::new(500));
    let mut world = world(1, &orders);
    let start = world.engine().start(&purchase(), "desk".to_owned());
    let run = world.block_on(start.key("PR-4711")).expect("it starts");
    world.advance(Millis::from_secs(1));
    assert_eq!(orders.requests().len(), 1, "the order is out");
    world.restart();

    let again = world.engine().start(&purchase(), "desk".to_owned());
    let again = world.block_on(again.key("PR-4711")).expect("it is found");
    assert!(again.is_reused() && again.id() == run.id());
    assert_eq!(world.outcome(&again).result.as_deref(), Some("R-1"));
    assert_eq!(orders.applied(), 1);
    assert!(orders.look_ups().iter().all(|asked| 1 < asked.fence.get()));
}

#[test]
fn a_doubt_outlives_the_answer_and_the_end_comes_when_the_receiver_can_be_asked() {
    let class = purchase_as(|g| {
        g.budget(Budget::new().answer_by(secs(12)).retries(4).cost(10));
    });
    let prices = fake("prices").answers(100);
    let orders = fake("orders").answers("R-1").loses_the_reply();
    orders.cannot_tell(20);
    let builder = Engine::in_memory().with(&prices).with(&orders);
    let world = builder.register(&class).start();

    let run = world.start(&class, "desk".to_owned());
    assert!(matches!(world.answer(&run), Answer::Later(_)));
    assert_eq!(world.elapsed(), Millis::from_secs(12));
    world.run_to_the_end();
    assert_eq!(world.outcome(&run).kind, OutcomeKind::Completed);
    assert_eq!(world.view(run.id()).state, "closed");
    assert_eq!((orders.applied(), orders.look_ups().len()), (1, 21));
}

#[test]
#[should_panic(expected = "runs are still open")]
fn a_run_that_never_closes_is_named() {
    let class = purchase_as(|g| {
        g.budget(
            Budget::new()
                .answer_by(secs(12))
                .doubt_wait(mins(5))
                .cost(10),
        );
    });
    let orders = fake("orders").answers("R-1").loses_the_reply();
    orders.cannot_tell(100_000);
    let world = Engine::in_memory().with(&orders).register(&class).start();
    world.start(&class, "desk".to_owned());
    world.run_to_the_end();
}

#[test]
fn the_engine_is_configured_at_its_start_and_at_each_restart() {
    let orders = fake("orders").answers("R-1").hangs(1);
    let prices = fake("prices").answers(100);
    let started = Rc::new(Cell::new(0));
    let count = Rc::clone(&started);
    let builder = Engine::in_memory().with(&prices).with(&orders);
    let builder = builder.register(&purchase()).configure(move |engine, _| {
        count.set(count.get() + 1);
        engine.runs_max(1)
    });
    let mut world = builder.start();
    world.start(&purchase(), "desk".to_owned());
    let second = world.engine().start(&purchase(), "chair".to_owned());
    let refused = world.block_on(second).expect_err("one run is the bound");
    assert_eq!(refused.code().as_str(), "ENGINE_FULL");
    world.restart();
    assert_eq!(started.get(), 2);
}
