//! The SQLite file: schema, connections, who may open it.
//!
//! It must never be opened by two services: keys in flight are known to one process only.

mod requests;
mod tickets;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::Connection;

pub(crate) use tickets::{Create, Created, Search};

/// Layout version, in `user_version`; another one is refused.
const SCHEMA_VERSION: i64 = 1;

/// How long a statement waits for a reader outside the service, say a person with `sqlite3`.
const BUSY_WITHIN: Duration = Duration::from_secs(2);

const SCHEMA: &str = "
    CREATE TABLE tickets (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        client TEXT NOT NULL,
        key TEXT NOT NULL,
        source TEXT NOT NULL,
        position INTEGER NOT NULL,
        title TEXT NOT NULL,
        body TEXT NOT NULL,
        owner TEXT,
        citations TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX tickets_by_key ON tickets (client, key, id);
    CREATE INDEX tickets_by_source ON tickets (source, position);
    CREATE VIRTUAL TABLE tickets_words USING fts5(
        title, body, content='tickets', content_rowid='id', tokenize='porter unicode61'
    );
    CREATE TABLE keys (
        client TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        response TEXT NOT NULL,
        expires_at_ms INTEGER NOT NULL,
        PRIMARY KEY (client, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX keys_by_expiry ON keys (expires_at_ms);
    CREATE TABLE requests (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at_ms INTEGER NOT NULL,
        method TEXT NOT NULL,
        path TEXT NOT NULL,
        client TEXT NOT NULL,
        key TEXT,
        source TEXT,
        position INTEGER,
        status INTEGER NOT NULL,
        replayed INTEGER NOT NULL DEFAULT 0,
        time_left_ms INTEGER
    ) STRICT;
    PRAGMA user_version = 1;
";

/// The database could not be opened or used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process serves from it.
    #[error("{0} is in use by another ticket-service")]
    InUse(PathBuf),
    /// It was written by another version, or is no ticket database.
    #[error("{path} has schema version {found}, this program reads {SCHEMA_VERSION}")]
    Version {
        /// The database.
        path: PathBuf,
        /// What it says.
        found: i64,
    },
    /// The lock file beside it could not be made.
    #[error("lock file {path}: {source}")]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// SQLite said no.
    #[error("database: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// The open database. Every method blocks.
pub(crate) struct Store {
    writers: Mutex<Writers>,
    reader: Mutex<Connection>,
    /// Held for as long as the store is open; the system lets go of it when the process dies.
    _lock: File,
}

/// Behind one mutex, because SQLite has one writer and its own waiting is a sleep.
struct Writers {
    /// Syncs each commit: a ticket that was acknowledged survives power loss.
    tickets: Connection,
    /// Syncs at checkpoints only: the log survives a kill, and costs tickets no disk sync.
    log: Connection,
}

impl Store {
    /// Opens or makes the database. What was in flight when it was last closed is `unfinished`.
    pub(crate) fn open(path: &Path) -> Result<Store, StoreError> {
        let lock = lock(path)?;
        let tickets = connect(path, "FULL")?;
        let found: i64 = tickets.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let tables: i64 =
            tickets.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        match (found, tables) {
            (SCHEMA_VERSION, _) => {}
            // One transaction: a kill in here leaves an empty database, not half of one.
            (0, 0) => tickets.execute_batch(&format!("BEGIN IMMEDIATE;{SCHEMA}COMMIT;"))?,
            (found, _) => {
                return Err(StoreError::Version {
                    path: path.to_owned(),
                    found,
                });
            }
        }
        let log = connect(path, "NORMAL")?;
        requests::mark_unfinished(&log)?;
        let reader = connect(path, "NORMAL")?;
        reader.pragma_update(None, "query_only", true)?;
        let writers = Mutex::new(Writers { tickets, log });
        Ok(Store {
            writers,
            reader: Mutex::new(reader),
            _lock: lock,
        })
    }
}

fn connect(path: &Path, synchronous: &str) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_WITHIN)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    Ok(connection)
}

fn lock(db: &Path) -> Result<File, StoreError> {
    let mut name = db.as_os_str().to_owned();
    name.push(".lock");
    let path = PathBuf::from(name);
    let failed = |source| StoreError::Lock {
        path: path.clone(),
        source,
    };
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path);
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(db.to_owned())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// SQLite's integers are signed; our times and counts end long before they do.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn count(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
