//! Buckets in memory: what they say of a key is so, however they came and went.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::proof::Sum;

const KIND: u8 = 0x30;

fn key(number: u8) -> Vec<u8> {
    [&[KIND][..], &blake3::hash(&[number]).as_bytes()[..16]].concat()
}

/// The four buckets of a kind that was split twice.
fn quarters() -> Vec<Bucket> {
    let halves = Bucket::root(KIND).halves().expect("a root is split");
    halves
        .iter()
        .flat_map(|half| half.halves().expect("it is split"))
        .collect()
}

fn held(bucket: Bucket, rows: &BTreeMap<u8, u128>) -> Held {
    let mut bucket = Bucket {
        sum: Sum::default(),
        ..bucket
    };
    let mut prints = Vec::new();
    for (number, row) in rows {
        let key = key(*number);
        if bucket.covers(hash_of(&key)) {
            bucket.sum.add(*row);
            prints.push(Print::new(&key, *row));
        }
    }
    Held::new(bucket, prints)
}

fn check(known: &Buckets, rows: &BTreeMap<u8, u128>) {
    for number in 0..=u8::MAX {
        let key = key(number);
        match (known.known(&key), rows.get(&number)) {
            (Known::Nothing, _) => {}
            (Known::Absent, row) => assert_eq!(row, None, "a row that is there"),
            (Known::Perhaps, Some(row)) => {
                assert!(known.fits(&key, *row));
                assert!(!known.fits(&key, row ^ 1));
            }
            (Known::Perhaps, None) => panic!("two of 256 keys have one print"),
        }
    }
}

proptest! {
    #[test]
    fn what_is_known_is_so(
        max in 1..400_usize,
        deeds in vec((any::<u8>(), 0..5_u8, any::<u128>()), 1..200),
    ) {
        let mut known = Buckets::new(max);
        let mut rows = BTreeMap::new();
        for (number, deed, row) in deeds {
            match deed {
                // A bucket is proven.
                0 => known.put(held(quarters()[usize::from(number % 4)], &rows)),
                1 if number == 0 => known.forget(),
                // A row changes, comes or goes.
                _ => {
                    let new = (deed != 2).then_some(row);
                    let old = match new {
                        Some(new) => rows.insert(number, new),
                        None => rows.remove(&number),
                    };
                    let changed = Changed { key: key(number), old, new };
                    known.follow(Moves {
                        changed: vec![changed],
                        ..Moves::default()
                    });
                }
            }
            check(&known, &rows);
            assert!(known.prints <= max.max(256));
        }
    }
}

#[test]
fn halves_take_the_place_of_what_was_split() {
    let rows: BTreeMap<u8, u128> = (0..100)
        .map(|number| (number, u128::from(number)))
        .collect();
    let mut known = Buckets::new(1_000);
    known.put(held(Bucket::root(KIND), &rows));
    let halves = Bucket::root(KIND)
        .halves()
        .unwrap()
        .map(|half| held(half, &rows));
    known.follow(Moves {
        split: vec![halves],
        ..Moves::default()
    });
    assert_eq!(known.prints, 100);
    assert_eq!(known.bucket(&key(7)).unwrap().depth, 1);
    check(&known, &rows);
}

#[test]
fn a_bucket_that_was_not_what_it_should_have_been_is_forgotten() {
    let mut known = Buckets::new(1_000);
    known.put(held(Bucket::root(KIND), &BTreeMap::new()));
    assert_eq!(known.known(&key(1)), Known::Absent);
    known.follow(Moves {
        changed: vec![Changed {
            key: key(1),
            old: Some(5),
            new: None,
        }],
        ..Moves::default()
    });
    assert_eq!(known.known(&key(1)), Known::Nothing);
}

#[test]
fn room_is_made_one_bucket_after_the_other() {
    let rows: BTreeMap<u8, u128> = (0..=u8::MAX).map(|number| (number, 1)).collect();
    let mut known = Buckets::new(150);
    for bucket in quarters() {
        known.put(held(bucket, &rows));
        assert!(known.prints <= 150);
        assert!(
            known
                .bucket(&[&[KIND][..], &bucket.first.to_be_bytes()].concat())
                .is_some()
        );
    }
    check(&known, &rows);
}
