//! F04: owners of runs that end when none may, and a core that forgets: a run that is open and
//! driven by nobody is seen and driven on, and nothing of it is sent twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mainstay_machine::{Action, Command, Core, Event, Machine, OutcomeKind, Run};
use mainstay_runtime::Ports;
use mainstay_types::{CallId, Corrupt, Refusal, Timestamp};

use crate::broken_word::Catching;
use crate::world::classes::{both, chain, single};
use crate::world::{Does, Find, Life, World, minutes};

/// A life in which a task that panics is dropped, as on tokio.
fn life(world: &World, class: &Arc<mainstay_class::ErasedClass>) -> Life {
    let executor = world.executor();
    let ports = Ports {
        spawner: Arc::new(Catching(executor.spawner())),
        ..world.ports(&executor)
    };
    let builder = world.builder_on(ports).register_erased(Arc::clone(class));
    let engine = executor
        .block_on(builder.start())
        .expect("the engine starts");
    Life { engine, executor }
}

#[test]
fn f04_a_run_whose_owner_panics_is_driven_on_within_a_second_or_two() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let class = chain(&world.outside, 4);
    let life = life(&world, &class.erased());
    let run = life.start(&class, minutes("M", 0));
    life.run_for(150);
    world.ledger.panic_commits(1);
    let outcome = life.outcome(&run);
    assert_eq!(
        outcome.kind,
        OutcomeKind::Completed,
        "{}",
        world.describe(run.id())
    );
    assert!(world.elapsed() < 4_000, "{}", world.elapsed());
    world.must_be_sound();
}

#[test]
fn f04_a_write_that_was_out_when_its_run_lost_its_owner_is_asked_about_and_not_sent_again() {
    for honours_keys in [true, false] {
        let world = World::new();
        world.outside.script(|ask| match ask.dependency.as_str() {
            "orders" => Does::Answer(2_500),
            _ => Does::Answer(100),
        });
        if !honours_keys {
            world.outside.ignore_keys();
        }
        let class = both(&world.outside);
        let life = life(&world, &class.erased());
        let run = life.start(&class, minutes("M", 1));
        life.run_for(50);
        // The answer of the read cannot be taken.
        world.ledger.panic_commits(1);
        let outcome = life.outcome(&run);
        assert_eq!(
            outcome.kind,
            OutcomeKind::Completed,
            "{}",
            world.describe(run.id())
        );
        assert_eq!(
            world.outside.requests("orders").len(),
            1,
            "one attempt, one send"
        );
        world.must_be_sound();
    }
}

#[test]
fn f04_a_commit_that_fails_for_a_while_costs_a_while_and_sends_nothing_twice() {
    for fails in [1, 3] {
        let world = World::new();
        world.outside.script(|ask| match ask.dependency.as_str() {
            "orders" => Does::Answer(700),
            _ => Does::Answer(100),
        });
        let class = both(&world.outside);
        let life = world.live(&[class.erased()]);
        let run = life.start(&class, minutes("M", 1));
        life.run_for(50);
        world.ledger.fail_commits(fails);
        let outcome = life.outcome(&run);
        assert_eq!(
            outcome.kind,
            OutcomeKind::Completed,
            "{}",
            world.describe(run.id())
        );
        assert_eq!(world.outside.requests("orders").len(), 1);
        assert!(life.engine.not_driven().is_empty(), "it is driven again");
        world.must_be_sound();
    }
}

#[test]
fn f04_an_answer_that_could_not_be_appended_is_evidence_and_not_lost() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    // Only the answer itself says what became of the order.
    world.outside.finds(|_| Find::CannotTell(5));
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    life.run_for(50);
    world.ledger.fail_commits(1);
    let outcome = life.outcome(&run);
    assert_eq!(
        outcome.kind,
        OutcomeKind::Completed,
        "{}",
        world.describe(run.id())
    );
    assert!(world.elapsed() < 3_000, "{}", world.elapsed());
    world.must_be_sound();
}

/// A core that says once, some while after the start, that nothing is to be done.
struct Forgets {
    at: u32,
    asked: AtomicU32,
}

impl Core for Forgets {
    fn may_start(&self, run: &Run, call: CallId, now: Timestamp) -> Result<(), Refusal> {
        Machine.may_start(run, call, now)
    }

    fn decide(&self, run: &Run, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        Machine.decide(run, command, now)
    }

    fn apply(&self, run: &mut Run, event: &Event) -> Result<(), Corrupt> {
        Machine.apply(run, event)
    }

    fn pending(&self, run: &Run, now: Timestamp) -> Vec<Action> {
        match self.asked.fetch_add(1, Ordering::SeqCst) == self.at {
            true => Vec::new(),
            false => Machine.pending(run, now),
        }
    }
}

#[test]
fn f04_a_run_for_which_nothing_is_pending_though_it_is_open_is_looked_at_again() {
    let mut forgotten = 0;
    for at in 0..24 {
        for asks in [true, false] {
            let world = World::new();
            world.outside.script(|_| Does::Answer(100));
            let class = chain(&world.outside, 3);
            let core = Arc::new(Forgets {
                at,
                asked: AtomicU32::new(0),
            });
            let shared: Arc<dyn Core> = core.clone();
            let life = world.live_with(|builder| builder.register(&class).core(shared));
            let run = life.start(&class, minutes("M", 0));
            if asks {
                life.outcome(&run);
            }
            life.until(20_000, || world.state(run.id()).head().unwrap().closed);
            let log = world.describe(run.id());
            let head = world.state(run.id()).head().unwrap().clone();
            // What vanished from what is pending is dropped, so that its call may be lost.
            assert!(
                head.lap.outcome.is_some() && head.closed,
                "{at}, {asks}: {log}"
            );
            assert!(
                world.elapsed() < 10_000,
                "{at}, {asks}: {} {log}",
                world.elapsed()
            );
            forgotten += u32::from(at < core.asked.load(Ordering::SeqCst));
            world.must_be_sound();
        }
    }
    assert!(20 < forgotten, "it did forget: {forgotten}");
}
