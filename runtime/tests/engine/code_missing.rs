//! Runs whose code is not in this process: listed with their reason, readable, and in nobody's way.

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::{EffectFilter, NotDrivenReason};
use mainstay_types::Code;

use crate::world::classes::{chain, single};
use crate::world::{Does, Minutes, World, minutes};

/// A chain of two whose fingerprint depends on `cost`.
fn priced(world: &World, cost: u64) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("priced", 1);
    g.budget(Budget::new().answer_by(secs(60)));
    let read = world.outside.read("anything");
    let one = g
        .read("one", &read, (), |m, ()| m.question())
        .cost(cost)
        .add();
    let two = g.read("two", &read, one, |m, _| m.question()).add();
    g.finish(two, |_, told| told.by.clone())
        .expect("a valid class")
}

#[test]
fn f17_a_run_whose_class_is_not_registered_waits_and_the_others_are_driven() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let (class, other) = (single(&world.outside), chain(&world.outside, 3));
    let life = world.live(&[class.erased(), other.erased()]);
    let (one, two) = life.block_on(async {
        let one = life
            .engine
            .start(&class, minutes("M", 1))
            .await
            .unwrap()
            .id();
        let two = life
            .engine
            .start(&other, minutes("M", 1))
            .await
            .unwrap()
            .id();
        (one, two)
    });
    life.crash();

    let life = world.live(&[other.erased()]);
    let listed = life.engine.not_driven();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0].run, listed[0].reason),
        (one, NotDrivenReason::WaitingForCode)
    );
    assert!(listed[0].detail.contains("single v1"), "{listed:?}");
    life.block_on(async {
        let waits = life.engine.run(&class, one).await.expect("it can be read");
        let error = waits.answer().await.unwrap_err();
        assert_eq!(error.code(), Code::WaitingForCode);
        let driven = life.engine.run(&other, two).await.unwrap();
        assert_eq!(driven.outcome().await.unwrap().kind, OutcomeKind::Completed);
    });
    let appends = world.ledger.log_of(one).len();
    life.run_for(100_000);
    assert_eq!(
        world.ledger.log_of(one).len(),
        appends,
        "no retry, no append"
    );
    life.crash();

    let life = world.live(&[class.erased(), other.erased()]);
    assert!(life.engine.not_driven().is_empty());
    life.block_on(async {
        let run = life.engine.run(&class, one).await.unwrap();
        let outcome = run.outcome().await.unwrap();
        // Its write had arrived; that its time is over does not make it unknown.
        assert!(world.ledger.count("EffectApplied") == 1, "{outcome:?}");
    });
    assert_eq!(world.outside.effects().len(), 1);
}

#[test]
fn a_run_whose_class_has_other_content_now_is_not_driven_by_it() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(100));
    let (before, after) = (priced(&world, 1), priced(&world, 2));
    let life = world.live(&[before.erased()]);
    let id = life.start_keyed(&before, minutes("M", 1)).id();
    life.crash();

    let life = world.live(&[after.erased()]);
    let listed = life.engine.not_driven();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0].run, listed[0].reason),
        (id, NotDrivenReason::ClassChanged)
    );
    life.block_on(async {
        let found = life
            .engine
            .start(&after, minutes("M", 1))
            .key("K")
            .await
            .unwrap();
        assert_eq!(
            found.outcome().await.unwrap_err().code(),
            Code::ClassChanged
        );
    });
    life.crash();

    let life = world.live(&[before.erased()]);
    let outcome = life.outcome_of(&before, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
}

#[test]
fn a_run_of_another_class_is_unknown_under_this_one_and_one_without_code_says_so_everywhere() {
    let world = World::new();
    world.outside.script(|_| Does::Lose(60_000));
    let (class, other) = (single(&world.outside), chain(&world.outside, 1));
    let life = world.live(&[class.erased(), other.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    let strange = life.block_on(life.engine.run(&other, id));
    assert_eq!(strange.unwrap_err().code(), Code::RunUnknown);
    life.run_for(4_000);
    life.crash();

    let life = world.live(&[other.erased()]);
    life.block_on(async {
        let view = life.engine.view(id).await.unwrap();
        assert_eq!(view.state, "waiting_for_code");
        assert_eq!(view.state_reason, Some("WAITING_FOR_CODE"));
        let filter = EffectFilter {
            in_doubt: true,
            ..EffectFilter::default()
        };
        let page = life.engine.effects(filter, None).await.unwrap();
        assert_eq!(page.rows.len(), 1, "{page:?}");
        assert_eq!(page.rows[0].lookup_at, None, "nobody here asks");
    });
}
