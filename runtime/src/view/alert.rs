//! An alert as people and programs read it.
//!
//! An alert holds no payload, so there is nothing here to hide.

use mainstay_ledger::StoredAlert;
use serde::Serialize;

use super::ClassView;
use super::raw;

/// Something a person or the host should hear of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AlertRow {
    /// Its number, from 1, without gaps: what a reader keeps as its place.
    pub seq: u64,
    /// When it happened.
    pub at: String,
    /// What, for example `handed_off`.
    pub kind: &'static str,
    /// In which run.
    pub run_id: String,
    /// Whose run.
    pub tenant: String,
    /// The run's class.
    pub class: ClassView,
    /// In which lap.
    pub lap: u32,
    /// About which call, by its path.
    pub call: Option<String>,
    /// About which effect.
    pub key: Option<String>,
    /// Why.
    pub reason: String,
}

impl AlertRow {
    /// The row of a stored alert.
    #[must_use]
    pub fn of(stored: &StoredAlert) -> Self {
        let alert = &stored.alert;
        Self {
            seq: stored.seq.get(),
            at: raw::time(alert.at),
            kind: alert.kind.as_str(),
            run_id: alert.run.to_string(),
            tenant: alert.tenant.to_string(),
            class: ClassView::of(&alert.class),
            lap: alert.lap.get(),
            call: alert.call.clone(),
            key: alert.key.as_ref().map(ToString::to_string),
            reason: alert.reason.clone(),
        }
    }
}
