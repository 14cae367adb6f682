//! Parked runs: what only waits leaves memory, and comes back at its moment or with whoever wants
//! something of it; it is never lost on the way out or in.

use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mainstay_class::{Absolute, Budget, Builder, Class, Extend, TaskClass, hours, mins, secs};
use mainstay_ledger::Ledger;
use mainstay_machine::{Event, OutcomeKind, RunState, StateReason};
use mainstay_types::{Millis, RunId, limits};

use crate::world::classes::{Question, Told, single_as};
use crate::world::script::{busy, maybe_sent};
use crate::world::{Does, Find, Life, Minutes, Moment, World, minutes};

/// How long the receiver asks to be left alone.
const WAIT: u64 = 300_000;

/// One read that its provider puts off for five minutes.
fn put_off(world: &World, settings: impl FnOnce(&mut Builder<Minutes>)) -> Class<Minutes, String> {
    world.outside.script(|ask| match ask.nth {
        1 => Does::Fail(10, busy(WAIT)),
        _ => Does::Answer(10),
    });
    let mut g = TaskClass::<Minutes>::define("patient", 1);
    g.budget(Budget::new().answer_by(mins(60)));
    settings(&mut g);
    let question = |m: &Minutes, ()| -> Question { m.question() };
    let told = g
        .read("told", &world.outside.read("told"), (), question)
        .add();
    g.finish(told, |_, told: &Told| told.by.clone())
        .expect("a valid class")
}

fn patient(world: &World) -> Class<Minutes, String> {
    put_off(world, |g| {
        g.on_downtime(Absolute);
    })
}

/// A run that has left memory.
fn parked(world: &World, class: &Class<Minutes, String>) -> (Life, RunId) {
    let life = world.live(&[class.erased()]);
    let id = life.start_keyed(class, minutes("M", 0)).id();
    life.run_for(100);
    assert_eq!(life.in_memory(), 0, "{}", world.describe(id));
    (life, id)
}

/// It came back at its moment, and was done.
fn came_back(world: &World, at: u64) {
    let asks = world.outside.asks();
    assert_eq!(asks.len(), 2, "{asks:#?}");
    assert_eq!(asks[1].at, at, "{asks:#?}");
    let head = world.state(world.only_run()).head().unwrap().clone();
    assert_eq!(head.lap.outcome.unwrap().kind, OutcomeKind::Completed);
    world.must_be_sound();
}

#[test]
fn a_run_that_only_waits_leaves_memory_and_comes_back_at_its_moment() {
    let world = World::new();
    let class = patient(&world);
    let (life, id) = parked(&world, &class);
    assert_eq!(life.executor.strands(), 1, "the keeper");
    let page = life
        .block_on(life.engine.runs(Default::default(), None))
        .unwrap();
    let row = &page.rows[0];
    assert_eq!(
        (row.state, row.reason),
        (RunState::Waiting, Some(StateReason::Backoff))
    );
    assert!(life.engine.not_driven().is_empty());
    let appends = world.ledger.log_of(id).len();
    life.run_for(WAIT - 200);
    assert_eq!(
        (life.in_memory(), world.ledger.log_of(id).len()),
        (0, appends)
    );
    life.run_for(1_000);
    came_back(&world, WAIT + 10);
    assert_eq!(life.in_memory(), 0);
    assert_eq!(world.ledger.count("LeaseTaken"), 0, "its own worker's run");
}

#[test]
fn a_run_whose_moment_is_near_stays() {
    let world = World::new();
    let class = patient(&world);
    world.outside.script(|ask| match ask.nth {
        1 => Does::Fail(10, busy(limits::PARK_MS_MIN - 1)),
        _ => Does::Answer(10),
    });
    let life = world.live(&[class.erased()]);
    life.start(&class, minutes("M", 0));
    life.run_for(100);
    assert_eq!(life.in_memory(), 1);
}

#[test]
fn parked_runs_take_no_place_of_a_new_one() {
    let world = World::new();
    let class = patient(&world);
    let life = world.live_with(|builder| builder.register(&class).runs_max(3));
    let mut ids = Vec::new();
    for n in 0..200 {
        ids.push(life.start(&class, minutes(&format!("M{n}"), 0)).id());
        life.run_for(20);
    }
    assert_eq!(life.in_memory(), 0);
    life.run_for(WAIT + 10_000);
    for id in ids {
        let head = world.state(id).head().unwrap().clone();
        assert_eq!(head.lap.outcome.unwrap().kind, OutcomeKind::Completed);
    }
    world.must_be_sound();
}

