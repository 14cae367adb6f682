//! Laps: a run that ended without all it was asked for goes on, with fresh times and budget on the
//! same requests, keys and effects.

use std::future::IntoFuture;

use mainstay_class::{Absolute, Budget, Class, Extend, hours, secs};
use mainstay_ledger::{InboxCommand, Ledger, RunFilter};
use mainstay_machine::{OutcomeKind, RunState};
use mainstay_runtime::Answer;
use mainstay_types::{Code, FailureKind, LapNo, Millis, Reason, RunId};

use crate::world::classes::{chain, meeting_as, single_as, walkthrough};
use crate::world::script::{maybe_sent, not_sent, refused};
use crate::world::{Does, Find, Life, Minutes, Moment, Report, Ticket, World, minutes};

/// The ticket service is down; everything else works, and the model never says the same twice.
fn service_down(world: &World) {
    world.outside.fickle("model");
    world.outside.script(|ask| match ask.dependency.as_str() {
        "tickets" => Does::Fail(5, not_sent()),
        _ => Does::Answer(10),
    });
}

fn service_up(world: &World) {
    world.outside.script(|_| Does::Answer(10));
}

fn meeting(world: &World) -> Class<Minutes, Report> {
    meeting_as(&world.outside, |g| {
        g.budget(walkthrough()).on_downtime(Absolute);
    })
}

/// An order whose caller waits for ten seconds, and five more for a doubt.
fn order(world: &World) -> Class<Minutes, Ticket> {
    single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(10)).doubt_wait(secs(5)));
    })
}

/// A meeting whose first lap was handed off, because the ticket service was down.
fn handed_off(world: &World, class: &Class<Minutes, Report>) -> (Life, RunId) {
    service_down(world);
    let life = world.live(&[class.erased()]);
    let run = life.start_keyed(class, minutes("M", 4));
    let outcome = life.outcome(&run);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    assert!(outcome.package.contains_key("draft"), "{outcome:?}");
    assert!(world.elapsed() <= 12_000, "within answer_by");
    (life, run.id())
}

fn goes_on(life: &Life, id: RunId) -> LapNo {
    let lap = life.block_on(life.engine.continue_run(id, "me", "it is up again"));
    lap.expect("it can be gone on from")
}

fn refused_to_go_on(life: &Life, id: RunId) -> Code {
    let refused = life.block_on(life.engine.continue_run(id, "me", "why"));
    refused.expect_err("it can not be gone on from").code()
}

/// What a lap is made of: the keys and bytes that were recorded before it.
fn recorded(world: &World, id: RunId) -> Vec<(String, String)> {
    let run = world.state(id);
    let items = run.calls().iter().filter(|(_, call)| call.item.is_some());
    let recorded = items.map(|(at, call)| {
        let made = call.prepared.as_ref().expect("its list is recorded");
        let bytes = String::from_utf8(made.request.as_bytes().to_vec()).unwrap();
        (run.path(at), bytes)
    });
    recorded.collect()
}

#[test]
fn a_handed_off_run_goes_on_with_the_recorded_bytes_though_the_model_would_answer_otherwise() {
    let world = World::new();
    let class = meeting(&world);
    let (life, id) = handed_off(&world, &class);
    let recorded = recorded(&world, id);
    assert!(
        recorded[0].1.contains("as told the 1. time"),
        "{recorded:?}"
    );
    let before = world.outside.asks().len();

    service_up(&world);
    assert_eq!(goes_on(&life, id), LapNo(2));
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(outcome.result.unwrap().tickets.len(), 4);

    let asks = world.outside.asks();
    let in_lap_two: Vec<_> = asks[before..]
        .iter()
        .map(|ask| (ask.call.clone(), ask.body.clone()))
        .collect();
    assert_eq!(
        in_lap_two.len(),
        4,
        "nothing else is asked again: {in_lap_two:?}"
    );
    for sent in &in_lap_two {
        assert!(
            recorded.contains(sent),
            "{sent:?} was not recorded in lap 1"
        );
    }
    let keys = |asks: &[crate::world::Ask]| {
        let mut keys: Vec<_> = asks.iter().filter_map(|ask| ask.key.clone()).collect();
        keys.sort();
        keys.dedup();
        keys
    };
    assert_eq!(
        keys(&asks[before..]),
        keys(&asks[..before]),
        "the same keys"
    );
    assert_eq!(world.outside.effects().len(), 4);
    let head = world.state(id).head().unwrap().clone();
    let laps: Vec<_> = head
        .past
        .iter()
        .chain([&head.lap])
        .map(|lap| lap.no)
        .collect();
    assert_eq!(laps, [LapNo(1), LapNo(2)]);
    let asked = head.lap.continued.unwrap();
    assert_eq!(
        (asked.by.as_str(), asked.why.as_str()),
        ("me", "it is up again")
    );
    world.must_be_sound();
}

