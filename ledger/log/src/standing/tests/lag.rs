//! How far the table lags behind, who waits for that, and who is called when nobody has to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mainstay_types::Millis;

use super::{World, tight};
use crate::conformance::{eager, key, patient, wait};
use crate::standing::{Bounds, Pressure, StandingSettings};

fn narrow() -> StandingSettings {
    StandingSettings {
        rows: Bounds { high: 10, full: 20 },
        ..patient()
    }
}

#[test]
fn pressure_rises_by_rows_and_falls_once_they_are_applied_and_says_so() {
    let mut world = World::new(narrow(), tight());
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&calls);
    world.standing().on_calm(Box::new(move || {
        seen.fetch_add(1, Ordering::Release);
    }));
    world.factory.fill_up(true);
    let mut levels = Vec::new();
    for number in 0..24 {
        world.put(&key(0x11, number), 1, 10);
        levels.push(world.standing().pressure());
    }
    assert!(levels[..9].iter().all(|level| *level == Pressure::Calm));
    assert!(levels[9..19].iter().all(|level| *level == Pressure::High));
    assert!(levels[19..].iter().all(|level| *level == Pressure::Full));
    let lag = world.standing().lag();
    assert_eq!((lag.rows, lag.rows_bound), (24, 10));
    world.factory.fill_up(false);
    wait(|| calls.load(Ordering::Acquire) == 1);
    assert_eq!(world.standing().pressure(), Pressure::Calm);
    world.check_settled();
    assert_eq!(world.standing().lag().rows, 0);
}

#[test]
fn rows_that_cannot_be_applied_grow_old_and_make_ordinary_commits_wait() {
    let settings = StandingSettings {
        high_age: Millis::new(5),
        ..eager()
    };
    let mut world = World::new(settings, tight());
    world.factory.fill_up(true);
    world.put(&key(0x11, 1), 1, 10);
    wait(|| world.standing().pressure() == Pressure::High);
    assert!(Millis::new(5) <= world.standing().lag().age);
    world.factory.fill_up(false);
    wait(|| world.standing().pressure() == Pressure::Calm);
    world.check_settled();
}

#[test]
fn a_replay_never_has_more_in_memory_than_its_bound() {
    let settings = StandingSettings {
        freeze_rows: 6,
        ..narrow()
    };
    let mut world = World::new(settings, tight());
    for number in 0..200 {
        world.put(&key(0x30, number), 1, 10);
        wait(|| world.standing().pressure() == Pressure::Calm);
    }
    world.close();
    crate::table::TableFactory::destroy(&world.factory, world.folder()).unwrap();
    // Replay asserts nothing about memory by itself; it waits at the bound before each frame.
    assert_eq!(world.open(), 0);
    assert!(world.standing().lag().rows <= 10);
    world.standing().flush().unwrap();
    world.standing().verify().unwrap();
    world.check();
}

#[test]
fn a_replay_into_a_full_disk_ends_with_what_is_wrong() {
    let mut world = World::new(narrow(), tight());
    world.factory.fill_up(true);
    let change = |number| crate::standing::Change {
        key: key(0x11, number),
        value: Some(Arc::from([0_u8; 8])),
        fresh: false,
    };
    let standing = world.take();
    let end = crate::conformance::place(1);
    standing.replay((0..12).map(change).collect(), end).unwrap();
    let error = standing.replay(vec![change(13)], end).unwrap_err();
    assert!(error.to_string().contains("no space"), "{error}");
}

#[test]
fn rows_move_by_age_by_count_and_by_size_without_being_asked() {
    let by_age = StandingSettings {
        freeze_age: Millis::new(1),
        ..patient()
    };
    let by_count = StandingSettings {
        freeze_rows: 4,
        ..patient()
    };
    let by_size = StandingSettings {
        freeze_bytes: 1_500,
        ..patient()
    };
    for settings in [by_age, by_count, by_size] {
        let mut world = World::new(settings, tight());
        for number in 0..4 {
            world.put(&key(0x11, number), 1, 300);
        }
        wait(|| world.standing().lag().rows == 0);
        world.check();
    }
}
