//! A run's row in listings.
//!
//! Made from the stored summary alone: listing a thousand runs loads none of them.

use mainstay_machine::{ClassRef, StateReason, Summary};
use mainstay_types::Millis;
use serde::Serialize;

use super::raw;

/// A class by name, version and content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassView {
    /// The name.
    pub name: String,
    /// The author's version.
    pub version: u32,
    /// The digest of its stored form, 64 hexadecimal digits.
    pub fingerprint: String,
}

impl ClassView {
    pub(super) fn of(class: &ClassRef) -> Self {
        Self {
            name: class.name.to_string(),
            version: class.version.0,
            fingerprint: class.fingerprint.to_string(),
        }
    }
}

/// One run of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SummaryRow {
    /// The run.
    pub run_id: String,
    /// Its class.
    pub class: ClassView,
    /// Whose run.
    pub tenant: String,
    /// The caller's key.
    pub start_key: Option<String>,
    /// `running`, `waiting`, `waiting_for_code`, `ended`, `closed` or `quarantined`.
    pub state: &'static str,
    /// The code of why it waits or is not driven.
    pub state_reason: Option<&'static str>,
    /// The newest lap, from 1.
    pub lap: u32,
    /// How that lap ended; `None` while open.
    pub outcome: Option<&'static str>,
    /// Effects nobody knows the outcome of.
    pub in_doubt: u32,
    /// When the run began.
    pub started_at: String,
    /// When the lap ended.
    pub ended_at: Option<String>,
    /// From the run's start to the lap's end.
    pub took_ms: Option<u64>,
}

impl SummaryRow {
    /// The row of a stored summary.
    #[must_use]
    pub fn of(summary: &Summary) -> Self {
        let took = summary
            .ended_at
            .map(|ended| ended.since(summary.started_at));
        Self {
            run_id: summary.run.to_string(),
            class: ClassView::of(&summary.class),
            tenant: summary.tenant.to_string(),
            start_key: summary.start_key.as_ref().map(ToString::to_string),
            state: summary.state.as_str(),
            state_reason: summary.reason.map(StateReason::as_str),
            lap: summary.lap.get(),
            outcome: summary.outcome.map(|outcome| outcome.as_str()),
            in_doubt: summary.in_doubt,
            started_at: raw::time(summary.started_at),
            ended_at: summary.ended_at.map(raw::time),
            took_ms: took.map(Millis::get),
        }
    }
}
