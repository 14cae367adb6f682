//! What a client library sends without asking: a retry or a hedge of its own is load like one of
//! ours, and is paid from the same tokens.

use mainstay_class::{Budget, Cap, Caps, Class, TaskClass, mins, secs};
use mainstay_machine::{BudgetState, OutcomeKind};
use mainstay_runtime::Outcome;
use mainstay_types::{CostUnits, FailureKind, RunId};

use crate::world::script::refused;
use crate::world::{Does, Minutes, World, minutes};

/// A read through a client that sends by itself, then one that fails as long as it is tried.
fn class(world: &World, caps: Caps, falls_back: bool) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("eager", 1);
    g.budget(Budget::new().answer_by(secs(60)).retries(3))
        .caps(caps);
    let eager = world.outside.read("eager");
    let first = g.read("first", &eager, (), |m, ()| m.question()).add();
    let flaky = world.outside.read("flaky");
    let mut then = g.read("then", &flaky, first, |m, _| m.question());
    then = then.attempts(11);
    if falls_back {
        then = then.fallback_provider(&world.outside.read("other"));
        then = then.fallback(&world.outside.read("snapshot"), mins(20));
    }
    let then = then.add();
    g.finish(then, |_, told| told.by.clone())
        .expect("a valid class")
}

/// The eager client sends so many more requests than it was asked for.
fn sends_more(world: &World, more: u32) {
    world
        .outside
        .script(move |ask| match ask.dependency.as_str() {
            "eager" => Does::Bill(10, CostUnits::units(1), more),
            "flaky" => Does::Fail(10, refused(FailureKind::Overloaded)),
            _ => Does::Answer(10),
        });
}

fn outcome(world: &World, class: &Class<Minutes, String>) -> Outcome<String> {
    let life = world.live(&[class.erased()]);
    life.outcome(&life.start(class, minutes("M", 0)))
}

fn budget(world: &World, id: RunId) -> BudgetState {
    world.state(id).head().unwrap().lap.budget
}

fn asked(world: &World, dependency: &str) -> usize {
    world.outside.requests(dependency).len()
}

#[test]
fn what_a_client_sent_beyond_the_one_request_uses_retry_tokens_of_the_run() {
    let world = World::new();
    sends_more(&world, 2);
    let class = class(&world, Caps::new(), false);
    assert_eq!(outcome(&world, &class).kind, OutcomeKind::HandedOff);
    assert_eq!(asked(&world, "flaky"), 1 + 1, "one token was left");
    assert_eq!(budget(&world, world.only_run()).retry_used.get(), 3);
    world.must_be_sound();
}

#[test]
fn what_a_client_sent_before_it_gave_up_uses_them_too() {
    let world = World::new();
    let gave_up = refused(FailureKind::Overloaded).client_retries(2);
    world
        .outside
        .script(move |ask| match (ask.dependency.as_str(), ask.nth) {
            ("flaky", 1) => Does::Fail(10, gave_up.clone()),
            ("flaky", _) => Does::Fail(10, refused(FailureKind::RateLimited)),
            _ => Does::Answer(10),
        });
    let class = class(&world, Caps::new(), false);
    assert_eq!(outcome(&world, &class).kind, OutcomeKind::HandedOff);
    assert_eq!(asked(&world, "flaky"), 1 + 1);
    assert_eq!(budget(&world, world.only_run()).retry_used.get(), 3);
}

#[test]
fn more_than_was_left_is_recorded_and_nothing_that_needs_a_token_starts_any_more() {
    let world = World::new();
    sends_more(&world, 5);
    let class = class(&world, Caps::new(), true);
    let outcome = outcome(&world, &class);
    let id = world.only_run();
    let log = world.describe(id);
    let budget = budget(&world, id);
    assert_eq!(budget.retry_used.get(), 5, "as it was, not cut: {log}");
    assert_eq!(budget.limits.retry_tokens.get(), 3);
    assert_eq!(asked(&world, "flaky"), 1, "a first attempt needs none");
    assert_eq!(asked(&world, "other"), 0, "another provider is load");
    assert_eq!(asked(&world, "snapshot"), 1, "a snapshot is none");
    assert_eq!(outcome.kind, OutcomeKind::Degraded, "{log}");
    assert_eq!(outcome.result.unwrap(), "snapshot");
}

#[test]
fn a_dependencys_cap_counts_what_its_client_sent_and_leaves_the_others_theirs() {
    let world = World::new();
    world
        .outside
        .script(|ask| match (ask.dependency.as_str(), ask.nth) {
            ("eager", 1) => Does::Bill(10, CostUnits::units(1), 2),
            ("flaky", 1) => Does::Fail(10, refused(FailureKind::Overloaded)),
            _ => Does::Answer(10),
        });
    let caps = |of: &str| Caps::new().dependency(of, Cap::new().retries(2));
    let free = class(&world, caps("eager"), false);
    assert_eq!(outcome(&world, &free).kind, OutcomeKind::Completed);

    let world = World::new();
    let gave_up = refused(FailureKind::Overloaded).client_retries(2);
    world.outside.script(move |ask| match ask.nth {
        1 if ask.dependency == "flaky" => Does::Fail(10, gave_up.clone()),
        _ => Does::Answer(10),
    });
    let capped = class(&world, caps("flaky"), false);
    assert_eq!(outcome(&world, &capped).kind, OutcomeKind::HandedOff);
    assert_eq!(asked(&world, "flaky"), 1, "the run's last token is not its");
}

#[test]
fn what_a_client_sent_stays_paid_over_a_crash() {
    let world = World::new();
    sends_more(&world, 3);
    let class = class(&world, Caps::new(), false);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 0)).id();
    life.run_for(15);
    life.crash();
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    let log = world.describe(id);
    assert_eq!((asked(&world, "eager"), world.interrupted(id)), (1, 1));
    assert_eq!(asked(&world, "flaky"), 1, "no token for another: {log}");
}
