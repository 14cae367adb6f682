//! What is logged about each request, and the port a service's log stands behind.
//!
//! It must never hold a request's body: the log proves who asked what when, not what was said.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// What a request is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// In capitals.
    pub method: String,
    /// As sent, percent-encoded, without the query.
    pub path: String,
    /// The `X-Client` header, default `default`.
    pub client: String,
    /// The idempotency key, from the header or the path.
    pub key: Option<String>,
    /// From the body or the query.
    pub source: Option<String>,
    /// From the body or the query.
    pub position: Option<u32>,
    /// The `X-Time-Left-Ms` header: milliseconds, relative.
    pub time_left_ms: Option<u64>,
}

/// A request that has just been read.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Wall clock, milliseconds since 1970.
    pub at_ms: u64,
    /// What it is about.
    pub subject: Subject,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// What the client was told.
    pub status: Status,
    /// Whether a stored response was replayed.
    pub replayed: bool,
}

/// What the client was told: a number, or one of three words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Status {
    /// The HTTP status.
    Code(u16),
    /// No status yet, or none ever.
    Word(StatusWord),
}

/// The words of [`Status`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusWord {
    /// Still being processed.
    InFlight,
    /// The connection was closed without a status line.
    Dropped,
    /// The service ended before it had answered.
    Unfinished,
}

impl Status {
    /// Still being processed.
    pub const IN_FLIGHT: Status = Status::Word(StatusWord::InFlight);
    /// The connection was closed without a status line.
    pub const DROPPED: Status = Status::Word(StatusWord::Dropped);
    /// The service ended before it had answered.
    pub const UNFINISHED: Status = Status::Word(StatusWord::Unfinished);
}

/// One line of the request log, as `GET /requests` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Counts from 1 for the life of the log, over restarts.
    pub seq: u64,
    /// Wall clock of arrival, milliseconds since 1970.
    pub at_ms: u64,
    /// What it was about.
    #[serde(flatten)]
    pub subject: Subject,
    /// What the client was told.
    pub status: Status,
    /// Whether a stored response was replayed.
    pub replayed: bool,
}

/// Which entries are asked for. Query of `GET /requests`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogFilter {
    /// The method, in capitals.
    pub method: Option<String>,
    /// The start of the path.
    pub path_prefix: Option<String>,
    /// Only entries behind this `seq`.
    pub cursor: Option<u64>,
    /// At most so many; 1 to [`LogFilter::LIMIT_MAX`], default [`LogFilter::LIMIT_DEFAULT`].
    pub limit: Option<usize>,
}

impl LogFilter {
    /// Page size when none is asked for.
    pub const LIMIT_DEFAULT: usize = 1_000;
    /// Largest page; a larger limit is cut to it.
    pub const LIMIT_MAX: usize = 10_000;

    /// The page size in force.
    pub fn page(&self) -> usize {
        self.limit
            .unwrap_or(Self::LIMIT_DEFAULT)
            .clamp(1, Self::LIMIT_MAX)
    }

    /// Whether an entry is meant, the cursor left aside.
    pub fn covers(&self, subject: &Subject) -> bool {
        self.method
            .as_deref()
            .is_none_or(|method| subject.method == method)
            && self
                .path_prefix
                .as_deref()
                .is_none_or(|start| subject.path.starts_with(start))
    }
}

/// Answer of `GET /requests`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogPage {
    /// Oldest first.
    pub requests: Vec<Entry>,
    /// The cursor of the next page; `None` when this is the last.
    pub next_cursor: Option<u64>,
    /// How many entries the log holds that the filter covers, on all pages.
    pub total: u64,
}

/// The log failed; the request it was about is refused, so that the log can be trusted.
#[derive(Debug, thiserror::Error)]
#[error("request log: {0}")]
pub struct LogError(pub String);

/// Where a service keeps its log. Calls may block; the kit makes them off the async threads.
pub trait RequestLog: Send + Sync + 'static {
    /// Notes a request as in flight and gives it its `seq`.
    fn arrived(&self, arrival: &Arrival) -> Result<u64, LogError>;

    /// Notes how the request ended.
    fn concluded(&self, seq: u64, conclusion: Conclusion) -> Result<(), LogError>;

    /// One page of the log.
    fn page(&self, filter: &LogFilter) -> Result<LogPage, LogError>;
}

/// Wall clock, milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
