//! Values cut into pieces and put together again.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::table::{MemoryFactory, TableFactory};

const FOLDER: &str = "table";

/// A table with `value` under `key`.
fn with(key: &[u8], value: &[u8]) -> (MemoryFactory, Box<dyn Table>, Vec<u8>) {
    let factory = MemoryFactory::default();
    let table = factory.open(Path::new(FOLDER)).unwrap();
    let Cut { stored, pieces } = cut(key, value);
    let mut rows: Vec<_> = pieces
        .into_iter()
        .map(|(key, piece)| (key, Some(piece)))
        .collect();
    rows.push((key.to_vec(), Some(stored.clone())));
    table.apply(rows).unwrap();
    (factory, table, stored)
}

fn of_bytes(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|n| u8::try_from(n % 253).unwrap()).collect()
}

#[test]
fn values_of_every_size_come_back_and_stay_within_the_tables_bounds() {
    let whole = TABLE_WHOLE_BYTES_MAX;
    let piece = TABLE_PIECE_BYTES_MAX;
    for bytes in [
        0,
        1,
        whole,
        whole + 1,
        piece,
        piece + 1,
        3 * piece,
        3 * piece + 7,
    ] {
        let (key, value) = (vec![0x11, 1, 2], of_bytes(bytes));
        let (factory, table, stored) = with(&key, &value);
        assert_eq!(&*open(&*table, &key, &stored).unwrap(), &value[..]);
        assert_eq!(has_pieces(&stored), whole < bytes);
        for (key, stored) in factory.rows(Path::new(FOLDER)) {
            assert!(key.len() <= TABLE_KEY_BYTES_MAX);
            assert!(stored.len() <= factory.limits().value_bytes_max);
        }
    }
}

#[test]
fn the_longest_key_has_pieces_of_its_own() {
    let key = vec![0x80; ROW_KEY_BYTES_MAX];
    let mut other = key.clone();
    other.pop();
    let value = of_bytes(TABLE_PIECE_BYTES_MAX * 2);
    let keys: BTreeSet<_> = cut(&key, &value)
        .pieces
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    let others: BTreeSet<_> = cut(&other, &value)
        .pieces
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    assert!(keys.is_disjoint(&others));
    assert!(keys.iter().all(|key| key.len() == TABLE_KEY_BYTES_MAX));
}

#[test]
fn every_piece_is_found_by_its_owner_and_by_nobody_else() {
    let key = vec![0x11, 7];
    let (_, table, _) = with(&key, &of_bytes(100_000));
    assert_eq!(keys_of(&*table, &key).unwrap().len(), 4);
    assert!(keys_of(&*table, &[0x11]).unwrap().is_empty());
    assert!(keys_of(&*table, &[0x11, 7, 0]).unwrap().is_empty());
}

#[test]
fn what_was_changed_or_lost_is_told() {
    let key = vec![0x11, 7];
    let hurt = |piece: usize, change: &dyn Fn(Vec<u8>) -> Option<Vec<u8>>| {
        let (factory, table, stored) = with(&key, &of_bytes(100_000));
        let piece = keys_of(&*table, &key).unwrap().swap_remove(piece);
        let old = table.get(&piece).unwrap().unwrap();
        factory.tamper(Path::new(FOLDER), &piece, change(old));
        open(&*table, &key, &stored).unwrap_err()
    };
    let flip = |mut bytes: Vec<u8>| {
        bytes[100] ^= 1;
        Some(bytes)
    };
    for error in [hurt(0, &|_| None), hurt(3, &|_| None), hurt(2, &flip)] {
        assert!(matches!(error, TableError::Damaged(_)), "{error}");
    }
}

#[test]
fn a_plan_is_not_believed_under_another_key_nor_in_an_unknown_form() {
    let (_, table, stored) = with(&[0x11, 7], &of_bytes(40_000));
    assert!(open(&*table, &[0x11, 8], &stored).is_err());
    assert!(open(&*table, &[0x11, 7], &[9, 9, 9]).is_err());
    assert!(open(&*table, &[0x11, 7], &[]).is_err());
    let mut changed = stored;
    changed[5] ^= 1;
    assert!(open(&*table, &[0x11, 7], &changed).is_err());
}
