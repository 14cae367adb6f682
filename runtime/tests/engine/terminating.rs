//! Terminating a run: whatever its state, without its code, durable once it returns; and what was
//! out is still asked about.

use mainstay_class::{Budget, Class, TaskClass, days, mins, secs};
use mainstay_machine::{AlertKind, OutcomeKind, RunState};
use mainstay_types::{Code, FailureKind, Reason, RunId};

use crate::poison::{self, At};
use crate::world::classes::{both, chain, single, single_as};
use crate::world::script::{busy, maybe_sent};
use crate::world::{Does, Find, Life, Minutes, Moment, Ticket, World, minutes};

pub(crate) fn terminated(life: &Life, id: RunId) {
    life.block_on(life.engine.terminate(id, "me", "enough"))
        .expect("whatever its state");
}

fn again(life: &Life, id: RunId) -> Code {
    let again = life.block_on(life.engine.terminate(id, "me", "again"));
    again.expect_err("it has its outcome").code()
}

/// The run is terminated, is listed so, stays so after a restart, and nothing leaves for it.
fn stays_terminated(world: &World, life: Life, id: RunId) {
    let row = |life: &Life| {
        let page = life
            .block_on(life.engine.runs(Default::default(), None))
            .unwrap();
        let row = page.rows.into_iter().find(|row| row.run == id);
        row.expect("it is listed")
    };
    assert_eq!(row(&life).outcome, Some(OutcomeKind::Terminated));
    assert_eq!(again(&life, id), Code::RunEnded);
    let requests = |world: &World| {
        let asks = world.outside.asks().into_iter();
        asks.filter(|ask| ask.look_up == 0 && ask.run == id.to_string())
            .count()
    };
    let sent = requests(world);
    life.crash();
    let life = world.live(&[]);
    assert_eq!(row(&life).outcome, Some(OutcomeKind::Terminated));
    assert_eq!(again(&life, id), Code::RunEnded);
    assert_eq!(requests(world), sent);
    let head = world.state(id).head().unwrap().clone();
    let by = head.terminated.expect("by whom stays known");
    assert_eq!((by.by.as_str(), by.why.as_str()), ("me", "enough"));
    world.must_be_sound();
}

#[test]
fn a_run_that_reads_is_over_at_once() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = chain(&world.outside, 2);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 0));
    life.run_for(10);
    let outcome = life.block_on(async {
        let (outcome, end) = tokio::join!(
            run.outcome(),
            life.engine.terminate(run.id(), "me", "enough"),
        );
        end.unwrap();
        outcome.unwrap()
    });
    let (kind, reason) = (outcome.kind, outcome.reason);
    assert_eq!((kind, reason), (OutcomeKind::Terminated, Reason::Requested));
    assert!(world.state(run.id()).head().unwrap().closed);
    life.run_for(10);
    assert_eq!((world.outside.open(), life.in_memory()), (0, 0));
    stays_terminated(&world, life, run.id());
}

#[test]
fn a_run_that_waits_to_try_again_is_over_and_never_tries() {
    let world = World::new();
    world.outside.script(|_| Does::Fail(5, busy(20_000)));
    let class = chain(&world.outside, 1);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 0)).id();
    life.run_for(10);
    terminated(&life, id);
    life.run_for(60_000);
    assert_eq!(world.outside.asks().len(), 1);
    stays_terminated(&world, life, id);
}

#[test]
fn a_write_that_is_out_is_still_learned_of_and_told_as_an_addendum() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "orders" => Does::Answer(900),
        _ => Does::Hang,
    });
    let class = both(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    life.run_for(10);
    terminated(&life, id);
    let head = world.state(id).head().unwrap().clone();
    assert!(!head.closed, "it still owes the write");
    let outcome = life.outcome_of(&class, id);
    assert_eq!(
        (outcome.kind, outcome.addenda.len()),
        (OutcomeKind::Terminated, 0)
    );
    assert_eq!(world.elapsed(), 10, "nobody waits for the write");
    life.run_for(2_000);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Terminated);
    let addenda: Vec<_> = outcome
        .addenda
        .iter()
        .map(|a| (a.call.as_str(), a.what))
        .collect();
    assert_eq!(addenda, [("order", Reason::Answered)]);
    let told: Vec<_> = world
        .alerts()
        .iter()
        .map(|stored| stored.alert.kind)
        .collect();
    assert_eq!(told, [AlertKind::Addendum]);
    stays_terminated(&world, life, id);
}

