//! What became of all connections.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Sums over all connections, also those whose records are forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Connections that were accepted.
    pub connections: u64,
    /// Those of them that have ended.
    pub ended: u64,
    /// Those of them that had a fault.
    pub with_fault: u64,
    /// Those of them whose fault hit.
    pub hit: u64,
    /// Bytes passed on from clients to the upstream, on connections that have ended.
    pub request_bytes: u64,
    /// Bytes passed on from the upstream to clients, on connections that have ended.
    pub reply_bytes: u64,
    /// Records beyond `bounds::LOG_RECORDS_MAX`.
    pub forgotten: u64,
    /// How often the system did not let the proxy accept.
    pub accept_failures: u64,
}

impl Totals {
    pub(crate) fn count(&mut self, record: &Record) {
        self.ended += 1;
        self.with_fault += u64::from(record.fault.is_some());
        self.hit += u64::from(record.hit);
        self.request_bytes += record.request.passed;
        self.reply_bytes += record.reply.passed;
    }

    /// Connections that are open.
    #[must_use]
    pub const fn open(&self) -> u64 {
        self.connections.saturating_sub(self.ended)
    }
}
