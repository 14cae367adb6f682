//! What a person says of an effect: taken whoever drives the run, durable, heard by all who wait.

use std::future::IntoFuture;

use mainstay_class::{Budget, days, secs};
use mainstay_ledger::Ledger;
use mainstay_machine::{OutcomeKind, Ruling};
use mainstay_types::{EffectKey, FailureKind, Payload, Reason, RunId};

use crate::world::classes::single_as;
use crate::world::script::maybe_sent;
use crate::world::{Does, Find, Life, Minutes, World, minutes};

const ANNA: (&str, &str) = ("anna (uid:1000)", "it is in their list");

fn class(world: &World) -> mainstay_class::Class<Minutes, crate::world::Ticket> {
    single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(60)).doubt_wait(days(1)));
    })
}

/// A world whose receiver took everything, replied to nothing and tells nothing.
fn mute() -> World {
    let world = World::new();
    world
        .outside
        .script(|_| Does::LandAndFail(0, 10, maybe_sent(FailureKind::TransientTransport)));
    world.outside.finds(|_| Find::CannotTell(5));
    world
}

fn key_of(life: &Life, run: RunId) -> EffectKey {
    let filter = mainstay_runtime::EffectFilter {
        run: Some(run),
        in_doubt: true,
    };
    let page = life.block_on(life.engine.effects(filter, None)).unwrap();
    page.rows[0].key.clone()
}

fn applied(ticket: &str) -> (Ruling, Option<Payload>) {
    let result = format!(r#"{{"title" : "t", "id":"{ticket}"}}"#);
    (Ruling::Applied, Some(Payload::from(result)))
}

#[test]
fn the_run_goes_on_by_itself_and_whoever_waits_for_the_key_adopts_it() {
    let world = mute();
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    let first = life.start(&class, minutes("M", 1));
    life.run_for(50);
    let second = life.start(&class, minutes("M", 1));
    life.run_for(50);
    let key = key_of(&life, first.id());
    let settled = life.block_on(life.engine.settle_effect(&key, applied("T-9"), ANNA));
    assert_eq!(settled.unwrap().as_str(), "applied");
    let from = world.elapsed();
    let (one, two) = life.block_on(async {
        let (one, two) = tokio::join!(first.outcome(), second.outcome());
        (one.unwrap(), two.unwrap())
    });
    assert!(world.elapsed() - from < 20, "both are woken");
    for outcome in [&one, &two] {
        assert_eq!(outcome.kind, OutcomeKind::Completed);
        assert_eq!(outcome.result.as_ref().unwrap().id, "T-9");
    }
    assert_eq!(world.outside.requests("orders").len(), 1);
    let view = life.block_on(life.engine.effect(&key)).unwrap();
    let by = view.call.effect.unwrap().settled_by.unwrap();
    assert_eq!((by.by.as_str(), by.why.as_str()), ANNA);
    world.must_be_sound();
}

#[test]
fn it_is_durable_once_it_is_taken_and_is_heard_after_any_crash_on_the_way() {
    let appends = {
        let world = mute();
        settled_by_crash(&world, usize::MAX)
    };
    for at in 1..=appends {
        settled_by_crash(&mute(), at);
    }
}

/// Settles an order while its process dies at its `at`-th append from then on. How many there were.
fn settled_by_crash(world: &World, at: usize) -> usize {
    let class = class(world);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1)).id();
    life.run_for(50);
    let key = key_of(&life, run);
    let before = world.ledger.appends();
    let mut life = life;
    if at != usize::MAX {
        world.ledger.trap(at, crate::world::Moment::Durable);
        {
            let settle = life.engine.settle_effect(&key, applied("T-9"), ANNA);
            let settle = settle.into_future();
            life.block_on(async {
                tokio::select! {
                    biased;
                    () = world.ledger.crash() => {}
                    _ = settle => {}
                }
            });
        }
        life.crash();
        world.ledger.disarm();
        life = world.live(&[class.erased()]);
    }
    // Whoever was not told asks again.
    let settled = life.block_on(life.engine.settle_effect(&key, applied("T-9"), ANNA));
    assert_eq!(settled.unwrap().as_str(), "applied");
    let outcome = life.outcome_of(&class, run);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    let history = world.history(run).join("\n");
    assert_eq!(
        history.matches("EffectSettledByHand").count(),
        1,
        "{history}"
    );
    assert_eq!(world.outside.requests("orders").len(), 1);
    world.must_be_sound();
    usize::try_from(world.ledger.appends() - before).expect("a few")
}

#[test]
fn after_the_outcome_and_a_crash_it_is_told_as_an_addendum_and_the_run_is_closed() {
    let world = mute();
    let class = single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(10)).doubt_wait(secs(20)));
    });
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    let outcome = life.outcome(&run);
    let doubted = (OutcomeKind::HandedOff, Reason::DoubtWaitOver);
    assert_eq!((outcome.kind, outcome.reason), doubted);
    let run = run.id();
    life.crash();
    let life = world.live(&[class.erased()]);
    let key = key_of(&life, run);
    let ruling = (Ruling::NotApplied, None);
    let settled = life.block_on(life.engine.settle_effect(&key, ruling, ANNA));
    assert_eq!(settled.unwrap().as_str(), "absent");
    life.run_for(50);
    let view = life.block_on(life.engine.view(run)).unwrap();
    assert_eq!((view.state, view.outcome), ("closed", Some("handed_off")));
    let addenda: Vec<&str> = view.addenda.iter().map(|known| known.reason).collect();
    assert_eq!(addenda, ["SETTLED_BY_HAND"]);
    assert_eq!(world.outside.requests("orders").len(), 1);
}
