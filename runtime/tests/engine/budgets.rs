//! Budgets and times through the whole engine: what starts, in time, and how often.

use std::sync::Arc;

use mainstay_class::{Budget, Builder, Class, TaskClass, Write, days, ms, secs};
use mainstay_dispatch::{Answer, AttemptContext, Found, Promise, Resolution};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::Outcome;
use mainstay_types::{CostUnits, Failure, FailureKind, Reason};

use crate::world::classes::{NewTicket, tickets};
use crate::world::outside::Writes;
use crate::world::script::{maybe_sent, refused};
use crate::world::{Does, Find, Minutes, Outside, Ticket, World, minutes};

/// One read with two fallbacks to other providers, each at least five seconds long.
fn three_rungs(
    outside: &Arc<Outside>,
    settings: impl FnOnce(&mut Builder<Minutes>),
) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("rungs", 1);
    settings(&mut g);
    let rung = |name| {
        let mut read = outside.read(name);
        read.promise = read.promise.clone().timeout(secs(60)).min_useful(secs(5));
        read
    };
    let told = g
        .read("told", &rung("primary"), (), |m, ()| m.question())
        .fallback_provider(&rung("second"))
        .fallback_provider(&rung("third"))
        .add();
    g.finish(told, |_, told| told.by.clone())
        .expect("a valid class")
}

fn outcome_of<O: mainstay_class::Value>(
    world: &World,
    class: &Class<Minutes, O>,
    items: usize,
) -> Outcome<O> {
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let run = life.engine.start(class, minutes("M", items)).await.unwrap();
        run.outcome().await.unwrap()
    })
}

/// F20: the primary hangs, the deadline is a minute away, there are two fallbacks.
#[test]
fn fallbacks_start_in_time_because_each_rung_leaves_the_later_ones_theirs() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "third" => Does::Answer(4_000),
        _ => Does::Hang,
    });
    let class = three_rungs(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(60)));
    });
    let outcome = outcome_of(&world, &class, 0);
    assert_eq!(outcome.kind, OutcomeKind::Degraded);
    assert_eq!(outcome.result.unwrap(), "third");
    let asks: Vec<_> = world
        .outside
        .asks()
        .iter()
        .map(|a| (a.at, a.time_left))
        .collect();
    assert_eq!(asks, [(0, 50_000), (50_000, 5_000), (55_000, 5_000)]);
}

/// F23: three routes, ten retries each, five retry tokens.
#[test]
fn retries_of_all_routes_together_use_the_runs_tokens_and_no_more() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(10, refused(FailureKind::Overloaded)));
    let mut g = TaskClass::<Minutes>::define("routes", 1);
    g.budget(Budget::new().answer_by(secs(600)).retries(5));
    let read = |g: &mut Builder<Minutes>, name: &'static str| {
        let route = world.outside.read(name);
        g.read(name, &route, (), |m, ()| m.question())
            .attempts(11)
            .add()
    };
    let routes = (read(&mut g, "a"), read(&mut g, "b"), read(&mut g, "c"));
    let class = g.finish(routes, |_, _| 0_u32).expect("a valid class");
    let outcome = outcome_of(&world, &class, 0);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    assert_eq!(world.outside.asks().len(), 3 + 5);
    world.budget_holds(world.only_run());
}

/// F21: budget 1.00, ten calls of 0.30 at once.
#[test]
fn cost_is_reserved_before_a_request_leaves_so_that_no_more_start_than_can_be_paid() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(300));
    let mut g = TaskClass::<Minutes>::define("dear", 1);
    g.budget(Budget::new().answer_by(secs(30)).concurrency(10).cost(1));
    let read = g.local("read", (), |m: &Minutes, ()| crate::world::classes::Told {
        by: m.id.clone(),
        actions: m.actions.clone(),
    });
    let read = read.add();
    let written = g
        .each(
            "written",
            &world.outside.write("dear"),
            read,
            50,
            |_, told| tickets(told),
        )
        .cost(CostUnits::milli(300))
        .add();
    let class = g
        .finish(written, |_, written: &Vec<Ticket>| written.len() as u64)
        .expect("a valid class");
    let outcome = outcome_of(&world, &class, 10);
    assert_eq!(
        (outcome.kind, outcome.reason),
        (OutcomeKind::HandedOff, Reason::HardCallFailed)
    );
    assert_eq!(world.outside.asks().len(), 3);
    let lacking = outcome
        .notices
        .iter()
        .filter(|notice| notice.contains("COST_EXHAUSTED"));
    assert!(
        7 <= lacking.count(),
        "each item that was not written is named: {outcome:?}"
    );
    world.budget_holds(world.only_run());
}