/// What a handle keeps of the lap it saw end is not what is told once another lap has ended.
#[test]
fn whoever_started_a_run_is_told_the_outcome_of_its_newest_lap() {
    let world = World::new();
    let class = meeting(&world);
    service_down(&world);
    let life = world.live(&[class.erased()]);
    let run = life.start_keyed(&class, minutes("M", 4));
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
    life.run_for(1);
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
    assert_eq!(life.engine.status().live, 0, "it is told without the run");

    service_up(&world);
    goes_on(&life, run.id());
    life.outcome_of(&class, run.id());
    life.run_for(1);
    assert_eq!(life.engine.status().live, 0);
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Completed);
}

#[test]
fn a_lap_has_fresh_times_and_a_fresh_budget() {
    let world = World::new();
    let class = meeting(&world);
    let (life, id) = handed_off(&world, &class);
    world.timers.advance(Millis::from_hours(3));
    service_up(&world);
    life.run_for(1);
    let begun = world.elapsed();
    goes_on(&life, id);
    life.outcome_of(&class, id);
    let head = world.state(id).head().unwrap().clone();
    let (first, second) = (&head.past[0], &head.lap);
    let answer_by = second.times.answer_by.since(mainstay_sim::START).get();
    assert_eq!(answer_by, begun + 12_000);
    assert_eq!(
        second.budget.retry_used.get(),
        0,
        "no attempt of lap 1 counts"
    );
    assert!(second.budget.spent < first.budget.spent);
    let view = life.block_on(life.engine.view(id)).unwrap();
    assert_eq!((view.lap, view.laps.len()), (2, 2));
    assert_eq!(view.laps[0].outcome, Some("handed_off"));
}

#[test]
fn a_start_that_continues_opens_the_next_lap_and_finds_every_other_run_as_it_is() {
    let world = World::new();
    let class = meeting(&world);
    let (life, id) = handed_off(&world, &class);
    service_up(&world);
    let again = |continues: bool| {
        let start = life.engine.start(&class, minutes("M", 4)).key("K");
        let start = if continues {
            start.or_continue()
        } else {
            start
        };
        life.block_on(start.into_future())
            .expect("it is not refused")
    };
    let found = again(false);
    assert_eq!((found.id(), found.is_reused()), (id, true));
    assert_eq!(
        life.outcome(&found).kind,
        OutcomeKind::HandedOff,
        "found as it is"
    );
    let found = again(true);
    assert_eq!((found.id(), found.is_reused()), (id, true));
    assert_eq!(life.outcome(&found).kind, OutcomeKind::Completed);
    let appends = world.ledger.log_of(id).len();
    assert_eq!(life.outcome(&again(true)).kind, OutcomeKind::Completed);
    assert_eq!(
        world.ledger.log_of(id).len(),
        appends,
        "completed: nothing to go on with"
    );
    // One that is not there begins, and one that is still open is found.
    let start = life
        .engine
        .start(&class, minutes("N", 1))
        .key("N")
        .or_continue();
    let new = life.block_on(start.into_future()).unwrap();
    assert!(!new.is_reused());
    let start = life
        .engine
        .start(&class, minutes("N", 1))
        .key("N")
        .or_continue();
    assert_eq!(life.block_on(start.into_future()).unwrap().id(), new.id());
    assert_eq!(life.outcome(&new).kind, OutcomeKind::Completed);
    world.must_be_sound();
}

