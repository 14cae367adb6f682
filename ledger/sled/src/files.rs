//! Files and folders made durable: what sled and the standard library leave to their caller.
//!
//! Every error names the path and what was tried.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use mainstay_ledger::LedgerError;

/// An error of the operating system, with what was tried and where.
pub(crate) fn io_error(doing: &str, path: &Path, error: &std::io::Error) -> LedgerError {
    LedgerError::Io {
        detail: format!("{doing} {}: {error}", path.display()),
    }
}

/// Makes a file's content, or a folder's names, durable.
pub(crate) fn sync(path: &Path) -> Result<(), LedgerError> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|error| io_error("syncing", path, &error))
}

/// Makes the name of `path` in its folder durable.
pub(crate) fn sync_name(path: &Path) -> Result<(), LedgerError> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    sync(parent.unwrap_or(Path::new(".")))
}

/// Puts a whole file in place, or nothing: written beside, synced, renamed, name synced.
pub(crate) fn put(path: &Path, content: &[u8]) -> Result<(), LedgerError> {
    let beside = path.with_extension("new");
    File::create(&beside)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .map_err(|error| io_error("writing", &beside, &error))?;
    fs::rename(&beside, path).map_err(|error| io_error("renaming to", path, &error))?;
    sync_name(path)
}

/// Whether a path exists; an error of the file system is not "no".
pub(crate) fn exists(path: &Path) -> Result<bool, LedgerError> {
    path.try_exists()
        .map_err(|error| io_error("looking for", path, &error))
}