/// F08: a call that always fails, in a process that dies again and again.
#[test]
fn a_call_that_always_fails_stops_after_its_attempts_whatever_crashed() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(100, refused(FailureKind::Overloaded)));
    let mut g = TaskClass::<Minutes>::define("failing", 1);
    g.budget(Budget::new().answer_by(secs(600)).retries(20));
    let told = g.read("told", &world.outside.read("told"), (), |m, ()| {
        m.question()
    });
    let told = told.attempts(4).add();
    let class = g
        .finish(told, |_, told| told.by.clone())
        .expect("a valid class");
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 0)).id();
    life.crash();
    // Each crash interrupts at most one attempt; those are paid for with a token each.
    for _ in 0..3 {
        let life = world.live(&[class.erased()]);
        life.run_for(150);
        life.crash();
    }
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    let attempts = world.outside.asks().len();
    assert!(
        attempts <= 4 + world.interrupted(id),
        "{}",
        world.describe(id)
    );
    world.must_be_sound();
}

/// F14: a slow primary, a fallback that wins, then the primary answers.
#[test]
fn f14_an_answer_after_its_attempt_timed_out_changes_nothing_that_was_told() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "primary" => Does::Answer(1_500),
        _ => Does::Answer(10),
    });
    let mut g = TaskClass::<Minutes>::define("late", 1);
    g.budget(Budget::new().answer_by(secs(30)));
    let told = g
        .read("told", &world.outside.read("primary"), (), |m, ()| {
            m.question()
        })
        .timeout(ms(1_000))
        .attempts(1)
        .fallback_provider(&world.outside.read("second"))
        .add();
    let class = g
        .finish(told, |_, told| told.by.clone())
        .expect("a valid class");
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 0)).await.unwrap();
        assert_eq!(run.outcome().await.unwrap().result.unwrap(), "second");
    });
    life.run_for(5_000);
    assert_eq!(world.ledger.count("LapEnded"), 1);
    assert_eq!(world.ledger.count("CallSettled"), 1);
}

/// A receiver that only a person can ask.
#[derive(Clone)]
struct Unaskable(Writes);

impl Write for Unaskable {
    type Request = NewTicket;
    type Reply = Ticket;
    const RESOLUTION: Resolution = Resolution::ByHuman;

    fn name(&self) -> &str {
        self.0.name()
    }

    async fn send(&self, made: NewTicket, cx: &AttemptContext) -> Result<Answer<Ticket>, Failure> {
        self.0.send(made, cx).await
    }

    async fn find(&self, made: NewTicket, cx: &AttemptContext) -> Result<Found<Ticket>, Failure> {
        self.0.find(made, cx).await
    }

    fn promise(&self) -> Promise {
        self.0.promise()
    }
}

/// F10: the process dies while a call is out whose contract allows at most one send.
#[test]
fn f10_a_write_that_only_a_person_can_resolve_is_never_sent_again_and_waits_for_one() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let mut g = TaskClass::<Minutes>::define("once", 1);
    g.budget(Budget::new().answer_by(secs(30)).doubt_wait(days(1)));
    let write = Unaskable(world.outside.write("orders"));
    let written = g
        .write("order", &write, (), |m, ()| NewTicket {
            title: m.id.clone(),
        })
        .add();
    let class = g
        .finish(written, |_, ticket| ticket.id.clone())
        .expect("a valid class");
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 0)).id();
    life.run_for(100);
    life.crash();
    let life = world.live(&[class.erased()]);
    let outcome = life.block_on(async {
        life.engine
            .run(&class, id)
            .await
            .unwrap()
            .outcome()
            .await
            .unwrap()
    });
    assert_eq!(
        (outcome.kind, outcome.reason),
        (OutcomeKind::HandedOff, Reason::DoubtWaitOver)
    );
    assert_eq!(outcome.notices, ["order is in doubt"]);
    assert_eq!(
        world.outside.asks().len(),
        1,
        "no send and no look-up after the crash"
    );
}

