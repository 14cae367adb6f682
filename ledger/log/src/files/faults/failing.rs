//! A disk with so much room and no more, whose writes and syncs fail while they are told to.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::files::{Disk, DiskFile};

/// A disk over another one. Clones are the same disk.
#[derive(Clone, Debug)]
pub(crate) struct FailingDisk {
    inner: Arc<dyn Disk>,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    free: AtomicU64,
    syncs_fail: AtomicBool,
    writes_fail: AtomicBool,
    /// How many syncs went well.
    syncs: AtomicU64,
}

#[derive(Debug)]
struct FailingFile {
    inner: Arc<dyn DiskFile>,
    state: Arc<State>,
}

impl FailingDisk {
    /// A disk with `free` bytes for new files.
    #[must_use]
    pub(crate) fn new(inner: Arc<dyn Disk>, free: u64) -> Self {
        Self {
            inner,
            state: Arc::new(State {
                free: AtomicU64::new(free),
                syncs_fail: AtomicBool::new(false),
                writes_fail: AtomicBool::new(false),
                syncs: AtomicU64::new(0),
            }),
        }
    }

    /// Sets how many bytes are free.
    pub(crate) fn set_free(&self, bytes: u64) {
        self.state.free.store(bytes, Ordering::SeqCst);
    }

    /// How many bytes are free.
    #[must_use]
    pub(crate) fn free(&self) -> u64 {
        self.state.free.load(Ordering::SeqCst)
    }

    /// Whether data syncs fail from now on.
    pub(crate) fn fail_syncs(&self, fail: bool) {
        self.state.syncs_fail.store(fail, Ordering::SeqCst);
    }

    /// Whether writes fail from now on.
    pub(crate) fn fail_writes(&self, fail: bool) {
        self.state.writes_fail.store(fail, Ordering::SeqCst);
    }

    /// How many data syncs of files went well.
    #[must_use]
    pub(crate) fn syncs(&self) -> u64 {
        self.state.syncs.load(Ordering::SeqCst)
    }

    fn file(&self, inner: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(FailingFile {
            inner,
            state: Arc::clone(&self.state),
        })
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        match self.inner.open(path) {
            Ok(file) => file.bytes(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Takes room for a file that replaces one of its name.
    fn replace(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.state.give(self.size(path)?);
        self.state.take(bytes)
    }
}

impl State {
    fn take(&self, bytes: u64) -> io::Result<()> {
        let taken = self
            .free
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |free| {
                free.checked_sub(bytes)
            });
        taken
            .map(drop)
            .map_err(|_| io::ErrorKind::StorageFull.into())
    }

    fn give(&self, bytes: u64) {
        self.free.fetch_add(bytes, Ordering::SeqCst);
    }
}

impl Disk for FailingDisk {
    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>> {
        if let Err(error) = self.replace(path, bytes) {
            // Like a disk that fills up meanwhile: a part of the file is there.
            self.inner.create(path, 0)?;
            return Err(error);
        }
        self.inner.create(path, bytes).map(|file| self.file(file))
    }

    fn reserve(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.replace(path, bytes)?;
        self.inner.reserve(path, bytes)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.inner.open(path).map(|file| self.file(file))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let bytes = self.size(path)?;
        self.inner.remove(path)?;
        self.state.give(bytes);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let replaced = self.size(to)?;
        self.inner.rename(from, to)?;
        self.state.give(replaced);
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.inner.list(folder)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.inner.make_folder(folder)
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        Ok(self.free())
    }
}

impl DiskFile for FailingFile {
    fn bytes(&self) -> io::Result<u64> {
        self.inner.bytes()
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<()> {
        self.inner.read_at(into, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        if self.state.writes_fail.load(Ordering::SeqCst) {
            return Err(io::Error::other("writes are told to fail"));
        }
        let end = at + bytes.len() as u64;
        self.state.take(end.saturating_sub(self.inner.bytes()?))?;
        self.inner.write_at(bytes, at)
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.state.syncs_fail.load(Ordering::SeqCst) {
            return Err(io::Error::other("syncs are told to fail"));
        }
        self.inner.sync_data()?;
        self.state.syncs.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}
