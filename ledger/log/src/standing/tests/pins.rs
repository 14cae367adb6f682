//! What was looked up stays true as long as its pin holds.

use super::{World, tight};
use crate::conformance::{eager, key, patient, value, wait};
use crate::standing::{Bounds, Pressure, StandingSettings};

#[test]
fn a_change_after_a_look_up_is_in_memory_although_its_generation_was_applied() {
    let mut world = World::new(patient(), tight());
    let start = key(0x31, 1);
    let looked = world.standing().look_up(&start).unwrap();
    assert_eq!(looked.value, None);
    world.put(&start, 1, 10);
    world.standing().flush().unwrap();
    world.put(&key(0x31, 2), 1, 10);
    world.standing().flush().unwrap();
    assert!(looked.holds());
    let known = world.standing().in_memory(&start).expect("it is kept");
    assert_eq!(known.as_deref(), Some(&*value(&start, 1, 10)));
    drop(looked);
    wait(|| world.standing().in_memory(&start).is_none());
    wait(|| world.standing().lag().kept_bytes == 0);
    world.check_settled();
}

/// A run that begins and ends while its layer is written leaves no row and no trace of one.
#[test]
fn a_row_that_was_found_in_memory_is_not_believed_later() {
    let mut world = World::new(patient(), tight());
    let run = key(0x11, 1);
    world.put(&run, 1, 10);
    let looked = world.standing().look_up(&run).unwrap();
    assert_eq!(looked.value.as_deref(), Some(&*value(&run, 1, 10)));
    world.remove(&run);
    assert_eq!(world.standing().in_memory(&run), None, "it left no trace");
    assert!(!looked.holds(), "nothing keeps it true");
    world.check_settled();
}

#[test]
fn what_is_kept_for_a_look_up_makes_nobody_wait() {
    let settings = StandingSettings {
        rows: Bounds {
            high: 8,
            full: 1_000,
        },
        ..patient()
    };
    let mut world = World::new(settings, tight());
    let looked = world.standing().look_up(&key(0x30, 1)).unwrap();
    world.factory.fill_up(true);
    for number in 0..20 {
        world.put(&key(0x11, number), 1, 10);
    }
    assert_eq!(world.standing().pressure(), Pressure::High);
    world.factory.fill_up(false);
    world.standing().flush().unwrap();
    assert_eq!(world.standing().pressure(), Pressure::Calm);
    assert!(0 < world.standing().lag().kept_bytes);
    drop(looked);
}

#[test]
fn a_pin_that_is_kept_for_too_long_says_that_it_holds_no_more() {
    let settings = StandingSettings {
        bytes: Bounds {
            high: 50_000,
            full: 60_000,
        },
        ..eager()
    };
    let mut world = World::new(settings, tight());
    let forgotten = world.standing().look_up(&key(0x30, 1)).unwrap();
    for number in 0..100_u8 {
        world.put(&key(0x11, number % 20), u64::from(number), 3_000);
        wait(|| world.standing().lag().rows == 0);
        // A layer of slack: it is let go when the next one has been applied.
        assert!(world.standing().lag().kept_bytes < 70_000);
    }
    assert!(!forgotten.holds());
    let later = world.standing().look_up(&key(0x30, 1)).unwrap();
    assert!(later.holds());
    world.check_settled();
}
