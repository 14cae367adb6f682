//! The port: what is put is there, in order, and still there when it was synced.

use std::ops::{Bound, ControlFlow};
use std::path::Path;

use mainstay_types::limits::TABLE_KEY_BYTES_MAX;

use crate::keys::Key;
use crate::table::{KeyRange, Order, StoredChange, Table, TableFactory};

/// Checks the port over tables in `folder`, which is not there yet. Panics at what does not hold.
pub fn port(factory: &dyn TableFactory, folder: &Path) {
    factory.destroy(folder).expect("none there is as good");
    let table = factory.open(folder).expect("a new table opens");
    assert!(
        all(&*table, Order::Forward).is_empty(),
        "a new table is empty"
    );
    rows_are_read_as_they_were_put(&*table);
    ranges_end_where_they_say(&*table);
    a_batch_puts_and_removes_at_once(&*table);
    the_largest_rows_fit(factory, &*table);
    let before = all(&*table, Order::Forward);
    assert!(0 < table.bytes_written());
    table.sync().expect("it syncs");
    table.close().expect("it closes");
    let table = factory.open(folder).expect("it opens again");
    assert_eq!(
        all(&*table, Order::Forward),
        before,
        "what was synced is there"
    );
    table.close().expect("it closes");
    factory.room(folder).expect("there is room for a test");
    factory.destroy(folder).expect("it is removed");
    let table = factory.open(folder).expect("it opens again");
    assert!(
        all(&*table, Order::Forward).is_empty(),
        "what was removed is gone"
    );
    table.close().expect("it closes");
}

fn put(table: &dyn Table, rows: &[(&[u8], &[u8])]) {
    let changes: Vec<StoredChange> = rows
        .iter()
        .map(|(key, value)| (key.to_vec(), Some(value.to_vec())))
        .collect();
    table.apply(changes).expect("a batch is applied");
}

fn shown(table: &dyn Table, range: KeyRange<'_>, order: Order, max: usize) -> Vec<(Key, Vec<u8>)> {
    let mut rows = Vec::new();
    let scanned = table.scan(range, order, &mut |key, value| {
        rows.push((key.to_vec(), value.to_vec()));
        match rows.len() < max {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    scanned.expect("a scan ends");
    rows
}

fn all(table: &dyn Table, order: Order) -> Vec<(Key, Vec<u8>)> {
    let range = KeyRange {
        from: Bound::Unbounded,
        to: Bound::Unbounded,
    };
    shown(table, range, order, usize::MAX)
}

fn rows_are_read_as_they_were_put(table: &dyn Table) {
    let rows: [(&[u8], &[u8]); 5] = [
        (b"\x11", b""),
        (b"\x11\x00", b"a"),
        (b"\x11\xff\xff", b"bb"),
        (b"\x12", b"c"),
        (b"\xff", b"d"),
    ];
    put(table, &rows);
    for (key, value) in rows {
        let found = table.get(key).expect("a row is read");
        assert_eq!(found.as_deref(), Some(value), "{key:02x?}");
    }
    assert_eq!(table.get(b"\x11\x01").expect("no row is read"), None);
    let mut forward = all(table, Order::Forward);
    let put = rows.map(|(key, value)| (key.to_vec(), value.to_vec()));
    assert_eq!(forward, put);
    forward.reverse();
    assert_eq!(all(table, Order::Reverse), forward);
}

fn ranges_end_where_they_say(table: &dyn Table) {
    use Bound::{Excluded, Included, Unbounded};
    let keys = |from: Bound<&[u8]>, to: Bound<&[u8]>, order, max| -> Vec<u8> {
        let rows = shown(table, KeyRange { from, to }, order, max);
        rows.into_iter()
            .map(|(_, value)| value.first().copied().unwrap_or(b'-'))
            .collect()
    };
    let (one, two): (&[u8], &[u8]) = (b"\x11\x00", b"\x12");
    let max = usize::MAX;
    assert_eq!(
        keys(Included(one), Included(two), Order::Forward, max),
        b"abc"
    );
    assert_eq!(
        keys(Excluded(one), Excluded(two), Order::Forward, max),
        b"b"
    );
    assert_eq!(
        keys(Included(one), Excluded(two), Order::Reverse, max),
        b"ba"
    );
    assert_eq!(keys(Excluded(one), Unbounded, Order::Reverse, max), b"dcb");
    assert_eq!(keys(Unbounded, Excluded(one), Order::Forward, max), b"-");
    assert_eq!(keys(Unbounded, Unbounded, Order::Forward, 2), b"-a");
    assert_eq!(keys(Unbounded, Unbounded, Order::Reverse, 1), b"d");
    // Turned round and empty ones show nothing and do no harm.
    assert_eq!(keys(Included(two), Included(one), Order::Forward, max), b"");
    assert_eq!(keys(Excluded(one), Excluded(one), Order::Reverse, max), b"");
}

fn a_batch_puts_and_removes_at_once(table: &dyn Table) {
    let changes: Vec<StoredChange> = vec![
        (b"\x11".to_vec(), None),
        (b"\x11\x00".to_vec(), Some(b"new".to_vec())),
        (b"\x13".to_vec(), None),
        (b"\x14".to_vec(), Some(b"e".to_vec())),
    ];
    table.apply(changes).expect("a batch is applied");
    let get = |key: &[u8]| table.get(key).expect("it is read");
    assert_eq!(get(b"\x11"), None);
    assert_eq!(get(b"\x11\x00").as_deref(), Some(&b"new"[..]));
    assert_eq!(get(b"\x14").as_deref(), Some(&b"e"[..]));
}

fn the_largest_rows_fit(factory: &dyn TableFactory, table: &dyn Table) {
    let value = vec![7; factory.limits().value_bytes_max];
    for number in 0..64 {
        let key = [number; TABLE_KEY_BYTES_MAX];
        put(table, &[(&key, &value)]);
        table.sync().expect("it syncs");
    }
    for number in 0..64 {
        let found = table
            .get(&[number; TABLE_KEY_BYTES_MAX])
            .expect("it is read");
        assert_eq!(found.as_ref(), Some(&value));
    }
}
