//! Fakes do what their script says, once each, in the order it was said.

use mainstay_machine::OutcomeKind;
use mainstay_runtime::{Engine, Outcome};
use mainstay_testing::{Fake, InMemory, World, fake};
use mainstay_types::{Failure, FailureKind, Millis, Sent};

use crate::classes::{Order, purchase};

/// A world whose prices are known, around this fake for the orders.
fn world(orders: &Fake) -> World {
    let prices = fake("prices").answers(100);
    let builder = Engine::in_memory().with(&prices).with(orders);
    builder.register(&purchase()).start()
}

fn bought(orders: &Fake) -> Outcome<String> {
    world(orders).run(&purchase(), "desk".to_owned())
}

#[test]
fn a_reply_is_made_from_the_request_and_the_request_can_be_read() {
    let orders = fake("orders").answers_with(|(item, cents): Order| format!("{item} for {cents}"));
    assert_eq!(
        bought(&orders).result.as_deref(),
        Some("desk for 100"),
        "{orders:?}"
    );
    let asked = orders.requests();
    assert_eq!(asked[0].request::<Order>(), ("desk".to_owned(), 100));
    assert_eq!(
        (asked[0].call.as_str(), asked[0].attempt.get()),
        ("order", 1)
    );
    assert!(asked[0].key.is_some(), "a write has its effect key");
}

#[test]
fn failures_come_first_and_then_the_answer() {
    let orders = fake("orders")
        .answers("R-1")
        .fails(FailureKind::Overloaded, 1)
        .fails_as(
            Failure::new(FailureKind::TransientTransport, Sent::NotSent),
            1,
        );
    assert_eq!(bought(&orders).result.as_deref(), Some("R-1"));
    assert_eq!((orders.requests().len(), orders.applied()), (3, 1));
    assert_eq!(orders.unused(), 0);
}

#[test]
fn a_lost_reply_is_found_by_a_look_up_and_nothing_is_sent_twice() {
    let orders = fake("orders").answers("R-1").loses_the_reply();
    assert_eq!(bought(&orders).result.as_deref(), Some("R-1"));
    assert_eq!((orders.requests().len(), orders.applied()), (1, 1));
    let look_up = &orders.look_ups()[0];
    assert_eq!(look_up.key, orders.requests()[0].key);
    assert!(
        Millis::from_secs(3) <= look_up.at,
        "the attempt's time was up"
    );
}

#[test]
fn a_look_up_that_says_nothing_is_asked_again() {
    let orders = fake("orders").answers("R-1").loses_the_reply();
    orders.cannot_tell(1).is_still_at_it(1);
    assert_eq!(bought(&orders).result.as_deref(), Some("R-1"));
    assert_eq!((orders.look_ups().len(), orders.applied()), (3, 1));
}

#[test]
fn what_was_done_stays_done_although_the_adapter_failed_or_panicked() {
    let orders = fake("orders").answers("R-1");
    let orders = orders
        .does_it_and_fails(FailureKind::TransientTransport)
        .panics();
    assert_eq!(bought(&orders).result.as_deref(), Some("R-1"));
    assert_eq!(orders.applied(), 1);
    assert_eq!(orders.unused(), 1, "the first request was enough");
    let effect = &orders.effects()[0];
    assert_eq!(
        (effect.request.clone(), effect.at),
        (orders.requests()[0].body.clone(), orders.requests()[0].at)
    );
}

#[test]
fn a_request_that_was_never_done_is_sent_again_once_it_cannot_land_any_more() {
    let orders = fake("orders").answers("R-1").hangs(1).panics();
    assert_eq!(bought(&orders).result.as_deref(), Some("R-1"));
    assert_eq!((orders.requests().len(), orders.applied()), (3, 1));
    let keys = orders.requests().into_iter().map(|asked| asked.key);
    let mut keys: Vec<_> = keys.collect();
    keys.dedup();
    assert_eq!(keys.len(), 1, "one effect has one key");
}

#[test]
fn part_of_a_write_is_for_a_person_to_see() {
    let orders = fake("orders").answers("R-1").loses_the_reply();
    let outcome = bought(&orders.did_only_a_part());
    assert_eq!(
        (outcome.kind, outcome.result),
        (OutcomeKind::HandedOff, None)
    );
}

#[test]
fn without_an_answer_the_failure_says_what_is_missing() {
    let orders = fake("orders");
    let world = world(&orders);
    let run = world.start(&purchase(), "desk".to_owned());
    assert_ne!(world.outcome(&run).kind, OutcomeKind::Completed);
    let story = world.story(run.id());
    assert!(story.contains("given no answer"), "{story}");
}

#[test]
#[should_panic(expected = "there are: orders")]
fn a_fake_for_a_dependency_that_nobody_asks_is_refused_with_the_names_there_are() {
    drop(world(&fake("odrers")));
}
