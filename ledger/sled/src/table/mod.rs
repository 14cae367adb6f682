//! sled as the table of how things stand: everything that sled leaves open is closed here.
//!
//! sled writes without syncing, panics on some damage, loses rows without a word on other, and
//! keeps an error for good once its disk was full. So every call is guarded, what is durable is
//! synced by us, and whatever goes wrong is told as what it is. Nothing here is the only copy of
//! anything, and nothing is repaired: a table that is hurt is made anew from the log.

mod engine;
mod factory;
mod guard;
mod panics;
mod settings;

#[cfg(test)]
mod written_tests;

pub use factory::SledFactory;
pub use panics::hide_sled_panics;

use std::fmt;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use mainstay_ledger_log::table::{EachRow, KeyRange, Order, StoredChange, Table, TableError};

use guard::{guarded, io_error};
use settings::{BLOBS_FOLDER, DATA_FILE};

/// One open sled.
pub(crate) struct SledTable {
    db: sled::Db,
    /// A second handle of sled's file: syncing it syncs what sled wrote.
    data: File,
    folder: PathBuf,
    written: AtomicU64,
}

impl fmt::Debug for SledTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SledTable")
            .field("folder", &self.folder)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

impl SledTable {
    /// Opens sled in `folder`, which is made when it is not there.
    pub(crate) fn open(folder: &Path) -> Result<Self, TableError> {
        engine::remove_torn_snapshots(folder)?;
        let db = engine::open(folder)?;
        let opened = engine::sync_files(folder)
            .and_then(|()| look_for_blobs(folder))
            .and_then(|()| data_of(folder));
        match opened {
            Ok(data) => Ok(Self {
                db,
                data,
                folder: folder.to_owned(),
                written: AtomicU64::new(0),
            }),
            Err(error) => {
                // What is wrong is known; a close that fails as well adds nothing.
                let _ = engine::close(db, folder);
                Err(error)
            }
        }
    }
}

impl Table for SledTable {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, TableError> {
        guarded("reading", || {
            let value = self.db.get(key)?;
            Ok(value.map(|value| value.to_vec()))
        })
    }

    fn scan(
        &self,
        range: KeyRange<'_>,
        order: Order,
        each: &mut EachRow<'_>,
    ) -> Result<(), TableError> {
        if range.is_empty() {
            return Ok(());
        }
        guarded("scanning", || {
            let rows = self.db.range::<&[u8], _>((range.from, range.to));
            let mut show = |row: sled::Result<(sled::IVec, sled::IVec)>| match row {
                Ok((key, value)) => panics::not_sleds(|| each(&key, &value)).map_break(Ok),
                Err(error) => ControlFlow::Break(Err(error)),
            };
            let shown = match order {
                Order::Forward => rows.into_iter().try_for_each(&mut show),
                Order::Reverse => rows.rev().try_for_each(&mut show),
            };
            shown.break_value().unwrap_or(Ok(()))
        })
    }

    fn apply(&self, changes: Vec<StoredChange>) -> Result<(), TableError> {
        let mut batch = sled::Batch::default();
        let mut bytes = 0;
        for (key, value) in changes {
            settings::assert_bounds(&key, value.as_deref());
            bytes += settings::written_by(&key, value.as_deref());
            match value {
                Some(value) => batch.insert(key, value),
                None => batch.remove(key),
            }
        }
        self.written.fetch_add(bytes, Ordering::Relaxed);
        guarded("writing", || self.db.apply_batch(batch))
    }

    fn sync(&self) -> Result<(), TableError> {
        engine::flush(&self.db)?;
        let synced = self.data.sync_data();
        synced.map_err(|error| {
            let what = io_error("syncing", &self.folder.join(DATA_FILE), &error);
            TableError::Unsynced(what.to_string())
        })?;
        look_for_blobs(&self.folder)
    }

    fn bytes_written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    fn close(self: Box<Self>) -> Result<(), TableError> {
        engine::close(self.db, &self.folder)
    }
}

fn data_of(folder: &Path) -> Result<File, TableError> {
    let path = folder.join(DATA_FILE);
    let file = File::options().read(true).write(true).open(&path);
    file.map_err(|error| io_error("opening", &path, &error))
}

/// The tripwire: sled puts what outgrows its pages into files that it never syncs. Within our
/// bounds it has no reason to; when it does, nothing it said to be durable is.
fn look_for_blobs(folder: &Path) -> Result<(), TableError> {
    let path = folder.join(BLOBS_FOLDER);
    let error = |error| io_error("looking into", &path, &error);
    match fs::read_dir(&path).map_err(error)?.next() {
        None => Ok(()),
        Some(Err(found)) => Err(error(found)),
        Some(Ok(found)) => {
            let found = found.path();
            let found = found.display();
            Err(TableError::damaged(format!(
                "sled made the file {found}, which it never syncs"
            )))
        }
    }
}
