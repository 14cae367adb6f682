//! What lies in a folder and below it. It reads names and lengths, and opens nothing.

use std::io::ErrorKind;
use std::path::Path;

use mainstay_ledger::LedgerError;

use crate::fault::io_error;

/// How many files, and their bytes. A folder that is not there has none; a file that goes meanwhile
/// counts as nothing.
pub(crate) fn under(folder: &Path) -> Result<(u64, u64), LedgerError> {
    let (mut files, mut bytes) = (0, 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(io_error("listing", &folder, &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| io_error("listing", &folder, &error))?;
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(entry.path()),
                Ok(meta) => {
                    files += 1;
                    bytes += meta.len();
                }
                Err(_) => {}
            }
        }
    }
    Ok((files, bytes))
}