/// An order in doubt that nobody can tell anything of yet.
fn in_doubt(world: &World) -> (Class<Minutes, Ticket>, Life, RunId) {
    world
        .outside
        .script(|_| Does::LandAndFail(0, 5, maybe_sent(FailureKind::Overloaded)));
    world.outside.finds(|_| Find::CannotTell(5));
    let class = single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(30)).doubt_wait(days(1)));
    });
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    life.run_for(5_000);
    assert_eq!(world.ledger.count("EffectInDoubt"), 1);
    (class, life, id)
}

#[test]
fn a_doubt_outlives_the_run_and_is_asked_about_until_somebody_knows_also_over_a_restart() {
    let world = World::new();
    let (class, life, id) = in_doubt(&world);
    terminated(&life, id);
    life.run_for(1_000);
    life.crash();
    world.outside.finds(|_| Find::Truth(5));
    let life = world.live(&[class.erased()]);
    assert!(life.until(4_000_000, || world.state(id).head().unwrap().closed));
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Terminated);
    assert_eq!(outcome.addenda[0].what, Reason::FoundApplied);
    stays_terminated(&world, life, id);
}

#[test]
fn a_run_that_has_left_memory_is_terminated_there() {
    let world = World::new();
    world.outside.script(|_| Does::Fail(5, busy(300_000)));
    let class = chain_of_an_hour(&world);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 0)).id();
    life.run_for(100);
    assert_eq!(life.in_memory(), 0, "it is parked");
    terminated(&life, id);
    life.run_for(400_000);
    assert_eq!((life.in_memory(), world.outside.asks().len()), (0, 1));
    stays_terminated(&world, life, id);
}

/// One read that may be tried again for an hour.
fn chain_of_an_hour(world: &World) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("patient", 1);
    g.budget(Budget::new().answer_by(mins(60)));
    let read = world.outside.read("link");
    let told = g.read("told", &read, (), |m, ()| m.question()).add();
    g.finish(told, |_, told| told.by.clone())
        .expect("a valid class")
}

#[test]
fn a_run_that_was_canceled_and_waits_for_a_doubt_is_over_without_it() {
    let world = World::new();
    let (class, life, id) = in_doubt(&world);
    life.block_on(life.engine.cancel(id, "you", "no more"))
        .unwrap();
    life.run_for(100);
    assert!(world.state(id).head().unwrap().lap.outcome.is_none());
    terminated(&life, id);
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::Terminated);
    stays_terminated(&world, life, id);
}

#[test]
fn a_run_that_has_ended_is_not_terminated() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::LandAndFail(0, 5, maybe_sent(FailureKind::Overloaded)));
    world.outside.finds(|_| Find::CannotTell(5));
    let class = single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(3)).doubt_wait(secs(1)));
    });
    let done = chain(&world.outside, 1);
    let life = world.live(&[class.erased(), done.erased()]);
    let owing = life.start(&class, minutes("M", 1));
    assert_eq!(life.outcome(&owing).kind, OutcomeKind::HandedOff);
    assert_eq!(
        again(&life, owing.id()),
        Code::RunEnded,
        "ended, though it owes something"
    );
    world.outside.script(|_| Does::Answer(5));
    let over = life.start(&done, minutes("N", 0));
    life.outcome(&over);
    assert_eq!(again(&life, over.id()), Code::RunEnded);
    assert_eq!(again(&life, RunId::from_bytes([7; 16])), Code::RunUnknown);
}