#[test]
fn an_answer_of_a_parked_run_is_waited_for_and_a_dropped_one_changes_nothing() {
    let world = World::new();
    let class = patient(&world);
    let (life, id) = parked(&world, &class);
    let run = life.block_on(life.engine.run(&class, id)).unwrap();
    for _ in 0..2 {
        let mut outcome = pin!(run.outcome());
        let polled = outcome
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Pending));
        life.run_for(10);
    }
    life.run_for(limits::PARK_MS_MIN + 1_000);
    assert_eq!(
        life.in_memory(),
        0,
        "who went away does not keep it in memory"
    );
    let (answer, outcome) = life.block_on(async { tokio::join!(run.answer(), run.outcome()) });
    assert!(answer.is_ok());
    assert_eq!(outcome.unwrap().kind, OutcomeKind::Completed);
    came_back(&world, WAIT + 10);
}

#[test]
fn a_parked_run_is_found_by_its_start_key_and_read_without_being_woken() {
    let world = World::new();
    let class = patient(&world);
    let (life, id) = parked(&world, &class);
    let start = life.engine.start(&class, minutes("M", 0)).key("K");
    let found = life.block_on(start.into_future()).unwrap();
    assert_eq!((found.id(), found.is_reused()), (id, true));
    let view = life.block_on(found.view()).unwrap();
    assert_eq!(
        (view.state, view.state_reason),
        ("waiting", Some("BACKOFF"))
    );
    life.run_for(10);
    assert_eq!(life.in_memory(), 0);
}

#[test]
fn a_cancel_reaches_a_parked_run_at_once() {
    let world = World::new();
    let class = patient(&world);
    let (life, id) = parked(&world, &class);
    let before = world.elapsed();
    life.block_on(async {
        life.engine.cancel(id, "me", "no more").await.unwrap();
        let run = life.engine.run(&class, id).await.unwrap();
        assert_eq!(run.outcome().await.unwrap().kind, OutcomeKind::Canceled);
    });
    assert_eq!(world.elapsed(), before);
    life.run_for(WAIT + 10_000);
    assert_eq!((life.in_memory(), world.outside.asks().len()), (0, 1));
    world.must_be_sound();
}

#[test]
fn a_crash_while_a_run_is_being_parked_is_a_crash_like_any_other() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        let world = World::new();
        let class = patient(&world);
        let life = world.live(&[class.erased()]);
        life.start_keyed(&class, minutes("M", 0));
        world.ledger.trap_parking(moment);
        life.block_on(world.ledger.crash());
        life.crash();
        world.ledger.disarm();
        world.timers.advance(Millis::new(50_000));
        let life = world.live(&[class.erased()]);
        life.run_for(100);
        assert_eq!(life.in_memory(), 0, "{moment:?}: parked again");
        life.run_for(WAIT);
        came_back(&world, WAIT + 10);
    }
}

#[test]
fn a_message_that_arrives_while_its_run_leaves_is_taken_at_once() {
    for offset in 0..24 {
        let world = World::new();
        world.ledger.slow(5, 5);
        let class = patient(&world);
        let life = world.live(&[class.erased()]);
        let id = life.start_keyed(&class, minutes("M", 0)).id();
        life.run_for(10 + offset);
        life.block_on(life.engine.cancel(id, "me", "no more"))
            .unwrap();
        life.run_for(60);
        let head = world.state(id).head().unwrap().clone();
        let kind = head.lap.outcome.map(|outcome| outcome.kind);
        assert_eq!(
            kind,
            Some(OutcomeKind::Canceled),
            "{offset}: {}",
            world.describe(id)
        );
        let inbox = life.block_on(world.ledger.inbox(id)).unwrap();
        assert!(inbox.is_empty(), "{offset}: {inbox:?}");
        assert_eq!(life.in_memory(), 0, "{offset}");
        world.must_be_sound();
    }
}

#[test]
fn somebody_who_asks_while_the_run_leaves_is_answered() {
    for offset in 0..24 {
        let world = World::new();
        world.ledger.slow(5, 5);
        world.ledger.slow_reads(3);
        let class = patient(&world);
        let life = world.live(&[class.erased()]);
        let id = life.start_keyed(&class, minutes("M", 0)).id();
        life.run_for(10 + offset);
        let outcome = life.outcome_of(&class, id);
        assert_eq!(
            outcome.kind,
            OutcomeKind::Completed,
            "{offset}: {}",
            world.describe(id)
        );
        assert!(
            world.elapsed() < WAIT + 100,
            "{offset}: {}",
            world.elapsed()
        );
    }
}

/// F07: what was read is old by the time it is looked at.
#[test]
fn f07_whoever_asks_of_a_run_that_ends_meanwhile_gets_its_outcome() {
    let world = World::new();
    let class = patient(&world);
    let (life, id) = parked(&world, &class);
    let run = life.block_on(life.engine.run(&class, id)).unwrap();
    life.run_for(WAIT - 200);
    world.ledger.delay_next_read(1_000);
    let outcome = life.outcome(&run);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(
        world.elapsed(),
        WAIT - 100 + 1_000,
        "it came back, ended and left meanwhile"
    );
}

