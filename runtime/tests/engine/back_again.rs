//! A key that comes back to its first owner: what that one is told of its own request is no word on
//! the other's, and what panics at an answer is quarantined for all to see.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mainstay_class::{Budget, Class, TaskClass, days, mins};
use mainstay_ledger::{InboxCommand, Ledger};
use mainstay_machine::{Ruling, SettleEnd};
use mainstay_types::{AttemptNo, FailureKind, MessageId, Payload, RunId};

use crate::taken_over::ordering;
use crate::undo::{key_of, state_of};
use crate::world::classes::NewTicket;
use crate::world::outside::panicked;
use crate::world::script::refused;
use crate::world::{Does, Find, Life, Minutes, Ticket, World, minutes};

const ANNA: (&str, &str) = ("anna (uid:1000)", "it is in their list");

/// A world in which nobody can tell what became of an order; what is lost by `until` says `first`.
fn world_of(first: Does, (until, then): (u64, Does)) -> World {
    let world = World::new();
    let script = move |ask: &crate::world::Ask| match (ask.dependency.as_str(), ask.at) {
        ("orders", at) if at < 100 => first.clone(),
        ("orders", at) if at < until => then.clone(),
        _ => Does::Answer(10),
    };
    world.outside.script(script);
    world.outside.finds(|_| Find::CannotTell(5));
    world
}

/// What the first process of `run` had out ends like this after all.
fn reported(world: &World, run: RunId, end: SettleEnd) {
    let state = world.state(run);
    let mut calls = state.calls().iter().map(|(id, _)| id);
    let call = calls.find(|&id| state.path(id) == "order").unwrap();
    let attempt = AttemptNo(1);
    let told = InboxCommand::Settle { call, attempt, end };
    let message = MessageId::from_bytes([9; 16]);
    let told = world.ledger.enqueue(run, message, told);
    world.executor().block_on(told).unwrap();
}

fn answered() -> SettleEnd {
    SettleEnd::Answered {
        result: Payload::from(r#"{"id":"T-1"}"#),
        cost: None,
        client_retries: 0,
    }
}

/// An order, and a question that needs it if `after`, whose code is broken as long as that is said.
fn breaking(
    world: &World,
    (name, after): (&str, bool),
    broken: &Arc<AtomicBool>,
) -> Class<Minutes, Ticket> {
    let mut g = TaskClass::<Minutes>::define(name, 1);
    g.budget(Budget::new().answer_by(mins(60)).doubt_wait(days(1)));
    let orders = world.outside.write("orders");
    let order = g
        .write("order", &orders, (), |m, ()| NewTicket {
            title: m.actions[0].clone(),
        })
        .business_id(|m: &Minutes| &m.id)
        .add();
    let is_broken = Arc::clone(broken);
    let question = move |m: &Minutes| {
        if is_broken.load(Ordering::SeqCst) {
            panicked("the code is broken".to_owned());
        }
        m.question()
    };
    let (fast, told) = (world.outside.read("fast"), world.outside.read("told"));
    let told = if after {
        g.read("told", &told, order, move |m, _| question(m)).add()
    } else {
        let fast = g.read("fast", &fast, (), |m, ()| m.question()).add();
        g.read("told", &told, fast, move |m, _| question(m)).add()
    };
    g.finish((order, told), |_, (ticket, _)| ticket.clone())
        .expect("a valid class")
}

fn stands(life: &Life, run: RunId) -> (String, Option<String>) {
    let view = life.block_on(life.engine.view(run)).unwrap();
    (view.state.to_owned(), view.outcome.map(str::to_owned))
}

/// The first run's order is out when its process ends; the second takes the key over.
fn begun(world: &World, classes: [&Class<Minutes, Ticket>; 2]) -> [RunId; 2] {
    classes.map(|class| {
        let life = world.live(&[class.erased()]);
        let run = life.start(class, minutes("M", 1)).id();
        life.run_for(if world.elapsed() < 50 { 50 } else { 20_000 });
        life.crash();
        run
    })
}

#[test]
fn a_failure_of_an_old_attempt_ends_no_doubt_about_what_another_run_sent() {
    let world = world_of(Does::Hang, (50_000, Does::Lose(0)));
    world.outside.ignore_keys();
    let [a, b] = ["a", "b"].map(|name| ordering(&world, name, None));
    let [one, two] = begun(&world, [&a, &b]);
    let life = world.live(&[b.erased()]);
    let key = key_of(&life, two, "order");
    // Nothing came in, and a person says so: the second run orders.
    let told = life
        .engine
        .settle_effect(&key, (Ruling::NotApplied, None), ANNA);
    life.block_on(told).unwrap();
    life.run_for(20_000);
    assert_eq!(world.outside.effects().len(), 1);
    life.crash();
    let life = world.live(&[a.erased()]);
    life.run_for(200_000);
    let failure = SettleEnd::Failed(refused(FailureKind::PermanentProvider));
    reported(&world, one, failure);
    life.run_for(60_000);
    let story = world.describe(one);
    assert_eq!(state_of(&life, &key), "in_doubt", "{story}");
    life.start(&a, minutes("M", 1));
    life.run_for(60_000);
    assert_eq!(world.outside.effects().len(), 1, "two orders: {story}");
}

#[test]
fn a_run_that_panics_at_an_answer_for_a_key_it_has_lost_is_quarantined_and_goes_on() {
    let world = world_of(Does::Lose(0), (0, Does::Answer(10)));
    let broken = Arc::new(AtomicBool::new(true));
    let a = breaking(&world, ("a", true), &broken);
    let b = ordering(&world, "b", None);
    let [one, two] = begun(&world, [&a, &b]);
    reported(&world, one, answered());
    let life = world.live(&[a.erased(), b.erased()]);
    life.run_for(120_000);
    assert_eq!(
        stands(&life, one).0,
        "quarantined",
        "{}",
        world.describe(one)
    );
    assert_eq!(stands(&life, two).1.as_deref(), Some("completed"));
    broken.store(false, Ordering::SeqCst);
    let goes_on = life.engine.continue_run(one, ANNA.0, ANNA.1);
    life.block_on(goes_on).unwrap();
    life.run_for(120_000);
    assert_eq!(stands(&life, one).1.as_deref(), Some("completed"));
    assert_eq!(world.outside.requests("orders").len(), 1);
    world.must_be_sound();
}

#[test]
fn an_answer_that_comes_back_with_its_key_is_no_second_order() {
    let world = world_of(Does::Lose(0), (0, Does::Answer(10)));
    let broken = Arc::new(AtomicBool::new(true));
    let a = ordering(&world, "a", None);
    let b = breaking(&world, ("b", false), &broken);
    let [one, _] = begun(&world, [&a, &b]);
    reported(&world, one, answered());
    let life = world.live(&[a.erased(), b.erased()]);
    life.run_for(120_000);
    assert_eq!(stands(&life, one).1.as_deref(), Some("completed"));
    assert_eq!(world.outside.requests("orders").len(), 1);
    let alerts = world.alerts().into_iter();
    let twice = alerts.filter(|stored| stored.alert.reason == "DONE_TWICE");
    assert_eq!(twice.count(), 0, "one request was made, ever");
    world.must_be_sound();
}
