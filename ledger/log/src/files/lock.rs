//! The store's own lock: one holder at a time, named in the lock file.
//!
//! The operating system holds the lock, not the file's existence: it goes with the process,
//! however that ends. Nothing else of a store may be touched without it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use mainstay_ledger::LedgerError;
use mainstay_types::{Millis, limits};

use super::disk::is_full;
use crate::fault::io_error;

/// The lock file's name in the store's folder.
pub(crate) const LOCK_FILE: &str = "LOCK";

const POLL: Duration = Duration::from_millis(limits::STORE_LOCK_POLL_MS);

/// How much of a lock file is shown.
const HOLDER_BYTES_MAX: u64 = 512;

/// The held lock; dropping it releases the store.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock of the store in `folder` and writes who holds it. Blocks for up to `wait`
    /// while another holds it.
    ///
    /// `Locked` names the holder, also when it is this process.
    pub(crate) fn take(folder: &Path, wait: Millis) -> Result<Self, LedgerError> {
        let path = folder.join(LOCK_FILE);
        let error = |error| io_error("locking", &path, &error);
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(error)?;
        let begun = Instant::now();
        let wait = Duration::from_millis(wait.get());
        // Polled, and not waited for in the system: such a wait has no end.
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(cause)) => return Err(error(cause)),
            }
            let left = wait.saturating_sub(begun.elapsed());
            if left.is_zero() {
                let holder = holder(&mut file);
                return Err(LedgerError::Locked { holder });
            }
            thread::sleep(POLL.min(left));
        }
        match write_holder(&mut file) {
            // A full disk must not keep anybody from making room; the lock holds without a name.
            Err(failed) if is_full(&failed) => {}
            written => written.map_err(error)?,
        }
        Ok(Self { file })
    }
}

/// An empty lock file says that nobody holds the store; one with a name and no lock, that its
/// holder was killed.
impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file releases the lock; a name that stays behind only misleads a reader.
        let _ = self.file.set_len(0);
    }
}

fn write_holder(file: &mut File) -> std::io::Result<()> {
    let program = std::env::current_exe()
        .ok()
        .and_then(|path| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        })
        .unwrap_or_else(|| "unknown".to_owned());
    let since = chrono::Utc::now().format("%Y-%m-%dT%H:%M:%SZ");
    let text = format!(
        "pid {}, program {program}, host {}, since {since}\n",
        std::process::id(),
        host(),
    );
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(text.as_bytes())
}

/// The machine's own name: a folder may be seen by several.
fn host() -> String {
    let name = rustix::system::uname();
    match name.nodename().to_string_lossy().trim() {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}

fn holder(file: &mut File) -> String {
    let mut text = Vec::new();
    let read = file.take(HOLDER_BYTES_MAX).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    match (read, text.trim()) {
        (Ok(_), "") => "a process that has not written its name yet".to_owned(),
        (Ok(_), name) => name.to_owned(),
        (Err(error), _) => format!("a process that cannot be named ({error})"),
    }
}
