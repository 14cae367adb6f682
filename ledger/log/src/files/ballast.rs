//! Room that a store holds back on its volume: `BALLAST`, a file that nobody writes or reads.
//!
//! On a full disk it is given up, so that control commands, settlements and the table go on; when
//! there is room again it is made again. Nothing depends on it being there.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstay_types::limits;
use parking_lot::Mutex;

use super::disk::Disk;

pub(crate) const BALLAST_FILE: &str = "BALLAST";

/// The ballast of one store.
#[derive(Debug)]
pub(crate) struct Ballast {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    bytes: u64,
    held: Mutex<bool>,
}

impl Ballast {
    /// Looks whether there is one. One of another size is replaced.
    pub(crate) fn open(store: &Path, disk: Arc<dyn Disk>, bytes: u64) -> io::Result<Self> {
        let path = store.join(BALLAST_FILE);
        let held = match disk.open(&path) {
            Ok(file) => file.bytes()? == bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        Ok(Self {
            disk,
            path,
            bytes,
            held: Mutex::new(held),
        })
    }

    /// Gives it up when a store could not even be opened for want of room. Best effort: what is
    /// still missing is told by whoever needs it.
    pub(crate) fn give_up_to_open(store: &Path, disk: &dyn Disk) {
        let room = disk.free_bytes(store);
        if room.is_ok_and(|room| room < limits::OPEN_ROOM_BYTES_MIN) {
            let _ = disk.remove(&store.join(BALLAST_FILE));
        }
    }

    /// Makes it when it is not there and the disk has room for it twice: otherwise it would be
    /// made and given up in turns.
    pub(crate) fn make(&self) {
        let mut held = self.held.lock();
        let Some(folder) = self.path.parent().filter(|_| !*held && self.bytes != 0) else {
            return;
        };
        let room = self.disk.free_bytes(folder);
        if room.is_ok_and(|room| self.bytes.saturating_mul(2) <= room) {
            *held = self.disk.reserve(&self.path, self.bytes).is_ok();
        }
    }

    /// Gives it up; whether there was one.
    pub(crate) fn give_up(&self) -> bool {
        let mut held = self.held.lock();
        let gave = *held && self.disk.remove(&self.path).is_ok();
        *held = *held && !gave;
        gave
    }
}
