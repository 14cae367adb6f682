//! A reply that does not keep its schema is asked for once more, with what was wrong: by the
//! class's own code, once, for one retry token, whatever crashes in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mainstay_class::{Absolute, Budget, Builder, Class, TaskClass, secs};
use mainstay_machine::OutcomeKind;
use mainstay_types::{Code, Failure, FailureKind, LapNo, Millis, RunId};

use crate::world::classes::Question;
use crate::world::outside::panicked;
use crate::world::script::refused;
use crate::world::{Does, Life, Minutes, Moment, World, minutes};

/// The class's code that makes the second request.
#[derive(Clone, Default)]
struct Again {
    /// How often it ran.
    runs: Arc<AtomicUsize>,
    panics: Arc<AtomicBool>,
}

impl Again {
    fn make(&self, first: Question, wrong: &Failure) -> Question {
        self.runs.fetch_add(1, Ordering::SeqCst);
        if self.panics.load(Ordering::SeqCst) {
            panicked("the code that asks again panicked".to_owned());
        }
        let said = wrong.message.as_deref().unwrap_or("nothing");
        Question {
            about: format!("{}, but {said}", first.about),
            ..first
        }
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

/// One read that can be repaired, with another provider below it if `falls_back`.
fn class(
    world: &World,
    again: &Again,
    (retries, falls_back): (u32, bool),
) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("told", 1);
    settings(&mut g, retries);
    let told = g.read("told", &world.outside.read("model"), (), |m, ()| {
        m.question()
    });
    let again = again.clone();
    let mut told = told.repair(move |_, first, wrong| again.make(first, wrong));
    if falls_back {
        told = told.fallback_provider(&world.outside.read("second"));
    }
    let told = told.add();
    g.finish(told, |_, told| told.by.clone())
        .expect("a valid class")
}

fn settings(g: &mut Builder<Minutes>, retries: u32) {
    g.budget(Budget::new().answer_by(secs(30)).retries(retries));
    g.on_downtime(Absolute);
}

/// A reply without one of its fields.
fn misshapen() -> Failure {
    refused(FailureKind::ResultInvalid).message("`by` is missing")
}

/// What the provider was asked about, in order.
fn abouts(world: &World) -> Vec<String> {
    let asks = world.outside.asks().into_iter();
    asks.map(|ask| {
        let asked: Question = serde_json::from_str(&ask.body).unwrap();
        format!("{}: {}", ask.dependency, asked.about)
    })
    .collect()
}

const FIRST: &str = "model: M";
const REPAIRED: &str = "model: M, but `by` is missing";

/// The first reply is misshapen, and so are all if `always`.
fn answers_badly(world: &World, always: bool) {
    world
        .outside
        .script(move |ask| match ask.dependency.as_str() {
            "model" if always || ask.nth == 1 => Does::Fail(10, misshapen()),
            _ => Does::Answer(10),
        });
}

fn retries_used(world: &World, id: RunId) -> u32 {
    let budget = world.state(id).head().unwrap().lap.budget;
    budget.retry_used.get()
}

fn started(world: &World, class: &Class<Minutes, String>) -> (Life, RunId) {
    let life = world.live(&[class.erased()]);
    let id = life.start_keyed(class, minutes("M", 0)).id();
    (life, id)
}

#[test]
fn a_misshapen_reply_is_asked_for_once_more_with_what_was_wrong_for_one_retry_token() {
    let world = World::new();
    answers_badly(&world, false);
    let again = Again::default();
    let class = class(&world, &again, (3, false));
    let (life, id) = started(&world, &class);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(abouts(&world), [FIRST, REPAIRED]);
    assert_eq!((again.runs(), retries_used(&world, id)), (1, 1));
    world.must_be_sound();
}

#[test]
fn a_second_misshapen_reply_goes_to_the_next_rung_with_the_first_request() {
    let world = World::new();
    answers_badly(&world, true);
    let again = Again::default();
    let class = class(&world, &again, (3, true));
    let (life, id) = started(&world, &class);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Degraded);
    assert_eq!(outcome.result.unwrap(), "second");
    assert_eq!(abouts(&world), [FIRST, REPAIRED, "second: M"]);
    assert_eq!((again.runs(), retries_used(&world, id)), (1, 2));
    world.must_be_sound();
}

#[test]
fn without_a_retry_token_nothing_is_repaired() {
    let world = World::new();
    answers_badly(&world, true);
    let again = Again::default();
    let class = class(&world, &again, (0, false));
    let (life, id) = started(&world, &class);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    assert_eq!((abouts(&world).len(), again.runs()), (1, 0));
}

