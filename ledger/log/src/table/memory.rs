//! A table in memory that crashes like a real one: for tests of what stands on the port.
//!
//! What a crash leaves is the durable state and some of the batches applied after it, in their
//! order and each whole: the harshest that sled 0.34.7 does while less than a segment is written
//! between two syncs (its log is cut at the first hole, and a batch without its end is dropped).
//! An instance knows nothing once it failed, as sled keeps an error for good. Not for production.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::keys::Key;

use super::{EachRow, KeyRange, Order, StoredChange, Table, TableError, TableFactory, TableLimits};

type Rows = BTreeMap<Key, Vec<u8>>;

/// What goes wrong in a memory table, counted over its calls of `apply` and `sync` from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// From this call on the process is as good as dead: each call fails, until
    /// [`MemoryFactory::crash`].
    Dead(u64),
    /// This call fails, and each after it until the table is opened again.
    Refused(u64),
    /// This call fails because of a sync; each after it until the table is opened again.
    Unsynced(u64),
    /// This call finds damage.
    Damaged(u64),
}

/// Tables in memory, one per folder name, that outlive whoever opened them.
#[derive(Clone, Debug, Default)]
pub struct MemoryFactory {
    disk: Arc<Mutex<Disk>>,
    limits: Option<TableLimits>,
}

#[derive(Debug, Default)]
struct Disk {
    tables: BTreeMap<PathBuf, Stored>,
    fault: Option<Fault>,
    calls: u64,
    opens: u64,
    no_room: bool,
}

#[derive(Debug, Default)]
struct Stored {
    durable: Rows,
    since: Vec<Vec<StoredChange>>,
    /// What readers see.
    now: Rows,
    /// The open of this number holds it; an older one is a table that was closed or crashed.
    held_by: u64,
    failed: Option<TableError>,
    /// Every read finds this.
    hurt: Option<String>,
    written: u64,
}

impl MemoryFactory {
    /// Tables with these bounds.
    #[must_use]
    pub fn with_limits(limits: TableLimits) -> Self {
        Self {
            limits: Some(limits),
            ..Self::default()
        }
    }

    /// What goes wrong next; counting starts anew.
    pub fn fail(&self, fault: Option<Fault>) {
        let mut disk = self.disk.lock();
        disk.calls = 0;
        disk.fault = fault;
    }

    /// Calls of `apply` and `sync` since the last [`MemoryFactory::fail`].
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.disk.lock().calls
    }

    /// How often a table was opened.
    #[must_use]
    pub fn opens(&self) -> u64 {
        self.disk.lock().opens
    }

    /// Whether there is no room for batches.
    pub fn fill_up(&self, full: bool) {
        self.disk.lock().no_room = full;
    }

    /// Every read of the table in `folder` finds damage with this text from now on.
    pub fn hurt(&self, folder: &Path, detail: &str) {
        let mut disk = self.disk.lock();
        let stored = disk.tables.entry(folder.to_owned()).or_default();
        stored.hurt = Some(detail.to_owned());
    }

    /// The process is gone: of the batches of each table that were not synced, `keep` says how
    /// many of so many survive. Whoever had a table open is told that it is gone.
    pub fn crash(&self, mut keep: impl FnMut(usize) -> usize) {
        let mut disk = self.disk.lock();
        disk.fault = None;
        for stored in disk.tables.values_mut() {
            let kept = keep(stored.since.len());
            stored.fall_back(kept);
            stored.held_by = u64::MAX;
        }
    }

    /// All rows of the table in `folder`, as they are stored.
    #[must_use]
    pub fn rows(&self, folder: &Path) -> BTreeMap<Key, Vec<u8>> {
        let disk = self.disk.lock();
        let stored = disk.tables.get(folder);
        stored.map(|stored| stored.now.clone()).unwrap_or_default()
    }

    /// Changes a stored row behind the back of whoever has the table open: damage.
    pub fn tamper(&self, folder: &Path, key: &[u8], value: Option<Vec<u8>>) {
        let mut disk = self.disk.lock();
        let stored = disk.tables.entry(folder.to_owned()).or_default();
        for rows in [&mut stored.durable, &mut stored.now] {
            put(rows, key.to_vec(), value.clone());
        }
    }
}

impl TableFactory for MemoryFactory {
    fn open(&self, folder: &Path) -> Result<Box<dyn Table>, TableError> {
        let mut disk = self.disk.lock();
        if let Some(Fault::Dead(at)) = disk.fault
            && at <= disk.calls
        {
            return Err(TableError::Io("the process is dead".to_owned()));
        }
        if disk.no_room {
            return Err(TableError::Io("no space left to open".to_owned()));
        }
        disk.opens += 1;
        let number = disk.opens;
        let stored = disk.tables.entry(folder.to_owned()).or_default();
        if let Some(detail) = &stored.hurt {
            return Err(TableError::Damaged(detail.clone()));
        }
        // Opened again in the process: the engine's file has what reached it, which is a prefix.
        let kept = match stored.failed.take() {
            Some(_) => stored.since.len() / 2,
            None => stored.since.len(),
        };
        stored.fall_back(kept);
        stored.held_by = number;
        stored.written = 0;
        Ok(Box::new(MemoryTable {
            disk: Arc::clone(&self.disk),
            folder: folder.to_owned(),
            number,
        }))
    }

