//! One business key, two runs: one holds it, the other adopts, waits or is told that it differs.

use std::future::IntoFuture;

use mainstay_class::{Budget, secs};
use mainstay_ledger::Ledger;
use mainstay_machine::OutcomeKind;
use mainstay_types::{FailureKind, Reason};

use crate::world::classes::{meeting, single_as};
use crate::world::script::{maybe_sent, refused};
use crate::world::{Does, Find, Minutes, Moment, World, minutes};

fn class(world: &World) -> mainstay_class::Class<Minutes, crate::world::Ticket> {
    single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(60)));
    })
}

/// The same business id with another action.
fn other() -> Minutes {
    Minutes {
        id: "M".into(),
        actions: vec!["another action".into()],
    }
}

#[test]
fn a_result_that_another_run_has_is_adopted_without_a_request() {
    let world = World::new();
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let first = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let first = first.outcome().await.unwrap();
        let second = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let second = second.outcome().await.unwrap();
        assert_eq!(second.kind, OutcomeKind::Completed);
        assert_eq!(first.result.unwrap(), second.result.unwrap());
    });
    assert_eq!(world.outside.requests("orders").len(), 1);
    let history = world.history(world.runs()[1]).join("\n");
    assert!(
        history.contains("EffectApplied order ADOPTED_FROM_OTHER_RUN"),
        "{history}"
    );
}

/// F36: two runs intend the same key in one commit group.
#[test]
fn f36_of_two_that_want_a_key_in_one_group_one_has_it_and_its_end_wakes_the_other_at_once() {
    // The answer falls between two moments at which the one who waits asks by itself.
    for answers_after in [1_250, 2_400, 2_750] {
        let world = World::new();
        world.ledger.group();
        world.outside.script(move |_| Does::Answer(answers_after));
        let class = class(&world);
        let life = world.live(&[class.erased()]);
        let (first, second) = life.block_on(async {
            let first = life.engine.start(&class, minutes("M", 1)).into_future();
            let second = life.engine.start(&class, minutes("M", 1)).into_future();
            let (first, second) = tokio::join!(first, second);
            (first.unwrap(), second.unwrap())
        });
        assert!(
            world.ledger.groups().contains(&2),
            "{:?}",
            world.ledger.groups()
        );
        let (first, second) = life.block_on(async {
            let (first, second) = tokio::join!(first.outcome(), second.outcome());
            (first.unwrap(), second.unwrap())
        });
        assert_eq!(first.result.unwrap(), second.result.unwrap());
        let waited = world.elapsed() - answers_after;
        assert!(waited < 20, "woken by the settling: {waited} ms after it");
        assert_eq!(world.outside.requests("orders").len(), 1);
        world.must_be_sound();
    }
}

/// F36: the one who waits is not in memory when the key is settled, and hears of it all the same.
#[test]
fn f36_a_key_that_is_settled_while_the_process_of_the_one_who_waits_is_down_is_adopted() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        let world = World::new();
        world.outside.script(|_| Does::Answer(700));
        let class = class(&world);
        let life = world.live(&[class.erased()]);
        let ids = ["one", "two"].map(|_| life.start(&class, minutes("M", 1)).id());
        life.run_for(10);
        // The holder's answer, and with it the word to the one who waits.
        world.ledger.trap(1, moment);
        life.block_on(world.ledger.crash());
        life.crash();
        world.ledger.disarm();
        let from = world.elapsed();
        let life = world.live(&[class.erased()]);
        for id in ids {
            let outcome = life.outcome_of(&class, id);
            assert_eq!(
                outcome.kind,
                OutcomeKind::Completed,
                "{}",
                world.describe(id)
            );
        }
        assert!(
            world.elapsed() - from < 100,
            "{moment:?}: {}",
            world.elapsed() - from
        );
        assert_eq!(world.outside.requests("orders").len(), 1);
        world.must_be_sound();
    }
}

#[test]
fn f36_a_run_without_its_code_hears_of_the_key_and_goes_on_once_the_code_is_there() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(2_500));
    let class = class(&world);
    let other = {
        let mut g = mainstay_class::TaskClass::<Minutes>::define("other", 1);
        g.budget(Budget::new().answer_by(secs(600)));
        let made = |m: &Minutes, ()| crate::world::classes::NewTicket {
            title: m.actions[0].clone(),
        };
        let write = world.outside.write("orders");
        let order = g
            .write("order", &write, (), made)
            .business_id(|m: &Minutes| &m.id);
        let written = order.add();
        g.finish(written, |_, ticket| ticket.clone())
            .expect("a valid class")
    };
    let life = world.live(&[class.erased(), other.erased()]);
    let holder = life.start(&class, minutes("M", 1)).id();
    let waits = life.start(&other, minutes("M", 1)).id();
    life.run_for(10);
    life.crash();
    let life = world.live(&[class.erased()]);
    assert_eq!(life.outcome_of(&class, holder).kind, OutcomeKind::Completed);
    life.run_for(100);
    let inbox = life.block_on(world.ledger.inbox(waits)).unwrap();
    assert!(inbox.is_empty(), "taken without the code: {inbox:?}");
    life.crash();
    let life = world.live(&[class.erased(), other.erased()]);
    let from = world.elapsed();
    let outcome = life.outcome_of(&other, waits);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(
        (outcome.result.unwrap().id.as_str(), world.elapsed()),
        ("T-1", from)
    );
    world.must_be_sound();
}

