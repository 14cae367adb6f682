//! How this backend's failures become the ledger's: with what was read, and the way out.
//!
//! Damage is reported where it is found; it is never skipped, guessed at or repaired here.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use mainstay_ledger::LedgerError;
use mainstay_types::{RunId, Seq};

use crate::pieces::Broken;

/// What a person can do about a damaged store today.
const WAY_OUT: &str = "copy the whole folder before anything else, check the disk, then restore \
    the newest good copy of the whole folder; single files of a store are never mixed";

/// The store as a whole is not what was written.
pub(crate) fn damaged(detail: impl Into<String>) -> LedgerError {
    LedgerError::Damaged {
        detail: detail.into(),
        way_out: WAY_OUT.to_owned(),
    }
}

/// The store in `folder` is not what was written.
pub(crate) fn damaged_at(folder: &Path, detail: impl std::fmt::Display) -> LedgerError {
    damaged(format!("{}: {detail}", folder.display()))
}

/// Something that belongs to no single run cannot be read.
pub(crate) fn of_store(what: &str, broken: Broken) -> LedgerError {
    match broken {
        Broken::Bytes(detail) => damaged(format!("{what}: {detail}")),
        Broken::Read(detail) => LedgerError::Io {
            detail: format!("{what}: {detail}"),
        },
    }
}

/// Something of a run cannot be read; `seq` is 0 when it is not one of its records.
pub(crate) fn of_run(run: RunId, seq: Seq, what: &str, broken: Broken) -> LedgerError {
    match broken {
        Broken::Bytes(detail) => LedgerError::CorruptRecord {
            run,
            seq,
            detail: format!("{what}: {detail}"),
        },
        Broken::Read(detail) => LedgerError::Io {
            detail: format!("run {run}, {what}: {detail}"),
        },
    }
}

/// Runs `read`; sled panics on some damage, and that must end as an error of this one read.
pub(crate) fn guarded<T>(read: impl FnOnce() -> Result<T, LedgerError>) -> Result<T, LedgerError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        Err(damaged(format!(
            "sled panicked while reading: {}",
            panic_text(&*panic)
        )))
    })
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
