//! Admission by what was observed: a run that cannot be served in time is not begun, and what was
//! seen of a dependency is seen by every class that asks it.

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::{EngineError, RunHandle};
use mainstay_types::{Code, CostUnits, FailureKind, LapNo, Millis, Reason, Refusal, limits};

use crate::world::script::refused;
use crate::world::{Does, Life, Minutes, World, minutes};

/// How slow the dependency is when it is slow, in milliseconds. Its contract says 500.
const SLOW: u64 = 2_500;

/// How often something is seen before it counts.
const ENOUGH: usize = limits::SEEN_ATTEMPTS_MIN as usize;

/// So many reads of the same dependency at once, each asked once.
fn reads(world: &World, name: &str, (reads, answer_by): (u32, Millis)) -> Class<Minutes, u64> {
    let mut g = TaskClass::<Minutes>::define(name, 1);
    let budget = Budget::new().answer_by(answer_by).concurrency(reads);
    g.budget(budget.cost(CostUnits::units(1_000)));
    let model = world.outside.read("model");
    let told: Vec<_> = (0..reads)
        .map(|n| {
            let call = g.read(&format!("told_{n}"), &model, (), |m, ()| m.question());
            call.attempts(1).add()
        })
        .collect();
    g.finish(told[0], |_, _| 0).expect("a valid class")
}

/// A class whose runs have time enough, and one whose runs have two seconds.
struct Two {
    patient: Class<Minutes, u64>,
    hasty: Class<Minutes, u64>,
}

impl Two {
    fn new(world: &World) -> Self {
        Self {
            patient: reads(world, "patient", (1, secs(30))),
            hasty: reads(world, "hasty", (1, secs(2))),
        }
    }

    fn live(&self, world: &World) -> Life {
        world.live(&[self.patient.erased(), self.hasty.erased()])
    }

    /// So many runs with one read each, one after the other.
    fn see(&self, life: &Life, runs: usize) {
        for _ in 0..runs {
            life.outcome(&life.start(&self.patient, minutes("M", 0)));
        }
    }
}

/// What a start of the hasty class comes to.
fn hasty(life: &Life, two: &Two) -> Result<RunHandle<u64>, EngineError> {
    let start = life.engine.start(&two.hasty, minutes("M", 0));
    life.block_on(start.into_future())
}

fn refusal(start: Result<RunHandle<u64>, EngineError>) -> Refusal {
    match start {
        Err(EngineError::Refused { refusal, .. }) => refusal,
        other => panic!("{other:?}"),
    }
}

fn number(refusal: &Refusal, name: &str) -> i64 {
    let mut numbers = refusal.numbers.iter();
    let found = numbers.find(|(of, _)| *of == name);
    found.unwrap_or_else(|| panic!("{name} in {refusal}")).1
}

/// Refused for the time that such reads were seen to take.
fn is_refused_for(start: Result<RunHandle<u64>, EngineError>, took: u64) {
    let refusal = refusal(start);
    assert_eq!(refusal.code, Code::InsufficientTimeBudget);
    let path = number(&refusal, "path_ms");
    let took = i64::try_from(took).unwrap();
    // What was seen is kept to two digits.
    assert!((took..=took + took / 100).contains(&path), "{refusal}");
}

#[test]
fn an_operation_seen_slower_than_its_contract_refuses_a_start_that_it_cannot_serve() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(SLOW));
    let two = Two::new(&world);
    let life = two.live(&world);
    two.see(&life, ENOUGH);
    let (runs, appends) = (world.runs().len(), world.ledger.log().len());
    let refusal = refusal(hasty(&life, &two));
    assert_eq!(refusal.code, Code::InsufficientTimeBudget);
    let path = number(&refusal, "path_ms");
    assert!((2_500..=2_525).contains(&path), "{refusal}");
    let wanted = [
        ("need_ms", path),
        ("left_ms", 2_000),
        ("queue_ms", 0),
        ("path_ms", path),
        ("synthesis_ms", 0),
        ("reconcile_ms", 0),
        ("deliver_ms", 0),
        ("observed", 1),
    ];
    assert_eq!(refusal.numbers, wanted, "the read of another class counts");
    life.run_for(60_000);
    let stored = (world.runs().len(), world.ledger.log().len());
    assert_eq!(stored, (runs, appends), "nothing is stored");
    assert_eq!(life.engine.status().live, 0, "its place is free");
    assert_eq!(world.outside.asks().len(), ENOUGH, "nothing is asked");
}

#[test]
fn the_contracts_estimate_holds_until_enough_was_seen() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(SLOW));
    let two = Two::new(&world);
    let life = two.live(&world);
    two.see(&life, ENOUGH - 1);
    let run = hasty(&life, &two).expect("the contract says 500 ms");
    // That one is the last that was missing: it took all of its time.
    let outcome = life.outcome(&run);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    is_refused_for(hasty(&life, &two), SLOW);
}