#[test]
fn a_reply_lost_in_the_first_lap_is_adopted_in_the_second_and_not_sent_again() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::LandAndFail(0, 10, maybe_sent(FailureKind::Overloaded)));
    world.outside.finds(|ask| match ask.at < 20_000 {
        true => Find::CannotTell(5),
        false => Find::Truth(5),
    });
    let class = order(&world);
    let life = world.live(&[class.erased()]);
    let run = life.start_keyed(&class, minutes("M", 1));
    let outcome = life.outcome(&run);
    let (kind, reason) = (outcome.kind, outcome.reason);
    assert_eq!(
        (kind, reason),
        (OutcomeKind::HandedOff, Reason::DoubtWaitOver)
    );
    assert_eq!(world.elapsed(), 15_000);
    assert_eq!(goes_on(&life, run.id()), LapNo(2));
    let outcome = life.outcome(&run);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(outcome.result.unwrap().id, "T-1");
    assert_eq!(
        world.outside.requests("orders").len(),
        1,
        "one send in two laps"
    );
    world.must_be_sound();
}

#[test]
fn a_call_whose_reply_is_refused_in_one_lap_may_succeed_in_the_next_under_the_same_key() {
    let world = World::new();
    world.outside.script(|ask| match ask.at < 5_000 {
        true => Does::Fail(5, refused(FailureKind::PermanentProvider)),
        false => Does::Answer(5),
    });
    let class = order(&world);
    let life = world.live(&[class.erased()]);
    let run = life.start_keyed(&class, minutes("M", 1));
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
    life.run_for(6_000);
    goes_on(&life, run.id());
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Completed);
    let asks = world.outside.requests("orders");
    assert_eq!((asks.len(), &asks[0].key), (2, &asks[1].key));
    assert_eq!(asks[0].body, asks[1].body);
    assert_eq!(asks[1].attempt, 2, "attempts are counted over all laps");
}

#[test]
fn two_who_go_on_from_the_same_lap_open_one() {
    let world = World::new();
    let class = meeting(&world);
    let (life, id) = handed_off(&world, &class);
    service_up(&world);
    let (one, two) = life.block_on(async {
        tokio::join!(
            life.engine.continue_run(id, "one", "up"),
            life.engine.continue_run(id, "two", "up"),
        )
    });
    assert_eq!((one.unwrap(), two.unwrap()), (LapNo(2), LapNo(2)));
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::Completed);
    assert_eq!(world.ledger.count("LapStarted"), 1);
}

#[test]
fn only_a_lap_that_ended_without_all_it_was_asked_for_is_gone_on_from() {
    let world = World::new();
    let class = chain(&world.outside, 1);
    let life = world.live(&[class.erased()]);
    let done = life.start(&class, minutes("A", 0));
    life.outcome(&done);
    assert_eq!(refused_to_go_on(&life, done.id()), Code::ContinueRefused);
    world.outside.script(|_| Does::Hang);
    let open = life.start(&class, minutes("B", 0));
    assert_eq!(refused_to_go_on(&life, open.id()), Code::ContinueRefused);
    life.block_on(open.cancel("me", "why")).unwrap();
    assert_eq!(life.outcome(&open).kind, OutcomeKind::Canceled);
    assert_eq!(refused_to_go_on(&life, open.id()), Code::ContinueRefused);
    let ended = life.start(&class, minutes("C", 0));
    life.block_on(life.engine.terminate(ended.id(), "me", "why"))
        .unwrap();
    assert_eq!(refused_to_go_on(&life, ended.id()), Code::ContinueRefused);
    let nobody = RunId::from_bytes([7; 16]);
    assert_eq!(refused_to_go_on(&life, nobody), Code::RunUnknown);
    assert_eq!(world.ledger.count("LapStarted"), 0);
}

/// What waits in a run's inbox.
fn inbox(life: &Life, world: &World, id: RunId) -> Vec<InboxCommand> {
    let waiting = life.block_on(world.ledger.inbox(id)).unwrap();
    waiting.into_iter().map(|message| message.command).collect()
}

