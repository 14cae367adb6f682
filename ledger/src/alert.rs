//! Alerts as the ledger keeps them: numbered, in the order of their commits.
//!
//! The ledger never looks inside an alert; what one says is the core's.

use mainstay_machine::Alert;
use mainstay_types::AlertSeq;

/// An alert that is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAlert {
    /// Its place among all alerts: dense from 1, in the order of the commits that made them.
    pub seq: AlertSeq,
    /// What a person or the host should hear of.
    pub alert: Alert,
}
