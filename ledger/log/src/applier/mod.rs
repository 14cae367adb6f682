//! The applier: moves acknowledged rows from memory into the table, behind everybody's back.
//!
//! A frozen layer is a generation. It is written in batches small enough that no reader waits long
//! and no loss of power can take back what was synced; then a sync, the checkpoint that says up to
//! where in the log the table has everything, and a second sync. Each batch carries the sums that
//! prove it, so the table adds up after every one of them. Nothing waits for the applier except who
//! asks it to be done, and nothing is lost when it fails: the rows stay in memory and in the log.

mod batches;
mod checkpoint;
mod draft;
mod marker;
mod mending;
mod pressure;
mod seen;
mod shared;
mod slot;
mod thread;
mod waits;

pub use pressure::{LAG_METRIC, Lag, Pressure};
pub use shared::{Health, Site};

pub(crate) use checkpoint::{Checkpoint, prove};
#[cfg(test)]
pub(crate) use marker::try_put as put_marker;
pub(crate) use mending::{Opened, open, open_anew};
pub(crate) use pressure::describe;
pub(crate) use shared::Shared;
pub(crate) use slot::Slot;
pub(crate) use thread::Applier;

use mainstay_types::{Millis, limits};

/// When acknowledged rows move to the table, and how many may wait for it. Tests make it small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandingSettings {
    /// Rows that make a generation.
    pub freeze_rows: usize,
    /// The same, in bytes.
    pub freeze_bytes: usize,
    /// Age at which any rows make a generation.
    pub freeze_age: Millis,
    /// Changes of one batch, at most.
    pub batch_rows_max: usize,
    /// Rows in memory at which ordinary commits wait, and at which only the control lane commits.
    pub rows: Bounds,
    /// The same, in bytes.
    pub bytes: Bounds,
    /// Age of the oldest row outside the table at which ordinary commits wait.
    pub high_age: Millis,
    /// First and longest wait before a failed generation is tried again.
    pub retry: (Millis, Millis),
    /// How long a flush or a close waits for everything to be applied.
    pub flush: Millis,
}

/// Two levels of the same measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Ordinary commits wait.
    pub high: usize,
    /// Only the control lane commits.
    pub full: usize,
}

impl Default for StandingSettings {
    fn default() -> Self {
        Self {
            freeze_rows: limits::OVERLAY_ROWS_FREEZE,
            freeze_bytes: limits::OVERLAY_BYTES_FREEZE,
            freeze_age: Millis::new(limits::OVERLAY_FREEZE_MS),
            batch_rows_max: limits::APPLY_BATCH_ROWS_MAX,
            rows: Bounds {
                high: limits::OVERLAY_ROWS_HIGH,
                full: limits::OVERLAY_ROWS_FULL,
            },
            bytes: Bounds {
                high: limits::OVERLAY_BYTES_HIGH,
                full: limits::OVERLAY_BYTES_FULL,
            },
            high_age: Millis::new(limits::OVERLAY_HIGH_MS),
            retry: (
                Millis::new(limits::APPLY_RETRY_MS_MIN),
                Millis::new(limits::APPLY_RETRY_MS_MAX),
            ),
            flush: Millis::new(limits::APPLY_FLUSH_MS_MAX),
        }
    }
}

impl StandingSettings {
    /// With rows that are applied before anybody has to wait for them.
    fn in_order(self) -> Self {
        Self {
            freeze_rows: self.freeze_rows.min(self.rows.high),
            freeze_bytes: self.freeze_bytes.min(self.bytes.high),
            freeze_age: self.freeze_age.min(self.high_age),
            ..self
        }
    }
}