/// F10, with a receiver that can be asked and never knows.
#[test]
fn f10_a_write_whose_process_died_is_only_asked_about_as_long_as_nobody_can_tell() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    world.outside.finds(|_| Find::CannotTell(5));
    let mut g = TaskClass::<Minutes>::define("once", 1);
    g.budget(Budget::new().answer_by(secs(60)).doubt_wait(secs(60)));
    let made = |m: &Minutes, ()| NewTicket {
        title: m.id.clone(),
    };
    let write = world.outside.write("orders");
    let written = g.write("order", &write, (), made).add();
    let class = g
        .finish(written, |_, ticket| ticket.id.clone())
        .expect("a valid class");
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 0)).id();
    life.run_for(100);
    life.crash();
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    let (kind, reason) = (outcome.kind, outcome.reason);
    assert_eq!(
        (kind, reason),
        (OutcomeKind::HandedOff, Reason::DoubtWaitOver)
    );
    assert_eq!(world.outside.requests("orders").len(), 1, "no second send");
    assert!(5 < world.outside.look_ups().len());
    world.must_be_sound();
}

/// F15: a timeout after the request was accepted against a connection that never stood.
#[test]
fn f15_a_read_may_be_asked_elsewhere_and_a_write_only_when_it_was_not_sent() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "primary" => Does::Fail(10, maybe_sent(FailureKind::PermanentProvider)),
        _ => Does::Answer(10),
    });
    let class = three_rungs(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(60)));
    });
    let outcome = outcome_of(&world, &class, 0);
    assert_eq!(outcome.result.unwrap(), "second");
}

#[test]
fn the_runs_concurrency_is_never_exceeded_also_not_by_tools_that_hang() {
    let world = World::new();
    world.outside.script(|ask| match ask.nth {
        1 => Does::Hang,
        _ => Does::Answer(100),
    });
    let class = crate::world::classes::meeting_as(&world.outside, |g| {
        let walkthrough = crate::world::classes::walkthrough();
        g.budget(walkthrough.concurrency(2).answer_by(secs(120)).retries(30));
    });
    let outcome = outcome_of(&world, &class, 6);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    let peak = world
        .state(world.only_run())
        .head()
        .unwrap()
        .lap
        .budget
        .in_flight_peak;
    assert_eq!(peak.get(), 2);
    world.must_be_sound();
}

#[test]
fn a_list_that_does_not_fit_into_its_run_fails_its_call_and_not_the_engine() {
    let world = World::new();
    let mut g = TaskClass::<Minutes>::define("long", 1);
    g.budget(
        Budget::new()
            .answer_by(secs(30))
            .cost(CostUnits::units(10_000)),
    );
    let write = world.outside.write("tickets");
    let mut lists = Vec::new();
    for n in 0..11 {
        let list = |_: &Minutes, ()| {
            (0..1_000)
                .map(|n| NewTicket {
                    title: n.to_string(),
                })
                .collect()
        };
        lists.push(g.each(&format!("list_{n}"), &write, (), 1_000, list).add());
    }
    let class = g
        .finish(lists[10], |_, written| written.len() as u64)
        .expect("a valid class");
    let outcome = outcome_of(&world, &class, 0);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    let run = world.state(world.only_run());
    assert!(run.calls().len() <= mainstay_types::limits::RUN_CALLS_MAX);
    assert!(
        outcome
            .notices
            .iter()
            .any(|n| n.starts_with("list_10 failed: INVALID_INPUT"))
    );
    assert!(
        world.outside.asks().is_empty(),
        "no write starts in a lap that is lost"
    );
}

#[test]
fn a_list_that_no_record_can_hold_fails_its_call_and_not_the_run_for_ever() {
    let world = World::new();
    let mut g = TaskClass::<Minutes>::define("heavy", 1);
    g.budget(Budget::new().answer_by(secs(30)));
    let items = mainstay_types::limits::RECORD_BYTES_MAX / (4 << 20) + 1;
    let list = move |_: &Minutes, ()| {
        let title = "x".repeat((4 << 20) - 100);
        vec![NewTicket { title }; items]
    };
    let write = world.outside.write("tickets");
    let written = g.each("heavy", &write, (), 50, list).add();
    let class = g
        .finish(written, |_, written| written.len() as u64)
        .expect("a valid class");
    let outcome = outcome_of(&world, &class, 0);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    assert_eq!(world.elapsed(), 0, "nothing to wait for");
    assert!(world.outside.asks().is_empty());
}
