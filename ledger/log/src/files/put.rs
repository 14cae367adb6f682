//! Small files that are written whole: put in place, or not at all.
//!
//! A reader sees the old content or the new one, also after a crash.

use std::io;
use std::path::Path;

use super::disk::{Disk, is_full};

/// Longest file that is read whole. Beyond it a file is not one of these.
const WHOLE_BYTES_MAX: u64 = 1 << 20;

/// Puts a whole file in place, or nothing: written beside, synced, renamed.
pub(crate) fn put(disk: &dyn Disk, path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let written = (|| {
        let file = disk.create(&beside, content.len() as u64)?;
        file.write_at(content, 0)?;
        file.sync_data()
    })();
    if let Err(error) = written {
        if is_full(&error) {
            // It would only take room; it is replaced by the next one in any case.
            let _ = disk.remove(&beside);
        }
        return Err(error);
    }
    disk.rename(&beside, path)
}

/// All of a small file.
pub(crate) fn read_all(disk: &dyn Disk, path: &Path) -> io::Result<Vec<u8>> {
    let file = disk.open(path)?;
    let bytes = file.bytes()?.min(WHOLE_BYTES_MAX);
    let mut content = vec![0; usize::try_from(bytes).unwrap_or(0)];
    file.read_at(&mut content, 0)?;
    Ok(content)
}

/// Whether there is a file of this name; an error of the disk is not "no".
pub(crate) fn exists(disk: &dyn Disk, path: &Path) -> io::Result<bool> {
    match disk.open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
