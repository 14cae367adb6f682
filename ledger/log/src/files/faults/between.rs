//! A disk on which something else happens between two calls: what another thread may do at its
//! worst moment, done at a chosen one.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::files::{Disk, DiskFile};

/// A disk over another one. Clones are the same disk.
#[derive(Clone, Debug)]
pub(crate) struct BetweenDisk {
    inner: Arc<dyn Disk>,
    due: Arc<Mutex<Option<Due>>>,
}

struct Due {
    /// Calls that change something until then.
    calls: u64,
    what: Box<dyn FnOnce() + Send>,
}

#[derive(Debug)]
struct BetweenFile {
    disk: BetweenDisk,
    inner: Arc<dyn DiskFile>,
}

impl BetweenDisk {
    /// A disk on which nothing else happens yet.
    #[must_use]
    pub(crate) fn new(inner: Arc<dyn Disk>) -> Self {
        let due = Arc::default();
        Self { inner, due }
    }

    /// Has this happen once, right before the call that follows `calls` further ones that change
    /// something. The calls that it makes itself are not counted.
    pub(crate) fn after(&self, calls: u64, what: impl FnOnce() + Send + 'static) {
        let what = Box::new(what);
        *self.due.lock() = Some(Due { calls, what });
    }

    /// Whether it has not happened; it will not any more.
    #[must_use]
    pub(crate) fn call_off(&self) -> bool {
        self.due.lock().take().is_some()
    }

    fn counted(&self) {
        let due = {
            let mut due = self.due.lock();
            match due.as_mut() {
                Some(due) if 0 < due.calls => {
                    due.calls -= 1;
                    None
                }
                Some(_) | None => due.take(),
            }
        };
        if let Some(due) = due {
            (due.what)();
        }
    }

    fn file(&self, inner: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        let disk = self.clone();
        Arc::new(BetweenFile { disk, inner })
    }
}

impl fmt::Debug for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut due = f.debug_struct("Due");
        due.field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl Disk for BetweenDisk {
    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>> {
        self.counted();
        self.inner.create(path, bytes).map(|file| self.file(file))
    }

    fn reserve(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.counted();
        self.inner.reserve(path, bytes)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.inner.open(path).map(|file| self.file(file))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.counted();
        self.inner.remove(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.counted();
        self.inner.rename(from, to)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.inner.list(folder)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.inner.make_folder(folder)
    }

    fn free_bytes(&self, folder: &Path) -> io::Result<u64> {
        self.inner.free_bytes(folder)
    }
}

impl DiskFile for BetweenFile {
    fn bytes(&self) -> io::Result<u64> {
        self.inner.bytes()
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<()> {
        self.inner.read_at(into, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.disk.counted();
        self.inner.write_at(bytes, at)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.counted();
        self.inner.sync_data()
    }
}
