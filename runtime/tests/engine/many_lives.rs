//! Limits over many lives of a process: neither attempts nor copies that are at work grow with the
//! number of kills.

use std::future::pending;
use std::sync::Arc;

use mainstay_class::{Budget, Class, TaskClass, mins, ms};
use mainstay_dispatch::{Answer, AttemptContext, Promise, Read};
use mainstay_machine::OutcomeKind;
use mainstay_sim::{SeededRng, VirtualTimers};
use mainstay_types::{Clock, Failure, FailureKind, RunId, Timers};
use parking_lot::Mutex;

use crate::chaos::{draw, seeds};
use crate::world::classes::{Question, Told};
use crate::world::script::refused;
use crate::world::{Ask, Does, Life, Minutes, Moment, World, minutes};

/// One read with so many attempts, in a run with so many retry tokens.
fn failing(world: &World, (attempts, retries): (u32, u32)) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("failing", 1);
    g.budget(Budget::new().answer_by(mins(10)).retries(retries));
    let told = g.read("told", &world.outside.read("told"), (), |m, ()| {
        m.question()
    });
    let told = told.timeout(ms(500)).attempts(attempts).add();
    g.finish(told, |_, told| told.by.clone())
        .expect("a valid class")
}

/// Every request fails, each in another way than the one before it.
fn always_fails(ask: &Ask) -> Does {
    let kinds = [FailureKind::Overloaded, FailureKind::RateLimited];
    Does::Fail(100, refused(kinds[ask.nth % kinds.len()]))
}

/// Lives until the run has its outcome; each but the last is ended by `kill`.
fn lives(world: &World, class: &Class<Minutes, String>, kill: impl Fn(&Life, usize)) -> RunId {
    let id = {
        let life = world.live(&[class.erased()]);
        let id = life.start_keyed(class, minutes("M", 0)).id();
        kill(&life, 0);
        life.crash();
        id
    };
    let has_outcome = || world.state(id).head().unwrap().lap.outcome.is_some();
    for nth in 1.. {
        assert!(nth < 100, "{}", world.describe(id));
        let life = world.live(&[class.erased()]);
        kill(&life, nth);
        if has_outcome() {
            break;
        }
        life.crash();
    }
    let kind = world.state(id).head().unwrap().lap.outcome.clone().unwrap();
    assert_eq!(kind.kind, OutcomeKind::HandedOff);
    world.must_be_sound();
    // Nothing of it leaves any more, in whatever life.
    let asks = world.outside.asks().len();
    world.live(&[class.erased()]).run_for(60_000);
    assert_eq!(world.outside.asks().len(), asks);
    id
}

/// F08, between attempts: what failed is recorded, and the process dies.
#[test]
fn f08_a_failing_call_makes_its_attempts_in_total_when_each_is_followed_by_a_kill() {
    let world = World::new();
    world.outside.script(always_fails);
    let class = failing(&world, (5, 20));
    let failures = || world.ledger.count("AttemptSettled");
    let id = lives(&world, &class, |life, _| {
        let before = failures();
        life.until(60_000, || before < failures());
    });
    assert_eq!(world.outside.asks().len(), 5, "{}", world.describe(id));
    assert_eq!(world.interrupted(id), 0);
}

/// F08, within attempts: each kill interrupts one, which is tried again for a retry token.
#[test]
fn f08_a_call_whose_attempts_are_all_killed_stops_with_the_runs_tokens() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = failing(&world, (5, 7));
    let id = lives(&world, &class, |life, nth| {
        life.until(60_000, || nth < world.outside.asks().len());
        life.run_for(50);
    });
    assert_eq!(world.outside.asks().len(), 1 + 7, "{}", world.describe(id));
    assert_eq!(world.interrupted(id), 8);
}

