//! How far the table lags behind, who waits for that, and who is called when nobody has to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mainstay_types::Millis;
use metrics::{
    Counter, Gauge, GaugeFn, Histogram, KeyName, Metadata, Recorder, SharedString, Unit,
};
use parking_lot::Mutex;

use super::{World, tight};
use crate::conformance::{eager, key, patient, wait};
use crate::standing::{Bounds, LAG_METRIC, Pressure, StandingSettings};

/// What the appliers of this process told of their lag: the most of each share, and the newest.
static TOLD: Mutex<BTreeMap<String, (f64, f64)>> = Mutex::new(BTreeMap::new());

struct Told;
struct Share(String);

impl GaugeFn for Share {
    fn increment(&self, _: f64) {
        panic!("a share is set");
    }

    fn decrement(&self, _: f64) {
        panic!("a share is set");
    }

    fn set(&self, value: f64) {
        let mut told = TOLD.lock();
        let (most, newest) = told.entry(self.0.clone()).or_default();
        (*most, *newest) = (most.max(value), value);
    }
}

impl Recorder for Told {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &metrics::Key, _: &Metadata<'_>) -> Counter {
        panic!("{key} is a counter");
    }

    fn register_gauge(&self, key: &metrics::Key, _: &Metadata<'_>) -> Gauge {
        assert_eq!(key.name(), LAG_METRIC);
        let labels = key.labels().map(|label| label.value().to_owned());
        Gauge::from_arc(Arc::new(Share(labels.collect())))
    }

    fn register_histogram(&self, key: &metrics::Key, _: &Metadata<'_>) -> Histogram {
        panic!("{key} is a histogram");
    }
}

#[test]
fn the_host_is_told_how_far_the_table_lags_over_its_bounds_and_that_it_does_no_more() {
    metrics::set_global_recorder(Told).expect("nobody else in this process sets one");
    let mut world = World::new(narrow(), tight());
    for number in 0..15 {
        world.put(&key(0x11, number), 1, 10);
    }
    // They are too few for a generation, so someone asks.
    world.standing().flush().unwrap();
    let told = |of: &str| TOLD.lock().get(of).copied().unwrap_or_default();
    assert!((1.0..2.0).contains(&told("rows").0), "{:?}", told("rows"));
    assert!(0.0 < told("bytes").0, "{:?}", told("bytes"));
    wait(|| told("rows").1 == 0.0 && told("bytes").1 == 0.0 && told("age").1 == 0.0);
    // A table that takes nothing is told as well.
    world.factory.fill_up(true);
    world.put(&key(0x11, 99), 1, 10);
    assert!(world.standing().flush().is_err());
    assert!(0.0 < told("rows").1);
    world.factory.fill_up(false);
    world.check_settled();
}

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
