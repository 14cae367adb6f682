//! Alerts: each once in the ledger, in order, at least once to whoever keeps the number of the last
//! one he has handled.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mainstay_class::{Budget, Class, secs};
use mainstay_machine::{AlertKind, OutcomeKind};
use mainstay_types::{AlertSeq, FailureKind, Millis};

use crate::poison::{self, At};
use crate::world::classes::{chain, single_as};
use crate::world::script::{maybe_sent, refused};
use crate::world::{Does, Find, Minutes, Moment, Ticket, World, minutes};

fn order(world: &World) -> Class<Minutes, Ticket> {
    single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(10)).doubt_wait(secs(20)));
    })
}

/// The alerts there are: their kind, call and reason.
fn said(world: &World) -> Vec<(AlertKind, Option<String>, String)> {
    let alerts = world.alerts().into_iter().map(|stored| stored.alert);
    let said = alerts.map(|alert| (alert.kind, alert.call, alert.reason));
    said.collect()
}

fn of(kind: AlertKind, call: Option<&str>, reason: &str) -> (AlertKind, Option<String>, String) {
    (kind, call.map(str::to_owned), reason.to_owned())
}

#[test]
fn a_run_that_goes_well_alerts_nobody() {
    let world = World::new();
    let class = order(&world);
    let life = world.live(&[class.erased()]);
    life.outcome(&life.start(&class, minutes("M", 1)));
    assert_eq!(said(&world), []);
}

#[test]
fn a_hand_off_is_told_with_its_run_lap_and_reason() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(5, refused(FailureKind::PermanentProvider)));
    let class = order(&world);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    life.outcome(&run);
    let page = life.block_on(life.engine.alerts(AlertSeq(0))).unwrap();
    let [stored] = page.rows.as_slice() else {
        panic!("{page:?}")
    };
    assert_eq!(stored.seq, AlertSeq(1));
    let alert = &stored.alert;
    assert_eq!(
        (alert.run, alert.lap.get(), alert.kind),
        (run.id(), 1, AlertKind::HandedOff)
    );
    assert_eq!(
        (alert.class.name.as_str(), alert.tenant.as_str()),
        ("single", "default")
    );
    assert_eq!(alert.reason, "HARD_CALL_FAILED");
    let after = life.block_on(life.engine.alerts(AlertSeq(1))).unwrap();
    assert!(after.rows.is_empty(), "told to whoever has not handled it");
}

#[test]
fn a_doubt_at_answer_by_its_late_end_and_what_is_learned_later_are_told_in_order() {
    let world = World::new();
    world.outside.script(|_| Does::Lose(0));
    world.outside.finds(|ask| match ask.at {
        ..15_000 => Find::CannotTell(5),
        _ => Find::Truth(5),
    });
    let class = order(&world);
    let life = world.live(&[class.erased()]);
    assert_eq!(
        life.outcome(&life.start(&class, minutes("A", 1))).kind,
        OutcomeKind::Completed
    );
    let in_doubt = of(AlertKind::InDoubt, Some("order"), "ANSWER_TIME_REACHED");
    let late = of(AlertKind::EndedLate, None, "ALL_SETTLED");
    assert_eq!(said(&world), [in_doubt.clone(), late]);

    let from = world.elapsed();
    world.outside.finds(move |ask| match ask.at - from {
        ..40_000 => Find::CannotTell(5),
        _ => Find::Truth(5),
    });
    let run = life.start(&class, minutes("B", 1));
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
    life.run_for(200_000);
    let handed_off = of(AlertKind::HandedOff, None, "DOUBT_WAIT_OVER");
    let addendum = of(AlertKind::Addendum, Some("order"), "FOUND_APPLIED");
    assert_eq!(said(&world)[2..], [in_doubt, handed_off, addendum]);
    world.must_be_sound();
}

