//! What the committer needs of the disk: to make data durable, and to know how much room is left.
//!
//! sled's own `flush` does not sync on Linux; this does. A failed sync is never tried again: the
//! system may have dropped the pages it could not write.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use mainstay_ledger::LedgerError;

use crate::files::io_error;

/// The disk under the store.
pub(crate) trait Disk: Send {
    /// Makes everything that was written to sled's file so far durable.
    fn sync(&self) -> io::Result<()>;

    /// Free bytes that this process may use.
    fn room(&self) -> io::Result<u64>;
}

/// A second handle of sled's data file: syncing it syncs the file, whoever wrote to it.
#[derive(Debug)]
pub(crate) struct DataFile {
    file: File,
}

impl DataFile {
    /// Opens the data file that sled has made.
    pub(crate) fn open(path: &Path) -> Result<Self, LedgerError> {
        let file = OpenOptions::new().read(true).write(true).open(path);
        file.map(|file| Self { file })
            .map_err(|error| io_error("opening", path, &error))
    }
}

impl Disk for DataFile {
    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn room(&self) -> io::Result<u64> {
        let volume = rustix::fs::fstatvfs(&self.file)?;
        Ok(volume.f_bavail.saturating_mul(volume.f_frsize))
    }
}
