//! Several workers on one ledger, each with its lease: a run belongs to one of them, whoever stands
//! still loses it, and what he learns after all is not lost.

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_ledger::{InboxCommand, Ledger};
use mainstay_machine::{Event, OutcomeKind, SettleEnd};
use mainstay_runtime::NotDrivenReason;
use mainstay_types::{
    AttemptNo, CallId, CostUnits, FailureKind, MessageId, Millis, Payload, RunId, limits,
};

use crate::world::classes::{Question, chain, single_as};
use crate::world::script::refused;
use crate::world::{Does, Find, Life, Minutes, Ticket, World, minutes};

/// An order that is waited for through several leases.
fn order(world: &World) -> Class<Minutes, Ticket> {
    single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(300)));
    })
}

pub(crate) fn shared() -> World {
    let world = World::new();
    world.ledger.share();
    world
}

/// Epochs in which the run was taken over.
fn epochs(world: &World, id: RunId) -> Vec<u32> {
    let events = world.ledger.events_of(id);
    let taken = events.iter().filter_map(|event| {
        let Event::LeaseTaken(taken) = event else {
            return None;
        };
        Some(taken.epoch.get())
    });
    taken.collect()
}

/// F03: two recoverers with the same list of runs whose owner is gone.
#[test]
fn f03_of_two_who_recover_the_same_runs_each_run_is_claimed_by_one() {
    for (before, after) in [(0, 0), (3, 3), (0, 7), (5, 0)] {
        let world = shared();
        world.outside.script(|_| Does::Answer(100));
        let class = chain(&world.outside, 3);
        let life = world.live(&[class.erased()]);
        let ids: Vec<RunId> = (0..60)
            .map(|n| life.start(&class, minutes(&n.to_string(), 0)).id())
            .collect();
        life.run_for(50);
        life.crash();
        world.timers.advance(Millis::new(limits::LEASE_MS));

        world.ledger.slow(before, after);
        let executor = world.executor();
        let (one, two) = executor.block_on(async {
            let one = world.builder(&executor).register(&class).start();
            let two = world.builder(&executor).register(&class).start();
            let (one, two) = tokio::join!(one, two);
            (one.unwrap(), two.unwrap())
        });
        executor.block_on(async {
            for &id in &ids {
                for engine in [&one, &two] {
                    let run = engine.run(&class, id).await.unwrap();
                    let kind = run.outcome().await.unwrap().kind;
                    assert_eq!(kind, OutcomeKind::HandedOff.min(kind), "{kind:?}");
                }
            }
        });
        for &id in &ids {
            assert_eq!(epochs(&world, id), [2], "{}", world.describe(id));
        }
        executor.run_for(Millis::from_secs(120));
        assert!(one.not_driven().is_empty() && two.not_driven().is_empty());
        world.must_be_sound();
    }
}

#[test]
fn a_run_of_a_worker_that_lives_is_left_to_it_and_can_be_asked_for_everywhere() {
    let world = shared();
    world.outside.script(|_| Does::Answer(2_500));
    let class = chain(&world.outside, 4);
    let (one, two) = (world.live(&[class.erased()]), world.live(&[class.erased()]));
    let id = one.start(&class, minutes("M", 0)).id();
    world.side_by_side(&[&one, &two], 1_000);
    let asked = two.engine.clone();
    let of_two = class.clone();
    let outcome = std::sync::Arc::new(parking_lot::Mutex::new(None));
    let told = std::sync::Arc::clone(&outcome);
    mainstay_types::Spawner::spawn(
        &two.executor,
        Box::pin(async move {
            let run = asked.run(&of_two, id).await.unwrap();
            *told.lock() = Some(run.outcome().await);
        }),
    );
    world.side_by_side(&[&one, &two], 12_000);
    let outcome = outcome.lock().take().expect("it was told").unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(epochs(&world, id), [0_u32; 0], "it never changed hands");
    world.must_be_sound();
}

