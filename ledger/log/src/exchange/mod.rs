//! Taking runs out of a store and putting them into another, as text that proves itself.
//!
//! An export is a consistent cut: nothing of it is newer than the moment it began. An import is
//! checked from its first line to its last before anything is written, and writes each run as a
//! whole. Nothing is ever merged: a run or a key that is there already is refused.

mod check;
mod export;
mod form;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod import;
mod lines;
mod pieces;
mod unfinished;

pub use export::{ExportScope, Exported};
pub use form::LeftOut;
pub use import::Imported;
pub(crate) use pieces::{Piece, stage};
pub(crate) use unfinished::{IMPORT_AGAIN, Unfinished, cut_off, refused};

pub(crate) use export::export;
pub(crate) use import::import;

use mainstay_ledger::LedgerError;
use mainstay_types::{Code, RunId};

/// How far a long piece of work is: done, and of how much; 0 when that is not known yet.
pub type Progress<'a> = dyn FnMut(u64, u64) + 'a;

/// Why an export or import did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The store could not do its part.
    #[error(transparent)]
    Store(#[from] LedgerError),
    /// The file cannot be written or read.
    #[error("EXPORT_IO: {0}")]
    Output(#[source] std::io::Error),
    /// A line is not what was exported.
    #[error("EXPORT_DAMAGED: line {line}: {detail}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        detail: String,
    },
    /// What is to be imported is there already, or its place is taken. Nothing was written.
    #[error("IMPORT_CONFLICT: {detail}")]
    Conflict {
        /// What, and who has it.
        detail: String,
    },
    /// A run in the store itself is not what was written.
    #[error("RUN_UNKNOWN: there is no run {run}")]
    Unknown {
        /// The run that was asked for.
        run: RunId,
    },
}

impl ExchangeError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Store(error) => error.code(),
            Self::Output(_) => Code::ExportIo,
            Self::Line { .. } => Code::ExportDamaged,
            Self::Conflict { .. } => Code::ImportConflict,
            Self::Unknown { .. } => Code::RunUnknown,
        }
    }
}
