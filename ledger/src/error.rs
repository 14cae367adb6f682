//! How a ledger fails: each failure has a code, a page and a way out.
//!
//! A failed check of stored bytes names the run and where; it is never skipped over.

use mainstay_types::{Code, RunId, Seq, limits};

/// A ledger that could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// Another process holds the store.
    #[error("STORE_LOCKED: the store is held by {holder}")]
    Locked {
        /// Who, as far as its lock file tells.
        holder: String,
    },
    /// There is no store in this folder.
    #[error("STORE_MISSING: there is no store in {folder}")]
    Missing {
        /// The folder that was looked at.
        folder: String,
    },
    /// The store has a format this version cannot read.
    #[error("STORE_VERSION: the store has format {found}, this version reads {known}")]
    Version {
        /// The store's format number.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// The store cannot be opened as it is.
    #[error("STORE_DAMAGED: {detail}\n\nhint: {way_out}")]
    Damaged {
        /// What was found.
        detail: String,
        /// What to do now.
        way_out: String,
    },
    /// The store failed while writing; it takes nothing more until it is opened again.
    #[error("STORE_POISONED: writing failed, the store takes nothing more: {detail}")]
    Poisoned {
        /// The first failure.
        detail: String,
    },
    /// Reading failed.
    #[error("STORE_IO: {detail}")]
    Io {
        /// What failed.
        detail: String,
    },
    /// There is no room on the store's volume; nothing was written.
    #[error("STORE_FULL: {detail}")]
    Full {
        /// What there was no room for.
        detail: String,
    },
    /// Too many commands wait for this run.
    #[error("INBOX_FULL: {waiting} commands wait for run {run}")]
    InboxFull {
        /// The run.
        run: RunId,
        /// How many wait.
        waiting: usize,
    },
    /// A command carries more than an inbox takes.
    #[error(
        "PAYLOAD_TOO_LARGE: a command for run {run} carries {bytes} bytes, at most {} are taken",
        limits::PAYLOAD_BYTES_MAX
    )]
    TooLarge {
        /// The run.
        run: RunId,
        /// How many bytes.
        bytes: usize,
    },
    /// The run does not exist.
    #[error("RUN_UNKNOWN: there is no run {run}")]
    RunUnknown {
        /// The run.
        run: RunId,
    },
    /// Another key lies where this one would: their hashes are the same. Nothing is damaged, and
    /// nothing was written.
    #[error("KEYS_COLLIDE: {wanted} has the same hash as {held}, which is there before it")]
    KeysCollide {
        /// The key that was asked for.
        wanted: String,
        /// The key whose row lies there.
        held: String,
    },
    /// A stored record fails its checksum or form.
    #[error("CORRUPT_RECORD: run {run}, record {seq}: {detail}")]
    CorruptRecord {
        /// The run.
        run: RunId,
        /// The record's place.
        seq: Seq,
        /// What is wrong.
        detail: String,
    },
    /// A run's records do not follow each other.
    #[error("CORRUPT_CHAIN: run {run}, record {seq}: {detail}")]
    CorruptChain {
        /// The run.
        run: RunId,
        /// The first record that does not fit.
        seq: Seq,
        /// What is wrong.
        detail: String,
    },
}

impl LedgerError {
    /// Nothing was written, because there is no room for it.
    #[must_use]
    pub fn full() -> Self {
        Self::Full {
            detail: "there is no room to append".to_owned(),
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Locked { .. } => Code::StoreLocked,
            Self::Missing { .. } => Code::StoreMissing,
            Self::Version { .. } => Code::StoreVersion,
            Self::Damaged { .. } => Code::StoreDamaged,
            Self::Poisoned { .. } => Code::StorePoisoned,
            Self::Io { .. } => Code::StoreIo,
            Self::Full { .. } => Code::StoreFull,
            Self::InboxFull { .. } => Code::InboxFull,
            Self::TooLarge { .. } => Code::PayloadTooLarge,
            Self::RunUnknown { .. } => Code::RunUnknown,
            Self::KeysCollide { .. } => Code::KeysCollide,
            Self::CorruptRecord { .. } => Code::CorruptRecord,
            Self::CorruptChain { .. } => Code::CorruptChain,
        }
    }
}
