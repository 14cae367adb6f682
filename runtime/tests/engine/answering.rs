//! Answers and outcomes: once, from the ledger, whoever asks and whenever.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mainstay_class::{Budget, secs};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::Answer;
use mainstay_types::{Code, FailureKind, Millis, Reason};

use crate::world::classes::{meeting, single_as};
use crate::world::script::refused;
use crate::world::{Does, Find, World, minutes};

#[test]
fn an_answer_is_ready_and_stays_the_same_after_the_end_and_after_a_restart() {
    let world = World::new();
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let (id, first) = life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 2)).await.unwrap();
        (run.id(), format!("{:?}", run.answer().await.unwrap()))
    });
    assert!(
        first.contains("Completed") && first.contains("T-2"),
        "{first}"
    );
    let again = |life: &crate::world::Life| {
        life.block_on(async {
            let run = life.engine.run(&class, id).await.unwrap();
            format!("{:?}", run.answer().await.unwrap())
        })
    };
    assert_eq!(again(&life), first);
    life.crash();
    assert_eq!(again(&world.live(&[class.erased()])), first);
    assert_eq!(again(&world.live(&[])), first, "no code is needed to read");
}

#[test]
fn a_doubt_at_answer_by_is_told_as_later_and_the_outcome_follows() {
    let world = World::new();
    world.outside.script(|_| Does::Lose(0));
    world.outside.finds(|ask| match ask.at < 40_000 {
        true => Find::CannotTell(5),
        false => Find::Truth(5),
    });
    let class = single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(10)));
    });
    let life = world.live(&[class.erased()]);
    let id = life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let answer = run.answer().await.unwrap();
        assert_eq!(
            world.elapsed(),
            10_000,
            "told at answer_by, not before and not after"
        );
        let Answer::Later(later) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(later.why, Reason::AnswerTimeReached);
        let [doubt] = later.doubts.as_slice() else {
            panic!("{later:?}")
        };
        assert_eq!(doubt.call, "order");
        assert!(doubt.key.to_string().contains("order"), "{}", doubt.key);
        assert_eq!(doubt.since, mainstay_sim::START, "when it was first sent");
        let outcome = run.outcome().await.unwrap();
        assert!(40_000 <= world.elapsed());
        assert_eq!(outcome.kind, OutcomeKind::Completed);
        assert_eq!(outcome.result.unwrap().id, "T-1");
        let answer = run.answer().await.unwrap();
        assert!(
            matches!(answer, Answer::Later(_)),
            "what was told stays told: {answer:?}"
        );
        run.id()
    });
    life.crash();
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let run = life.engine.run(&class, id).await.unwrap();
        assert!(matches!(run.answer().await.unwrap(), Answer::Later(_)));
        assert_eq!(run.outcome().await.unwrap().kind, OutcomeKind::Completed);
    });
    assert_eq!(world.outside.requests("orders").len(), 1);
}

/// F34: Later at answer_by, then a kill; what became of the write is known only after the restart.
#[test]
fn f34_a_doubt_is_told_as_later_survives_a_kill_and_its_outcome_is_given_then() {
    let world = World::new();
    world.outside.script(|_| Does::Lose(0));
    world.outside.finds(|ask| match ask.at < 50_000 {
        true => Find::CannotTell(5),
        false => Find::Truth(5),
    });
    let class = single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(10)));
    });
    let life = world.live(&[class.erased()]);
    let run = life.start_keyed(&class, minutes("M", 1));
    let later = format!("{:?}", life.block_on(run.answer()).unwrap());
    assert!(later.contains("Later"), "{later}");
    let id = run.id();
    life.crash();
    world.timers.advance(Millis::from_secs(20));

    // Nobody asks for it: it is found, and asked about, all the same.
    let life = world.live(&[class.erased()]);
    let is_over = || world.state(id).head().unwrap().lap.outcome.is_some();
    assert!(life.until(120_000, is_over), "{}", world.describe(id));
    let run = life.block_on(life.engine.run(&class, id)).unwrap();
    assert_eq!(
        format!("{:?}", life.block_on(run.answer()).unwrap()),
        later,
        "told once"
    );
    let outcome = format!("{:?}", life.outcome(&run));
    assert!(outcome.contains("Completed"), "{outcome}");
    life.crash();
    let life = world.live(&[class.erased()]);
    let run = life.block_on(life.engine.run(&class, id)).unwrap();
    assert_eq!(
        format!("{:?}", life.outcome(&run)),
        outcome,
        "asked twice, the same"
    );
    assert_eq!(format!("{:?}", life.block_on(run.answer()).unwrap()), later);
    assert_eq!(world.outside.requests("orders").len(), 1);
    world.must_be_sound();
}

