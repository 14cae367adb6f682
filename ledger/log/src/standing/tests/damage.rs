//! A table that is not what was written is never believed, and made anew from the log.

use mainstay_ledger::LedgerError;

use super::{World, tight};
use crate::conformance::{key, patient, wait};
use crate::standing::{Health, Standing};
use crate::table::Fault;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn settled() -> World {
    let mut world = World::new(patient(), tight());
    for number in 0..12 {
        for kind in [0x11, 0x20, 0x30, 0x31, 0x40] {
            world.put(&key(kind, number), 1, 20);
        }
    }
    world.put(&key(0x11, 20), 1, 100 << 10);
    // What is known in memory goes with the process.
    world.close();
    world.open();
    world
}

/// Damages a row; `None` removes it.
fn hurt(world: &World, key: &[u8], stored: Option<Vec<u8>>) {
    world.factory.tamper(world.folder(), key, stored);
}

#[track_caller]
fn is_damaged<T: std::fmt::Debug>(found: Result<T, LedgerError>) {
    let error = found.unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("made anew"), "{error}");
}

/// The next open makes the table anew, whatever else it would prove.
#[track_caller]
fn is_made_anew(mut world: World) {
    world.close();
    assert_eq!(world.open(), 0);
    assert!(world.standing().made_anew().is_some());
    world.check_settled();
    world.close();
    world.open();
    assert_eq!(world.standing().made_anew(), None);
    world.check_settled();
}

#[test]
fn a_key_whose_row_was_lost_is_not_free() {
    for kind in [0x30, 0x31] {
        let world = settled();
        hurt(&world, &key(kind, 5), None);
        is_damaged(world.standing().look_up(&key(kind, 5)));
        is_damaged(world.standing().check());
        assert!(matches!(world.standing().health(), Health::Damaged(_)));
        is_made_anew(world);
    }
}

#[test]
fn a_row_that_is_lost_after_it_was_proven_is_not_free_either() {
    let world = settled();
    assert!(
        world
            .standing()
            .look_up(&key(0x30, 5))
            .unwrap()
            .value
            .is_some()
    );
    hurt(&world, &key(0x30, 5), None);
    // Memory still knows what is free, and that this is not.
    assert_eq!(world.standing().get(&key(0x30, 200)).unwrap(), None);
    is_damaged(world.standing().get(&key(0x30, 5)));
    is_made_anew(world);
}

#[test]
fn a_free_key_beside_a_row_that_was_lost_is_not_said_to_be_free() {
    let world = settled();
    hurt(&world, &key(0x30, 5), None);
    is_damaged(world.standing().get(&key(0x30, 200)));
    is_made_anew(world);
}

#[test]
fn a_list_never_misses_a_row_that_was_lost() {
    for reverse in [false, true] {
        let world = settled();
        hurt(&world, &key(0x31, 3), None);
        is_damaged(world.standing().scan(&[0x31], None, 100, reverse));
        is_made_anew(world);
    }
}

#[test]
fn a_row_that_was_changed_is_not_believed() {
    let world = settled();
    let mut stored = world.factory.rows(world.folder())[&key(0x30, 5)].clone();
    stored[9] ^= 1;
    hurt(&world, &key(0x30, 5), Some(stored));
    is_damaged(world.standing().get(&key(0x30, 5)));
    is_made_anew(world);
}

#[test]
fn a_row_that_came_back_is_not_believed() {
    let world = settled();
    hurt(&world, &key(0x31, 99), Some(vec![0, 1, 2, 3]));
    is_damaged(world.standing().look_up(&key(0x31, 99)));
    is_made_anew(world);
}

#[test]
fn a_bucket_that_was_lost_is_not_an_empty_one() {
    let world = settled();
    let bucket = [&[0x33, 0x30][..], &[0; 16]].concat();
    assert!(world.factory.rows(world.folder()).contains_key(&bucket));
    hurt(&world, &bucket, None);
    is_damaged(world.standing().look_up(&key(0x30, 99)));
    is_made_anew(world);
}

#[test]
fn a_piece_that_was_lost_is_told_and_a_value_is_never_short() {
    let world = settled();
    let rows = world.factory.rows(world.folder());
    let piece = rows.keys().rfind(|key| key[0] == 0x60).unwrap();
    hurt(&world, piece, None);
    is_damaged(world.standing().get(&key(0x11, 20)));
    is_made_anew(world);
}

#[test]
fn rows_that_are_not_there_at_open_make_the_table_anew() {
    for (what, stored) in [
        (key(0x11, 3), None),
        (key(0x20, 3), Some(vec![0])),
        (key(0x40, 99), Some(vec![0])),
        (vec![0x01], None),
        (vec![0x01], Some(vec![1; 60])),
    ] {
        let mut world = settled();
        world.close();
        hurt(&world, &what, stored);
        assert_eq!(world.open(), 0, "{what:02x?}");
        assert!(world.standing().made_anew().is_some());
        world.check_settled();
    }
}

#[test]
fn a_table_of_another_store_is_not_ours() {
    let mut world = settled();
    world.close();
    let mut site = world.site();
    site.store = crate::files::StoreId::from_bytes([9; 16]);
    let factory = Arc::new(world.factory.clone());
    let (standing, from) = Standing::open(site, factory, patient()).unwrap();
    assert_eq!(from, None);
    assert!(standing.made_anew().unwrap().contains("belongs to"));
}

#[test]
fn a_table_that_was_emptied_is_filled_from_the_log() {
    let mut world = settled();
    world.close();
    crate::table::TableFactory::destroy(&world.factory, world.folder()).unwrap();
    assert_eq!(world.open(), 0);
    assert_eq!(world.standing().made_anew(), None);
    world.check_settled();
}

#[test]
fn damage_that_the_applier_finds_is_told_to_everybody_and_wakes_who_waits() {
    let world = settled();
    let called = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&called);
    world
        .standing()
        .on_calm(Box::new(move || seen.store(true, Ordering::Release)));
    let mut world = world;
    world.put(&key(0x11, 1), 2, 10);
    world.factory.fail(Some(Fault::Damaged(1)));
    is_damaged(world.standing().flush());
    is_damaged(world.standing().check());
    wait(|| called.load(Ordering::Acquire));
    // Memory still answers.
    assert!(world.standing().get(&key(0x11, 1)).unwrap().is_some());
    world.factory.fail(None);
    is_made_anew(world);
}

#[test]
fn damage_found_while_the_log_is_replayed_starts_over() {
    let mut world = settled();
    world.factory.fail(Some(Fault::Damaged(1)));
    world.put(&key(0x11, 1), 2, 10);
    is_damaged(world.standing().flush());
    world.factory.fail(None);
    world.start_over("it was found damaged");
    assert_eq!(world.standing().made_anew(), Some("it was found damaged"));
    world.check_settled();
}

#[test]
fn an_open_that_died_while_it_emptied_the_table_empties_it_again() {
    let mut world = settled();
    world.close();
    crate::applier::put_marker(&world.site(), "it was being emptied").unwrap();
    assert_eq!(world.open(), 0);
    assert_eq!(world.standing().made_anew(), Some("it was being emptied"));
    world.check_settled();
}
