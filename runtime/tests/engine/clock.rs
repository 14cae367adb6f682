//! F31: wall clocks that jump. Time in the engine goes on as the monotonic clock does, and never
//! begins before what the log holds.

use mainstay_class::{Absolute, Extend, hours};
use mainstay_machine::{Event, OutcomeKind};
use mainstay_types::{Millis, RunId, Timestamp};

use crate::world::classes::{meeting_as, walkthrough};
use crate::world::script::busy;
use crate::world::{Does, World, minutes};

const HOUR: Millis = Millis::from_hours(1);

/// A policy that is retried once after a second, everything else quick.
fn with_a_wait(world: &World) {
    world
        .outside
        .script(|ask| match (ask.dependency.as_str(), ask.nth) {
            ("policy", 1) => Does::Fail(100, busy(1_000)),
            _ => Does::Answer(100),
        });
}

/// The log of a run during which the wall jumps at the given moments of its life.
fn history(jumps: &'static [(u64, i64)]) -> Vec<(u64, String)> {
    let world = World::new();
    with_a_wait(&world);
    let class = meeting_as(&world.outside, |g| {
        g.budget(walkthrough()).on_downtime(Extend(hours(1)));
    });
    let life = world.live(&[class.erased()]);
    life.start(&class, minutes("M", 2));
    for &(at, hours) in jumps {
        life.run_for(at - world.elapsed());
        let by = HOUR.times(hours.unsigned_abs());
        match 0 < hours {
            true => world.clock().jump_forward(by),
            false => world.clock().jump_back(by),
        }
    }
    life.run_for(20_000);
    let id = world.only_run();
    let kind = world
        .state(id)
        .head()
        .unwrap()
        .lap
        .outcome
        .clone()
        .unwrap()
        .kind;
    assert_eq!(kind, OutcomeKind::Completed, "{}", world.describe(id));
    let stamps = world
        .ledger
        .log_of(id)
        .into_iter()
        .flat_map(|append| append.events);
    let since = |at: Timestamp| at.since(mainstay_sim::START).get();
    stamps
        .map(|stamped| (since(stamped.at), format!("{:?}", stamped.event)))
        .collect()
}

#[test]
fn f31_an_hour_back_and_two_forward_leave_every_moment_of_a_live_run_where_it_was() {
    let calm = history(&[]);
    assert_eq!(history(&[(50, -1), (700, 2), (1_250, -3)]), calm);
    assert_eq!(
        history(&[(1_150, 2)]),
        calm,
        "nothing fires early, in the middle of a wait"
    );
}

/// A run that is killed at 150 ms; the wall then jumps, and a second passes before the restart.
fn killed(world: &World, jump: impl FnOnce(&World)) -> RunId {
    with_a_wait(world);
    let class = meeting_as(&world.outside, |g| {
        g.budget(walkthrough()).on_downtime(Extend(hours(1)));
    });
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 2)).id();
    life.run_for(150);
    life.crash();
    jump(world);
    world.timers.advance(Millis::from_secs(1));
    let life = world.live(&[class.erased()]);
    life.run_for(20_000);
    id
}

fn taken(world: &World, id: RunId) -> mainstay_machine::LeaseTaken {
    let events = world.ledger.events_of(id);
    let taken = events.iter().find_map(|event| {
        let Event::LeaseTaken(taken) = event else {
            return None;
        };
        Some(*taken)
    });
    taken.expect("it was taken over")
}

#[test]
fn f31_a_wall_that_went_back_while_the_process_was_down_extends_no_time() {
    let world = World::new();
    let id = killed(&world, |world| world.clock().jump_back(HOUR));
    let taken = taken(&world, id);
    assert_eq!(
        (taken.downtime, taken.extended),
        (Millis::ZERO, Millis::ZERO)
    );
    let stamps: Vec<_> = world
        .ledger
        .log_of(id)
        .into_iter()
        .flat_map(|a| a.events)
        .collect();
    assert!(
        stamps.is_sorted_by_key(|stamped| stamped.at),
        "time in the log never goes back"
    );
    let kind = world
        .state(id)
        .head()
        .unwrap()
        .lap
        .outcome
        .clone()
        .unwrap()
        .kind;
    assert_eq!(kind, OutcomeKind::Completed);
}

#[test]
fn f31_a_wall_that_went_forward_is_downtime_and_moves_the_times_by_what_the_class_allows() {
    let world = World::new();
    let id = killed(&world, |world| world.clock().jump_forward(HOUR.times(2)));
    let taken = taken(&world, id);
    assert_eq!(taken.extended, HOUR);
    assert!(HOUR.times(2) <= taken.downtime);
}

#[test]
fn f31_jumps_fire_no_timer_twice_over_a_restart() {
    let world = World::new();
    with_a_wait(&world);
    let class = meeting_as(&world.outside, |g| {
        g.budget(walkthrough()).on_downtime(Absolute);
    });
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 2)).id();
    for hours in [-1, 2, -1] {
        life.run_for(30);
        match 0 < hours {
            true => world.clock().jump_forward(HOUR.times(2)),
            false => world.clock().jump_back(HOUR),
        }
    }
    life.run_for(200);
    life.crash();
    let life = world.live(&[class.erased()]);
    life.run_for(20_000);
    let kind = world
        .state(id)
        .head()
        .unwrap()
        .lap
        .outcome
        .clone()
        .unwrap()
        .kind;
    assert_eq!(kind, OutcomeKind::Completed);
    assert_eq!(world.outside.requests("policy").len(), 2, "one retry, once");
    let at: Vec<_> = world
        .outside
        .requests("policy")
        .iter()
        .map(|ask| ask.at)
        .collect();
    assert!((1_100..1_200).contains(&at[1]), "{at:?}");
}
