//! Rows that are read while they move, and hints.

use std::sync::Arc;

use super::{World, tight};
use crate::conformance::{eager, key, patient, place, value};
use crate::standing::Change;

/// Moves a row to `to` in one commit with others, so that it takes more than one batch.
fn moved(from: &[u8], to: &[u8], number: usize) -> Vec<Change> {
    let change = |key: &[u8], new: bool| Change {
        key: key.to_vec(),
        value: new.then(|| Arc::from(value(key, number as u64, 10))),
        fresh: false,
    };
    let mut rows = vec![change(from, false), change(to, true)];
    rows.extend((0..6).map(|other| change(&key(0x11, other), true)));
    rows
}

/// A row that moves between two keys in one commit is under exactly one of them in every page.
#[test]
fn a_row_that_moves_is_never_missed_and_never_seen_twice() {
    const PAGES: usize = 300;
    let mut world = World::new(eager(), tight());
    let ends = [vec![0x21, 0x00], vec![0x21, 0xff]];
    // Between them, so that batches separate the two.
    for number in 0..20 {
        world.put(&key(0x21, number), 1, 10);
    }
    world.put(&ends[0], 1, 10);
    let standing = Arc::new(world.take());
    let reader = {
        let (standing, ends) = (Arc::clone(&standing), ends.clone());
        std::thread::spawn(move || {
            for page in 0..PAGES {
                let rows = standing.scan(&[0x21], None, 100, page % 2 == 0).unwrap();
                let seen = rows.iter().filter(|(key, _)| ends.contains(key)).count();
                assert_eq!((seen, rows.len()), (1, 21));
                std::thread::yield_now();
            }
        })
    };
    for number in 0.. {
        if reader.is_finished() {
            break;
        }
        let (from, to) = (&ends[number % 2], &ends[1 - number % 2]);
        standing.write(moved(from, to, number), place(100 + number));
    }
    reader.join().unwrap();
}

#[test]
fn a_page_of_few_rows_skips_any_number_of_removed_ones() {
    let mut world = World::new(patient(), tight());
    for number in 0..200 {
        world.put(&key(0x11, number), 1, 10);
    }
    world.standing().flush().unwrap();
    for number in 0..199 {
        world.remove(&key(0x11, number));
    }
    let left = key(0x11, 199);
    for reverse in [false, true] {
        let rows = world.standing().scan(&[0x11], None, 1, reverse).unwrap();
        assert_eq!(rows[0].0, left);
        let beyond = world
            .standing()
            .scan(&[0x11], Some(&left), 1, reverse)
            .unwrap();
        assert!(beyond.is_empty());
    }
    world.check_settled();
}

#[test]
fn buckets_are_split_and_every_key_is_found_and_proven() {
    let mut world = World::new(patient(), tight());
    let keys: Vec<_> = (0..1_000_u32)
        .map(|number| {
            [
                &[0x30][..],
                &blake3::hash(&number.to_le_bytes()).as_bytes()[..16],
            ]
            .concat()
        })
        .collect();
    for keys in keys.chunks(100) {
        let rows = keys.iter().map(|key| (key.clone(), Some(value(key, 1, 8))));
        world.commit(rows.collect());
        world.standing().flush().unwrap();
    }
    world.check_settled();
    for key in &keys {
        let found = world.standing().look_up(key).unwrap().value;
        assert_eq!(found.as_deref(), world.model.get(key).map(Vec::as_slice));
    }
    world.close();
    let rows = world.factory.rows(world.folder());
    let buckets = rows
        .keys()
        .filter(|key| key.starts_with(&[0x33, 0x30]))
        .count();
    assert!(
        (8..=40).contains(&buckets),
        "{buckets} buckets of 1000 keys"
    );
    world.open();
    world.check_settled();
}

#[test]
fn a_hint_is_kept_like_a_row_and_may_be_lost_with_its_process() {
    let mut world = World::new(patient(), tight());
    world.put(&key(0x11, 1), 1, 10);
    let snapshot = key(0x14, 1);
    let (small, large) = (value(&snapshot, 1, 10), value(&snapshot, 2, 90 << 10));
    let stands = |world: &World, bytes: &[u8]| {
        let found = world.standing().get(&snapshot).unwrap();
        found.is_some_and(|found| *found == *bytes)
    };
    let hint = |world: &World, bytes: Option<&[u8]>| {
        let value = bytes.map(Arc::from);
        world.standing().hint(snapshot.clone(), value);
    };
    hint(&world, Some(&large));
    assert!(stands(&world, &large));
    world.standing().flush().unwrap();
    world.crash(0);
    world.open();
    assert!(stands(&world, &large));
    hint(&world, Some(&small));
    world.crash(0);
    world.open();
    assert!(stands(&world, &large));
    hint(&world, None);
    world.check_settled();
    world.close();
    let rows = world.factory.rows(world.folder());
    assert!(rows.keys().all(|key| key[0] != 0x60 && key[0] != 0x14));
}