/// Ended by the `append`th append of a life, if it has so many within a minute.
fn kill_at(world: &World, life: &Life, (append, moment): (usize, Moment)) {
    world.ledger.trap(append, moment);
    let crash = async {
        tokio::select! {
            biased;
            () = world.ledger.crash() => {}
            () = world.timers.sleep(mins(1)) => {}
        }
    };
    life.block_on(crash);
    world.ledger.disarm();
}

/// F08, anywhere: the same append of every life is its last.
#[test]
fn f08_a_failing_call_never_makes_more_attempts_than_its_run_has_wherever_it_is_killed() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        for append in 2..6 {
            let world = World::new();
            world.outside.script(always_fails);
            let class = failing(&world, (5, 6));
            let id = lives(&world, &class, |life, nth| match nth < 40 {
                true => kill_at(&world, life, (append, moment)),
                false => life.run_for(600_000),
            });
            let log = world.describe(id);
            let asks = world.outside.asks().len();
            assert!((2..=1 + 6).contains(&asks), "{append} {moment:?}: {log}");
            let whole = world.ledger.count("AttemptSettled");
            assert!(whole <= 5, "{append} {moment:?}: {log}");
        }
    }
}

/// A tool outside of the process that goes on for as long as it was given, whoever waits for it.
#[derive(Clone)]
struct Stubborn {
    timers: VirtualTimers,
    /// When each copy began and will end, in milliseconds of the world.
    copies: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl Stubborn {
    /// The most copies that were ever at work at once.
    fn most_at_once(&self) -> usize {
        let copies = self.copies.lock();
        let peaks = copies.iter().map(|(at, _)| {
            let at_work = copies.iter().filter(|(from, to)| (from..to).contains(&at));
            at_work.count()
        });
        peaks.max().unwrap_or(0)
    }
}

impl Read for Stubborn {
    type Request = Question;
    type Reply = Told;

    fn name(&self) -> &str {
        "stubborn"
    }

    async fn call(&self, _: Question, cx: &AttemptContext) -> Result<Answer<Told>, Failure> {
        let now = self.timers.clock().monotonic();
        let ends = now + cx.time_left_now();
        self.copies.lock().push((now.get(), ends.get()));
        pending().await
    }

    fn promise(&self) -> Promise {
        Promise::new().timeout(ms(400)).backoff(ms(20), ms(50))
    }
}

/// Four reads of the tool at a time, in a run that may have two out.
fn crowd(tool: &Stubborn) -> Class<Minutes, u64> {
    let mut g = TaskClass::<Minutes>::define("crowd", 1);
    let budget = Budget::new().answer_by(mins(2)).retries(60).concurrency(2);
    g.budget(budget.cost(1_000));
    let names = ["a", "b", "c", "d"];
    let told = names.map(|name| {
        let call = g.read(name, tool, (), |m, ()| m.question());
        call.attempts(6).soft("not told").add()
    });
    let [first, ..] = told;
    g.finish(first, |_, _| 0).expect("a valid class")
}

/// F13: a tool ignores cancellation and its attempts time out again and again.
#[test]
fn f13_copies_that_nobody_can_stop_never_exceed_the_runs_concurrency_over_all_lives() {
    for seed in seeds(40) {
        let world = World::seeded(seed);
        let rng = SeededRng::stream(seed, "kills");
        let tool = Stubborn {
            timers: world.timers.clone(),
            copies: Arc::default(),
        };
        let class = crowd(&tool);
        let life = world.live(&[class.erased()]);
        let id = life.start_keyed(&class, minutes("M", 0)).id();
        life.run_for(draw(&rng, 900));
        life.crash();
        for _ in 0..draw(&rng, 12) {
            let life = world.live(&[class.erased()]);
            life.run_for(draw(&rng, 900));
            life.crash();
        }
        let life = world.live(&[class.erased()]);
        life.outcome_of(&class, id);
        let log = world.describe(id);
        assert_eq!(tool.most_at_once(), 2, "seed {seed}: {log}");
        assert!(8 <= tool.copies.lock().len(), "seed {seed}: {log}");
        world.budget_holds(id);
    }
}
