//! How much waits in memory for the table, and who has to wait for that.
//!
//! A level is entered at its bound and left well below it, so that commits do not stutter. The log
//! holds everything anyway: this bounds memory, and what an open has to read again.

use mainstay_types::Millis;

use crate::overlay::Load;

use super::{Bounds, StandingSettings};

/// Who has to wait, by how full the memory before the table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pressure {
    /// Everybody commits.
    #[default]
    Calm,
    /// Ordinary commits wait.
    High,
    /// Only the control lane commits.
    Full,
}

/// How far the table lags behind what is acknowledged. Ordinary commits wait at `rows_bound`,
/// `bytes_bound` or `age_bound`, so that none of the three grows far beyond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// Rows in memory that are not in the table.
    pub rows: usize,
    /// At how many of them ordinary commits wait.
    pub rows_bound: usize,
    /// Their keys and values and what keeping them costs, in bytes.
    pub bytes: usize,
    /// At how many bytes ordinary commits wait.
    pub bytes_bound: usize,
    /// Age of the oldest row that is not in the table.
    pub age: Millis,
    /// At which age ordinary commits wait.
    pub age_bound: Millis,
    /// Bytes of rows that are in the table and kept in memory for someone who looked something up.
    pub kept_bytes: usize,
}

/// The lag as a metric: a gauge, each of its numbers over its bound, by the label `of` (`rows`,
/// `bytes`, `age`). At 1 ordinary commits wait. The applier sets it with every batch, when a
/// generation is done, and when one fails; a store that is closed leaves it at what was left.
pub const LAG_METRIC: &str = "mainstay_store_lag_ratio";

/// Tells the host's recorder what the metric means.
pub(crate) fn describe() {
    metrics::describe_gauge!(
        LAG_METRIC,
        metrics::Unit::Count,
        "How far a store's table lags behind what is acknowledged, over the bound at which \
         ordinary commits wait"
    );
}

impl Lag {
    /// Sets the metric.
    pub(super) fn tell(&self) {
        for (of, share) in [
            ("rows", share(self.rows, self.rows_bound)),
            ("bytes", share(self.bytes, self.bytes_bound)),
            ("age", self.age.get() as f64 / self.age_bound.get() as f64),
        ] {
            metrics::gauge!(LAG_METRIC, "of" => of).set(share);
        }
    }

    pub(super) fn of(load: Load, settings: &StandingSettings) -> Self {
        Self {
            rows: load.rows,
            rows_bound: settings.rows.high,
            bytes: load.bytes,
            bytes_bound: settings.bytes.high,
            age: Millis::new(u64::try_from(load.oldest.as_millis()).unwrap_or(u64::MAX)),
            age_bound: settings.high_age,
            kept_bytes: load.kept_bytes,
        }
    }
}

fn share(number: usize, bound: usize) -> f64 {
    number as f64 / bound as f64
}

/// The level after `before`, with so much waiting.
pub(super) fn level(before: Pressure, load: Load, settings: &StandingSettings) -> Pressure {
    let aged = settings.high_age.get();
    let high = is_reached(load.rows, settings.rows.high, Pressure::High <= before)
        || is_reached(load.bytes, settings.bytes.high, Pressure::High <= before)
        || u128::from(aged) <= load.oldest.as_millis();
    let full = is_reached(load.rows, settings.rows.full, before == Pressure::Full)
        || is_reached(load.bytes, settings.bytes.full, before == Pressure::Full);
    match (high, full) {
        (_, true) => Pressure::Full,
        (true, false) => Pressure::High,
        (false, false) => Pressure::Calm,
    }
}

/// Whether a bound is reached, or not yet well below it for someone who reached it before.
fn is_reached(now: usize, bound: usize, before: bool) -> bool {
    let left_below = bound - bound / 4;
    match before {
        true => left_below <= now,
        false => bound <= now,
    }
}

impl Bounds {
    /// Whether both can be reached, in this order.
    pub(super) const fn is_ordered(&self) -> bool {
        0 < self.high && self.high < self.full
    }
}