/// F34: it had its outcome already.
#[test]
fn f34_a_doubt_that_outlives_the_wait_is_handed_off_and_what_is_learned_later_is_an_addendum() {
    let world = World::new();
    world.outside.script(|_| Does::Lose(0));
    world.outside.finds(|ask| match ask.at < 100_000 {
        true => Find::CannotTell(5),
        false => Find::Truth(5),
    });
    let class = single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(10)).doubt_wait(secs(30)));
    });
    let life = world.live(&[class.erased()]);
    let id = life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let outcome = run.outcome().await.unwrap();
        assert_eq!(world.elapsed(), 40_000);
        let (kind, reason) = (outcome.kind, outcome.reason);
        assert_eq!(
            (kind, reason),
            (OutcomeKind::HandedOff, Reason::DoubtWaitOver)
        );
        assert!(outcome.addenda.is_empty());
        assert_eq!(
            run.cancel("me", "too late").await.unwrap_err().code(),
            Code::RunEnded
        );
        run.id()
    });
    // The doubt goes on, also over a restart.
    life.crash();
    let life = world.live(&[class.erased()]);
    life.run_for(200_000);
    life.block_on(async {
        let run = life.engine.run(&class, id).await.unwrap();
        let outcome = run.outcome().await.unwrap();
        assert_eq!(
            outcome.kind,
            OutcomeKind::HandedOff,
            "an outcome is given once"
        );
        let addenda: Vec<_> = outcome
            .addenda
            .iter()
            .map(|a| (a.call.as_str(), a.what))
            .collect();
        assert_eq!(addenda, [("order", Reason::FoundApplied)]);
    });
    assert!(world.state(id).head().unwrap().closed);
    assert_eq!(world.outside.requests("orders").len(), 1);
}

#[test]
fn dropping_an_answer_cancels_nothing() {
    let world = World::new();
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        for _ in 0..3 {
            let mut answer = pin!(run.answer());
            let polled = answer
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(polled, Poll::Pending));
        }
        run
    });
    life.run_for(5_000);
    assert!(world.state(run.id()).head().unwrap().closed);
    let outcome = life.block_on(run.outcome()).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Completed);
}

#[test]
fn a_soft_failure_degrades_the_result_with_a_notice() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "search" => Does::Fail(5, refused(FailureKind::PermanentProvider)),
        "expert" => Does::Fail(5, refused(FailureKind::PermanentProvider)),
        _ => Does::Answer(10),
    });
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome(&life.start(&class, minutes("M", 1)));
    assert_eq!(outcome.kind, OutcomeKind::Degraded);
    let wanted = [
        "related tickets not searched",
        "specialist answered by local compute",
    ];
    assert_eq!(outcome.notices, wanted);
    let result = outcome.result.unwrap();
    assert_eq!((result.related, result.tickets.len()), (false, 1));
    assert!(
        outcome.package.is_empty(),
        "the result is there: nobody has to go on from parts"
    );
}

#[test]
fn a_lost_hard_call_hands_off_what_is_there_and_writes_nothing() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "policy" | "snapshot" => Does::Fail(5, refused(FailureKind::PermanentProvider)),
        _ => Does::Answer(10),
    });
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome(&life.start(&class, minutes("M", 2)));
    let (kind, reason) = (outcome.kind, outcome.reason);
    assert_eq!(
        (kind, reason),
        (OutcomeKind::HandedOff, Reason::HardCallFailed)
    );
    assert!(outcome.result.is_none());
    assert_eq!(
        outcome.package.keys().collect::<Vec<_>>(),
        ["related_tickets"]
    );
    assert!(
        outcome
            .notices
            .iter()
            .any(|n| n.starts_with("policy_rag failed")),
        "{outcome:?}"
    );
    assert!(world.outside.effects().is_empty());
}

#[test]
fn a_fallback_answers_in_place_of_the_primary_and_the_result_says_so() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "policy" => Does::Fail(5, refused(FailureKind::PermanentProvider)),
        _ => Does::Answer(10),
    });
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome(&life.start(&class, minutes("M", 1)));
    assert_eq!(outcome.kind, OutcomeKind::Degraded);
    assert_eq!(outcome.result.unwrap().policy_by, "snapshot");
    assert_eq!(outcome.notices.len(), 1, "{:?}", outcome.notices);
    assert!(
        outcome.notices[0].contains("an approved snapshot"),
        "{:?}",
        outcome.notices
    );
}

#[test]
fn nobody_who_waits_is_forgotten_when_many_wait_at_once() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(500));
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let (one, two, three) = tokio::join!(run.answer(), run.outcome(), run.answer());
        assert!(matches!(one.unwrap(), Answer::Ready(_)));
        assert_eq!(two.unwrap().kind, OutcomeKind::Completed);
        assert!(matches!(three.unwrap(), Answer::Ready(_)));
    });
    assert!(world.elapsed() < Millis::from_secs(12).get());
}

#[test]
fn an_unknown_run_is_said_to_be_unknown() {
    let world = World::new();
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = mainstay_types::RunId::from_bytes([7; 16]);
    life.block_on(async {
        assert_eq!(
            life.engine.run(&class, id).await.unwrap_err().code(),
            Code::RunUnknown
        );
        let cancel = life.engine.cancel(id, "me", "why").await;
        assert_eq!(cancel.unwrap_err().code(), Code::RunUnknown);
    });
}