#[test]
fn a_command_given_to_one_worker_is_taken_by_the_one_that_drives() {
    let world = shared();
    world.outside.script(|_| Does::Hang);
    let class = chain(&world.outside, 1);
    let (one, two) = (world.live(&[class.erased()]), world.live(&[class.erased()]));
    let ids = ["A", "B"].map(|id| one.start(&class, minutes(id, 0)).id());
    world.side_by_side(&[&one, &two], 100);
    two.block_on(two.engine.cancel(ids[0], "me", "no more"))
        .unwrap();
    let engine = two.engine.clone();
    mainstay_types::Spawner::spawn(
        &two.executor,
        Box::pin(async move { engine.terminate(ids[1], "me", "no more").await.unwrap() }),
    );
    world.side_by_side(&[&one, &two], 3_000);
    let kinds = ids.map(|id| {
        world
            .state(id)
            .head()
            .unwrap()
            .lap
            .outcome
            .clone()
            .unwrap()
            .kind
    });
    assert_eq!(kinds, [OutcomeKind::Canceled, OutcomeKind::Terminated]);
    assert_eq!(ids.map(|id| epochs(&world, id).len()), [0, 0]);
    world.must_be_sound();
}

/// One worker with an order out stands still until its lease is over; another one takes over.
pub(crate) fn stands_still(world: &World, class: &Class<Minutes, Ticket>) -> (Life, Life, RunId) {
    let one = world.live(&[class.erased()]);
    let id = one.start(class, minutes("M", 1)).id();
    one.run_for(100);
    let two = world.live(&[class.erased()]);
    two.run_for(20_000);
    assert_eq!(epochs(world, id), [0_u32; 0], "its lease is not over");
    two.run_for(15_000);
    assert_eq!(epochs(world, id), [2]);
    (one, two, id)
}

fn evidence(result: &str) -> InboxCommand {
    InboxCommand::Settle {
        call: CallId(0),
        attempt: AttemptNo(1),
        end: SettleEnd::Answered {
            result: Payload::from(result),
            cost: None,
            client_retries: 0,
        },
    }
}

/// F12: a lease expires while a call is out, another worker takes over, the first answers.
#[test]
fn f12_the_answer_of_a_worker_that_lost_its_run_is_one_late_result_and_duplicates_change_nothing() {
    let world = shared();
    world.outside.script(|_| Does::Answer(2_000));
    // Nobody else can tell what became of the order.
    world.outside.finds(|_| Find::CannotTell(5));
    let class = order(&world);
    let (one, two, id) = stands_still(&world, &class);
    assert_eq!(world.ledger.count("EffectInDoubt"), 1);
    world.side_by_side(&[&one, &two], 1_000);
    let log = world.describe(id);
    assert_eq!(world.ledger.count("LateResult"), 1, "{log}");
    let outcome = two.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed, "{log}");
    assert_eq!(outcome.result.unwrap().id, "T-1");
    assert_eq!(world.outside.requests("orders").len(), 1);

    // The same report again, and another that contradicts it.
    let appends = world.ledger.log_of(id).len();
    for (n, result) in [(1, r#"{"id":"T-1"}"#), (2, r#"{"id":"T-9"}"#)] {
        let message = MessageId::from_bytes([n; 16]);
        two.block_on(world.ledger.enqueue(id, message, evidence(result)))
            .unwrap();
    }
    world.side_by_side(&[&one, &two], 5_000);
    assert!(
        two.block_on(world.ledger.inbox(id)).unwrap().is_empty(),
        "taken"
    );
    // Whoever takes them takes the run over for it, and that is all.
    let log = world.ledger.log_of(id);
    let added = log[appends..].iter().flat_map(|append| &append.events);
    let added: Vec<_> = added.map(|stamped| stamped.event.name()).collect();
    assert!(added.iter().all(|&name| name == "LeaseTaken"), "{added:?}");
    assert_eq!(two.outcome_of(&class, id).result.unwrap().id, "T-1");
    for life in [&one, &two] {
        let listed = life.engine.not_driven();
        assert!(
            listed.is_empty(),
            "what is over has not to be driven: {listed:?}"
        );
    }
    world.must_be_sound();
}

