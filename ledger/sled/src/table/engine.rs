//! sled opened, flushed and closed so that nothing it does takes the process with it.
//!
//! sled panics on some damage, and can wait for ever for a thread of its own that died. It is
//! therefore opened on its own thread, and flushed and closed on one with a bound.

use std::fs::{self, File};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use mainstay_ledger_log::table::TableError;
use mainstay_types::limits;

use super::guard::{self, guarded, io_error, is_held};
use super::panics::caught;
use super::settings::{self, BLOBS_FOLDER, CONF_FILE, DATA_FILE};

/// Between two looks at a lock of sled's that is about to be let go.
const HELD_GLANCE: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_millis(limits::SLED_CLOSE_MS_MAX);

/// Opens sled in `folder`.
pub(super) fn open(folder: &Path) -> Result<sled::Db, TableError> {
    let config = settings::config(folder);
    let opening = thread::Builder::new()
        .name("sled-open".to_owned())
        .spawn(move || caught(|| let_go_of(|| config.open())));
    let opening = opening.map_err(|error| io_error("starting a thread for", folder, &error))?;
    match opening.join().flatten() {
        Ok(opened) => opened.map_err(|error| guard::of_sled("opening", &error)),
        Err(panic) => Err(guard::panicked("opening", &*panic)),
    }
}

/// Opens again while sled's own lock is held, for as long as a close may take: whoever calls holds
/// the store, so only a thread of a handle that was just dropped can still hold it.
fn let_go_of(open: impl Fn() -> sled::Result<sled::Db>) -> sled::Result<sled::Db> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(error) if is_held(&error) && begun.elapsed() < PATIENCE => {
                thread::sleep(HELD_GLANCE);
            }
            opened => return opened,
        }
    }
}

/// A snapshot that a crash left half-written makes sled refuse to open; it is never needed.
pub(super) fn remove_torn_snapshots(folder: &Path) -> Result<(), TableError> {
    let error = |error| io_error("looking into", folder, &error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(gone) if gone.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(other) => return Err(error(other)),
    };
    for entry in entries {
        let path = entry.map_err(error)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            fs::remove_file(&path).map_err(|error| io_error("removing", &path, &error))?;
        }
    }
    Ok(())
}

/// Makes everything durable that sled leaves to chance: its files and their names.
pub(super) fn sync_files(folder: &Path) -> Result<(), TableError> {
    let parent = folder.parent();
    let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
    let inside = [DATA_FILE, CONF_FILE, BLOBS_FOLDER].map(|name| folder.join(name));
    let inside = inside.iter().map(|path| &**path);
    for path in inside.chain([folder, parent.unwrap_or(Path::new("."))]) {
        let synced = File::open(path).and_then(|file| file.sync_all());
        synced.map_err(|error| {
            TableError::Unsynced(format!("syncing {}: {error}", path.display()))
        })?;
    }
    Ok(())
}

/// Hands everything to the system; nothing of it is durable by that.
pub(super) fn flush(db: &sled::Db) -> Result<(), TableError> {
    let db = db.clone();
    bounded("flushing", move || {
        let flushed = guarded("flushing", || db.flush());
        drop(db);
        flushed.map(drop)
    })
}

/// Closes sled and waits until its files are released.
pub(super) fn close(db: sled::Db, folder: &Path) -> Result<(), TableError> {
    let data = File::open(folder.join(DATA_FILE)).ok();
    bounded("closing", move || {
        let dropped = guarded("closing", || {
            drop(db);
            Ok(())
        });
        let end = Instant::now() + PATIENCE;
        // sled's threads may hold its lock a little longer than its last handle lives.
        while data.as_ref().is_some_and(|data| data.try_lock().is_err()) && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        // Our own handle holds the lock now; whoever opens it next must find it free.
        drop(data);
        dropped
    })
}

/// Does something that sled may never end, and waits for it for a bounded time.
fn bounded(
    doing: &'static str,
    call: impl FnOnce() -> Result<(), TableError> + Send + 'static,
) -> Result<(), TableError> {
    let (done, wait) = mpsc::channel();
    let thread = thread::Builder::new()
        .name("sled-call".to_owned())
        .spawn(move || {
            // Whoever waited may have given up.
            let _ = done.send(call());
        });
    thread
        .map_err(|error| TableError::Io(format!("starting a thread for {doing} sled: {error}")))?;
    wait.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        let detail = format!("sled, {doing}: it did not come to an end");
        Err(TableError::Io(detail))
    })
}
