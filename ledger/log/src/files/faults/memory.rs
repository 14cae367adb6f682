//! A disk in memory that loses power.
//!
//! What was synced is there afterwards; of what was only written, any page of 4 KiB may be and may
//! not be, with the old length or the new one. Names are durable when the call that made them
//! returned; one that was under way may have done its part or not.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::files::{Disk, DiskFile};

const PAGE: usize = 4_096;

/// The disk. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    names: BTreeMap<PathBuf, Arc<Mutex<Inode>>>,
    /// Calls that change something until the power goes; `None` for never.
    left: Option<u64>,
    /// Calls that changed something.
    done: u64,
}

#[derive(Clone, Debug, Default)]
struct Inode {
    now: Vec<u8>,
    durable: Vec<u8>,
}

#[derive(Debug)]
struct MemoryFile {
    disk: MemoryDisk,
    inode: Arc<Mutex<Inode>>,
}

/// How far a call gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    On,
    /// It goes during this call.
    Goes,
    Off,
}

impl MemoryDisk {
    /// An empty disk.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Lets the power go during the call that follows `calls` further ones that change something.
    pub(crate) fn lose_power_after(&self, calls: u64) {
        self.0.lock().left = Some(calls);
    }

    /// How many calls changed something so far.
    #[must_use]
    pub(crate) fn calls(&self) -> u64 {
        self.0.lock().done
    }

    /// The disk after the power was gone, with power: `keep` says of each page that was written
    /// and not synced whether it is there.
    #[must_use]
    pub(crate) fn after_power_loss(&self, mut keep: impl FnMut() -> bool) -> Self {
        let state = self.0.lock();
        let names = state.names.iter().map(|(path, inode)| {
            let left = inode.lock().after(&mut keep);
            let inode = Inode {
                durable: left.clone(),
                now: left,
            };
            (path.clone(), Arc::new(Mutex::new(inode)))
        });
        Self(Arc::new(Mutex::new(State {
            names: names.collect(),
            left: None,
            done: 0,
        })))
    }

    /// A copy of all that is there now, synced or not: what another process sees after a kill.
    #[must_use]
    pub(crate) fn after_kill(&self) -> Self {
        self.after_power_loss(|| true)
    }

    /// The names of all files, and what is in them.
    #[must_use]
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let state = self.0.lock();
        let files = state.names.iter();
        files
            .map(|(path, inode)| (path.clone(), inode.lock().now.clone()))
            .collect()
    }

    /// Replaces what is in a file, or makes one, durably.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8]) {
        let inode = Inode {
            now: bytes.to_vec(),
            durable: bytes.to_vec(),
        };
        let inode = Arc::new(Mutex::new(inode));
        self.0.lock().names.insert(path.to_owned(), inode);
    }

    /// Takes a file away.
    pub(crate) fn drop_file(&self, path: &Path) {
        self.0.lock().names.remove(path);
    }

    fn power(&self) -> Power {
        let mut state = self.0.lock();
        let power = match state.left {
            None => Power::On,
            Some(0) => Power::Goes,
            Some(u64::MAX) => Power::Off,
            Some(_) => Power::On,
        };
        state.left = state.left.map(|left| match left {
            0 | u64::MAX => u64::MAX,
            left => left - 1,
        });
        state.done += 1;
        power
    }

    /// Does something that is done wholly or not at all; when the power goes, it may be done.
    fn at_once(&self, doing: impl FnOnce(&mut State) -> io::Result<()>) -> io::Result<()> {
        match self.power() {
            Power::Off => Err(gone()),
            Power::On => doing(&mut self.0.lock()),
            Power::Goes => {
                let mut state = self.0.lock();
                if state.done.is_multiple_of(2) {
                    doing(&mut state)?;
                }
                Err(gone())
            }
        }
    }
}

impl Inode {
    fn after(&self, keep: &mut impl FnMut() -> bool) -> Vec<u8> {
        let long = self.now.len() != self.durable.len() && keep();
        let length = if long {
            self.now.len()
        } else {
            self.durable.len()
        };
        let mut left = self.durable.clone();
        left.resize(length, 0);
        for from in (0..length).step_by(PAGE) {
            let to = length.min(from + PAGE);
            let now = self.now.get(from..to.min(self.now.len()).max(from));
            let Some(now) = now.filter(|now| left[from..from + now.len()] != **now) else {
                continue;
            };
            if keep() {
                left[from..from + now.len()].copy_from_slice(now);
            }
        }
        left
    }
}

impl Disk for MemoryDisk {
    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>> {
        let length = usize::try_from(bytes).map_err(io::Error::other)?;
        let whole = Inode {
            now: vec![0; length],
            durable: vec![0; length],
        };
        let part = Inode {
            now: vec![0; length / 2],
            durable: Vec::new(),
        };
        let (power, mut state) = (self.power(), self.0.lock());
        let inode = Arc::new(Mutex::new(match power {
            Power::Off => return Err(gone()),
            Power::Goes => part,
            Power::On => whole,
        }));
        state.names.insert(path.to_owned(), Arc::clone(&inode));
        match power {
            Power::On => Ok(Arc::new(MemoryFile {
                disk: self.clone(),
                inode,
            })),
            Power::Goes | Power::Off => Err(gone()),
        }
    }

    fn reserve(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.create(path, bytes).map(drop)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let state = self.0.lock();
        let inode = state.names.get(path).cloned();
        let inode = inode.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Arc::new(MemoryFile {
            disk: self.clone(),
            inode,
        }))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.at_once(|state| {
            let removed = state.names.remove(path);
            removed.map_or_else(|| Err(io::ErrorKind::NotFound.into()), |_| Ok(()))
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.at_once(|state| match state.names.remove(from) {
            Some(inode) => {
                state.names.insert(to.to_owned(), inode);
                Ok(())
            }
            None => Err(io::ErrorKind::NotFound.into()),
        })
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.0.lock();
        let inside = state
            .names
            .keys()
            .filter(|path| path.parent() == Some(folder));
        let names = inside.filter_map(|path| path.file_name()?.to_str().map(str::to_owned));
        Ok(names.collect())
    }

    fn make_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

impl DiskFile for MemoryFile {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.inode.lock().now.len() as u64)
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<()> {
        let inode = self.inode.lock();
        let at = usize::try_from(at).map_err(io::Error::other)?;
        let found = inode.now.get(at..at.saturating_add(into.len()));
        let found = found.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        into.copy_from_slice(found);
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let power = self.disk.power();
        let part = match power {
            Power::Off => return Err(gone()),
            Power::On => bytes,
            Power::Goes => &bytes[..bytes.len() / 2],
        };
        let mut inode = self.inode.lock();
        let at = usize::try_from(at).map_err(io::Error::other)?;
        let end = at + part.len();
        if inode.now.len() < end {
            inode.now.resize(end, 0);
        }
        inode.now[at..end].copy_from_slice(part);
        match power {
            Power::On => Ok(()),
            Power::Goes | Power::Off => Err(gone()),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        match self.disk.power() {
            Power::On => {
                let mut inode = self.inode.lock();
                inode.durable = inode.now.clone();
                Ok(())
            }
            Power::Goes | Power::Off => Err(gone()),
        }
    }
}

fn gone() -> io::Error {
    io::Error::other("the power is gone")
}