#[test]
fn a_crash_at_the_append_that_opens_a_lap_opens_it_once() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        let world = World::new();
        let class = meeting(&world);
        let (life, id) = handed_off(&world, &class);
        service_up(&world);
        world.ledger.trap(1, moment);
        life.block_on(async {
            tokio::select! {
                biased;
                () = world.ledger.crash() => {}
                lap = life.engine.continue_run(id, "me", "up") => panic!("{moment:?}: {lap:?}"),
            }
        });
        let waits = usize::from(moment == Moment::Before);
        assert_eq!(
            inbox(&life, &world, id).len(),
            waits,
            "{moment:?}: durable before"
        );
        life.crash();
        world.ledger.disarm();

        let life = world.live(&[class.erased()]);
        let outcome = life.outcome_of(&class, id);
        let log = world.describe(id);
        assert_eq!(outcome.kind, OutcomeKind::Completed, "{moment:?}: {log}");
        assert_eq!(world.ledger.count("LapStarted"), 1, "{moment:?}: {log}");
        assert!(inbox(&life, &world, id).is_empty(), "{moment:?}");
        assert_eq!(world.outside.effects().len(), 4);
        world.must_be_sound();
    }
}

#[test]
fn a_crash_at_any_append_of_the_second_lap_repeats_nothing_of_either() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        for append in 1.. {
            let world = World::seeded(append);
            let class = meeting_as(&world.outside, |g| {
                g.budget(walkthrough()).on_downtime(Extend(hours(1)));
            });
            let (life, id) = handed_off(&world, &class);
            let mut n = 0_u64;
            world.outside.script(move |_| {
                n += 1;
                Does::Answer(20 + n * 13 % 101)
            });
            goes_on(&life, id);
            world.ledger.trap(usize::try_from(append).unwrap(), moment);
            let crashed = life.block_on(async {
                let run = life.engine.run(&class, id).await.unwrap();
                tokio::select! {
                    biased;
                    () = world.ledger.crash() => true,
                    outcome = run.outcome() => outcome.map(|_| false).unwrap(),
                }
            });
            life.crash();
            world.ledger.disarm();
            let life = world.live(&[class.erased()]);
            let outcome = life.outcome_of(&class, id);
            let log = world.describe(id);
            assert_eq!(
                outcome.kind,
                OutcomeKind::Completed,
                "{append} {moment:?}: {log}"
            );
            world.must_be_sound();
            assert_eq!(
                world.outside.effects().len(),
                4,
                "{append} {moment:?}: {log}"
            );
            assert_eq!(world.outside.requests("model").len(), 1, "{log}");
            if !crashed {
                assert!(3 <= append, "a lap takes some appends");
                break;
            }
        }
    }
}

#[test]
fn a_continue_whose_caller_goes_away_is_taken_or_was_never_asked() {
    use std::task::{Context, Waker};
    let mut taken = 0;
    for polls in 0..6 {
        let world = World::new();
        let class = meeting(&world);
        let (life, id) = handed_off(&world, &class);
        service_up(&world);
        let mut asked = Box::pin(life.engine.continue_run(id, "me", "up"));
        for _ in 0..polls {
            let polled = asked.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if polled.is_ready() {
                break;
            }
        }
        drop(asked);
        life.run_for(1_000);
        assert!(inbox(&life, &world, id).is_empty(), "after {polls} polls");
        let laps = world.ledger.count("LapStarted");
        let kind = world
            .state(id)
            .head()
            .unwrap()
            .lap
            .outcome
            .clone()
            .unwrap()
            .kind;
        let wanted = [OutcomeKind::HandedOff, OutcomeKind::Completed][laps];
        assert_eq!(kind, wanted, "after {polls} polls");
        taken += laps;
    }
    assert!(0 < taken);
}

