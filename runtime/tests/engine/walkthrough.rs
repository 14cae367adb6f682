//! The design's walkthrough, through the whole engine: what is written, and what shares an append.

use mainstay_class::{Absolute, Extend, hours};
use mainstay_ledger::Ledger;
use mainstay_machine::OutcomeKind;
use mainstay_runtime::Answer;
use mainstay_types::Millis;

use crate::world::classes::{chain, meeting, meeting_as, walkthrough};
use crate::world::{Does, Find, World, minutes};

/// Replies at different moments, so that each has an append of its own; items 0 and 2 together.
fn at_leisure(world: &World) {
    world.outside.script(|ask| {
        Does::Answer(match ask.call.as_str() {
            "related_tickets" => 100,
            "policy_rag" => 200,
            "ticket_write[1]" => 50,
            _ => 70,
        })
    });
}

#[test]
fn a_run_in_which_nothing_goes_wrong_takes_seven_appends() {
    let world = World::new();
    at_leisure(&world);
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let outcome = life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 3)).await.unwrap();
        run.answer().await.unwrap()
    });
    let Answer::Ready(outcome) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(outcome.result.unwrap().tickets, ["T-1", "T-2", "T-3"]);
    let driven = life.block_on(world.ledger.inner().driven(None)).unwrap();
    assert!(driven.rows.is_empty(), "nobody has to drive it any more");
    assert_eq!(
        world.history(world.only_run()),
        [
            "RunStarted, CallPrepared policy_rag, CallPrepared related_tickets, \
             AttemptStarted policy_rag/1, AttemptStarted related_tickets/1",
            "AttemptSettled related_tickets/1, CallSettled related_tickets",
            "AttemptSettled policy_rag/1, CallSettled policy_rag, CallPrepared specialist, \
             AttemptStarted specialist/1",
            "AttemptSettled specialist/1, CallSettled specialist, CallPrepared draft, \
             AttemptStarted draft/1",
            "AttemptSettled draft/1, CallSettled draft, ListRecorded ticket_write, \
             EffectIntended ticket_write[0], AttemptStarted ticket_write[0]/1, \
             EffectIntended ticket_write[1], AttemptStarted ticket_write[1]/1, \
             EffectIntended ticket_write[2], AttemptStarted ticket_write[2]/1",
            "AttemptSettled ticket_write[1]/1, EffectApplied ticket_write[1] ANSWERED",
            "AttemptSettled ticket_write[0]/1, EffectApplied ticket_write[0] ANSWERED, \
             AttemptSettled ticket_write[2]/1, EffectApplied ticket_write[2] ANSWERED, \
             CallSettled ticket_write, LapEnded completed, RunClosed",
        ]
    );
}

#[test]
fn a_chain_of_n_calls_takes_n_plus_one_appends() {
    for n in [1, 2, 7, 20] {
        let world = World::new();
        let class = chain(&world.outside, n);
        let life = world.live(&[class.erased()]);
        assert_eq!(
            life.outcome(&life.start(&class, minutes("M", 0))).kind,
            OutcomeKind::Completed
        );
        assert_eq!(world.ledger.log().len(), n + 1, "{n} calls");
    }
}

#[test]
fn a_lost_reply_is_looked_up_and_found_while_the_other_items_go_on() {
    let world = World::new();
    world.outside.script(|ask| match ask.call.as_str() {
        "ticket_write[1]" => Does::Lose(0),
        _ => Does::Answer(70),
    });
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 3)).await.unwrap();
        let outcome = run.outcome().await.unwrap();
        assert_eq!(outcome.kind, OutcomeKind::Completed, "{outcome:?}");
    });
    let history = world.history(world.only_run());
    assert_eq!(
        history[history.len() - 3..],
        [
            "AttemptSettled ticket_write[0]/1, EffectApplied ticket_write[0] ANSWERED, \
             AttemptSettled ticket_write[2]/1, EffectApplied ticket_write[2] ANSWERED",
            "AttemptSettled ticket_write[1]/1, NextDecided ticket_write[1], \
             EffectInDoubt ticket_write[1] WRITE_RESPONSE_LOST",
            "EffectApplied ticket_write[1] FOUND_APPLIED, CallSettled ticket_write, \
             LapEnded completed, RunClosed",
        ]
    );
    assert_eq!(world.outside.look_ups().len(), 1);
    assert_eq!(world.outside.requests("tickets").len(), 3);
    assert_eq!(world.outside.effects().len(), 3);
}

