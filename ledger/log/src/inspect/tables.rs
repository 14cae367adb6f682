//! The table of a store that nobody opens: a copy of its files is opened and proven, since opening
//! an engine's files changes them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mainstay_ledger::LedgerError;

use crate::applier::prove;
use crate::fault::io_error;
use crate::files::StoreId;
use crate::open::TABLE_FOLDER;
use crate::table::{TableError, TableFactory};

/// The copy's folder, beside the table's.
pub(crate) const COPY: &str = "table.verify";

/// A copy of a folder that goes when it is dropped.
pub(super) struct Copy {
    pub(super) folder: PathBuf,
}

impl Copy {
    /// Copies the table of the store in `folder`; `None` when it has none.
    pub(super) fn of(folder: &Path) -> Result<Option<Self>, LedgerError> {
        let from = folder.join(TABLE_FOLDER);
        let copy = Self {
            folder: folder.join(COPY),
        };
        remove(&copy.folder)?;
        if !from.is_dir() {
            return Ok(None);
        }
        copy_all(&from, &copy.folder).map_err(|error| io_error("copying", &from, &error))?;
        Ok(Some(copy))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // It is replaced by the next one in any case.
        let _ = remove(&self.folder);
    }
}

/// Takes away what a process left that was killed while it verified: nobody forgets anything in it.
pub(crate) fn remove_copy(store: &Path) -> Result<(), LedgerError> {
    remove(&store.join(COPY))
}

fn remove(folder: &Path) -> Result<(), LedgerError> {
    match fs::remove_dir_all(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io_error("removing", folder, &error)),
    }
}

pub(super) fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_all(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(drop)?,
        }
    }
    Ok(())
}

/// Whether the table is what was written: how many rows it has, or what is wrong with it. None
/// there is as good: it is made when the store is opened.
pub(super) fn check(
    folder: &Path,
    store: StoreId,
    factory: &dyn TableFactory,
) -> Result<Result<u64, String>, LedgerError> {
    let Some(copy) = Copy::of(folder)? else {
        return Ok(Ok(0));
    };
    let proven = factory.open(&copy.folder).and_then(|table| {
        let proven = prove(&*table, store);
        // A copy that is thrown away need not be closed well.
        let _ = table.close();
        proven
    });
    match proven {
        Ok(rows) => Ok(Ok(rows)),
        Err(TableError::Damaged(detail)) => Ok(Err(detail)),
        Err(error) => Err(LedgerError::Io {
            detail: error.to_string(),
        }),
    }
}
