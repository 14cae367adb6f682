//! The disk under a log, as a port, and the real one.
//!
//! Only what the log needs: files of a fixed size that were zeros before, positioned reads and
//! writes, data syncs, and names that are durable when a call returns. Nothing here retries, and a
//! failed sync is never tried again by anybody: the system may have dropped what it could not
//! write.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// How much is written at a time when a file is filled with zeros, in bytes.
const FILL_BYTES: usize = 1 << 20;

/// After how many of these the file is synced in between, so that nobody else's sync has to wait
/// for all of it.
const FILLS_PER_SYNC: u64 = 8;

/// Where the files of a log are.
#[cfg_attr(
    not(any(test, feature = "conformance")),
    expect(
        unreachable_pub,
        reason = "the suite for tables hands it out, and nobody else"
    )
)]
pub trait Disk: Send + Sync + fmt::Debug {
    /// Makes a file of `bytes` zeros, in place of one of the same name. Content and name are
    /// durable when this returns; after an error there may be a part of it, which the caller
    /// ignores.
    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>>;

    /// Makes a file that holds `bytes` of room and is never written or read, in place of one of the
    /// same name. What is left of it after an error is taken away again.
    fn reserve(&self, path: &Path, bytes: u64) -> io::Result<()>;

    /// Opens a file that is there, for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Takes a file away, durably.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name in the same folder, durably; one that has that name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// The names of the files in a folder, sorted; those that are not Unicode are left out. None
    /// when there is no such folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Makes a folder and those above it, durably; nothing when it is there.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;

    /// Free bytes that this process may use on the volume of `folder`.
    fn free_bytes(&self, folder: &Path) -> io::Result<u64>;
}

/// An open file of a [`Disk`]. It stays usable when its name is taken away.
#[cfg_attr(
    not(any(test, feature = "conformance")),
    expect(
        unreachable_pub,
        reason = "the suite for tables hands it out, and nobody else"
    )
)]
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// Its length in bytes.
    fn bytes(&self) -> io::Result<u64>;

    /// Fills `into` from `at` on; `UnexpectedEof` when the file ends before.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<()>;

    /// Writes all of `bytes` at `at`; after an error any part of it may be written.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Makes everything that was written to the file durable.
    fn sync_data(&self) -> io::Result<()>;
}

/// Whether an error says that there is no room: all that follows may go well once there is.
#[must_use]
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// The real disk.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(
    not(any(test, feature = "conformance")),
    expect(
        unreachable_pub,
        reason = "the suite for tables hands it out, and nobody else"
    )
)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile(File);

impl Disk for RealDisk {
    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .open(path)?;
        fill(&file, bytes)?;
        file.sync_all()?;
        sync_name(path)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn reserve(&self, path: &Path, bytes: u64) -> io::Result<()> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .open(path)?;
        let reserved = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes)
            .map_err(io::Error::from)
            .or_else(|error| match is_full(&error) {
                true => Err(error),
                // Some file systems cannot allocate without writing.
                false => fill(&file, bytes),
            });
        if let Err(error) = reserved {
            drop(file);
            // What stays behind is an error of its own later, not of this call.
            let _ = fs::remove_file(path);
            return Err(error);
        }
        file.sync_all()?;
        sync_name(path)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)?;
        sync_name(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        sync_name(to)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                names.extend(entry.file_name().into_string().ok());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        let mut made = Vec::new();
        for above in folder.ancestors() {
            if above.as_os_str().is_empty() || above.try_exists()? {
                break;
            }
            made.push(above);
        }
        fs::create_dir_all(folder)?;
        made.into_iter().try_for_each(sync_name)
    }

    fn free_bytes(&self, folder: &Path) -> io::Result<u64> {
        let volume = rustix::fs::statvfs(folder)?;
        Ok(volume.f_bavail.saturating_mul(volume.f_frsize))
    }
}

impl DiskFile for RealFile {
    fn bytes(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<()> {
        self.0.read_exact_at(into, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// Writes zeros, so that later writes change no metadata and a data sync is one write.
fn fill(file: &File, bytes: u64) -> io::Result<()> {
    let chunk = FILL_BYTES.min(usize::try_from(bytes).unwrap_or(FILL_BYTES));
    let zeros = vec![0; chunk];
    let mut at = 0;
    for n in 1_u64.. {
        let left = usize::try_from(bytes - at).unwrap_or(usize::MAX);
        let part = &zeros[..left.min(chunk)];
        if part.is_empty() {
            break;
        }
        file.write_all_at(part, at)?;
        at += part.len() as u64;
        if n.is_multiple_of(FILLS_PER_SYNC) {
            file.sync_data()?;
        }
    }
    Ok(())
}

/// Makes the name of `path` in its folder durable.
pub(crate) fn sync_name(path: &Path) -> io::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all())
}
