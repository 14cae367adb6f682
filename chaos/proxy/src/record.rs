//! What became of a connection.

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// Who is at an end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Who connected to the proxy.
    Client,
    /// Whom the proxy connected to.
    Upstream,
}

/// What went one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Bytes that came.
    pub read: u64,
    /// Bytes of these that were passed on: the system took them, the other side may have read them.
    pub passed: u64,
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum End {
    /// Both sides had said all, and what they said was passed on (but for what a half-close took).
    Closed,
    /// The fault ended it.
    Fault,
    /// The upstream could not be connected to; the client's connection was reset.
    UpstreamDown {
        /// What the system says.
        why: String,
    },
    /// One side broke it; the other side's connection was reset.
    Lost {
        /// Whose connection broke.
        side: Side,
        /// What the system says.
        why: String,
    },
    /// It lasted longer than `bounds::CONNECTION_MS_MAX`.
    TimeUp,
    /// It was one more than `bounds::CONNECTIONS_MAX`, and was reset at once.
    Full,
    /// The proxy was stopped.
    Stopped,
}

/// One connection that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its number, from 1, in the order in which connections were accepted.
    pub connection: u64,
    /// Its number, from 1, in the order in which connections ended.
    pub ended: u64,
    /// What was to be done to it.
    pub fault: Option<Fault>,
    /// Whether that was done: a cut whose bytes never came is no hit.
    pub hit: bool,
    /// From the client to the upstream.
    pub request: Passage,
    /// From the upstream to the client.
    pub reply: Passage,
    /// How it ended.
    pub end: End,
}