#[test]
fn a_run_whose_code_is_missing_goes_on_once_it_is_there() {
    let world = World::new();
    let class = meeting(&world);
    let (life, id) = handed_off(&world, &class);
    life.crash();
    service_up(&world);
    let asks = world.outside.asks().len();
    let life = world.live(&[]);
    assert_eq!(goes_on(&life, id), LapNo(2));
    let filter = RunFilter {
        state: Some(RunState::WaitingForCode),
        ..RunFilter::default()
    };
    let page = life.block_on(life.engine.runs(filter, None)).unwrap();
    assert_eq!(
        page.rows.iter().map(|row| row.run).collect::<Vec<_>>(),
        [id]
    );
    life.run_for(1_000);
    assert_eq!(
        world.outside.asks().len(),
        asks,
        "nothing is done without code"
    );
    life.crash();
    let life = world.live(&[class.erased()]);
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::Completed);
    world.must_be_sound();
}

#[test]
fn an_engine_for_operators_goes_on_from_a_lap_and_drives_nothing_of_it() {
    let world = World::new();
    let class = meeting(&world);
    let (life, id) = handed_off(&world, &class);
    life.crash();
    service_up(&world);
    let asks = world.outside.asks().len();
    let life = world.live_with(mainstay_runtime::EngineBuilder::operator);
    assert_eq!(goes_on(&life, id), LapNo(2));
    life.run_for(1_000);
    assert_eq!((life.in_memory(), world.outside.asks().len()), (0, asks));
    life.crash();
    let life = world.live(&[class.erased()]);
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::Completed);
    world.must_be_sound();
}

#[test]
fn each_lap_has_an_answer_and_an_outcome_of_its_own() {
    let world = World::new();
    world.outside.script(|ask| match ask.nth {
        1 => Does::Fail(10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(5),
    });
    let class = single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(4)));
    });
    let life = world.live(&[class.erased()]);
    let run = life.start_keyed(&class, minutes("M", 1));
    let answer = life.block_on(run.answer()).unwrap();
    assert!(matches!(answer, Answer::Later(_)), "{answer:?}");
    // Proven absent, but too late to be sent again.
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
    let answer = life.block_on(run.answer()).unwrap();
    assert!(
        matches!(answer, Answer::Later(_)),
        "what was told stays told: {answer:?}"
    );

    let begun = world.elapsed();
    goes_on(&life, run.id());
    let answer = life.block_on(run.answer()).unwrap();
    let Answer::Ready(outcome) = answer else {
        panic!("what lap 1 was told is not told again: {answer:?}")
    };
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(world.elapsed() - begun, 5);
    let head = world.state(run.id()).head().unwrap().clone();
    assert!(head.past[0].later.is_some() && head.lap.later.is_none());
    assert_eq!(
        head.past[0].outcome.clone().unwrap().kind,
        OutcomeKind::HandedOff
    );
    world.must_be_sound();
}

#[test]
fn a_cancel_in_the_second_lap_ends_that_lap_and_no_other() {
    let world = World::new();
    let class = meeting(&world);
    let (life, id) = handed_off(&world, &class);
    world.outside.script(|_| Does::Answer(700));
    goes_on(&life, id);
    life.run_for(50);
    let outcome = life.block_on(async {
        let run = life.engine.run(&class, id).await.unwrap();
        run.cancel("me", "enough").await.unwrap();
        run.outcome().await.unwrap()
    });
    assert_eq!(outcome.kind, OutcomeKind::Canceled);
    let head = world.state(id).head().unwrap().clone();
    assert_eq!(
        head.past[0].outcome.clone().unwrap().kind,
        OutcomeKind::HandedOff
    );
    assert_eq!(refused_to_go_on(&life, id), Code::ContinueRefused);
    world.must_be_sound();
}

#[test]
fn a_lap_that_fails_again_is_gone_on_from_again() {
    let world = World::new();
    let class = meeting(&world);
    let (life, id) = handed_off(&world, &class);
    for lap in 2..5 {
        assert_eq!(goes_on(&life, id), LapNo(lap));
        assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::HandedOff);
    }
    service_up(&world);
    assert_eq!(goes_on(&life, id), LapNo(5));
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::Completed);
    assert_eq!(world.outside.effects().len(), 4);
    let handed_off = world
        .alerts()
        .into_iter()
        .map(|alert| alert.alert.lap.get());
    assert_eq!(
        handed_off.collect::<Vec<_>>(),
        [1, 2, 3, 4],
        "one alert per lap"
    );
    world.must_be_sound();
}
