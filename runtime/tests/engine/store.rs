//! A store that is full, broken, slow to read or moved by somebody else.

use mainstay_ledger::{CommitRequest, Drive, Ledger, Op, Part, Stamped, Verdict};
use mainstay_machine::{Event, LeaseTaken, OutcomeKind};
use mainstay_runtime::{EngineError, NotDrivenReason};
use mainstay_types::{AlertSeq, Clock, Code, Millis, RunId, WorkerId};

use crate::world::classes::{chain, meeting, single};
use crate::world::{Does, Find, World, minutes};

/// F32: the disk is full for a while.
#[test]
fn f32_a_full_store_loses_nothing_sends_nothing_twice_and_goes_on_when_there_is_room() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 3)).id();
    life.run_for(250);
    world.ledger.full(true);
    let (appends, asks) = (world.ledger.log().len(), world.outside.asks().len());
    life.run_for(4_000);
    assert_eq!(world.ledger.log().len(), appends);
    assert_eq!(
        world.outside.asks().len(),
        asks,
        "nothing leaves without its record"
    );
    let error = life.block_on(async {
        life.engine
            .start(&class, minutes("N", 1))
            .await
            .unwrap_err()
    });
    let EngineError::Refused {
        refusal,
        retry_after,
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(
        (refusal.code, retry_after),
        (Code::StoreFull, Some(Millis::from_secs(1)))
    );
    world.ledger.full(false);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(
        world.retries(id),
        0,
        "answers that came meanwhile were kept"
    );
    world.must_be_sound();
    assert_eq!(world.outside.effects().len(), 3);
    assert_eq!(world.runs().len(), 1, "the refused start is not stored");
}

#[test]
fn a_store_without_room_costs_no_more_than_a_try_a_second() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    life.start(&class, minutes("M", 3));
    world.ledger.full(true);
    // Nothing comes in any more: what is due by time alone is what cannot be written.
    let before = world.ledger.tries();
    life.run_for(60_000);
    let tries = world.ledger.tries() - before;
    assert!((10..=62).contains(&tries), "{tries} tries in a minute");
    world.ledger.full(false);
    life.run_for(2_000);
    assert!(world.state(world.only_run()).head().unwrap().closed);
}

#[test]
fn a_take_over_that_finds_no_room_sends_nothing_of_what_the_dead_process_had_out() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(300));
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    life.run_for(10);
    life.crash();
    world.ledger.full(true);
    let life = world.live(&[class.erased()]);
    life.run_for(3_000);
    assert_eq!(world.outside.asks().len(), 1, "the run is not ours yet");
    world.ledger.full(false);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    world.must_be_sound();
    assert_eq!(world.outside.requests("orders").len(), 1);
}

/// The run is let go when the disk fails, and taken up again by the same process while there is no
/// room to say what became of what was out.
#[test]
fn what_was_out_when_the_run_was_let_go_is_not_sent_again_however_long_there_is_no_room() {
    for failing in [1, 2, 5] {
        for answers in [150, 450, 1_200] {
            let world = World::new();
            world.outside.script(move |_| Does::Answer(answers));
            let class = single(&world.outside);
            let life = world.live(&[class.erased()]);
            let id = life.start(&class, minutes("M", 1)).id();
            life.run_for(50);
            world.ledger.full(true);
            life.run_for(50);
            world.ledger.fail_commits(failing);
            life.run_for(700);
            world.ledger.full(false);
            let outcome = life.outcome_of(&class, id);
            assert_eq!(outcome.kind, OutcomeKind::Completed, "{failing}, {answers}");
            world.must_be_sound();
            let requests = world.outside.requests("orders").len();
            assert_eq!(requests, 1, "{failing} failed, answered after {answers} ms");
        }
    }
}

#[test]
fn a_store_that_fails_ends_the_runs_and_tells_who_waits() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 3)).await.unwrap();
        world.ledger.poison();
        let (answer, outcome) = tokio::join!(run.answer(), run.outcome());
        assert_eq!(answer.unwrap_err().code(), Code::StorePoisoned);
        assert_eq!(outcome.unwrap_err().code(), Code::StorePoisoned);
        let start = life
            .engine
            .start(&class, minutes("N", 1))
            .await
            .unwrap_err();
        assert_eq!(start.code(), Code::StorePoisoned);
        run.id()
    });
    let listed = life.engine.not_driven();
    assert_eq!((listed.len(), listed[0].run), (1, id));
    assert_eq!(listed[0].reason, NotDrivenReason::StoreFailed);
    let asks = world.outside.asks().len();
    life.run_for(20_000);
    assert_eq!(world.outside.asks().len(), asks, "nothing leaves any more");
    assert_eq!(life.executor.strands(), 1, "the keeper");
}

