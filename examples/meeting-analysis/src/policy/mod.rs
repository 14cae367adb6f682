//! Policies: documents to retrieve from, the evidence that they give, and its snapshot.
//!
//! Evidence must never be quoted without its document, version, grade and time, and never used
//! beyond what its document allows.

mod document;
mod index;
mod query;
mod snapshot;
mod snippet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use document::{DocumentError, PolicyDocument};
pub use index::{DOCUMENTS_MAX, PolicyError, PolicyIndex};
pub(crate) use query::distinctive_terms;
pub use query::{PolicyQuery, TERMS_MAX};
pub use snapshot::{FUTURE_MS_MAX, MaxAge, SNAPSHOT_ENTRIES_MAX, Snapshot, SnapshotError};

/// What a document may be used for. Part of the evidence, so that nobody has to guess later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AllowedUse {
    /// Its text may be quoted in reports and tickets.
    Quote,
    /// Id, title and version may be named; its text may not be repeated.
    Cite,
    /// It may inform a draft and be named in a report, never in a ticket.
    Internal,
}

impl AllowedUse {
    /// The word in the front matter, for example `quote`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quote => "quote",
            Self::Cite => "cite",
            Self::Internal => "internal",
        }
    }
}

/// How good evidence is, by where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Retrieved just now.
    Live,
    /// Retrieved earlier for the same query, kept in a snapshot, not too old.
    ApprovedSnapshot,
}

impl Grade {
    /// The word in JSON and reports, for example `approved_snapshot`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::ApprovedSnapshot => "approved_snapshot",
        }
    }
}

/// A passage that answers a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    /// The document's id.
    pub doc_id: String,
    /// The document's title.
    pub title: String,
    /// The document's version.
    pub version: String,
    /// BM25 over title and body; comparable within one evidence only.
    pub score: f64,
    /// The part of the body that fits best, at most [`SNIPPET_CHARS_MAX`] characters.
    pub snippet: String,
    /// What the document may be used for.
    pub allowed_use: AllowedUse,
}

/// Longest snippet, in characters.
pub const SNIPPET_CHARS_MAX: usize = 320;

/// What retrieval found, with what is needed to trust it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyEvidence {
    /// Best first. Empty if no document holds any term.
    pub passages: Vec<Passage>,
    /// When it was retrieved, milliseconds since 1970. A snapshot keeps the original time.
    pub retrieved_at_ms: u64,
    /// BLAKE3 over ids and contents of all documents that were searched, lower-case hex.
    pub source_digest: String,
    /// Where it came from.
    pub grade: Grade,
}
