//! Writes nobody knows the outcome of: asked about before anything else, believed only when it can
//! be, and never in the way of other writes.

use mainstay_class::{Budget, secs};
use mainstay_machine::OutcomeKind;
use mainstay_types::{FailureKind, Reason};

use crate::world::classes::{meeting, single, single_as};
use crate::world::script::{maybe_sent, not_sent, refused};
use crate::world::{Does, Find, World, minutes};

/// Runs one order to its outcome.
fn order(world: &World) -> mainstay_runtime::Outcome<crate::world::Ticket> {
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    life.outcome(&life.start(&class, minutes("M", 1)))
}

#[test]
fn a_reply_lost_on_item_three_holds_up_no_other_item_and_costs_no_second_request() {
    let world = World::new();
    world.outside.script(|ask| match ask.call.as_str() {
        "ticket_write[3]" => Does::LandAndFail(0, 50, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(40),
    });
    world.outside.finds(|ask| match ask.look_up {
        1 | 2 => Find::InProgress(5),
        _ => Find::Truth(5),
    });
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome(&life.start(&class, minutes("M", 12)));
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(outcome.result.unwrap().tickets.len(), 12);
    assert_eq!(world.outside.requests("tickets").len(), 12);
    assert_eq!(world.outside.effects().len(), 12);
    let history = world.history(world.only_run()).join("\n");
    let found = history
        .find("EffectApplied ticket_write[3] FOUND_APPLIED")
        .expect(&history);
    let last = history
        .find("EffectApplied ticket_write[11] ANSWERED")
        .expect(&history);
    assert!(
        last < found,
        "items 4.. went on while item 3 was in doubt:\n{history}"
    );
    world.must_be_sound();
}

#[test]
fn not_found_is_believed_only_once_the_request_cannot_land_any_more() {
    let world = World::new();
    // It lands two seconds after its connection broke, long after the first look-ups.
    world.outside.script(|ask| match ask.nth {
        1 => Does::LandAndFail(2_000, 10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(10),
    });
    assert_eq!(order(&world).kind, OutcomeKind::Completed);
    assert_eq!(
        world.outside.requests("orders").len(),
        1,
        "it was there after all"
    );
    assert!(2 <= world.outside.look_ups().len());
    world.must_be_sound();
}

#[test]
fn an_absence_that_is_proven_lets_the_same_key_go_out_again() {
    let world = World::new();
    world.outside.script(|ask| match ask.nth {
        1 => Does::Fail(10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(10),
    });
    assert_eq!(order(&world).kind, OutcomeKind::Completed);
    let asks = world.outside.requests("orders");
    assert_eq!(
        (asks.len(), &asks[0].key, &asks[0].body),
        (2, &asks[1].key, &asks[1].body)
    );
    // The send window, the attempt's timeout and the receiver's bound have passed.
    assert!(
        asks[0].at + 1_000 + 3_000 + 2_000 <= asks[1].at,
        "{asks:#?}"
    );
    let budget = world.state(world.only_run()).head().unwrap().lap.budget;
    assert_eq!(
        budget.retry_used.get(),
        1,
        "a second attempt costs a retry token"
    );
}

/// F15, for writes.
#[test]
fn f15_only_a_request_that_was_not_sent_may_go_out_again_without_asking() {
    let world = World::new();
    world.outside.script(|ask| match ask.nth {
        1 => Does::Fail(10, not_sent()),
        _ => Does::Answer(10),
    });
    assert_eq!(order(&world).kind, OutcomeKind::Completed);
    assert_eq!(world.outside.look_ups().len(), 0);
    assert_eq!(world.outside.requests("orders").len(), 2);
    assert!(world.elapsed() < 1_000, "nothing to wait for");

    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(10, maybe_sent(FailureKind::TransientTransport)));
    order(&world);
    let (first, asks) = (world.outside.asks()[1].clone(), world.outside.asks());
    assert_eq!(
        first.look_up, 1,
        "accepted or not, it is asked about first: {asks:#?}"
    );
}

#[test]
fn a_panic_or_a_hang_of_a_write_is_a_doubt_and_not_a_failure() {
    for does in [Does::Panic(10), Does::Hang] {
        let world = World::new();
        let first = does.clone();
        world.outside.script(move |ask| match ask.nth {
            1 => first.clone(),
            _ => Does::Answer(10),
        });
        assert_eq!(order(&world).kind, OutcomeKind::Completed, "{does:?}");
        assert_eq!(world.ledger.count("EffectInDoubt"), 1, "{does:?}");
        assert_eq!(world.outside.effects().len(), 1);
    }
}

#[test]
fn lookups_that_cannot_tell_hang_or_panic_are_tried_again_with_growing_waits() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::LandAndFail(0, 10, maybe_sent(FailureKind::Overloaded)));
    world.outside.finds(|ask| match ask.look_up {
        1 => Find::CannotTell(5),
        2 => Find::Hang,
        3 => Find::Panic,
        4..8 => Find::CannotTell(5),
        _ => Find::Truth(5),
    });
    assert_eq!(order(&world).kind, OutcomeKind::Completed);
    let asks = world.outside.look_ups();
    assert_eq!(asks.len(), 8);
    assert!(
        asks[1].at + 5_000 <= asks[2].at,
        "a look-up that hangs has its own timeout"
    );
    let waits: Vec<u64> = asks
        .windows(2)
        .skip(2)
        .map(|pair| pair[1].at - pair[0].at)
        .collect();
    // Half of the doubled wait is sure.
    for (n, wait) in (3..).zip(&waits) {
        assert!(125 << (n - 1) <= *wait, "look-up {n}: {waits:?}");
    }
}

#[test]
fn a_write_that_was_done_in_part_goes_to_a_person_and_is_not_sent_again() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(10, maybe_sent(FailureKind::Overloaded)));
    world.outside.finds(|_| Find::Partly(5));
    let outcome = order(&world);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    assert!(
        outcome.notices[0].contains("PARTLY_APPLIED"),
        "{:?}",
        outcome.notices
    );
    assert_eq!(world.outside.requests("orders").len(), 1);
}

#[test]
fn an_answer_that_refuses_a_write_is_no_doubt() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(10, refused(FailureKind::InvalidInput)));
    let outcome = order(&world);
    assert_eq!(
        (outcome.kind, outcome.reason),
        (OutcomeKind::HandedOff, Reason::HardCallFailed)
    );
    assert_eq!(world.outside.look_ups().len(), 0);
    assert_eq!(
        world.outside.requests("orders").len(),
        1,
        "the same input fails again"
    );
}

/// F35: concurrency 1, cost spent, the deadline past.
#[test]
fn f35_a_lookup_needs_no_token_no_cost_and_no_time_of_the_run() {
    let world = World::new();
    world.outside.script(|_| Does::Lose(0));
    world.outside.finds(|ask| match ask.at < 5_000 {
        true => Find::CannotTell(5),
        false => Find::Truth(5),
    });
    let class = single_as(&world.outside, |g| {
        let cost = mainstay_types::CostUnits::milli(100);
        g.budget(
            Budget::new()
                .answer_by(secs(4))
                .concurrency(1)
                .cost(cost)
                .retries(0),
        );
    });
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome(&life.start(&class, minutes("M", 1)));
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    let last = world.outside.look_ups().pop().unwrap();
    assert!(5_000 <= last.at, "after work_by: {last:?}");
    let budget = world.state(world.only_run()).head().unwrap().lap.budget;
    assert_eq!(budget.cost_left().as_micros(), 0);
}