#[test]
fn what_a_worker_learns_after_its_run_ended_elsewhere_is_told_as_an_addendum() {
    let world = shared();
    world.outside.script(|_| Does::Answer(2_000));
    world.outside.finds(|_| Find::CannotTell(5));
    let class = order(&world);
    let (one, two, id) = stands_still(&world, &class);
    two.block_on(two.engine.terminate(id, "me", "no more"))
        .unwrap();
    two.run_for(60_000);
    world.side_by_side(&[&one, &two], 1_000);
    let outcome = two.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Terminated);
    assert_eq!(outcome.addenda.len(), 1, "{}", world.describe(id));
    assert!(world.state(id).head().unwrap().closed);
    world.must_be_sound();
}

/// F11, with a worker that stood still: its answer comes when attempt 2 is out.
#[test]
fn f11_the_late_answer_of_attempt_one_ends_a_call_whose_attempt_two_is_out() {
    let world = shared();
    world.outside.script(|ask| match ask.attempt {
        1 => Does::Answer(2_000),
        _ => Does::Hang,
    });
    // A receiver that breaks its word: it has the order and says that it has not.
    world.outside.finds(|_| Find::NotFound(5));
    let class = order(&world);
    let (one, two, id) = stands_still(&world, &class);
    let asks = world.outside.requests("orders");
    assert_eq!(
        asks.iter().map(|ask| ask.attempt).collect::<Vec<_>>(),
        [1, 2]
    );
    assert_eq!(
        asks.iter().map(|ask| ask.fence).collect::<Vec<_>>(),
        [1, 2],
        "fences are passed"
    );
    assert_eq!(asks[0].key, asks[1].key);
    world.side_by_side(&[&one, &two], 100);
    let outcome = two.outcome_of(&class, id);
    assert_eq!(
        outcome.kind,
        OutcomeKind::Completed,
        "{}",
        world.describe(id)
    );
    let late = world.ledger.events_of(id).into_iter().find_map(|event| {
        let Event::LateResult { attempt, .. } = event else {
            return None;
        };
        Some(attempt)
    });
    assert_eq!(late, Some(AttemptNo(1)), "{}", world.describe(id));
    assert_eq!(world.outside.effects().len(), 1);
}

/// F11, with a process that was killed: its write lands when attempt 2 is out.
#[test]
fn f11_a_killed_attempts_write_that_lands_late_is_the_same_effect_under_the_same_key() {
    let world = World::new();
    world.outside.script(|ask| match ask.attempt {
        1 => Does::Lose(9_000),
        _ => Does::Answer(2_500),
    });
    let class = order(&world);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    life.run_for(100);
    life.crash();
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    let asks = world.outside.requests("orders");
    assert_eq!(asks.iter().map(|ask| ask.fence).collect::<Vec<_>>(), [1, 2]);
    assert!(
        asks[1].at < 9_000,
        "attempt 2 left before attempt 1 landed: {asks:#?}"
    );
    let interrupted = world.ledger.events_of(id).into_iter().find_map(|event| {
        let Event::AttemptInterrupted { attempt, .. } = event else {
            return None;
        };
        Some(attempt)
    });
    assert_eq!(interrupted, Some(AttemptNo(1)));
    let effects = world.outside.effects();
    assert_eq!(effects.len(), 1, "the key made them one");
    assert_eq!(outcome.result.unwrap().id, effects[0].ticket);
    world.no_effect_twice();
}

#[test]
fn a_worker_that_goes_down_in_order_leaves_its_runs_at_once() {
    let world = shared();
    world.outside.script(|_| Does::Answer(2_000));
    let class = order(&world);
    let one = world.live(&[class.erased()]);
    let id = one.start(&class, minutes("M", 1)).id();
    one.run_for(10);
    one.block_on(one.engine.clone().shutdown(Millis::new(10)));
    let began = world.elapsed();
    let two = world.live(&[class.erased()]);
    let outcome = two.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert!(world.elapsed() - began < 5_000, "no lease is waited for");
    world.must_be_sound();
}