/// F17: a stored run whose class is not registered.
#[test]
fn f17_a_run_without_its_code_is_listed_canceled_and_terminated_and_never_tried_again() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = chain(&world.outside, 1);
    let life = world.live(&[class.erased()]);
    let ids: Vec<RunId> = ["A", "B", "C"]
        .iter()
        .map(|id| life.start(&class, minutes(id, 0)).id())
        .collect();
    life.run_for(10);
    life.crash();

    let life = world.live(&[]);
    let tries = world.ledger.tries();
    life.run_for(100_000);
    assert_eq!(world.ledger.tries(), tries, "nothing is tried");
    let page = life
        .block_on(life.engine.runs(Default::default(), None))
        .unwrap();
    for row in &page.rows {
        let reason = row.reason.map(mainstay_machine::StateReason::as_str);
        assert_eq!(
            (row.state, reason),
            (RunState::WaitingForCode, Some("WAITING_FOR_CODE"))
        );
    }
    terminated(&life, ids[0]);
    life.block_on(life.engine.cancel(ids[1], "me", "no more"))
        .unwrap();
    life.run_for(100);
    let page = life
        .block_on(life.engine.runs(Default::default(), None))
        .unwrap();
    let rows = page.rows.iter().rev().map(|row| (row.state, row.outcome));
    let wanted = [
        (RunState::Closed, Some(OutcomeKind::Terminated)),
        (RunState::Closed, Some(OutcomeKind::Canceled)),
        (RunState::WaitingForCode, None),
    ];
    assert!(rows.eq(wanted), "{page:?}");
    let listed: Vec<_> = life
        .engine
        .not_driven()
        .iter()
        .map(|entry| entry.run)
        .collect();
    assert_eq!(listed, [ids[2]], "what is over has not to be driven");
    life.crash();

    // The code is there again: the third goes on.
    world.outside.script(|_| Does::Answer(10));
    let life = world.live(&[class.erased()]);
    life.run_for(200_000);
    assert!(world.state(ids[2]).head().unwrap().closed);
    assert!(life.engine.not_driven().is_empty());
    stays_terminated(&world, life, ids[0]);
}

/// F33: what is quarantined is terminated without being driven.
#[test]
fn f33_a_run_whose_code_panics_is_terminated() {
    let world = World::new();
    let class = poison::class(&world, At::List);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("bad", 2));
    let error = life.block_on(run.outcome()).unwrap_err();
    assert_eq!(error.code(), Code::RunQuarantined);
    terminated(&life, run.id());
    let outcome = life.block_on(run.outcome()).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Terminated);
    life.run_for(10_000);
    assert!(world.state(run.id()).head().unwrap().closed);
    stays_terminated(&world, life, run.id());
}

#[test]
fn a_crash_at_the_append_of_a_terminate_ends_the_run_all_the_same() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        let world = World::new();
        world.outside.script(|_| Does::Hang);
        let class = single(&world.outside);
        let life = world.live(&[class.erased()]);
        let id = life.start(&class, minutes("M", 1)).id();
        life.run_for(10);
        world.ledger.trap(1, moment);
        life.block_on(async {
            tokio::select! {
                biased;
                () = world.ledger.crash() => {}
                end = life.engine.terminate(id, "me", "enough") => panic!("{end:?}"),
            }
        });
        life.crash();
        world.ledger.disarm();
        let life = world.live(&[]);
        life.run_for(100);
        let outcome = world.state(id).head().unwrap().lap.outcome.clone();
        assert_eq!(outcome.unwrap().kind, OutcomeKind::Terminated, "{moment:?}");
        stays_terminated(&world, life, id);
    }
}

#[test]
fn an_engine_for_operators_terminates_what_it_has_no_code_for() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    life.run_for(10);
    life.crash();
    let life = world.live_with(mainstay_runtime::EngineBuilder::operator);
    terminated(&life, id);
    assert_eq!(world.outside.look_ups().len(), 0, "it drives nothing");
    stays_terminated(&world, life, id);
}