#[test]
fn a_write_that_was_done_in_part_and_a_quarantine_are_told() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(5, maybe_sent(FailureKind::Overloaded)));
    world.outside.finds(|_| Find::Partly(5));
    let class = order(&world);
    let fragile = poison::class(&world, At::Request);
    let life = world.live(&[class.erased(), fragile.erased()]);
    life.outcome(&life.start(&class, minutes("M", 1)));
    world.outside.script(|_| Does::Answer(5));
    let bad = life.start(&fragile, minutes("bad", 1));
    assert!(life.block_on(bad.outcome()).is_err());
    let partly = of(AlertKind::PartlyApplied, Some("order"), "PARTLY_APPLIED");
    let handed_off = of(AlertKind::HandedOff, None, "HARD_CALL_FAILED");
    let quarantined = of(AlertKind::Quarantined, None, "CLASS_PANICKED");
    assert_eq!(said(&world), [partly, handed_off, quarantined]);
    world.must_be_sound();
}

/// F05, for what an operator hears: the alert and its event are one.
#[test]
fn f05_a_crash_at_the_append_that_ends_a_lap_leaves_its_event_row_and_alert_or_none_of_them() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        let world = World::new();
        world
            .outside
            .script(|_| Does::Fail(5, refused(FailureKind::PermanentProvider)));
        let class = order(&world);
        let life = world.live(&[class.erased()]);
        let run = life.start_keyed(&class, minutes("M", 1));
        world.ledger.trap(1, moment);
        life.block_on(world.ledger.crash());
        let (ended, told) = (world.ledger.count("LapEnded"), world.alerts().len());
        let is_durable = usize::from(moment != Moment::Before);
        assert_eq!((ended, told), (is_durable, is_durable), "{moment:?}");
        world.must_be_sound();
        life.crash();
        let id = run.id();
        let life = world.live(&[class.erased()]);
        assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::HandedOff);
        assert_eq!(
            world.alerts().len(),
            1,
            "{moment:?}: told once, not once per life"
        );
        world.must_be_sound();
    }
}

#[test]
fn whoever_waits_for_an_alert_is_woken_by_it_and_by_nothing_else() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "orders" => Does::Fail(700, refused(FailureKind::PermanentProvider)),
        _ => Does::Answer(5),
    });
    let (class, quiet) = (order(&world), chain(&world.outside, 3));
    let life = world.live(&[class.erased(), quiet.erased()]);
    life.start(&quiet, minutes("Q", 0));
    life.start(&class, minutes("M", 1));
    let page = life.block_on(life.engine.alerted(AlertSeq(0))).unwrap();
    assert_eq!((page.rows.len(), world.elapsed()), (1, 700));
    // What is there already is not waited for.
    life.run_for(5_000);
    life.block_on(life.engine.alerted(AlertSeq(0))).unwrap();
    assert_eq!(world.elapsed(), 5_700);
}

#[test]
fn a_dropped_wait_for_an_alert_loses_nothing_and_leaves_nothing_behind() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(50, refused(FailureKind::PermanentProvider)));
    let class = order(&world);
    let life = world.live(&[class.erased()]);
    for _ in 0..3 {
        let mut waits = pin!(life.engine.alerted(AlertSeq(0)));
        let polled = waits.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Pending));
    }
    life.start(&class, minutes("M", 1));
    life.run_for(1_000);
    let page = life.block_on(life.engine.alerted(AlertSeq(0))).unwrap();
    assert_eq!(page.rows.len(), 1);
    let report = life.block_on(life.engine.clone().shutdown(Millis::from_secs(1)));
    life.run_for(1);
    assert_eq!((report.open_runs, life.executor.strands()), (0, 0));
}

#[test]
fn alerts_of_many_runs_are_read_page_by_page_without_a_gap() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(5, refused(FailureKind::PermanentProvider)));
    let class = order(&world);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        for n in 0..1_030 {
            let run = life
                .engine
                .start(&class, minutes(&n.to_string(), 1))
                .await
                .unwrap();
            run.outcome().await.unwrap();
        }
    });
    let mut seen = Vec::new();
    let mut after = AlertSeq(0);
    loop {
        let page = life.block_on(life.engine.alerts(after)).unwrap();
        seen.extend(page.rows.iter().map(|stored| stored.seq.get()));
        let Some(last) = page.rows.last() else { break };
        after = last.seq;
    }
    assert!(seen.into_iter().eq(1..=1_030));
}
