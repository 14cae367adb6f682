//! sled itself: opened and closed so that nothing it does takes the process with it.
//!
//! sled panics on some damage, and can wait for ever for a thread of its own that died. It is
//! therefore opened on its own thread, and closed on one with a bound.

use std::fs::File;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use mainstay_ledger::LedgerError;
use mainstay_types::limits;

use crate::fault::{self, panic_text};
use crate::files::{self, io_error};
use crate::settings::sled_config;

/// Between two looks at a lock of sled's that is about to be let go.
const HELD_GLANCE: Duration = Duration::from_millis(5);
const CLOSE_WAIT: Duration = Duration::from_millis(limits::SLED_CLOSE_MS_MAX);

/// The name of sled's data file in its folder.
pub(crate) const DATA_FILE: &str = "db";

/// Opens sled in `folder`, which it makes when it is not there.
///
/// `Damaged` when sled finds damage or panics; `Io` when the system refuses.
pub(crate) fn open(folder: &Path) -> Result<sled::Db, LedgerError> {
    remove_torn_snapshots(folder)?;
    let config = sled_config(folder);
    let opening = thread::Builder::new()
        .name("sled-open".to_owned())
        .spawn(move || let_go_of(|| config.open()));
    let opening = opening.map_err(|error| io_error("starting a thread for", folder, &error))?;
    match opening.join() {
        Ok(Ok(db)) => Ok(db),
        Ok(Err(error)) => Err(open_error(folder, &error)),
        Err(panic) => {
            let text = panic_text(&*panic);
            Err(fault::damaged_at(
                folder,
                format_args!("sled panicked while opening: {text}"),
            ))
        }
    }
}

/// Opens again while sled's own lock is held, for as long as a close may take: whoever calls holds
/// the store, so only a thread of a handle that was just dropped can still hold it.
fn let_go_of(open: impl Fn() -> sled::Result<sled::Db>) -> sled::Result<sled::Db> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(error) if is_held(&error) && begun.elapsed() < CLOSE_WAIT => {
                thread::sleep(HELD_GLANCE);
            }
            opened => return opened,
        }
    }
}

fn is_held(error: &sled::Error) -> bool {
    let sled::Error::Io(cause) = error else {
        return false;
    };
    cause.to_string().contains("could not acquire lock")
}

/// A snapshot that a crash left half-written makes sled refuse to open; it is never needed.
fn remove_torn_snapshots(folder: &Path) -> Result<(), LedgerError> {
    if !files::exists(folder)? {
        return Ok(());
    }
    let error = |error| io_error("looking into", folder, &error);
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy())
            .unwrap_or_default();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            std::fs::remove_file(&path).map_err(|error| io_error("removing", &path, &error))?;
        }
    }
    Ok(())
}

/// What the system refused is not damage; anything else sled says about its files is.
fn open_error(folder: &Path, error: &sled::Error) -> LedgerError {
    if let sled::Error::Io(cause) = error
        && (is_held(error) || cause.raw_os_error().is_some())
    {
        return io_error("opening sled in", folder, cause);
    }
    fault::damaged_at(folder, format_args!("sled does not open: {error}"))
}

/// Makes everything durable that sled leaves to chance: its files and their names.
pub(crate) fn sync_files(folder: &Path) -> Result<(), LedgerError> {
    for name in [DATA_FILE, "conf", "blobs"] {
        files::sync(&folder.join(name))?;
    }
    files::sync(folder)?;
    files::sync_name(folder)
}

/// Closes sled and waits until its files are released; `false` when it does not come to an end.
pub(crate) fn close(db: sled::Db, folder: &Path) -> bool {
    let (closed, wait) = mpsc::channel();
    let data = File::open(folder.join(DATA_FILE)).ok();
    let closing = thread::Builder::new()
        .name("sled-close".to_owned())
        .spawn(move || {
            drop(db);
            let end = Instant::now() + CLOSE_WAIT;
            // sled's threads may hold its lock a little longer than its last handle lives.
            while data.as_ref().is_some_and(|data| data.try_lock().is_err()) && Instant::now() < end
            {
                thread::sleep(Duration::from_millis(1));
            }
            // Our own handle holds the lock now; whoever opens the store next must find it free.
            drop(data);
            let _ = closed.send(());
        });
    closing.is_ok() && wait.recv_timeout(CLOSE_WAIT).is_ok()
}
