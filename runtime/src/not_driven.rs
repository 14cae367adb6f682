//! Runs that have to be driven and are not, with their reasons.
//!
//! A list of this engine alone: what stands in the ledger says nothing of which code a process has.

use mainstay_types::{Code, RunId};

/// A run that has to be driven and is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotDriven {
    /// The run.
    pub run: RunId,
    /// Why.
    pub reason: NotDrivenReason,
    /// In words.
    pub detail: String,
}

/// Why a run is not driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotDrivenReason {
    /// Its class is not registered here.
    WaitingForCode,
    /// A class of its name and version is registered with other content.
    ClassChanged,
    /// Its stored events fail a check.
    Corrupt,
    /// There is no room to append: it goes on by itself when there is.
    StoreFull,
    /// Another owner drives it now.
    LeaseLost,
    /// The store failed while it was driven, and takes nothing more.
    StoreFailed,
    /// The store failed while it was driven, for a reason that may pass; it is tried again.
    StoreIo,
}

impl NotDrivenReason {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::WaitingForCode => Code::WaitingForCode,
            Self::ClassChanged => Code::ClassChanged,
            Self::Corrupt => Code::CorruptRecord,
            Self::StoreFull => Code::StoreFull,
            Self::LeaseLost => Code::LeaseLost,
            Self::StoreFailed => Code::StorePoisoned,
            Self::StoreIo => Code::StoreIo,
        }
    }
}
