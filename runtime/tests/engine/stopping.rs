//! Shutting down: in order, within a bound, and nothing is lost.

use std::future::Future;
use std::task::{Context, Waker};

use mainstay_machine::OutcomeKind;
use mainstay_runtime::ShutdownReport;
use mainstay_types::{Code, FailureKind, Millis};

use crate::world::classes::{both, chain, meeting, single};
use crate::world::script::maybe_sent;
use crate::world::{Does, Find, World, minutes};

#[test]
fn what_is_out_ends_within_the_bound_and_nothing_new_starts() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(400));
    let class = chain(&world.outside, 3);
    let life = world.live(&[class.erased()]);
    let id = life.start_keyed(&class, minutes("M", 0)).id();
    life.run_for(100);
    let report = life.block_on(life.engine.clone().shutdown(Millis::from_secs(5)));
    assert_eq!(
        report,
        ShutdownReport {
            open_runs: 1,
            out_at_bound: 0
        }
    );
    assert_eq!(world.elapsed(), 400, "as soon as the answer is in");
    assert_eq!(world.outside.asks().len(), 1);
    let last = world.history(id).pop().unwrap();
    assert!(
        last.starts_with("AttemptSettled link_1/1, CallSettled link_1"),
        "{last}"
    );
    assert!(!last.contains("AttemptStarted"), "{last}");
    assert_eq!(life.executor.strands(), 0);
    life.crash();

    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(world.outside.asks().len(), 3, "no call was asked twice");
}

#[test]
fn what_is_still_out_at_the_bound_is_reported_and_found_again_at_the_next_start() {
    let world = World::new();
    world.outside.script(|_| Does::Lose(0));
    let class = meeting(&world.outside);
    let single = single(&world.outside);
    let life = world.live(&[class.erased(), single.erased()]);
    life.block_on(async {
        life.engine.start(&single, minutes("A", 1)).await.unwrap();
        life.engine.start(&single, minutes("B", 1)).await.unwrap();
    });
    life.run_for(10);
    let report = life.block_on(life.engine.clone().shutdown(Millis::from_secs(1)));
    assert_eq!(
        report,
        ShutdownReport {
            open_runs: 2,
            out_at_bound: 2
        }
    );
    assert_eq!(world.elapsed(), 1_010);
    life.crash();
    let life = world.live(&[class.erased(), single.erased()]);
    life.block_on(async {
        for id in world.runs() {
            let run = life.engine.run(&single, id).await.unwrap();
            assert_eq!(run.outcome().await.unwrap().kind, OutcomeKind::Completed);
        }
    });
    world.must_be_sound();
    assert_eq!(world.outside.requests("orders").len(), 2);
}

#[test]
fn a_run_that_ends_while_the_engine_drains_is_not_open() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(400));
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    let report = life.block_on(life.engine.clone().shutdown(Millis::from_secs(5)));
    assert_eq!(
        report,
        ShutdownReport {
            open_runs: 0,
            out_at_bound: 0
        }
    );
    let outcome = life.block_on(run.outcome()).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Completed);
}

#[test]
fn a_start_during_a_shutdown_is_refused_and_a_known_key_is_still_found() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(400));
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let run = life
            .engine
            .start(&class, minutes("M", 1))
            .key("K")
            .await
            .unwrap();
        let mut down = Box::pin(life.engine.clone().shutdown(Millis::from_secs(5)));
        assert!(
            down.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        let error = life
            .engine
            .start(&class, minutes("N", 1))
            .await
            .unwrap_err();
        assert_eq!(error.code(), Code::EngineStopping);
        let found = life
            .engine
            .start(&class, minutes("M", 1))
            .key("K")
            .await
            .unwrap();
        assert_eq!(found.id(), run.id());
        down.await;
        let error = life
            .engine
            .start(&class, minutes("N", 1))
            .await
            .unwrap_err();
        assert_eq!(error.code(), Code::EngineStopping);
    });
    assert_eq!(world.runs().len(), 1);
}

#[test]
fn nothing_starts_while_the_engine_drains_also_not_by_time() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "policy" => Does::Fail(10, crate::world::script::busy(500)),
        "tickets" => Does::Lose(0),
        _ => Does::Answer(2_000),
    });
    world.outside.finds(|_| Find::CannotTell(5));
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    life.start(&class, minutes("M", 2));
    life.run_for(100);
    let asks = world.outside.asks().len();
    let report = life.block_on(life.engine.clone().shutdown(Millis::from_secs(5)));
    assert_eq!(
        report,
        ShutdownReport {
            open_runs: 1,
            out_at_bound: 0
        }
    );
    assert_eq!(world.elapsed(), 2_000, "the read that was out has ended");
    assert_eq!(world.outside.asks().len(), asks, "no retry, no look-up");
}

#[test]
fn an_engine_with_nothing_to_do_is_down_at_once() {
    let world = World::new();
    let life = world.live(&[]);
    let report = life.block_on(life.engine.clone().shutdown(Millis::from_secs(5)));
    assert_eq!(
        report,
        ShutdownReport {
            open_runs: 0,
            out_at_bound: 0
        }
    );
    assert_eq!(world.elapsed(), 0);
}

#[test]
fn a_run_that_only_waits_goes_down_at_once_and_on_at_the_next_start() {
    let world = World::new();
    world.outside.script(|ask| match ask.nth {
        1 => Does::Fail(10, crate::world::script::busy(3_000)),
        _ => Does::Answer(10),
    });
    let class = chain(&world.outside, 1);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 0)).id();
    life.run_for(100);
    let report = life.block_on(life.engine.clone().shutdown(Millis::from_secs(5)));
    assert_eq!(
        report,
        ShutdownReport {
            open_runs: 1,
            out_at_bound: 0
        }
    );
    assert_eq!(world.elapsed(), 100);
    life.crash();
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(world.elapsed(), 3_020, "its wait went on where it was");
}

#[test]
fn a_run_that_was_let_in_just_before_the_shutdown_is_durable_and_sends_nothing() {
    use std::future::IntoFuture;
    let world = World::new();
    let class = chain(&world.outside, 1);
    let life = world.live(&[class.erased()]);
    let id = life.block_on(async {
        let mut start = life
            .engine
            .start(&class, minutes("M", 0))
            .key("K")
            .into_future();
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(start.as_mut().poll(cx).is_pending());
        let down = life.engine.clone().shutdown(Millis::from_secs(5));
        let (run, report) = tokio::join!(start, down);
        assert_eq!(report.open_runs, 1);
        run.expect("it was let in").id()
    });
    assert_eq!(world.history(id), ["RunStarted"]);
    assert!(world.outside.asks().is_empty());
}

#[test]
fn a_doubt_is_not_asked_about_while_the_engine_drains_but_after_it() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "orders" => Does::LandAndFail(0, 10, maybe_sent(FailureKind::Overloaded)),
        _ => Does::Answer(2_500),
    });
    world.outside.finds(|ask| match ask.at < 2_500 {
        true => Find::CannotTell(5),
        false => Find::Truth(5),
    });
    let class = both(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    life.run_for(100);
    assert_eq!(world.outside.look_ups().len(), 1);
    let report = life.block_on(life.engine.clone().shutdown(Millis::from_secs(5)));
    assert_eq!((report.open_runs, world.elapsed()), (1, 2_500));
    assert_eq!(world.outside.look_ups().len(), 1);
    life.crash();
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(world.outside.look_ups().len(), 2);
}