#[test]
fn a_key_that_is_out_is_waited_for_and_its_result_adopted() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(2_500));
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let first = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let second = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let (first, second) = tokio::join!(first.outcome(), second.outcome());
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(second.kind, OutcomeKind::Completed);
        assert_eq!(first.result.unwrap(), second.result.unwrap());
    });
    assert_eq!(world.outside.requests("orders").len(), 1);
    assert!(
        world.elapsed() < 4_000,
        "asked again within a second of the other run's end"
    );
    let appends = world.ledger.log_of(world.runs()[1]);
    assert!(
        appends.len() <= 5,
        "one append per wait: {}",
        world.describe(world.runs()[1])
    );
}

#[test]
fn a_doubt_of_the_holder_is_waited_out() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::LandAndFail(0, 10, maybe_sent(FailureKind::Overloaded)));
    world.outside.finds(|ask| match ask.at < 8_000 {
        true => Find::CannotTell(5),
        false => Find::Truth(5),
    });
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let first = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let second = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let (first, second) = tokio::join!(first.outcome(), second.outcome());
        assert_eq!(
            first.unwrap().result.unwrap(),
            second.unwrap().result.unwrap()
        );
    });
    assert_eq!(world.outside.requests("orders").len(), 1);
    world.no_effect_twice();
}

#[test]
fn another_request_under_the_same_key_is_refused_and_never_sent() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(500));
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let first = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        let second = life.engine.start(&class, other()).await.unwrap();
        let outcome = second.outcome().await.unwrap();
        assert_eq!(outcome.kind, OutcomeKind::HandedOff);
        assert!(
            outcome.notices[0].contains("IDEMPOTENCY_MISMATCH"),
            "{:?}",
            outcome.notices
        );
        assert_eq!(first.outcome().await.unwrap().kind, OutcomeKind::Completed);
        let third = life.engine.start(&class, other()).await.unwrap();
        assert_eq!(third.outcome().await.unwrap().kind, OutcomeKind::HandedOff);
    });
    assert_eq!(world.outside.requests("orders").len(), 1);
}

#[test]
fn a_key_whose_effect_is_proven_absent_is_free_for_another_run() {
    let world = World::new();
    world
        .outside
        .script(|ask| match ask.body.contains("another") {
            false => Does::Fail(10, refused(FailureKind::InvalidInput)),
            true => Does::Answer(10),
        });
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let first = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        assert_eq!(first.outcome().await.unwrap().kind, OutcomeKind::HandedOff);
        let second = life.engine.start(&class, other()).await.unwrap();
        assert_eq!(second.outcome().await.unwrap().kind, OutcomeKind::Completed);
    });
    assert_eq!(world.outside.effects().len(), 1);
}

#[test]
fn a_holder_that_dies_keeps_its_key_and_the_one_who_waits_is_served_after_the_restart() {
    let world = World::new();
    world.outside.script(|_| Does::Lose(0));
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    let ids = life.block_on(async {
        let first = life
            .engine
            .start(&class, minutes("M", 1))
            .await
            .unwrap()
            .id();
        let second = life
            .engine
            .start(&class, minutes("M", 1))
            .await
            .unwrap()
            .id();
        [first, second]
    });
    life.run_for(1_500);
    life.crash();
    let life = world.live(&[class.erased()]);
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
            assert_eq!(
                outcome.kind,
                OutcomeKind::Completed,
                "{}",
                world.describe(id)
            );
            assert_eq!(outcome.result.unwrap().id, "T-1");
        }
    });
    assert_eq!(world.outside.requests("orders").len(), 1);
}

