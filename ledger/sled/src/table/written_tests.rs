//! What really reaches sled's file between two syncs, for rows made to be as bad as possible.
//!
//! The file is compared with what it was at the sync before; estimates have no say here. What
//! sled's cleaner moves on its own is left out (`settings`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstay_ledger_log::conformance::StandingSettings;
use mainstay_ledger_log::conformance::{World, key, patient, value};
use mainstay_ledger_log::table::{
    EachRow, KeyRange, Order, StoredChange, Table, TableError, TableFactory, TableLimits,
};
use mainstay_types::limits;
use parking_lot::Mutex;

use super::SledFactory;
use super::settings::{DATA_FILE, SEGMENT_BYTES};

const BLOCK: usize = 4 << 10;

/// sled's largest page may not fit into what is left of a segment, which then is only filled up.
const FILL_BYTES_MAX: usize = 20 * limits::TABLE_PIECE_BYTES_MAX;

/// Counts the bytes of all blocks that changed between two syncs. What sled fills up the end of a
/// segment with is no data and does not count.
#[derive(Clone, Default)]
struct CountingFactory {
    changed: Arc<Mutex<Vec<usize>>>,
}

struct Counting {
    table: Box<dyn Table>,
    path: PathBuf,
    known: Mutex<Vec<[u8; 8]>>,
    changed: Arc<Mutex<Vec<usize>>>,
}

impl Counting {
    fn look(&self) -> usize {
        let bytes = fs::read(&self.path).unwrap();
        let now: Vec<[u8; 8]> = bytes.chunks(BLOCK).map(mark).collect();
        let mut known = self.known.lock();
        let fill = mark(&[0; BLOCK]);
        known.resize(now.len(), fill);
        let changed = known.iter().zip(&now);
        let changed = changed.filter(|(old, new)| old != new && **new != fill);
        let changed = changed.count() * BLOCK;
        *known = now;
        changed
    }
}

/// Two blocks of other bytes have other marks, or nearly so.
fn mark(block: &[u8]) -> [u8; 8] {
    let (one, other) = block.split_at(block.len() / 2);
    let (one, other) = (crc32fast::hash(one), crc32fast::hash(other));
    (u64::from(one) << 32 | u64::from(other)).to_le_bytes()
}

impl Table for Counting {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, TableError> {
        self.table.get(key)
    }

    fn scan(
        &self,
        range: KeyRange<'_>,
        order: Order,
        each: &mut EachRow<'_>,
    ) -> Result<(), TableError> {
        self.table.scan(range, order, each)
    }

    fn apply(&self, changes: Vec<StoredChange>) -> Result<(), TableError> {
        self.table.apply(changes)
    }

    fn sync(&self) -> Result<(), TableError> {
        self.table.sync()?;
        self.changed.lock().push(self.look());
        Ok(())
    }

    fn bytes_written(&self) -> u64 {
        self.table.bytes_written()
    }

    fn close(self: Box<Self>) -> Result<(), TableError> {
        self.table.close()
    }
}

impl TableFactory for CountingFactory {
    fn open(&self, folder: &Path) -> Result<Box<dyn Table>, TableError> {
        let table = Counting {
            table: SledFactory.open(folder)?,
            path: folder.join(DATA_FILE),
            known: Mutex::default(),
            changed: Arc::clone(&self.changed),
        };
        table.look();
        Ok(Box::new(table))
    }

    fn destroy(&self, folder: &Path) -> Result<(), TableError> {
        SledFactory.destroy(folder)
    }

    fn limits(&self) -> TableLimits {
        SledFactory.limits()
    }

    fn room(&self, folder: &Path) -> Result<(), TableError> {
        SledFactory.room(folder)
    }
}

struct Bench {
    world: World<CountingFactory>,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = StandingSettings {
            batch_rows_max: StandingSettings::default().batch_rows_max,
            ..patient()
        };
        let table = folder.path().join("table");
        Self {
            world: World::on(CountingFactory::default(), &table, settings),
            _folder: folder,
        }
    }

    /// Puts so many rows of each kind, applies them, and checks what was written.
    fn put(&mut self, what: &str, rows: &[(Vec<u8>, Option<usize>)]) {
        let number = self.world.model.len() as u64;
        let rows = rows.iter().map(|(key, bytes)| {
            let value = bytes.map(|bytes| value(key, number, bytes));
            (key.clone(), value)
        });
        self.world.commit(rows.collect());
        self.world.standing().flush().unwrap();
        let changed = std::mem::take(&mut *self.world.factory.changed.lock());
        let most = changed.iter().copied().max().unwrap();
        println!("{what}: {} syncs, at most {most} bytes", changed.len());
        assert!(
            most < SEGMENT_BYTES - FILL_BYTES_MAX,
            "{what}: {most} bytes between two syncs"
        );
    }
}

/// So many keys of kinds that are proven in each way.
fn keys(count: usize) -> Vec<Vec<u8>> {
    let kinds = [0x11, 0x30, 0x31];
    let numbers = (0..count).map(|number| u8::try_from(number % 256).unwrap());
    numbers
        .enumerate()
        .map(|(at, number)| {
            let mut key = key(kinds[at % kinds.len()], number);
            let round = u8::try_from(at / 256).unwrap();
            key[1] ^= round.wrapping_mul(37);
            key[2] ^= round;
            key
        })
        .collect()
}

#[test]
fn no_generation_writes_a_segment_between_two_syncs() {
    for (count, bytes) in [
        (130, 50 << 10),
        (400, 3_000),
        (12_000, 20),
        (6_000, 900),
        (4, 1 << 20),
    ] {
        let mut bench = Bench::new();
        let all = |bytes: Option<usize>| -> Vec<_> {
            keys(count).into_iter().map(|key| (key, bytes)).collect()
        };
        bench.put(&format!("{count} rows of {bytes} bytes"), &all(Some(bytes)));
        bench.put("replaced by others", &all(Some(bytes + 1)));
        bench.put("replaced by small ones", &all(Some(1)));
        bench.put("and by large ones again", &all(Some(bytes)));
        bench.put("removed", &all(None));
        bench.world.standing().verify().unwrap();
        assert!(bench.world.model.is_empty());
        bench.world.close();
    }
}
