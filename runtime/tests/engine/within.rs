//! A caller who waits for less time than the class gives: one run has it, and no other.

use mainstay_class::{Budget, Class, Reserve, TaskClass, ms, secs};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::{EngineError, RunHandle};
use mainstay_types::{Code, Millis, RunId};

use crate::world::{Does, Life, Minutes, World, minutes};

/// One read of up to eight seconds, for an answer within ten, with half a second to deliver it.
fn class(world: &World) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("answer", 1);
    g.budget(Budget::new().answer_by(secs(10)));
    g.reserve(Reserve::new().deliver(ms(500)));
    let told = g.read("told", &world.outside.read("model"), (), |m, ()| {
        m.question()
    });
    let told = told.timeout(secs(8)).estimate(secs(1)).attempts(1).add();
    g.finish(told, |_, told| told.by.clone())
        .expect("a valid class")
}

fn within(
    life: &Life,
    (class, key): (&Class<Minutes, String>, &str),
    within: Millis,
) -> RunHandle<String> {
    let start = life.engine.start(class, minutes("M", 0)).key(key);
    let started = life.block_on(start.answer_within(within).into_future());
    started.expect("it begins")
}

/// When the run's answer is due and its work ends, in milliseconds of the world.
fn times(world: &World, id: RunId) -> (u64, u64) {
    let times = world.state(id).head().unwrap().lap.times;
    let since = |at| mainstay_sim::START.until(at).get();
    (since(times.answer_by), since(times.work_by))
}

#[test]
fn a_shorter_time_is_that_runs_alone() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    let hasty = within(&life, (&class, "hasty"), secs(3));
    let patient = life.start(&class, minutes("M", 0));
    assert_eq!(times(&world, hasty.id()), (3_000, 2_500));
    assert_eq!(times(&world, patient.id()), (10_000, 9_500));
    life.run_for(0);
    let asks = world.outside.asks();
    let left: Vec<_> = asks.iter().map(|ask| ask.time_left).collect();
    assert_eq!(left, [2_500, 8_000], "its attempts end before its delivery");
    assert_eq!(life.outcome(&hasty).kind, OutcomeKind::HandedOff);
    assert!(world.elapsed() <= 3_000, "{}", world.elapsed());
    assert_eq!(life.outcome(&patient).kind, OutcomeKind::HandedOff);
    assert_eq!(world.elapsed(), 8_000);
}

#[test]
fn a_longer_time_than_the_class_gives_is_not_given() {
    let world = World::new();
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    let run = within(&life, (&class, "K"), secs(60));
    assert_eq!(times(&world, run.id()), (10_000, 9_500));
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Completed);
}

#[test]
fn a_time_that_is_too_short_is_refused_with_its_numbers_and_the_shortest_that_is_not_begins() {
    let world = World::new();
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    let start = |within| {
        let start = life.engine.start(&class, minutes("M", 0));
        life.block_on(start.answer_within(ms(within)).into_future())
    };
    let refused = start(1_499).expect_err("it does not fit");
    let EngineError::Refused { refusal, .. } = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(refusal.code, Code::InsufficientTimeBudget);
    let wanted = [
        ("need_ms", 1_500),
        ("left_ms", 1_499),
        ("queue_ms", 0),
        ("path_ms", 1_000),
        ("synthesis_ms", 0),
        ("reconcile_ms", 0),
        ("deliver_ms", 500),
        ("observed", 0),
    ];
    assert_eq!(refusal.numbers, wanted);
    assert!(world.ledger.log().is_empty());
    let run = start(1_500).expect("it fits");
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Completed);
}

#[test]
fn a_run_keeps_its_shorter_time_over_a_crash_and_for_whoever_finds_it_by_its_key() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    let id = within(&life, (&class, "K"), secs(4)).id();
    life.run_for(1_000);
    life.crash();

    let life = world.live(&[class.erased()]);
    let found = within(&life, (&class, "K"), secs(9));
    assert_eq!((found.id(), found.is_reused()), (id, true));
    assert_eq!(times(&world, id), (4_000, 3_500));
    assert_eq!(life.outcome(&found).kind, OutcomeKind::HandedOff);
    assert!(world.elapsed() <= 4_000, "{}", world.elapsed());
    let asks = world.outside.asks();
    let asks: Vec<_> = asks.iter().map(|ask| (ask.at, ask.time_left)).collect();
    assert_eq!(asks, [(0, 3_500), (1_000, 2_500)]);
    world.must_be_sound();
}

#[test]
fn the_next_lap_of_a_run_has_the_classs_time_again() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    let run = within(&life, (&class, "K"), secs(3));
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
    let at = world.elapsed();
    world.outside.script(|_| Does::Answer(5_000));
    let start = life.engine.start(&class, minutes("M", 0)).key("K");
    let start = start.answer_within(secs(3)).or_continue();
    let on = life.block_on(start.into_future()).expect("it goes on");
    assert_eq!(on.id(), run.id());
    assert_eq!(times(&world, on.id()), (at + 10_000, at + 9_500));
    assert_eq!(life.outcome(&on).kind, OutcomeKind::Completed);
}