    fn destroy(&self, folder: &Path) -> Result<(), TableError> {
        self.disk.lock().tables.remove(folder);
        Ok(())
    }

    fn limits(&self) -> TableLimits {
        self.limits.unwrap_or(TableLimits {
            value_bytes_max: 64 << 10,
            sync_bytes_max: 6 << 20,
            written_bytes_max: 1 << 30,
            change_bytes: 64,
            times_written: 1,
            piece_change_bytes: 33 << 10,
        })
    }

    fn room(&self, _folder: &Path) -> Result<(), TableError> {
        match self.disk.lock().no_room {
            true => Err(TableError::Io("no space left".to_owned())),
            false => Ok(()),
        }
    }
}

impl Stored {
    fn fall_back(&mut self, kept: usize) {
        let mut rows = self.durable.clone();
        for batch in self.since.drain(..).take(kept) {
            batch
                .into_iter()
                .for_each(|(key, value)| put(&mut rows, key, value));
        }
        self.now.clone_from(&rows);
        // What a crash left behind is on the disk: the next crash leaves it, too.
        self.durable = rows;
        self.failed = None;
    }
}

fn put(rows: &mut Rows, key: Key, value: Option<Vec<u8>>) {
    match value {
        Some(value) => rows.insert(key, value),
        None => rows.remove(&key),
    };
}

#[derive(Debug)]
struct MemoryTable {
    disk: Arc<Mutex<Disk>>,
    folder: PathBuf,
    number: u64,
}

impl MemoryTable {
    fn with<T>(
        &self,
        body: impl FnOnce(&mut Stored) -> Result<T, TableError>,
    ) -> Result<T, TableError> {
        let mut disk = self.disk.lock();
        let stored = disk.tables.entry(self.folder.clone()).or_default();
        if stored.held_by != self.number {
            return Err(TableError::Io("this table is gone".to_owned()));
        }
        body(stored)
    }

    /// Counts a call that writes, and lets it fail when it is its turn.
    fn writing(&self) -> Result<(), TableError> {
        let error = {
            let mut disk = self.disk.lock();
            disk.calls += 1;
            fault_at(disk.fault, disk.calls)
        };
        self.with(|stored| {
            let sticky = stored.failed.clone().map_or(error, Some);
            stored.failed.clone_from(&sticky);
            sticky.map_or(Ok(()), Err)
        })
    }
}

fn fault_at(fault: Option<Fault>, call: u64) -> Option<TableError> {
    match fault? {
        Fault::Dead(at) => (at <= call).then(|| TableError::Io("the process is dead".to_owned())),
        Fault::Refused(at) => (at == call).then(|| TableError::Io("refused".to_owned())),
        Fault::Unsynced(at) => (at == call).then(|| TableError::Unsynced("no sync".to_owned())),
        Fault::Damaged(at) => (at == call).then(|| TableError::damaged("found hurt")),
    }
}

impl Table for MemoryTable {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, TableError> {
        self.with(|stored| match &stored.hurt {
            Some(detail) => Err(TableError::Damaged(detail.clone())),
            None => Ok(stored.now.get(key).cloned()),
        })
    }

    fn scan(
        &self,
        range: KeyRange<'_>,
        order: Order,
        each: &mut EachRow<'_>,
    ) -> Result<(), TableError> {
        self.with(|stored| {
            if let Some(detail) = &stored.hurt {
                return Err(TableError::Damaged(detail.clone()));
            }
            if range.is_empty() {
                return Ok(());
            }
            let rows = stored.now.range::<[u8], _>((range.from, range.to));
            let mut show = |(key, value): (&Key, &Vec<u8>)| each(key, value);
            let _broken: ControlFlow<()> = match order {
                Order::Forward => rows.into_iter().try_for_each(&mut show),
                Order::Reverse => rows.into_iter().rev().try_for_each(&mut show),
            };
            Ok(())
        })
    }

    fn apply(&self, changes: Vec<StoredChange>) -> Result<(), TableError> {
        self.writing()?;
        self.with(|stored| {
            for (key, value) in &changes {
                let len = key.len() + value.as_ref().map_or(0, Vec::len);
                stored.written += len as u64;
                put(&mut stored.now, key.clone(), value.clone());
            }
            stored.since.push(changes);
            Ok(())
        })
    }

    fn sync(&self) -> Result<(), TableError> {
        self.writing()?;
        self.with(|stored| {
            stored.durable.clone_from(&stored.now);
            stored.since.clear();
            Ok(())
        })
    }

    fn bytes_written(&self) -> u64 {
        self.with(|stored| Ok(stored.written)).unwrap_or_default()
    }

    fn close(self: Box<Self>) -> Result<(), TableError> {
        self.with(|stored| {
            stored.held_by = 0;
            Ok(())
        })
    }
}