#[test]
fn writes_that_were_out_at_a_crash_are_looked_up_and_never_sent_blindly() {
    let world = World::new();
    world.outside.script(|ask| match ask.call.as_str() {
        // Two had landed when the process died, one never arrives.
        "ticket_write[0]" | "ticket_write[2]" => Does::Answer(300),
        "ticket_write[1]" if ask.nth == 1 => Does::Hang,
        _ => Does::Answer(10),
    });
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    life.start_keyed(&class, minutes("M", 3));
    life.run_for(100);
    assert_eq!(world.outside.requests("tickets").len(), 3);
    life.crash();

    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let run = life
            .engine
            .start(&class, minutes("M", 3))
            .key("K")
            .await
            .unwrap();
        assert!(run.is_reused());
        assert_eq!(run.outcome().await.unwrap().kind, OutcomeKind::Completed);
    });
    let history = world.history(world.only_run());
    assert_eq!(
        history[4..],
        [
            "LeaseTaken, \
             AttemptInterrupted ticket_write[0]/1, EffectInDoubt ticket_write[0] OWNER_LOST, \
             AttemptInterrupted ticket_write[1]/1, EffectInDoubt ticket_write[1] OWNER_LOST, \
             AttemptInterrupted ticket_write[2]/1, EffectInDoubt ticket_write[2] OWNER_LOST",
            "EffectApplied ticket_write[0] FOUND_APPLIED, \
             ControlSettled ticket_write[1] NOT_FOUND_INSIDE_HORIZON, \
             EffectApplied ticket_write[2] FOUND_APPLIED",
            "EffectAbsent ticket_write[1] ABSENT_AFTER_HORIZON, AttemptStarted ticket_write[1]/2",
            "AttemptSettled ticket_write[1]/2, EffectApplied ticket_write[1] ANSWERED, \
             CallSettled ticket_write, LapEnded completed, RunClosed",
        ]
    );
    let asks = world.outside.requests("tickets");
    let keys: Vec<_> = asks.iter().map(|ask| ask.key.clone()).collect();
    assert_eq!(
        keys[1], keys[3],
        "the second attempt goes out under the same key"
    );
    let fences: Vec<_> = asks.iter().map(|ask| ask.fence).collect();
    assert_eq!(fences, [1, 1, 1, 2], "under the epoch of its owner");
    assert_eq!(world.outside.effects().len(), 3);
    // Not before the request of the first life could not land any more: window, timeout, bound.
    assert!(
        asks[1].at + 1_000 + 3_000 + 2_000 <= asks[3].at,
        "{asks:#?}"
    );
}

#[test]
fn downtime_moves_the_times_of_a_class_that_extends_and_the_run_completes() {
    let world = World::new();
    let class = killed_at_three_seconds(&world, |g| {
        g.budget(walkthrough()).on_downtime(Extend(hours(1)));
    });
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, world.only_run());
    assert_eq!(outcome.kind, OutcomeKind::Completed, "{outcome:?}");
    let extended = world.state(world.only_run()).head().unwrap().lap.extended;
    assert_eq!(extended, Millis::from_hours(1));
    assert_eq!(world.outside.effects().len(), 3);
}

#[test]
fn after_an_hour_of_absolute_time_lookups_run_and_the_lap_is_handed_off_with_the_draft() {
    let world = World::new();
    let class = killed_at_three_seconds(&world, |g| {
        g.budget(walkthrough()).on_downtime(Absolute);
    });
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, world.only_run());
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    let package: Vec<_> = outcome.package.keys().map(String::as_str).collect();
    assert!(package.contains(&"draft"), "{package:?}");
    assert!(
        package.contains(&"ticket_write[1]"),
        "the one that was found: {package:?}"
    );
    assert!(!package.contains(&"ticket_write[0]"), "{package:?}");
    let notices = outcome.notices.join("\n");
    for item in ["ticket_write[0]", "ticket_write[2]"] {
        assert!(
            notices.contains(item),
            "{item} is named as not written: {notices}"
        );
    }
    assert_eq!(world.outside.look_ups().len(), 3);
    assert_eq!(
        world.outside.requests("tickets").len(),
        3,
        "nothing is sent after work_by"
    );
}

/// A run whose three writes are out, of which one lands, and whose process is gone for an hour.
fn killed_at_three_seconds(
    world: &World,
    settings: impl FnOnce(&mut mainstay_class::Builder<crate::world::Minutes>),
) -> mainstay_class::Class<crate::world::Minutes, crate::world::Report> {
    world
        .outside
        .script(|ask| match (ask.call.as_str(), ask.nth) {
            ("ticket_write[1]", 1) => Does::Lose(0),
            ("ticket_write[0]" | "ticket_write[2]", 1) => Does::Hang,
            ("draft", _) => Does::Answer(2_500),
            _ => Does::Answer(50),
        });
    world.outside.finds(|_| Find::Truth(5));
    let class = meeting_as(&world.outside, settings);
    let life = world.live(&[class.erased()]);
    life.start_keyed(&class, minutes("M", 3));
    life.run_for(3_000);
    assert_eq!(world.outside.requests("tickets").len(), 3);
    life.crash();
    world.timers.advance(Millis::from_hours(1));
    class
}
