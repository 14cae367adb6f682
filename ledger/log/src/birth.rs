//! A folder that is no store yet, or whose making was cut off.
//!
//! The name of a store, in `FORMAT`, is written when everything else of a new one is durable, and
//! nothing is acknowledged before. So without it there may be the beginning of a log, without a
//! single frame; anything more is a store that lost its name, and is never taken for a new one.

use std::io;
use std::path::Path;

use mainstay_ledger::LedgerError;

use crate::fault::{damaged_at, io_error};
use crate::files::{ACKED_FILE, AckedFile, Disk, FORMAT_FILE, OLDEST_FILE, StoreId, sync_name};
use crate::open::{LOG_FOLDER, TABLE_FOLDER};
use crate::segment::BEGIN_BYTES;

/// What stores of formats 1 and 2 have, and later ones have not.
const OLD_MARKER: &str = "STORE";

/// How much of a file is looked at at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Whether `folder` is a store, of whatever format, or was going to be one.
pub(crate) fn is_store(disk: &dyn Disk, folder: &Path) -> Result<bool, LedgerError> {
    let names = names_in(disk, folder)?;
    let marked = [FORMAT_FILE, OLD_MARKER, ACKED_FILE];
    let marked = marked
        .iter()
        .any(|mark| names.iter().any(|name| name == mark));
    let folders = [LOG_FOLDER, TABLE_FOLDER].map(|name| names_in(disk, &folder.join(name)));
    let [log, table] = folders;
    Ok(marked || !log?.is_empty() || !table?.is_empty())
}

/// Refuses a store that has its name and no log at all, and makes nothing.
pub(crate) fn has_log(disk: &dyn Disk, folder: &Path) -> Result<(), LedgerError> {
    let log = folder.join(LOG_FOLDER);
    match names_in(disk, &log)?
        .iter()
        .any(|name| name.ends_with(".log"))
    {
        true => Ok(()),
        false => Err(damaged_at(&log, "there is no segment of the store's log")),
    }
}

/// The identity of the new store that `folder` is going to be.
pub(crate) fn newborn(disk: &dyn Disk, folder: &Path) -> Result<StoreId, LedgerError> {
    let log = folder.join(LOG_FOLDER);
    let segments = names_in(disk, &log)?;
    let used = segments
        .iter()
        .filter(|name| name.ends_with(".log"))
        .count();
    let unused = match used {
        0 => true,
        1 => segments
            .iter()
            .filter(|name| name.ends_with(".log"))
            .map(|name| is_empty(disk, &log.join(name)))
            .collect::<Result<Vec<_>, _>>()?
            .iter()
            .all(|empty| *empty),
        _ => false,
    };
    if !unused || has_history(disk, folder)? {
        let detail = "there is a log, and not the file FORMAT that says whose it is";
        return Err(damaged_at(folder, detail));
    }
    for name in &segments {
        remove(disk, &log.join(name))?;
    }
    let names = names_in(disk, folder)?;
    for name in [ACKED_FILE, OLDEST_FILE] {
        if names.iter().any(|there| there == name) {
            remove(disk, &folder.join(name))?;
        }
    }
    StoreId::draw()
}

/// Whether something beside the log says that there was one: a table, which comes after the name,
/// or an acknowledged frame.
fn has_history(disk: &dyn Disk, folder: &Path) -> Result<bool, LedgerError> {
    if !names_in(disk, &folder.join(TABLE_FOLDER))?.is_empty() {
        return Ok(true);
    }
    let path = folder.join(ACKED_FILE);
    let acknowledged = AckedFile::claims(disk, folder);
    acknowledged.map_err(|error| io_error("reading", &path, &error))
}

/// Whether a segment holds nothing but how it begins.
fn is_empty(disk: &dyn Disk, path: &Path) -> Result<bool, LedgerError> {
    let empty = || -> io::Result<bool> {
        let file = disk.open(path)?;
        let bytes = file.bytes()?;
        let mut at = u64::from(BEGIN_BYTES);
        let mut chunk = vec![0; CHUNK_BYTES];
        while at < bytes {
            let left = usize::try_from(bytes - at).unwrap_or(CHUNK_BYTES);
            let chunk = &mut chunk[..left.min(CHUNK_BYTES)];
            file.read_at(chunk, at)?;
            if chunk.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            at += chunk.len() as u64;
        }
        Ok(true)
    };
    empty().map_err(|error| io_error("reading", path, &error))
}

fn names_in(disk: &dyn Disk, folder: &Path) -> Result<Vec<String>, LedgerError> {
    disk.list(folder)
        .map_err(|error| io_error("listing", folder, &error))
}

fn remove(disk: &dyn Disk, path: &Path) -> Result<(), LedgerError> {
    disk.remove(path)
        .map_err(|error| io_error("removing", path, &error))
}

/// Makes the store's folder, durably, with every folder above it that was not there.
pub(crate) fn make_folder(disk: &dyn Disk, folder: &Path) -> Result<(), LedgerError> {
    disk.make_folder(folder)
        .map_err(|error| io_error("making", folder, &error))?;
    // One that was just made by somebody else may not be durable yet.
    sync_name(folder).map_err(|error| io_error("syncing", folder, &error))
}