#[test]
fn a_worker_that_stood_still_says_so_until_its_run_is_over() {
    let world = shared();
    world.outside.script(|_| Does::Answer(2_000));
    world.outside.finds(|_| Find::CannotTell(5));
    let class = chain(&world.outside, 10);
    let one = world.live(&[class.erased()]);
    let id = one.start(&class, minutes("M", 0)).id();
    one.run_for(100);
    let two = world.live(&[class.erased()]);
    two.run_for(32_000);
    assert_eq!(epochs(&world, id), [2]);
    world.side_by_side(&[&one, &two], 3_000);
    let listed = one.engine.not_driven();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0].run, listed[0].reason),
        (id, NotDrivenReason::LeaseLost)
    );
    assert_eq!(epochs(&world, id), [2], "it is not taken back");
    world.side_by_side(&[&one, &two], 120_000);
    assert!(one.engine.not_driven().is_empty());
    assert_eq!(epochs(&world, id), [2]);
    world.must_be_sound();
}

/// What a refusal of the primary costs.
const REFUSED: CostUnits = CostUnits::milli(100);

/// A read whose primary takes long, with a fallback, and a read after it.
fn told_twice(world: &World) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("told", 1);
    g.budget(Budget::new().answer_by(secs(300)).cost(10));
    let told = g
        .read("told", &world.outside.read("primary"), (), |m, ()| {
            m.question()
        })
        .attempts(1)
        .timeout(secs(60))
        .cost(2)
        .fallback_provider(&world.outside.read("second"))
        .add();
    let draft = g
        .read("draft", &world.outside.read("model"), told, |m, told| {
            let about = told.by.clone();
            Question {
                about,
                ..m.question()
            }
        })
        .timeout(secs(20))
        .add();
    g.finish((told, draft), |_, (told, _)| told.by.clone())
        .expect("a valid class")
}

/// F14: a slow primary, a fallback that wins, then the primary answers. An answer can come that
/// late only from a process that was taken for dead: in one process nobody waits for it any more.
#[test]
fn f14_a_primary_that_answers_after_its_fallback_won_is_one_late_record_that_is_paid() {
    let world = shared();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "primary" if ask.nth == 1 => Does::Bill(2_000, CostUnits::milli(1_500), 0),
        // Whoever takes over tries it again before the fallback.
        "primary" => Does::Fail(10, refused(FailureKind::PermanentProvider).cost(REFUSED)),
        "second" => Does::Bill(10, CostUnits::milli(700), 0),
        _ => Does::Bill(10_000, CostUnits::milli(300), 0),
    });
    let class = told_twice(&world);
    let one = world.live(&[class.erased()]);
    let id = one.start(&class, minutes("M", 1)).id();
    one.run_for(100);
    let two = world.live(&[class.erased()]);
    // Until the lease of the one that stands still is over, and the fallback has answered.
    two.run_for(35_000);
    let spent = || world.state(id).head().unwrap().lap.budget.spent;
    assert_eq!(world.ledger.count("LateResult"), 0);
    let assumed = spent();
    world.side_by_side(&[&one, &two], 1_000);
    let log = world.describe(id);
    assert_eq!(world.ledger.count("LateResult"), 1, "{log}");
    assert_eq!(
        assumed.less(spent()),
        CostUnits::milli(500),
        "2 was assumed, 1.5 it was\n{log}"
    );

    let outcome = two.outcome_of(&class, id);
    assert_eq!(outcome.result.as_deref(), Some("second"), "{log}");
    assert_eq!(spent(), CostUnits::milli(1_500 + 100 + 700 + 300), "{log}");
    for name in ["LapEnded", "LateResult"] {
        assert_eq!(world.ledger.count(name), 1, "{name}\n{log}");
    }
    // What the late one said went nowhere, and what was told stays told, wherever it is asked for.
    assert_eq!(world.ledger.count("CallSettled"), 2, "{log}");
    let drafted = world.outside.requests("model");
    assert!(
        drafted.len() == 1 && drafted[0].body.contains("second"),
        "{drafted:?}"
    );
    world.side_by_side(&[&one, &two], 5_000);
    for life in [&one, &two] {
        let again = life.outcome_of(&class, id);
        assert_eq!(again.result.as_deref(), Some("second"));
    }
    world.must_be_sound();
}
