//! A file beside the table that says: make it anew. It outlives the process that found the damage.
//!
//! A table that is hurt may look whole when it is opened next, because not everything is proven
//! then. So whoever finds damage writes it down before anybody is told.

use std::io;
use std::path::PathBuf;

use mainstay_ledger::LedgerError;

use crate::fault::io_error;
use crate::files;

use super::Site;

/// The file's name, beside the table's folder.
const MARKER: &str = "TABLE_DAMAGED";

/// Says why the table has to be made anew. What cannot be written down is not: then the disk is in
/// a state in which the log does not go on either.
pub(super) fn put(site: &Site, detail: &str) {
    let _ = try_put(site, detail);
}

pub(crate) fn try_put(site: &Site, detail: &str) -> Result<(), LedgerError> {
    let path = path(site);
    let made = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            site.disk.make_folder(folder)?;
        }
        files::put(&*site.disk, &path, detail.as_bytes())
    };
    made().map_err(|error| io_error("writing", &path, &error))
}

/// Why the table has to be made anew, when someone said so.
pub(crate) fn read(site: &Site) -> Result<Option<String>, LedgerError> {
    let path = path(site);
    match files::read_all(&*site.disk, &path) {
        Ok(detail) => Ok(Some(String::from_utf8_lossy(&detail).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error("reading", &path, &error)),
    }
}

/// The table was made anew.
pub(crate) fn remove(site: &Site) -> Result<(), LedgerError> {
    let path = path(site);
    let removed = site.disk.remove(&path);
    removed.map_err(|error| io_error("removing", &path, &error))
}

fn path(site: &Site) -> PathBuf {
    let beside = site.folder.parent().map(PathBuf::from).unwrap_or_default();
    beside.join(MARKER)
}
