//! The approved snapshot: the newest evidence of each recent query, for when retrieval fails.
//!
//! One file holds at most [`SNAPSHOT_ENTRIES_MAX`] entries. An entry answers exactly the query that
//! it was retrieved for: evidence for other minutes would look right and be wrong, so without an
//! entry the answer is [`SnapshotError::Missing`], never the nearest one. The age counts from the
//! retrieval, and storing a snapshot's own answer again is refused, so nothing gets younger.
//!
//! The file is replaced as a whole (write beside, sync, rename), and carries a checksum: a reader
//! sees the old file or the new one, and a damaged file is never used.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Grade, PolicyEvidence, PolicyQuery};

/// Most queries that a snapshot remembers; the longest unused by retrieval goes first.
pub const SNAPSHOT_ENTRIES_MAX: usize = 64;
/// How far a retrieval may lie in the future before it is refused, in milliseconds: clocks of one
/// machine jump this much when they are set, not more.
pub const FUTURE_MS_MAX: u64 = 5_000;
/// Largest file that is read, in bytes: 64 entries stay far below.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// First word of the file, with the version of its form.
const MAGIC: &str = "policy-snapshot/1";

/// Why a snapshot gives no evidence, or takes none.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// No file, or no entry for this query.
    #[error("no approved snapshot holds evidence for this query")]
    Missing,
    /// The entry is older than allowed.
    #[error("the approved snapshot is {age_ms} ms old; {max_age_ms} ms are allowed")]
    TooOld {
        /// Its age in milliseconds.
        age_ms: u64,
        /// The limit in milliseconds.
        max_age_ms: u64,
    },
    /// The entry is from the future: the clock was set back, so no age can be told.
    #[error("the approved snapshot is {ahead_ms} ms in the future; {FUTURE_MS_MAX} ms are allowed")]
    FromTheFuture {
        /// How far ahead, in milliseconds.
        ahead_ms: u64,
    },
    /// The file is not what was written.
    #[error("the approved snapshot is damaged: {reason}")]
    Damaged {
        /// What does not fit.
        reason: &'static str,
    },
    /// Evidence of another grade than live was to be stored.
    #[error("only live evidence can become an approved snapshot")]
    NotLive,
    /// The file cannot be read or written.
    #[error("cannot use the snapshot file {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

/// How old evidence may be, and what time it is. Milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxAge {
    /// The greatest age that is still allowed.
    pub max_age_ms: u64,
    /// Now, milliseconds since 1970.
    pub now_ms: u64,
}

/// The snapshot file at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    query_digest: String,
    query: PolicyQuery,
    written_at_ms: u64,
    evidence: PolicyEvidence,
}

