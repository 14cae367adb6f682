//! What one socket may cost its process.
//!
//! The defaults are `types::limits`; smaller ones are for tests and for small machines.

use std::time::Duration;

use mainstay_types::limits;

/// Bounds of one socket. Each has its line in `types::limits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections that are served at once; beyond, SOCKET_BUSY.
    pub connections_max: usize,
    /// Time for the head of a request, and again for its body; beyond, closed.
    pub read_within: Duration,
    /// Time from a whole request to its answer; beyond, SOCKET_FAILED.
    pub answer_within: Duration,
    /// Life of a connection; beyond, closed.
    pub connection_within: Duration,
    /// Time that requests under way have when the engine is over; beyond, closed.
    pub drain_within: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: limits::SOCKET_CONNECTIONS_MAX,
            read_within: Duration::from_millis(limits::SOCKET_READ_MS_MAX),
            answer_within: Duration::from_millis(limits::SOCKET_ANSWER_MS_MAX),
            connection_within: Duration::from_millis(limits::SOCKET_CONNECTION_MS_MAX),
            drain_within: Duration::from_millis(limits::SOCKET_DRAIN_MS_MAX),
        }
    }
}
