//! The embedded default ledger: one folder on disk, one process, sled for how things stand.
//!
//! What happened is in a log of our own (`mainstay-ledger-log`); this crate gives it the table,
//! with sled inside, and adds what sled leaves open: syncs that reach the disk, bounds on what is
//! written between two of them, an error where sled would panic or lose data without a word. The
//! table is never the only copy of anything, so the worst that happens to it is that it is made
//! anew.
//!
//! A store's folder and everything in it is described in `ledger/STORAGE.md`; no other crate may
//! touch the files of a store.

#[cfg(not(unix))]
compile_error!("mainstay-ledger-sled needs Unix file locks and syncs; other systems come later");

mod table;

pub use mainstay_ledger_log::{
    EraseError, Erased, Erasure, ExchangeError, ExportScope, Exported, Finding, Health, Imported,
    LAG_METRIC, Lag, LeftOut, LogSettings, OpenOptions, Repair, Report, Settings, StandingSettings,
    StoreId, StoreStats, Swept, repair, verify,
};
pub use table::{SledFactory, hide_sled_panics};

/// The embedded ledger: a log of what happened, and sled for how things stand.
pub type SledLedger = mainstay_ledger_log::LogLedger<SledFactory>;