#[test]
fn a_keyed_start_that_does_not_fit_is_a_rejected_run_which_its_key_finds_and_goes_on_from() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(SLOW));
    let two = Two::new(&world);
    let life = two.live(&world);
    two.see(&life, ENOUGH);
    let run = life.start_keyed(&two.hasty, minutes("M", 0));
    let outcome = life.outcome(&run);
    let (kind, reason) = (outcome.kind, outcome.reason);
    let rejected = (OutcomeKind::Rejected, Reason::InsufficientTimeBudget);
    assert_eq!((kind, reason), rejected);
    let asks = world.outside.asks().len();
    assert_eq!(asks, ENOUGH, "nothing is asked");

    // The same key, also after a restart that has seen nothing yet.
    let again = life.start_keyed(&two.hasty, minutes("M", 0));
    assert_eq!((again.id(), again.is_reused()), (run.id(), true));
    life.crash();
    let life = two.live(&world);
    let again = life.start_keyed(&two.hasty, minutes("M", 0));
    assert_eq!((again.id(), again.is_reused()), (run.id(), true));
    let outcome = life.outcome(&again);
    assert_eq!((outcome.kind, outcome.reason), rejected);
    assert_eq!(world.outside.asks().len(), asks);

    world.outside.script(|_| Does::Answer(300));
    let start = life.engine.start(&two.hasty, minutes("M", 0));
    let start = start.key("K").or_continue();
    let on = life.block_on(start.into_future()).expect("it goes on");
    assert_eq!(on.id(), run.id());
    assert_eq!(life.outcome(&on).kind, OutcomeKind::Completed);
    assert_eq!(world.outside.asks().len(), asks + 1);
    world.must_be_sound();
}

#[test]
fn a_person_can_go_on_from_a_rejected_run() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(SLOW));
    let two = Two::new(&world);
    let life = two.live(&world);
    two.see(&life, ENOUGH);
    let id = life.start_keyed(&two.hasty, minutes("M", 0)).id();
    world.outside.script(|_| Does::Answer(300));
    let lap = life.block_on(life.engine.continue_run(id, "me", "it is fast again"));
    assert_eq!(lap.expect("it goes on"), LapNo(2));
    let outcome = life.outcome_of(&two.hasty, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
}

#[test]
fn an_attempt_that_took_all_of_its_time_was_seen_to_take_it() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let two = Two::new(&world);
    let life = two.live(&world);
    two.see(&life, ENOUGH);
    is_refused_for(hasty(&life, &two), 3_000);
}

#[test]
fn a_canceled_attempt_says_nothing_of_how_long_it_would_have_taken() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let two = Two::new(&world);
    let life = two.live(&world);
    for _ in 0..2 * ENOUGH {
        let run = life.start(&two.patient, minutes("M", 0));
        life.run_for(SLOW);
        life.block_on(run.cancel("me", "enough")).unwrap();
        assert_eq!(life.outcome(&run).kind, OutcomeKind::Canceled);
    }
    assert_eq!(world.outside.asks().len(), 2 * ENOUGH);
    hasty(&life, &two).expect("nothing was seen");
}

#[test]
fn a_quick_refusal_says_nothing_of_how_long_an_answer_takes() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(SLOW));
    let two = Two::new(&world);
    let life = two.live(&world);
    two.see(&life, ENOUGH);
    let no = || Does::Fail(5, refused(FailureKind::PermanentProvider));
    world.outside.script(move |_| no());
    two.see(&life, 20 * ENOUGH);
    is_refused_for(hasty(&life, &two), SLOW);
}

#[test]
fn a_dependency_that_became_fast_is_trusted_again_once_its_slow_answers_are_long_ago() {
    const WIDE: u32 = 64;
    let window = limits::SEEN_ATTEMPTS_MAX / 2;
    let world = World::new();
    let two = Two::new(&world);
    let wide = reads(&world, "wide", (WIDE, secs(30)));
    let classes = [wide.erased(), two.patient.erased(), two.hasty.erased()];
    let life = world.live(&classes);
    let see = |runs: u32| {
        for _ in 0..runs {
            life.outcome(&life.start(&wide, minutes("M", 0)));
        }
    };
    world.outside.script(|_| Does::Answer(SLOW));
    see(window / WIDE);
    world.outside.script(|_| Does::Answer(100));
    see(window / WIDE - 1);
    is_refused_for(hasty(&life, &two), SLOW);
    see(1);
    let run = hasty(&life, &two).expect("the slow answers are forgotten");
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Completed);
}

/// Refused starts ask nobody, so nothing would show them that the dependency is well again.
#[test]
fn a_class_that_refuses_everybody_tries_again_when_nothing_was_seen_for_a_while() {
    let world = World::new();
    let class = reads(&world, "hasty", (1, secs(2)));
    let life = world.live(&[class.erased()]);
    let start = || {
        let start = life.engine.start(&class, minutes("M", 0));
        life.block_on(start.into_future())
    };
    world.outside.script(|_| Does::Hang);
    let all_time_out = || {
        for _ in 0..ENOUGH {
            let run = start().expect("the contract says 500 ms");
            assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
        }
        is_refused_for(start(), 2_000);
    };
    all_time_out();
    life.run_for(limits::SEEN_MS_MAX - 1);
    is_refused_for(start(), 2_000);
    life.run_for(1);
    // It is not well yet, and after as many tries that is known again.
    all_time_out();
    world.outside.script(|_| Does::Answer(100));
    life.run_for(limits::SEEN_MS_MAX);
    for _ in 0..2 * ENOUGH {
        let run = start().expect("it is well again");
        assert_eq!(life.outcome(&run).kind, OutcomeKind::Completed);
    }
}
