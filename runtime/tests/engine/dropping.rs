//! What is dropped: futures, handles, whole engines. None of it cancels anything, and nothing is
//! left hanging.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use mainstay_class::{Budget, Class, TaskClass, mins};
use mainstay_machine::OutcomeKind;
use mainstay_types::Millis;

use crate::world::classes::{chain, single};
use crate::world::script::busy;
use crate::world::{Does, Life, Minutes, World, minutes};

fn polled_and_dropped(future: impl Future, polls: usize) -> bool {
    let mut future = pin!(future);
    let cx = &mut Context::from_waker(Waker::noop());
    (0..polls).any(|_| future.as_mut().poll(cx).is_ready())
}

#[test]
fn a_dropped_engine_drives_its_live_runs_to_their_end_and_is_gone_then() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(400));
    let class = chain(&world.outside, 3);
    let Life { engine, executor } = world.live(&[class.erased()]);
    let id = executor.block_on(async {
        let run = engine.start(&class, minutes("M", 0)).await.unwrap();
        run.id()
    });
    drop(engine);
    executor.run_for(Millis::from_secs(5));
    let head = world.state(id).head().unwrap().clone();
    assert_eq!(head.lap.outcome.unwrap().kind, OutcomeKind::Completed);
    assert_eq!(executor.strands(), 0, "nothing of it is left");
    world.must_be_sound();
}

#[test]
fn a_handle_keeps_its_engine_so_that_its_outcome_can_be_waited_for() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(400));
    let class = single(&world.outside);
    let Life { engine, executor } = world.live(&[class.erased()]);
    let run = executor.block_on(async { engine.start(&class, minutes("M", 1)).await.unwrap() });
    drop(engine);
    let outcome = executor.block_on(run.outcome()).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    drop(run);
    executor.run_for(Millis::from_secs(5));
    assert_eq!(executor.strands(), 0);
}

/// One read that its provider puts off for five minutes.
fn patient(world: &World) -> Class<Minutes, String> {
    world.outside.script(|ask| match ask.nth {
        1 => Does::Fail(10, busy(300_000)),
        _ => Does::Answer(10),
    });
    let mut g = TaskClass::<Minutes>::define("patient", 1);
    g.budget(Budget::new().answer_by(mins(60)));
    let read = world.outside.read("told");
    let told = g.read("told", &read, (), |m, ()| m.question()).add();
    g.finish(told, |_, told| told.by.clone())
        .expect("a valid class")
}

#[test]
fn parked_runs_of_a_dropped_engine_wait_for_the_next_one() {
    let world = World::new();
    let class = patient(&world);
    let Life { engine, executor } = world.live(&[class.erased()]);
    executor.block_on(async { engine.start(&class, minutes("M", 0)).await.unwrap() });
    executor.run_for(Millis::new(100));
    drop(engine);
    executor.run_for(Millis::from_hours(1));
    assert_eq!(executor.strands(), 0, "nobody holds the engine any more");
    assert_eq!(world.outside.asks().len(), 1);
    let life = world.live(&[class.erased()]);
    life.outcome_of(&class, world.only_run());
    life.run_for(10);
    assert!(world.state(world.only_run()).head().unwrap().closed);
}

#[test]
fn a_dropped_shutdown_leaves_the_engine_refusing_starts_and_a_second_one_ends_it() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(400));
    let class = chain(&world.outside, 3);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 0));
    life.run_for(10);
    let shutdown = life.engine.clone().shutdown(Millis::from_secs(5));
    assert!(!polled_and_dropped(shutdown, 1));
    life.run_for(2_000);
    let start = life.block_on(async { life.engine.start(&class, minutes("N", 0)).await });
    assert_eq!(
        start.unwrap_err().code(),
        mainstay_types::Code::EngineStopping
    );
    let report = life.block_on(life.engine.clone().shutdown(Millis::from_secs(5)));
    assert_eq!(report.out_at_bound, 0);
    life.crash();
    let life = world.live(&[class.erased()]);
    assert_eq!(
        life.outcome_of(&class, run.id()).kind,
        OutcomeKind::Completed
    );
    world.must_be_sound();
}

#[test]
fn a_terminate_whose_caller_goes_away_is_taken_or_was_never_asked() {
    let mut ended = 0;
    for polls in 0..6 {
        let world = World::new();
        world.outside.script(|_| Does::Answer(500));
        let class = chain(&world.outside, 1);
        let life = world.live(&[class.erased()]);
        let run = life.start(&class, minutes("M", 0));
        polled_and_dropped(life.engine.terminate(run.id(), "me", "why"), polls);
        let kind = life.outcome(&run).kind;
        let asked = world.ledger.count("RunTerminated");
        let wanted = [OutcomeKind::Completed, OutcomeKind::Terminated][asked];
        assert_eq!(kind, wanted, "after {polls} polls");
        ended += asked;
    }
    assert!(0 < ended);
}

#[test]
fn dropped_views_and_listings_cost_nothing() {
    let world = World::new();
    let class = patient(&world);
    world.ledger.slow_reads(20);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 0));
    life.run_for(100);
    for _ in 0..20 {
        polled_and_dropped(run.view(), 1);
        polled_and_dropped(life.engine.view(run.id()), 2);
        polled_and_dropped(life.engine.runs(Default::default(), None), 1);
        polled_and_dropped(life.engine.effects(Default::default(), None), 1);
        polled_and_dropped(life.engine.run(&class, run.id()), 1);
    }
    life.run_for(1_000);
    assert_eq!((life.in_memory(), life.executor.strands()), (0, 1));
}
