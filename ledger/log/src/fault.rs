//! How this crate's failures become the ledger's: with what was read, and the way out.
//!
//! Damage is reported where it is found; it is never skipped, guessed at or repaired here.

use std::any::Any;
use std::path::Path;

use mainstay_ledger::LedgerError;
use mainstay_ledger::codec::DecodeError;
use mainstay_types::{RunId, Seq};

use crate::files::is_full;

/// What a person can do about a damaged store.
const WAY_OUT: &str = "copy the whole folder before anything else and check the disk; `mainstay \
    verify` says which files and runs are hurt, `mainstay repair` what it can bring back and what \
    would be lost; single files of a store are never mixed";

/// The store as a whole is not what was written.
pub(crate) fn damaged(detail: impl Into<String>) -> LedgerError {
    LedgerError::Damaged {
        detail: detail.into(),
        way_out: WAY_OUT.to_owned(),
    }
}

/// The row of `held` lies where that of `wanted` would. When that is its place, both have one hash
/// and nothing is wrong with the store; otherwise it was put there.
pub(crate) fn in_the_place(held: &Named<'_>, wanted: &Named<'_>) -> LedgerError {
    let (held_name, wanted_name) = (held.name.to_string(), wanted.name.to_string());
    match held.place == wanted.place {
        true => LedgerError::KeysCollide {
            wanted: format!("{} {wanted_name}", wanted.what),
            held: format!("{} {held_name}", held.what),
        },
        false => damaged(format!(
            "the entry of {} {held_name} lies in the place of {wanted_name}",
            held.what
        )),
    }
}

/// A key as people read it, and where its row lies.
pub(crate) struct Named<'a> {
    pub(crate) what: &'static str,
    pub(crate) name: &'a dyn std::fmt::Display,
    pub(crate) place: &'a [u8],
}

/// The store in `folder` is not what was written.
pub(crate) fn damaged_at(folder: &Path, detail: impl std::fmt::Display) -> LedgerError {
    damaged(format!("{}: {detail}", folder.display()))
}

/// The system refused something about `path`; for want of room that is `Full`.
pub(crate) fn io_error(doing: &str, path: &Path, error: &std::io::Error) -> LedgerError {
    let detail = format!("{doing} {}: {error}", path.display());
    match is_full(error) {
        true => LedgerError::Full { detail },
        false => LedgerError::Io { detail },
    }
}

/// Something that belongs to no single run does not decode.
pub(crate) fn of_store(what: &str, error: &DecodeError) -> LedgerError {
    damaged(format!("{what}: {error}"))
}

/// Something of a run that is none of its records does not decode.
pub(crate) fn of_run(run: RunId, what: &str, error: &DecodeError) -> LedgerError {
    corrupt(run, Seq(0), format!("{what}: {error}"))
}

/// Something of a run is not what was written; `seq` is 0 when it is not one of its records.
pub(crate) fn corrupt(run: RunId, seq: Seq, detail: String) -> LedgerError {
    LedgerError::CorruptRecord { run, seq, detail }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
