//! A running soft read that is stopped for a hard call: it is really gone, its place is taken at
//! once, it is tried again, and an answer that comes all the same is used and paid.

use std::sync::Arc;

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_dispatch::{Answer, AttemptContext, Promise, Read};
use mainstay_machine::{AttemptState, OutcomeKind};
use mainstay_types::{CostUnits, Failure, RunId};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::world::classes::{Question, Told};
use crate::world::outside::Reads;
use crate::world::{Does, Minutes, World, minutes};

/// A read behind a gate of its own, as a client that shares a pool of connections has one.
#[derive(Clone)]
struct Gated {
    read: Reads,
    gate: Arc<Gate>,
}

struct Gate {
    places: tokio::sync::Semaphore,
    /// What told each request that nobody waits for it any more, in the order they came.
    tokens: Mutex<Vec<CancellationToken>>,
}

impl Gate {
    fn of(places: usize) -> Arc<Self> {
        Arc::new(Self {
            places: tokio::sync::Semaphore::new(places),
            tokens: Mutex::default(),
        })
    }

    fn canceled(&self) -> Vec<bool> {
        let tokens = self.tokens.lock();
        tokens.iter().map(|token| token.is_cancelled()).collect()
    }
}

impl Read for Gated {
    type Request = Question;
    type Reply = Told;

    fn name(&self) -> &str {
        self.read.name()
    }

    async fn call(&self, asked: Question, cx: &AttemptContext) -> Result<Answer<Told>, Failure> {
        self.gate.tokens.lock().push(cx.cancel().clone());
        let _place = self.gate.places.acquire().await.expect("never closed");
        self.read.call(asked, cx).await
    }

    fn promise(&self) -> Promise {
        self.read.promise.clone()
    }
}

/// A soft read beside a hard one that two more hard ones need, with room for two at once.
fn class(world: &World, gate: &Arc<Gate>) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("hurry", 1);
    g.budget(Budget::new().answer_by(secs(30)).concurrency(2).cost(100));
    let gated = |name| Gated {
        read: world.outside.read(name),
        gate: Arc::clone(gate),
    };
    let soft = g.read("soft", &gated("soft"), (), |m, ()| m.question());
    let soft = soft.soft("no summary").add();
    let first = g.read("first", &gated("first"), (), |m, ()| m.question());
    let first = first.add();
    let (one, two) = (gated("one"), gated("two"));
    let one = g.read("one", &one, first, |m, _| m.question()).add();
    let two = g.read("two", &two, first, |m, _| m.question()).add();
    g.finish((soft, one, two), |_, (soft, _, _)| {
        soft.map_or_else(|| "nobody".to_owned(), |told| told.by.clone())
    })
    .expect("a valid class")
}

/// When each dependency was asked, in milliseconds.
fn asked(world: &World) -> Vec<(String, u64)> {
    let asks = world.outside.asks().into_iter();
    asks.map(|ask| (ask.dependency, ask.at)).collect()
}

fn wanted(asks: &[(&str, u64)]) -> Vec<(String, u64)> {
    asks.iter()
        .map(|&(name, at)| (name.to_owned(), at))
        .collect()
}

/// The soft read is never answered the first time it is asked.
fn soft_hangs_at_first(world: &World) {
    world
        .outside
        .script(|ask| match (ask.dependency.as_str(), ask.nth) {
            ("soft", 1) => Does::Hang,
            ("first", _) => Does::Answer(100),
            _ => Does::Answer(200),
        });
}

fn attempts_of_soft(world: &World, id: RunId) -> Vec<AttemptState> {
    let run = world.state(id);
    let (_, soft) = run.calls().iter().next().unwrap();
    soft.attempts
        .iter()
        .map(|made| made.state.clone())
        .collect()
}

#[test]
fn a_soft_read_is_really_stopped_for_a_hard_call_and_tried_again_when_there_is_room() {
    let world = World::new();
    soft_hangs_at_first(&world);
    // As many places as the run has tokens: whoever is stopped and stays holds up a hard call.
    let gate = Gate::of(2);
    let class = class(&world, &gate);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 0)).id();
    life.run_for(150);
    assert_eq!(gate.canceled(), [true, false, false, false]);
    assert_eq!(world.outside.open(), 2, "the two hard calls alone");
    let outcome = life.outcome_of(&class, id);
    let log = world.describe(id);
    assert_eq!(outcome.kind, OutcomeKind::Completed, "{log}");
    assert_eq!(outcome.result.unwrap(), "soft");
    let asks = [
        ("soft", 0),
        ("first", 0),
        ("one", 100),
        ("two", 100),
        ("soft", 300),
    ];
    assert_eq!(asked(&world), wanted(&asks), "{log}");
    let budget = world.state(id).head().unwrap().lap.budget;
    assert_eq!(budget.in_flight_peak.get(), 2);
    assert_eq!(budget.spent, CostUnits::units(5), "the stopped one is paid");
    world.must_be_sound();
}

#[test]
fn a_stopped_read_gives_its_place_back_though_nothing_else_is_known_of_its_end() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "soft" => Does::Hang,
        _ => Does::Answer(100),
    });
    let gate = Gate::of(2);
    let class = class(&world, &gate);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 0));
    let outcome = life.outcome(&run);
    assert_eq!(outcome.kind, OutcomeKind::Degraded);
    assert_eq!(outcome.notices, ["no summary"]);
    let hard: Vec<_> = asked(&world)
        .into_iter()
        .filter(|(name, _)| name != "soft")
        .collect();
    assert_eq!(hard, wanted(&[("first", 0), ("one", 100), ("two", 100)]));
    assert_eq!(world.outside.open(), 0);
    assert_eq!(gate.places.available_permits(), 2);
    world.must_be_sound();
}

/// Its answer was on the way while the decision that stopped it became durable.
#[test]
fn an_answer_of_a_stopped_read_is_recorded_as_late_used_and_paid_at_what_it_cost() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "soft" => Does::Bill(115, CostUnits::units(7), 0),
        "first" => Does::Answer(100),
        _ => Does::Answer(200),
    });
    let class = class(&world, &Gate::of(2));
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 0));
    world.ledger.slow(20, 0);
    let outcome = life.outcome(&run);
    let log = world.describe(run.id());
    assert_eq!(outcome.kind, OutcomeKind::Completed, "{log}");
    assert_eq!(outcome.result.unwrap(), "soft");
    assert!(
        log.contains("LateResult soft/1, OrphanObserved soft, CallSettled soft"),
        "{log}"
    );
    assert_eq!(world.outside.requests("soft").len(), 1, "not asked again");
    let late = AttemptState::Late {
        cost: CostUnits::units(7),
    };
    assert_eq!(attempts_of_soft(&world, run.id()), [late]);
    let budget = world.state(run.id()).head().unwrap().lap.budget;
    assert_eq!(budget.spent, CostUnits::units(7 + 3));
    world.must_be_sound();
}

#[test]
fn a_crash_right_after_a_read_was_stopped_leaves_it_to_be_tried_again() {
    let world = World::new();
    soft_hangs_at_first(&world);
    let gate = Gate::of(2);
    let class = class(&world, &gate);
    let life = world.live(&[class.erased()]);
    let id = life.start_keyed(&class, minutes("M", 0)).id();
    life.run_for(120);
    life.crash();
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    let log = world.describe(id);
    assert_eq!(outcome.kind, OutcomeKind::Completed, "{log}");
    assert_eq!(outcome.result.unwrap(), "soft");
    assert_eq!(world.interrupted(id), 2, "the hard calls: {log}");
    world.must_be_sound();
}