/// What another owner's take-over would write.
fn taken_by_another(world: &World, id: RunId) -> CommitRequest {
    let run = world.state(id);
    let head = run.head().unwrap();
    let at = world.clock().wall();
    let taken = LeaseTaken {
        epoch: head.epoch.next(),
        worker: WorkerId::from_bytes([9; 16]),
        at,
        downtime: Millis::ZERO,
        extended: Millis::ZERO,
    };
    let part = Part {
        run: id,
        expected_seq: run.seq(),
        epoch: taken.epoch,
        events: vec![Stamped {
            at,
            event: Event::LeaseTaken(taken),
        }],
        ops: vec![Op::Drive(Drive::Driven {
            worker: taken.worker,
        })],
    };
    CommitRequest { parts: vec![part] }
}

#[test]
fn a_run_that_another_owner_took_is_let_go_and_the_others_go_on() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let class = chain(&world.outside, 4);
    let life = world.live(&[class.erased()]);
    let (lost, kept) = life.block_on(async {
        let lost = life.engine.start(&class, minutes("A", 0)).await.unwrap();
        let kept = life.engine.start(&class, minutes("B", 0)).await.unwrap();
        (lost, kept)
    });
    life.run_for(150);
    let theirs = taken_by_another(&world, lost.id());
    let verdicts = life
        .block_on(world.ledger.inner().commit(vec![theirs]))
        .unwrap();
    assert!(matches!(verdicts[0], Verdict::Committed(_)));
    life.block_on(async {
        assert_eq!(lost.outcome().await.unwrap_err().code(), Code::LeaseLost);
        assert_eq!(kept.outcome().await.unwrap().kind, OutcomeKind::Completed);
    });
    let requests = world.outside.requests("link");
    let of_lost = requests
        .iter()
        .filter(|ask| ask.run == lost.id().to_string())
        .count();
    assert_eq!(
        of_lost, 2,
        "what was out when it was taken, and nothing after"
    );
    let listed = life.engine.not_driven();
    assert_eq!(
        (listed.len(), listed[0].reason),
        (1, NotDrivenReason::LeaseLost)
    );
}

/// F01: reading fails for a while in the middle of the recovery scan.
#[test]
fn f01_a_store_that_cannot_be_read_for_two_seconds_delays_a_recovery_and_loses_no_run() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let class = chain(&world.outside, 2);
    let life = world.live(&[class.erased()]);
    let ids = life.block_on(async {
        let mut ids = Vec::new();
        for _ in 0..250 {
            ids.push(
                life.engine
                    .start(&class, minutes("M", 0))
                    .await
                    .unwrap()
                    .id(),
            );
        }
        ids
    });
    life.crash();
    world.ledger.unreadable_after(101, 2);
    let before = world.elapsed();
    let life = world.live(&[class.erased()]);
    assert_eq!(world.elapsed() - before, 2_000);
    life.block_on(async {
        for id in ids {
            let outcome = life
                .engine
                .run(&class, id)
                .await
                .unwrap()
                .outcome()
                .await
                .unwrap();
            assert_eq!(outcome.kind, OutcomeKind::Completed);
        }
    });
}

#[test]
fn a_store_that_can_never_be_read_again_fails_the_start_and_leaves_nothing_driven() {
    let world = World::new();
    // Doubts that last for hours, so that whoever is driven goes on asking.
    world.outside.script(|_| Does::Lose(0));
    world.outside.finds(|_| Find::CannotTell(5));
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    for id in ["A", "B", "C"] {
        life.start(&class, minutes(id, 1));
    }
    life.crash();
    world.ledger.unreadable_after(2, 1_000_000);
    let executor = world.executor();
    let builder = world.builder(&executor).register(&class);
    let error = executor.block_on(builder.start()).unwrap_err();
    assert_eq!(error.code(), Code::StoreIo);
    let asks = world.outside.asks().len();
    assert!(3 < asks, "one was taken over before reading failed");
    executor.run_for(Millis::from_hours(1));
    assert_eq!((executor.strands(), world.outside.asks().len()), (0, asks));
}

#[test]
fn a_full_store_is_told_at_answer_by_and_the_late_end_is_an_alert() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        world.ledger.full(true);
        let refused = run.answer().await.unwrap_err();
        assert_eq!(refused.code(), Code::StoreFull);
        assert!(30_000 <= world.elapsed() && world.elapsed() < 33_000);
        let listed = life.engine.status().not_driven;
        assert_eq!(listed[0].reason, NotDrivenReason::StoreFull);
        let asked = life.engine.terminate(run.id(), "ann", "no room").await;
        assert_eq!(asked.unwrap_err().code(), Code::StoreFull);
        world.ledger.full(false);
        let outcome = run.outcome().await.unwrap();
        assert_eq!(
            outcome.kind,
            OutcomeKind::Terminated,
            "what was asked is taken"
        );
        assert!(life.engine.status().not_driven.is_empty());
        let alerts = life.engine.alerts(AlertSeq(0)).await.unwrap();
        let kinds: Vec<&str> = alerts
            .rows
            .iter()
            .map(|row| row.alert.kind.as_str())
            .collect();
        assert_eq!(kinds, ["ended_late"]);
    });
}
