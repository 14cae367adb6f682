//! Makes tables on sled, and says what holds for them.

use std::fs;
use std::io;
use std::path::Path;

use mainstay_ledger_log::table::{Table, TableError, TableFactory, TableLimits};

use super::SledTable;
use super::guard::io_error;
use super::settings::{LIMITS, ROOM_BYTES_MIN};

/// Tables on sled: the embedded default.
#[derive(Clone, Copy, Debug, Default)]
pub struct SledFactory;

impl TableFactory for SledFactory {
    fn open(&self, folder: &Path) -> Result<Box<dyn Table>, TableError> {
        fs::create_dir_all(folder).map_err(|error| io_error("making", folder, &error))?;
        Ok(Box::new(SledTable::open(folder)?))
    }

    fn destroy(&self, folder: &Path) -> Result<(), TableError> {
        // The folder itself stays: it may be a volume of its own.
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(io_error("listing", folder, &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| io_error("listing", folder, &error))?;
            let path = entry.path();
            let removed = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(|error| io_error("removing", &path, &error))?;
        }
        Ok(())
    }

    fn limits(&self) -> TableLimits {
        LIMITS
    }

    fn room(&self, folder: &Path) -> Result<(), TableError> {
        let volume = rustix::fs::statvfs(folder);
        let volume = volume.map_err(|error| io_error("asking for the room of", folder, &error))?;
        let free = volume.f_bavail.saturating_mul(volume.f_frsize);
        if free < ROOM_BYTES_MIN {
            let detail = format!("{free} bytes are free and {ROOM_BYTES_MIN} are needed");
            return Err(io_error("there is no room in", folder, &detail));
        }
        Ok(())
    }
}
