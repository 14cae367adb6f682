//! A process dies at each batch, and everything is as if it never had.

use super::{World, tight};
use crate::conformance::{key, patient, wait};
use crate::table::Fault;

/// Rows of a few kinds, large ones among them.
fn first_generation(world: &mut World) {
    for number in 0..6 {
        world.put(&key(0x11, number), 1, 20);
        world.put(&key(0x30, number), 1, 20);
        world.put(
            &key(0x20, number),
            1,
            if number == 2 { 70 << 10 } else { 10 },
        );
    }
}

/// What runs leave that end after the generation with their beginning was frozen.
fn they_end(world: &mut World) {
    for number in 0..4 {
        world.remove(&key(0x11, number));
        world.remove(&key(0x20, number));
        world.put(&key(0x31, number), 2, 30);
    }
    world.put(&key(0x30, 1), 2, 2_000);
    world.put(&key(0x11, 9), 2, 20);
    world.remove(&key(0x11, 9));
}

/// F40: killed in the middle of applying a generation whose runs end after it was frozen.
#[test]
fn runs_that_end_after_their_generation_was_frozen_never_come_back() {
    let mut reached = 0;
    for at in 1.. {
        for keep in 0..8 {
            let mut world = World::new(patient(), tight());
            world.put(&key(0x40, 1), 1, 10);
            world.standing().flush().unwrap();
            first_generation(&mut world);
            world.factory.fail(Some(Fault::Dead(at)));
            let applied = world.standing().flush().is_ok();
            they_end(&mut world);
            world.crash(keep);
            world.open();
            world.check_settled();
            // And once more, with what the first recovery left.
            world.crash(keep);
            world.open();
            world.check_settled();
            if applied {
                assert!(
                    10 < reached,
                    "a generation of {reached} calls has few batches"
                );
                return;
            }
        }
        reached = at;
    }
}

#[test]
fn a_recovery_that_dies_at_each_batch_is_recovered() {
    for at in 1..40 {
        let mut world = World::new(patient(), tight());
        first_generation(&mut world);
        world.standing().flush().unwrap();
        they_end(&mut world);
        world.crash(0);
        world.open();
        world.factory.fail(Some(Fault::Dead(at)));
        let applied = world.standing().flush().is_ok();
        world.crash(usize::from(at % 3 == 0) * 2);
        world.open();
        world.check_settled();
        if applied {
            return;
        }
    }
    panic!("a recovery of so many batches");
}

#[test]
fn a_clean_close_leaves_nothing_to_replay() {
    let mut world = World::new(patient(), tight());
    first_generation(&mut world);
    they_end(&mut world);
    world.close();
    let frames = world.open();
    assert_eq!(frames, 18 + 12 + 3);
    world.check_settled();
}

#[test]
fn what_comes_and_goes_within_a_generation_costs_the_table_nothing() {
    let mut world = World::new(patient(), tight());
    world.standing().flush().unwrap();
    let before = world.factory.rows(world.folder());
    world.factory.fail(None);
    for number in 0..200 {
        world.put(&key(0x11, number), 1, 10);
        world.put(&key(0x11, number), 2, 2_000);
        world.remove(&key(0x11, number));
    }
    assert_eq!(world.standing().lag().rows, 0);
    world.standing().flush().unwrap();
    let mut after = world.factory.rows(world.folder());
    let mut before_without_place = before;
    before_without_place.remove(&vec![0x01]);
    after.remove(&vec![0x01]);
    assert_eq!(after, before_without_place);
    // Two syncs, and the checkpoint between them.
    assert_eq!(world.factory.calls(), 3);
}

#[test]
fn an_unapplied_removal_survives_a_crash_of_its_generation() {
    let mut world = World::new(patient(), tight());
    let run = key(0x11, 1);
    world.put(&run, 1, 10);
    world.standing().flush().unwrap();
    world.remove(&run);
    // Made again and removed again: the row below must not shine through.
    world.put(&run, 2, 10);
    world.remove(&run);
    world.check_settled();
    world.crash(0);
    world.open();
    world.check_settled();
}

#[test]
fn pieces_that_nobody_refers_to_are_taken_away() {
    for at in 1..40 {
        let mut world = World::new(patient(), tight());
        let run = key(0x11, 1);
        world.put(&run, 1, 200 << 10);
        world.factory.fail(Some(Fault::Dead(at)));
        let applied = world.standing().flush().is_ok();
        // Replayed, the value that was half written is not seen any more.
        world.put(&run, 2, 10);
        world.crash(usize::MAX);
        world.open();
        world.check_settled();
        world.close();
        let rows = world.factory.rows(world.folder());
        let pieces = rows.keys().filter(|key| key[0] == 0x60).count();
        assert_eq!(pieces, 0, "dead at {at}");
        world.open();
        if applied {
            return;
        }
    }
    panic!("a value of so many pieces");
}

#[test]
fn a_table_that_fails_is_opened_again_and_gets_everything() {
    for fault in [Fault::Refused(2), Fault::Unsynced(2), Fault::Refused(5)] {
        let mut world = World::new(patient(), tight());
        first_generation(&mut world);
        world.factory.fail(Some(fault));
        let opens = world.factory.opens();
        // One failure is less than a flush gives up at.
        world.standing().flush().unwrap();
        assert_eq!(world.factory.opens(), opens + 1);
        they_end(&mut world);
        world.check_settled();
        world.close();
        world.open();
        let anew = world.standing().made_anew().is_some();
        assert_eq!(anew, matches!(fault, Fault::Unsynced(_)), "{fault:?}");
        world.check_settled();
    }
}

#[test]
fn a_full_disk_stops_nothing_but_the_applier_which_goes_on_once_there_is_room() {
    let mut world = World::new(patient(), tight());
    first_generation(&mut world);
    world.factory.fill_up(true);
    let refused = world.standing().flush().unwrap_err();
    assert!(refused.to_string().contains("no space"), "{refused}");
    they_end(&mut world);
    world.check();
    world.factory.fill_up(false);
    wait(|| world.standing().flush().is_ok());
    assert_eq!(world.standing().health(), crate::standing::Health::Well);
    world.check_settled();
    world.close();
    world.open();
    assert_eq!(world.standing().made_anew(), None);
    world.check_settled();
}

#[test]
fn a_table_is_opened_again_after_so_many_bytes() {
    let limits = crate::table::TableLimits {
        written_bytes_max: 4_000,
        ..tight()
    };
    let mut world = World::new(patient(), limits);
    let opens = world.factory.opens();
    for number in 0..20 {
        world.put(&key(0x30, number), 1, 900);
        world.standing().flush().unwrap();
    }
    wait(|| opens + 3 <= world.factory.opens());
    world.check_settled();
}