#[test]
fn a_whole_list_that_another_run_has_written_is_adopted_in_one_append() {
    let world = World::new();
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let first = life.engine.start(&class, minutes("M", 9)).await.unwrap();
        let first = first.outcome().await.unwrap().result.unwrap();
        let second = life.engine.start(&class, minutes("M", 9)).await.unwrap();
        let second = second.outcome().await.unwrap().result.unwrap();
        assert_eq!(first.tickets, second.tickets);
    });
    assert_eq!(world.outside.requests("tickets").len(), 9);
    let last = world.history(world.runs()[1]).pop().unwrap();
    assert_eq!(last.matches("ADOPTED_FROM_OTHER_RUN").count(), 9, "{last}");
}

#[test]
fn another_tenant_has_keys_of_its_own() {
    let world = World::new();
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        for tenant in ["one", "two"] {
            let run = life
                .engine
                .start(&class, minutes("M", 1))
                .tenant(tenant)
                .await
                .unwrap();
            let outcome = run.outcome().await.unwrap();
            let (kind, reason) = (outcome.kind, outcome.reason);
            assert_eq!((kind, reason), (OutcomeKind::Completed, Reason::AllSettled));
        }
    });
    assert_eq!(world.outside.effects().len(), 2);
}

#[test]
fn a_turn_that_is_decided_again_runs_no_code_of_the_class_again() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    let world = World::new();
    let made = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&made);
    let mut g = mainstay_class::TaskClass::<Minutes>::define("counted", 1);
    let request = move |m: &Minutes, ()| {
        count.fetch_add(1, Ordering::SeqCst);
        crate::world::classes::NewTicket {
            title: m.id.clone(),
        }
    };
    let written = g
        .write("order", &world.outside.write("orders"), (), request)
        .business_id(|m: &Minutes| &m.id)
        .add();
    let class = g
        .finish(written, |_, ticket| ticket.id.clone())
        .expect("a valid class");
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        for runs in 1..4 {
            let run = life.engine.start(&class, minutes("M", 0)).await.unwrap();
            assert_eq!(run.outcome().await.unwrap().kind, OutcomeKind::Completed);
            assert_eq!(
                made.load(Ordering::SeqCst),
                runs,
                "once per run, held or not"
            );
        }
    });
}

/// Another class that makes the same order.
fn again(world: &World) -> mainstay_class::Class<Minutes, crate::world::Ticket> {
    let mut g = mainstay_class::TaskClass::<Minutes>::define("again", 1);
    g.budget(Budget::new().answer_by(secs(60)));
    let written = g
        .write("order", &world.outside.write("orders"), (), |m, ()| {
            crate::world::classes::NewTicket {
                title: m.actions.first().cloned().unwrap_or_default(),
            }
        })
        .business_id(|m: &Minutes| &m.id)
        .add();
    g.finish(written, |_, ticket| ticket.clone())
        .expect("a valid class")
}

/// The first run's request lands or does not, its reply is lost, and then nobody has its class's
/// code. The second one takes its key over.
fn taken_over(lands: bool) {
    let world = World::new();
    let (first, second) = (class(&world), again(&world));
    world.outside.script(move |ask| match (ask.nth, lands) {
        (1, true) if ask.fence == 1 => Does::Lose(0),
        (1, false) if ask.time_left == 3_000 && ask.at < 100 => Does::Hang,
        _ => Does::Answer(10),
    });
    world.outside.finds(|_| Find::Truth(5));
    let life = world.live(&[first.erased()]);
    let one = life.start(&first, minutes("M", 1)).id();
    life.run_for(50);
    life.crash();
    let life = world.live(&[second.erased()]);
    let two = life.start(&second, minutes("M", 1));
    let outcome = life.outcome(&two);
    let history = world.history(two.id()).join("\n");
    assert_eq!(outcome.kind, OutcomeKind::Completed, "{history}");
    assert!(history.contains("KeyTakenOver order"), "{history}");
    let requests = world.outside.requests("orders");
    assert_eq!(requests.len(), if lands { 1 } else { 2 }, "{history}");
    let keys: std::collections::BTreeSet<_> = requests.iter().map(|ask| &ask.key).collect();
    assert_eq!(keys.len(), 1, "under one key");
    assert_eq!(world.outside.effects().len(), 1, "{history}");
    life.crash();
    // The first one's code is there again: it finds what is in the world, and sends nothing.
    let life = world.live(&[first.erased(), second.erased()]);
    let found = life.outcome_of(&first, one);
    assert_eq!(found.result.unwrap(), outcome.result.unwrap());
    assert_eq!(world.outside.requests("orders").len(), requests.len());
    assert_eq!(world.outside.effects().len(), 1);
    world.must_be_sound();
}

#[test]
fn a_key_whose_run_nobody_has_code_for_is_taken_over_and_asked_about_first() {
    taken_over(true);
}

#[test]
fn what_that_run_never_sent_is_sent_once_by_the_one_that_took_its_key_over() {
    taken_over(false);
}
