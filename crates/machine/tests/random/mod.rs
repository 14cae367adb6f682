//! Random classes under random worlds: what must hold at every event, and that there is an end.
//!
//! A failing case prints its smallest form and its seed. Nothing here knows a scenario's outcome:
//! only laws are checked, by [`watch::Watch`] at every event and by the receiver of
//! `scenario::fair`, which merges nothing.

pub(crate) mod draw;
mod elsewhere;
mod model;
mod orphans;
pub(crate) mod storm;
mod undo;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_machine::{Command, Event, OutcomeKind, Run, apply, decide, pending};
use mainstay_types::CallId;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::scenario::fair;
use crate::scenario::ways::{assert_explained, kept};
use crate::scenario::world::{Facts, World};
use draw::Draw;
pub(crate) use draw::smallest;
use storm::Storm;

/// `PROPTEST_CASES` where it is set, else enough for twenty seconds of a debug build.
pub(crate) fn cases(ours: u32) -> ProptestConfig {
    const DEFAULT: u32 = 256;
    let config = ProptestConfig::default();
    let cases = if config.cases == DEFAULT {
        ours
    } else {
        config.cases
    };
    ProptestConfig { cases, ..config }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn whatever_happens_the_laws_hold_and_the_run_ends(draw in draw::runs()) {
        let mut storm = Storm::begin(&draw);
        for &blow in &draw.blows {
            storm.blow(blow);
        }
        let (mut world, mut receiver, mut watch) = storm.calm();
        let ended = fair::drive(&mut world, &mut receiver);
        watch.look(&world, &receiver);
        assert_explained(&world, ended, "after the storm");
    }
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn the_same_draws_give_the_same_log(draw in draw::runs()) {
        let log = |draw: &Draw| {
            let mut storm = Storm::begin(draw);
            draw.blows.iter().for_each(|&blow| storm.blow(blow));
            let world = storm.calm().0;
            world.log.into_iter().map(|stamped| stamped.event).collect::<Vec<_>>()
        };
        prop_assert_eq!(log(&draw), log(&draw));
    }

    #[test]
    fn a_state_that_was_kept_goes_on_as_the_log_does(draw in draw::runs()) {
        let mut storm = Storm::begin(&draw);
        draw.blows.iter().for_each(|&blow| storm.blow(blow));
        let (mut world, mut receiver, _) = storm.calm();
        fair::drive(&mut world, &mut receiver);
        kept(&world);
    }

    #[test]
    fn events_in_any_order_are_applied_or_corrupt_and_never_panic(
        draw in draw::runs(),
        ills in proptest::collection::vec(draw::ills(), 1..12),
    ) {
        let mut storm = Storm::begin(&draw);
        draw.blows.iter().for_each(|&blow| storm.blow(blow));
        let (mut world, mut receiver, _) = storm.calm();
        fair::drive(&mut world, &mut receiver);
        let mut log: Vec<Event> = world.log.iter().map(|stamped| stamped.event.clone()).collect();
        for ill in ills {
            draw::make_ill(&mut log, ill);
        }
        let mut run = Run::unborn(Arc::clone(world.run.class()));
        for event in &log {
            let before = run.clone();
            run.begin();
            let applied = apply(&mut run, event);
            if applied.is_err() {
                run.undo();
                prop_assert!(run == before, "undo after {event:?}");
                continue;
            }
            run.keep();
            let _ = (pending(&run, world.now), decide(&run, Command::Advance, world.now));
        }
    }
}

/// Draws that are the same in every build, so that what they reach can be asserted.
fn sample(count: usize) -> Vec<Draw> {
    let mut runner = TestRunner::deterministic();
    let runs = draw::runs();
    (0..count)
        .map(|_| runs.new_tree(&mut runner).expect("a valid class").current())
        .collect()
}

#[test]
fn the_storms_reach_every_event_and_every_outcome() {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for draw in sample(400) {
        let mut storm = Storm::begin(&draw);
        draw.blows.iter().for_each(|&blow| storm.blow(blow));
        let (mut world, mut receiver, _) = storm.calm();
        fair::drive(&mut world, &mut receiver);
        for stamped in &world.log {
            *seen.entry(stamped.event.name().to_owned()).or_default() += 1;
        }
        if let Some(outcome) = &world.run.head().expect("started").lap.outcome {
            *seen.entry(outcome.kind.as_str().to_owned()).or_default() += 1;
        }
    }
    for outcome in OutcomeKind::ALL {
        assert!(
            seen.contains_key(outcome.as_str()),
            "{outcome:?} is never reached: {seen:#?}"
        );
    }
    let events = 46;
    assert_eq!(seen.len(), events + OutcomeKind::ALL.len(), "{seen:#?}");
}

#[test]
fn an_event_about_a_call_that_does_not_exist_is_corrupt() {
    let mut world = World::new(Arc::new(draw::smallest()), Facts::default());
    world.begin();
    let event = Event::CallSkipped {
        call: CallId(9_999),
    };
    let corrupt = apply(&mut world.run, &event).expect_err("there is no such call");
    assert_eq!(corrupt.event, "CallSkipped");
}
