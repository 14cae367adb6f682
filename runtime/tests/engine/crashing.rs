//! A crash at every append of a run, before it, after it, and before what it allows has left.

use mainstay_class::{Class, Extend, hours, secs};
use mainstay_machine::OutcomeKind;

use crate::world::classes::{meeting_as, walkthrough};
use crate::world::{Does, Minutes, Moment, Report, World, minutes};

const ACTIONS: usize = 6;

fn class(world: &World) -> Class<Minutes, Report> {
    meeting_as(&world.outside, |g| {
        g.budget(walkthrough().answer_by(secs(60)).retries(30))
            .on_downtime(Extend(hours(1)));
    })
}

/// Replies one by one, so that many appends are made.
fn at_leisure(world: &World) {
    let mut n = 0_u64;
    world.outside.script(move |_| {
        n += 1;
        Does::Answer(20 + n * 13 % 101)
    });
}

/// One run, crashed at its `append`th append; `false` when it has not that many.
fn crash_at(append: usize, moment: Moment, keys_honoured: bool) -> bool {
    let world = World::seeded(u64::try_from(append).unwrap());
    at_leisure(&world);
    if !keys_honoured {
        world.outside.ignore_keys();
    }
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    world.ledger.trap(append, moment);
    let crashed = world.springs(life, &class, minutes("M", ACTIONS));
    let before = world
        .runs()
        .first()
        .map_or(0, |&id| world.state(id).calls().in_flight().count());

    let life = world.live(&[class.erased()]);
    let outcome = life.outcome(&life.start_keyed(&class, minutes("M", ACTIONS)));
    let id = world.only_run();
    let log = world.describe(id);
    assert_eq!(
        outcome.kind,
        OutcomeKind::Completed,
        "append {append}, {moment:?}: {log}"
    );
    world.must_be_sound();
    assert_eq!(
        world.outside.effects().len(),
        ACTIONS,
        "append {append}, {moment:?}: {log}"
    );
    assert_eq!(
        world.interrupted(id),
        before,
        "append {append}, {moment:?}: {log}"
    );
    assert!(
        world.re_requests(id) <= before,
        "append {append}, {moment:?}: {log}"
    );
    crashed
}

/// Crashes at each append until there are no more; how many there were.
fn crash_everywhere(moment: Moment, keys_honoured: bool) -> usize {
    (1..)
        .find(|&append| !crash_at(append, moment, keys_honoured))
        .expect("a run ends")
        - 1
}

#[test]
fn a_crash_before_any_append_loses_nothing_that_was_acknowledged() {
    assert!(9 <= crash_everywhere(Moment::Before, true));
    assert!(9 <= crash_everywhere(Moment::Before, false));
}

#[test]
fn a_crash_after_any_append_that_nobody_was_told_of_repeats_nothing() {
    assert!(9 <= crash_everywhere(Moment::Durable, true));
    assert!(9 <= crash_everywhere(Moment::Durable, false));
}

#[test]
fn a_crash_between_any_append_and_its_sends_loses_and_repeats_nothing() {
    assert!(9 <= crash_everywhere(Moment::Acknowledged, true));
    assert!(9 <= crash_everywhere(Moment::Acknowledged, false));
}

#[test]
fn a_crash_while_the_run_is_taken_over_is_a_crash_like_any_other() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        let world = World::new();
        at_leisure(&world);
        let class = class(&world);
        let life = world.live(&[class.erased()]);
        life.start_keyed(&class, minutes("M", ACTIONS));
        life.run_for(250);
        life.crash();
        for _ in 0..5 {
            let life = world.live(&[class.erased()]);
            world.ledger.trap(1, moment);
            life.block_on(world.ledger.crash());
            life.crash();
        }
        world.ledger.disarm();
        let life = world.live(&[class.erased()]);
        let outcome = life.outcome_of(&class, world.only_run());
        assert_eq!(outcome.kind, OutcomeKind::Completed, "{moment:?}");
        world.must_be_sound();
        assert_eq!(world.outside.effects().len(), ACTIONS);
    }
}
