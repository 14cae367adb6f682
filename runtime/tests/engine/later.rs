//! Answers that come later by agreement: the class says how long it may work behind one, the caller
//! takes it, and is told so at once.

use mainstay_class::{Budget, Class, TaskClass, mins, secs};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::{Answer, EngineError, RunHandle, Start};
use mainstay_types::{Code, Millis, Reason};

use crate::world::script::maybe_sent;
use crate::world::{Does, Life, Minutes, World, minutes};

/// How long the class may work behind its answer.
const LATER: Millis = mins(1);

/// One read that is expected to take five seconds, for callers who wait for twelve.
fn class(world: &World, later: Option<Millis>) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("report", 1);
    g.budget(Budget::new().answer_by(secs(12)));
    if let Some(later) = later {
        g.later(later);
    }
    let told = g.read("told", &world.outside.read("model"), (), |m, ()| {
        m.question()
    });
    let told = told.timeout(secs(20)).estimate(secs(5)).add();
    g.finish(told, |_, told| told.by.clone())
        .expect("a valid class")
}

fn start(life: &Life, class: &Class<Minutes, String>) -> Start<Minutes, String> {
    life.engine.start(class, minutes("M", 0))
}

fn started(life: &Life, start: Start<Minutes, String>) -> RunHandle<String> {
    life.block_on(start.into_future()).expect("it begins")
}

/// Refused because it does not fit, with nothing stored.
fn is_refused(world: &World, life: &Life, start: Start<Minutes, String>) {
    let refused = life.block_on(start.into_future()).expect_err("no time");
    let EngineError::Refused { refusal, .. } = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(refusal.code, Code::InsufficientTimeBudget);
    life.run_for(60_000);
    assert!(world.ledger.log().is_empty(), "{:?}", world.ledger.log());
    assert!(world.outside.asks().is_empty());
}

/// "Later", and nothing that is in doubt.
fn is_later(life: &Life, run: &RunHandle<String>) {
    let answer = life.block_on(run.answer()).expect("an answer");
    let Answer::Later(later) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(later.why, Reason::AnswerTimeReached);
    assert!(later.doubts.is_empty(), "{later:?}");
    assert!(mainstay_sim::START + LATER <= later.expected_by);
}

#[test]
fn a_caller_who_takes_it_is_told_later_at_once_and_the_outcome_comes_when_it_is_there() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(17_000));
    let class = class(&world, Some(LATER));
    let life = world.live(&[class.erased()]);
    let run = started(
        &life,
        start(&life, &class).answer_within(secs(3)).or_later(),
    );
    is_later(&life, &run);
    assert_eq!(world.elapsed(), 0, "told at once");
    let outcome = life.outcome(&run);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(outcome.result.unwrap(), "model");
    assert_eq!(world.elapsed(), 17_000);
    is_later(&life, &run);
    world.must_be_sound();
}

#[test]
fn work_behind_an_answer_ends_with_the_time_the_class_gives_it() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = class(&world, Some(LATER));
    let life = world.live(&[class.erased()]);
    let run = started(
        &life,
        start(&life, &class).answer_within(secs(3)).or_later(),
    );
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
    assert!(world.elapsed() <= LATER.get(), "{}", world.elapsed());
    let asks = world.outside.asks();
    assert!(1 < asks.len(), "there was time to try again: {asks:?}");
    let ends = asks.iter().map(|ask| ask.at + ask.time_left);
    assert!(ends.max() <= Some(LATER.get()), "{asks:?}");
}

#[test]
fn a_caller_who_does_not_take_it_is_refused_as_by_any_other_class() {
    let world = World::new();
    let class = class(&world, Some(LATER));
    let life = world.live(&[class.erased()]);
    is_refused(&world, &life, start(&life, &class).answer_within(secs(3)));
}

#[test]
fn a_class_that_does_not_work_behind_its_answers_refuses_who_would_take_a_later_one() {
    let world = World::new();
    let class = class(&world, None);
    let life = world.live(&[class.erased()]);
    let start = start(&life, &class).answer_within(secs(3)).or_later();
    is_refused(&world, &life, start);
}

#[test]
fn who_would_take_a_later_answer_waits_for_one_that_fits() {
    let world = World::new();
    let class = class(&world, Some(LATER));
    let life = world.live(&[class.erased()]);
    let run = started(&life, start(&life, &class).or_later());
    let answer = life.block_on(run.answer()).expect("an answer");
    assert!(matches!(answer, Answer::Ready(_)), "{answer:?}");
    assert_eq!(world.ledger.count("AnsweredLater"), 0);

    // The time of such a run is its caller's, and no more.
    world.outside.script(|_| Does::Hang);
    let (run, at) = (
        started(&life, start(&life, &class).or_later()),
        world.elapsed(),
    );
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
    assert_eq!(world.elapsed() - at, 12_000);
}

#[test]
fn a_later_run_outlives_its_process_and_its_key_finds_it() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(17_000));
    let class = class(&world, Some(LATER));
    let life = world.live(&[class.erased()]);
    let asked = |life: &Life| {
        let start = start(life, &class).answer_within(secs(3)).or_later();
        started(life, start.key("K"))
    };
    let id = asked(&life).id();
    life.run_for(10_000);
    life.crash();

    let life = world.live(&[class.erased()]);
    let run = asked(&life);
    assert_eq!((run.id(), run.is_reused()), (id, true));
    is_later(&life, &run);
    assert_eq!(world.elapsed(), 10_000, "it was told so before");
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Completed);
    assert_eq!(world.elapsed(), 27_000, "it was asked again at once");
    assert_eq!(world.ledger.count("AnsweredLater"), 1);
    world.must_be_sound();
}

#[test]
fn a_later_run_whose_process_stays_away_ends_at_the_time_it_had() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(100, maybe_sent(mainstay_types::FailureKind::Overloaded)));
    let class = class(&world, Some(LATER));
    let life = world.live(&[class.erased()]);
    let id = started(
        &life,
        start(&life, &class).answer_within(secs(3)).or_later(),
    )
    .id();
    life.run_for(50);
    life.crash();
    world.timers.advance(LATER);
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    assert_eq!(world.outside.asks().len(), 1, "it is not asked again");
    assert_eq!(world.elapsed(), LATER.get() + 50);
}