impl Snapshot {
    /// The snapshot at `path`; its folder must exist, the file need not.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Stores the evidence of one query, in place of an older one for the same query.
    ///
    /// Durable once it returns `Ok`. A damaged file is replaced: nothing in it can be trusted.
    /// Concurrent writers wait for each other.
    ///
    /// # Errors
    /// [`SnapshotError::NotLive`] for evidence that is itself a snapshot; [`SnapshotError::File`]
    /// if the file cannot be written, and then the old file is still there.
    pub fn write(
        &self,
        evidence: &PolicyEvidence,
        query: &PolicyQuery,
        now_ms: u64,
    ) -> Result<(), SnapshotError> {
        match evidence.grade {
            Grade::Live => {}
            Grade::ApprovedSnapshot => return Err(SnapshotError::NotLive),
        }
        let _held = self.lock().map_err(|source| self.file_error(source))?;
        let mut entries = match self.entries() {
            Ok(entries) => entries,
            Err(SnapshotError::Missing | SnapshotError::Damaged { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let query_digest = query.digest();
        entries.retain(|entry| entry.query_digest != query_digest);
        let (query, evidence) = (query.clone(), evidence.clone());
        entries.push(Entry {
            query_digest,
            query,
            written_at_ms: now_ms,
            evidence,
        });
        let surplus = entries.len().saturating_sub(SNAPSHOT_ENTRIES_MAX);
        entries.drain(..surplus);
        self.replace(&entries)
            .map_err(|source| self.file_error(source))
    }

    /// The evidence stored for this query, graded as a snapshot, with its original time.
    ///
    /// An age of exactly the limit is allowed.
    ///
    /// # Errors
    /// [`SnapshotError`] says why there is none.
    pub fn read(&self, query: &PolicyQuery, age: MaxAge) -> Result<PolicyEvidence, SnapshotError> {
        let query_digest = query.digest();
        let entries = self.entries()?;
        let found = entries
            .into_iter()
            .find(|entry| entry.query_digest == query_digest);
        let evidence = found.ok_or(SnapshotError::Missing)?.evidence;
        let ahead_ms = evidence.retrieved_at_ms.saturating_sub(age.now_ms);
        if FUTURE_MS_MAX < ahead_ms {
            return Err(SnapshotError::FromTheFuture { ahead_ms });
        }
        let age_ms = age.now_ms.saturating_sub(evidence.retrieved_at_ms);
        if age.max_age_ms < age_ms {
            return Err(SnapshotError::TooOld {
                age_ms,
                max_age_ms: age.max_age_ms,
            });
        }
        Ok(PolicyEvidence {
            grade: Grade::ApprovedSnapshot,
            ..evidence
        })
    }

    fn entries(&self) -> Result<Vec<Entry>, SnapshotError> {
        let text = match self.text() {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(SnapshotError::Missing);
            }
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(SnapshotError::Damaged {
                    reason: "it is no text or too long",
                });
            }
            Err(source) => return Err(self.file_error(source)),
        };
        decode(&text)
    }

    fn text(&self) -> std::io::Result<String> {
        let mut text = String::new();
        let file = File::open(&self.path)?;
        let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
        if FILE_BYTES_MAX < u64::try_from(read).unwrap_or(u64::MAX) {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        Ok(text)
    }

    /// Held while a writer reads, changes and replaces the file; released when dropped, also by
    /// the death of the process. Beside the file, because the file itself is replaced.
    fn lock(&self) -> std::io::Result<File> {
        let path = self.beside("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        file.lock()?;
        Ok(file)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    }

    fn replace(&self, entries: &[Entry]) -> std::io::Result<()> {
        let body = serde_json::to_string(entries).map_err(std::io::Error::other)?;
        let checksum = blake3::hash(body.as_bytes()).to_hex();
        let beside = self.beside("new");
        let mut file = File::create(&beside)?;
        file.write_all(format!("{MAGIC} {checksum}\n{body}\n").as_bytes())?;
        file.sync_all()?;
        drop(file);
        std::fs::rename(&beside, &self.path)?;
        sync_folder(&self.path)
    }

    fn file_error(&self, source: std::io::Error) -> SnapshotError {
        SnapshotError::File {
            path: self.path.clone(),
            source,
        }
    }
}

fn decode(text: &str) -> Result<Vec<Entry>, SnapshotError> {
    let damaged = |reason| SnapshotError::Damaged { reason };
    let (head, body) = text
        .split_once('\n')
        .ok_or_else(|| damaged("its head is missing"))?;
    let (magic, checksum) = head
        .split_once(' ')
        .ok_or_else(|| damaged("its head is cut"))?;
    if magic != MAGIC {
        return Err(damaged("it is of an unknown form"));
    }
    let body = body
        .strip_suffix('\n')
        .ok_or_else(|| damaged("its end is missing"))?;
    if blake3::hash(body.as_bytes()).to_hex().as_str() != checksum {
        return Err(damaged("its checksum does not fit its content"));
    }
    serde_json::from_str(body).map_err(|_| damaged("its content has an unknown shape"))
}

/// Makes a rename durable. Only Unix can sync a folder; elsewhere the rename is already ordered.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests;