#[test]
fn each_lap_repairs_once() {
    let world = World::new();
    answers_badly(&world, true);
    let again = Again::default();
    let class = class(&world, &again, (3, false));
    let (life, id) = started(&world, &class);
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::HandedOff);
    assert_eq!(abouts(&world), [FIRST, REPAIRED]);
    let lap = life.block_on(life.engine.continue_run(id, "me", "once more"));
    assert_eq!(lap.unwrap(), LapNo(2));
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::HandedOff);
    assert_eq!(abouts(&world), [FIRST, REPAIRED, FIRST, REPAIRED]);
    assert_eq!(again.runs(), 2);
    world.must_be_sound();
}

#[test]
fn what_was_wrong_outlives_its_process_and_the_next_one_asks_again_with_it() {
    let world = World::new();
    answers_badly(&world, false);
    let again = Again::default();
    let class = class(&world, &again, (3, false));
    let (life, id) = started(&world, &class);
    life.run_for(5);
    // What is out ends, and nothing of the class's code runs any more.
    life.block_on(life.engine.clone().shutdown(Millis::from_secs(5)));
    assert_eq!(world.ledger.count("RepairWanted"), 1);
    assert_eq!((abouts(&world).len(), again.runs()), (1, 0));
    life.crash();

    let life = world.live(&[class.erased()]);
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::Completed);
    assert_eq!(abouts(&world), [FIRST, REPAIRED]);
    assert_eq!((again.runs(), retries_used(&world, id)), (1, 1));
    world.must_be_sound();
}

#[test]
fn a_crash_anywhere_repairs_once_and_with_the_same_request() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        let crashes = (1..).find(|&append| !crashed_at(append, moment));
        assert!(4 <= crashes.expect("a run ends"), "{moment:?}");
    }
}

/// One run that is crashed at its `append`th append; `false` when it has not that many.
fn crashed_at(append: usize, moment: Moment) -> bool {
    let world = World::new();
    // Only the first request is ever answered badly.
    world.outside.script(|ask| match ask.body.contains("but") {
        false => Does::Fail(10, misshapen()),
        true => Does::Answer(10),
    });
    let again = Again::default();
    let class = class(&world, &again, (3, false));
    let life = world.live(&[class.erased()]);
    world.ledger.trap(append, moment);
    let crashed = world.springs(life, &class, minutes("M", 0));
    let life = world.live(&[class.erased()]);
    let run = life.start_keyed(&class, minutes("M", 0));
    let (kind, log) = (life.outcome(&run).kind, world.describe(run.id()));
    assert_eq!(kind, OutcomeKind::Completed, "{append} {moment:?}: {log}");
    assert_eq!(world.ledger.count("RepairWanted"), 1, "{log}");
    let asked = abouts(&world);
    let firsts = asked.iter().take_while(|about| *about == FIRST).count();
    assert!((1..=2).contains(&firsts), "{asked:?}");
    let later = &asked[firsts..];
    assert!((1..=2).contains(&later.len()), "{asked:?}");
    assert!(later.iter().all(|about| about == REPAIRED), "{asked:?}");
    // One token repairs, and one more pays for what a crash interrupted.
    let interrupted = u32::try_from(world.interrupted(run.id())).unwrap();
    assert_eq!(retries_used(&world, run.id()), 1 + interrupted, "{log}");
    world.must_be_sound();
    crashed
}

#[test]
fn code_that_panics_while_it_asks_again_quarantines_its_run_and_is_run_again_once_it_is_mended() {
    let world = World::new();
    answers_badly(&world, false);
    let again = Again::default();
    again.panics.store(true, Ordering::SeqCst);
    let class = class(&world, &again, (3, true));
    let (life, id) = started(&world, &class);
    let told = life.block_on(async {
        let run = life.engine.run(&class, id).await.unwrap();
        run.outcome().await.unwrap_err()
    });
    assert_eq!(told.code(), Code::RunQuarantined);
    assert!(told.to_string().contains("CLASS_PANICKED"), "{told}");
    assert_eq!(abouts(&world), [FIRST]);
    let settled = world.ledger.count("AttemptSettled");
    assert_eq!(settled, 1, "what the provider said is kept");
    life.crash();

    again.panics.store(false, Ordering::SeqCst);
    let life = world.live(&[class.erased()]);
    let lap = life.block_on(life.engine.continue_run(id, "me", "mended"));
    assert_eq!(lap.unwrap(), LapNo(1));
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::Completed);
    assert_eq!(abouts(&world), [FIRST, REPAIRED]);
    assert_eq!((again.runs(), retries_used(&world, id)), (2, 1));
    world.must_be_sound();
}