#[test]
fn whoever_asks_while_the_run_comes_back_and_ends_gets_its_outcome() {
    for offset in 0..60 {
        let world = World::new();
        let class = patient(&world);
        let (life, id) = parked(&world, &class);
        world.ledger.slow_reads(20);
        life.run_for(WAIT - 100 - 20 + offset);
        let outcome = life.outcome_of(&class, id);
        assert_eq!(
            outcome.kind,
            OutcomeKind::Completed,
            "{offset}: {}",
            world.describe(id)
        );
        assert_eq!(world.outside.asks().len(), 2, "{offset}");
    }
}

#[test]
fn parked_runs_wake_at_their_moment_after_a_restart_or_at_once_when_it_has_passed() {
    for down in [1_000, WAIT + 60_000] {
        let world = World::new();
        let class = patient(&world);
        let (life, id) = parked(&world, &class);
        life.crash();
        world.timers.advance(Millis::new(down));
        let restarted = world.elapsed();
        let life = world.live(&[class.erased()]);
        life.run_for(9);
        let is_due = WAIT < down;
        assert_eq!(
            life.in_memory(),
            usize::from(is_due),
            "{}",
            world.describe(id)
        );
        life.run_for(WAIT);
        came_back(&world, (WAIT + 10).max(restarted));
        assert_eq!(world.ledger.count("LeaseTaken"), 1);
    }
}

#[test]
fn downtime_moves_the_times_of_a_parked_run_once_however_often_it_leaves_and_comes_back() {
    let world = World::new();
    let class = put_off(&world, |g| {
        g.on_downtime(Extend(hours(1)));
    });
    world.outside.script(|ask| match ask.nth {
        1..=2 => Does::Fail(10, busy(WAIT)),
        _ => Does::Answer(10),
    });
    let (life, id) = parked(&world, &class);
    life.crash();
    world.timers.advance(Millis::new(100_000));
    let life = world.live(&[class.erased()]);
    life.run_for(4 * WAIT);
    let extended: Vec<u64> = world
        .ledger
        .events_of(id)
        .iter()
        .filter_map(|event| {
            let Event::LeaseTaken(taken) = event else {
                return None;
            };
            Some(taken.extended.get())
        })
        .collect();
    assert_eq!(extended.len(), 1, "{}", world.describe(id));
    // Between its last event and the restart nobody wrote anything down.
    assert!((100_000..=100_200).contains(&extended[0]), "{extended:?}");
    let head = world.state(id).head().unwrap().clone();
    let answer_by = head.lap.times.answer_by.since(mainstay_sim::START).get();
    assert_eq!(answer_by, 60 * 60 * 1_000 + extended[0]);
    assert_eq!(head.lap.outcome.unwrap().kind, OutcomeKind::Completed);
    assert_eq!(world.outside.asks().len(), 3);
}

#[test]
fn an_ended_run_that_is_only_in_doubt_waits_outside_of_memory_and_is_told_when_it_is_known() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::LandAndFail(0, 5, maybe_sent(mainstay_types::FailureKind::Overloaded)));
    world.outside.finds(|ask| match ask.at < 2_000_000 {
        true => Find::CannotTell(5),
        false => Find::Truth(5),
    });
    let class = single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(10)).doubt_wait(secs(10)));
    });
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
    assert!(
        life.until(1_000_000, || life.in_memory() == 0),
        "the waits grow"
    );
    assert!(life.until(10_000_000, || world.state(run.id()).head().unwrap().closed));
    assert_eq!(life.outcome(&run).addenda.len(), 1);
    world.must_be_sound();
}

#[test]
fn a_parked_run_whose_code_is_missing_at_its_moment_is_listed_then_and_goes_on_with_it() {
    let world = World::new();
    let class = patient(&world);
    let (life, id) = parked(&world, &class);
    life.crash();
    let life = world.live(&[]);
    life.run_for(WAIT + 1_000);
    let listed = life.engine.not_driven();
    assert_eq!(
        listed.iter().map(|entry| entry.run).collect::<Vec<_>>(),
        [id]
    );
    let tries = world.ledger.tries();
    life.run_for(WAIT);
    assert_eq!(world.ledger.tries(), tries, "no endless retry");
    life.crash();
    let life = world.live(&[class.erased()]);
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::Completed);
    world.must_be_sound();
}

#[test]
fn a_store_without_room_keeps_a_run_in_memory_that_could_leave_it() {
    let world = World::new();
    let class = patient(&world);
    let life = world.live(&[class.erased()]);
    life.start_keyed(&class, minutes("M", 0));
    world.ledger.fail_commits(0);
    world.ledger.full(true);
    life.run_for(5_000);
    world.ledger.full(false);
    life.run_for(5_000);
    assert_eq!(life.in_memory(), 0);
    life.run_for(WAIT + 5_000);
    let head = world.state(world.only_run()).head().unwrap().clone();
    assert_eq!(head.lap.outcome.unwrap().kind, OutcomeKind::Completed);
}
