//! Canceling: durable once asked, taken once, and never at the cost of knowing what was written.

use mainstay_ledger::Ledger;
use mainstay_machine::OutcomeKind;
use mainstay_types::{Code, RunId};

use crate::world::classes::{both, meeting, single};
use crate::world::{Does, Find, Life, World, minutes};

fn inbox(life: &Life, world: &World, id: RunId) -> usize {
    let loaded = life
        .block_on(world.ledger.inner().load(id))
        .unwrap()
        .unwrap();
    loaded.inbox.len()
}

fn requested(world: &World, id: RunId) -> usize {
    let events = world.ledger.events_of(id);
    events
        .iter()
        .filter(|event| event.name() == "CancelRequested")
        .count()
}

#[test]
fn a_live_run_that_reads_is_canceled_at_once() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 2)).await.unwrap();
        run.cancel("someone", "changed their mind").await.unwrap();
        let outcome = run.outcome().await.unwrap();
        assert_eq!(outcome.kind, OutcomeKind::Canceled);
        run.id()
    });
    assert_eq!(world.elapsed(), 0, "nobody waits for reads");
    let head = world.state(id).head().unwrap().clone();
    let asked = head.cancel.as_ref().expect("somebody asked");
    assert_eq!(
        (asked.by.as_str(), asked.why.as_str()),
        ("someone", "changed their mind")
    );
    assert!(head.closed);
    assert_eq!(inbox(&life, &world, id), 0);
}

#[test]
fn asking_twice_is_asking_once_and_asking_after_the_end_is_refused() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(500));
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let (one, two) = tokio::join!(run.cancel("a", "x"), life.engine.cancel(run.id(), "b", "y"));
        assert!(one.is_ok() && two.is_ok());
        assert_eq!(run.outcome().await.unwrap().kind, OutcomeKind::Canceled);
        assert_eq!(requested(&world, run.id()), 1);
        assert_eq!(
            run.cancel("c", "z").await.unwrap_err().code(),
            Code::RunEnded
        );
        assert_eq!(
            inbox(&life, &world, run.id()),
            0,
            "taken messages wait no more"
        );
    });
}

#[test]
fn a_write_that_is_out_is_settled_before_the_run_is_canceled() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "tickets" => Does::Answer(700),
        _ => Does::Answer(10),
    });
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 8)).id();
    life.run_for(100);
    assert_eq!(
        world.outside.requests("tickets").len(),
        5,
        "as many as concurrency allows"
    );
    let outcome = life.block_on(async {
        let run = life.engine.run(&class, id).await.unwrap();
        run.cancel("me", "enough").await.unwrap();
        run.outcome().await.unwrap()
    });
    assert_eq!(outcome.kind, OutcomeKind::Canceled);
    assert!(700 <= world.elapsed());
    assert_eq!(
        world.outside.requests("tickets").len(),
        5,
        "no new write after the cancel"
    );
    let written = outcome
        .package
        .keys()
        .filter(|path| path.starts_with("ticket_write["));
    assert_eq!(
        written.count(),
        5,
        "what was written is in the package: {outcome:?}"
    );
}

#[test]
fn a_read_that_nobody_wants_any_more_is_dropped_while_a_write_is_waited_for() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "orders" => Does::Answer(700),
        _ => Does::Hang,
    });
    let class = both(&world.outside);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 0)).await.unwrap();
        run.cancel("me", "enough").await.unwrap();
    });
    life.run_for(10);
    assert_eq!(world.outside.asks().len(), 2);
    assert_eq!(world.outside.open(), 1, "the write alone");
    life.run_for(1_000);
    assert_eq!(
        (world.outside.open(), world.ledger.count("EffectApplied")),
        (0, 1)
    );
}

#[test]
fn a_write_in_doubt_keeps_a_canceled_run_open_until_it_is_known() {
    let world = World::new();
    world.outside.script(|_| Does::Lose(0));
    world.outside.finds(|ask| match ask.look_up < 3 {
        true => Find::CannotTell(5),
        false => Find::Truth(5),
    });
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    life.run_for(3_100);
    life.block_on(async {
        let run = life.engine.run(&class, id).await.unwrap();
        run.cancel("me", "enough").await.unwrap();
        assert_eq!(run.outcome().await.unwrap().kind, OutcomeKind::Canceled);
    });
    assert_eq!(world.ledger.count("EffectApplied"), 1);
    assert_eq!(world.outside.look_ups().len(), 3);
}

#[test]
fn a_cancel_is_durable_once_it_returns_and_is_taken_once_after_a_crash() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(60_000));
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    // The run's own append of it never becomes durable.
    world.ledger.trap(1, crate::world::Moment::Before);
    life.block_on(async {
        life.engine.cancel(id, "me", "why").await.unwrap();
        world.ledger.crash().await;
    });
    assert_eq!(requested(&world, id), 0);
    assert_eq!(inbox(&life, &world, id), 1);
    life.crash();

    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Canceled);
    assert_eq!((requested(&world, id), inbox(&life, &world, id)), (1, 0));
    life.crash();
    let life = world.live(&[class.erased()]);
    life.run_for(1_000);
    assert_eq!(requested(&world, id), 1);
}

#[test]
fn a_run_whose_code_is_missing_is_canceled_all_the_same() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    life.crash();
    let life = world.live(&[]);
    life.block_on(life.engine.cancel(id, "me", "why")).unwrap();
    life.run_for(100);
    assert_eq!((requested(&world, id), inbox(&life, &world, id)), (1, 0));
    let head = world.state(id).head().unwrap().clone();
    assert_eq!(head.lap.outcome.unwrap().kind, OutcomeKind::Canceled);
    let again = life.block_on(life.engine.cancel(id, "me", "again"));
    assert_eq!(again.unwrap_err().code(), Code::RunEnded);
    life.crash();
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Canceled);
    assert_eq!((requested(&world, id), inbox(&life, &world, id)), (1, 0));
}

#[test]
fn a_cancel_whose_caller_goes_away_is_taken_or_was_never_asked() {
    use std::future::Future;
    use std::task::{Context, Waker};
    let mut taken = 0;
    for polls in 0..6 {
        let world = World::new();
        world.outside.script(|_| Does::Hang);
        let class = meeting(&world.outside);
        let life = world.live(&[class.erased()]);
        let id = life.start(&class, minutes("M", 1)).id();
        let mut cancel = Box::pin(life.engine.cancel(id, "me", "why"));
        for _ in 0..polls {
            if cancel
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_ready()
            {
                break;
            }
        }
        drop(cancel);
        life.run_for(100);
        assert_eq!(
            inbox(&life, &world, id),
            0,
            "after {polls} polls it waits for nobody"
        );
        taken += requested(&world, id);
    }
    assert!(0 < taken);
}
