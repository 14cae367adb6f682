//! What happened, as a log of our own, and how things stand, in a table beside it.
//!
//! The log is the event store; a table (an embedded engine behind a port) holds how things stand
//! for what is open, and is rebuilt from the log. Nothing here knows which engine that is, and the
//! table is never the only copy of anything.

#[cfg_attr(
    not(any(test, feature = "conformance")),
    expect(
        unreachable_pub,
        reason = "the suite for tables shows it, and only that"
    )
)]
mod applier;
mod below;
mod birth;
mod blocking;
mod commit;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod exchange;
mod fault;
mod fields;
mod files;
mod heads;
mod inspect;
mod keys;
mod ledger;
mod look;
mod maintain;
mod open;
#[cfg_attr(
    not(any(test, feature = "conformance")),
    expect(
        unreachable_pub,
        reason = "the suite for tables shows it, and only that"
    )
)]
mod overlay;
mod proof;
mod read;
mod retention;
mod rows;
mod run_row;
mod segment;
mod settings;
mod stage;
#[cfg_attr(
    not(any(test, feature = "conformance")),
    expect(
        unreachable_pub,
        reason = "the suite for tables shows it, and only that"
    )
)]
mod standing;
pub mod table;

#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub use exchange::fuzzing::Imports;
pub use exchange::{ExchangeError, ExportScope, Exported, Imported, LeftOut, Progress};
pub use files::StoreId;
pub use inspect::{Finding, Repair, Report, repair, verify};
pub use keys::Key;
pub use ledger::LogLedger;
pub use maintain::{EraseError, Erased, Erasure, StoreStats};
pub use open::OpenOptions;
pub use retention::Swept;
pub use segment::{LogSettings, Place, SegmentNo};
pub use settings::{FORMAT, Settings};
pub use standing::{Health, LAG_METRIC, Lag, StandingSettings};
