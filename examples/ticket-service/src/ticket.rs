//! A ticket, the payload that makes one, and what "the same payload" means.
//!
//! It must never accept a field it does not know: two payloads that differ in it would look alike.

use serde::{Deserialize, Serialize};
use service_kit::Problem;

/// Longest `title`, in characters.
const TITLE_CHARS_MAX: usize = 1_000;
/// Longest `source`, in characters.
const SOURCE_CHARS_MAX: usize = 512;
/// Longest `owner`, in characters.
const OWNER_CHARS_MAX: usize = 256;
/// Most citations of one ticket.
const CITATIONS_MAX: usize = 100;

/// Body of `POST /tickets`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewTicket {
    /// What it was made from: a digest, a URL. 1 to 512 characters.
    pub source: String,
    /// Which item of the source it is.
    pub position: u32,
    /// What is to be done. 1 to 1,000 characters.
    pub title: String,
    /// The rest; may be empty.
    pub body: String,
    /// Who is to do it.
    #[serde(default)]
    pub owner: Option<String>,
    /// Where it says so; at most 100.
    #[serde(default)]
    pub citations: Vec<String>,
}

/// A stored ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// `T-` and a number that counts from 1.
    pub id: String,
    /// The idempotency key it was written under.
    pub key: String,
    /// See [`NewTicket::source`].
    pub source: String,
    /// See [`NewTicket::position`].
    pub position: u32,
    /// See [`NewTicket::title`].
    pub title: String,
    /// See [`NewTicket::body`].
    pub body: String,
    /// See [`NewTicket::owner`].
    pub owner: Option<String>,
    /// See [`NewTicket::citations`].
    pub citations: Vec<String>,
    /// Wall clock, milliseconds since 1970.
    pub created_at_ms: u64,
}

impl NewTicket {
    /// The payload in `body`, or the 400 to answer.
    pub(crate) fn read(body: &[u8]) -> Result<NewTicket, Problem> {
        let new: NewTicket = serde_json::from_slice(body)
            .map_err(|e| Problem::bad("JSON_INVALID", format!("body: {e}")))?;
        new.check()?;
        Ok(new)
    }

    fn check(&self) -> Result<(), Problem> {
        if self.title.trim().is_empty() {
            return Err(Problem::bad("TITLE_EMPTY", "title is empty"));
        }
        if self.source.trim().is_empty() {
            return Err(Problem::bad("SOURCE_EMPTY", "source is empty"));
        }
        for (name, text, chars_max) in [
            ("title", self.title.as_str(), TITLE_CHARS_MAX),
            ("source", self.source.as_str(), SOURCE_CHARS_MAX),
            (
                "owner",
                self.owner.as_deref().unwrap_or_default(),
                OWNER_CHARS_MAX,
            ),
        ] {
            if chars_max < text.chars().count() {
                let detail = format!("{name} is longer than {chars_max} characters");
                return Err(Problem::bad("TICKET_INVALID", detail));
            }
        }
        if CITATIONS_MAX < self.citations.len() {
            let detail = format!("there are more than {CITATIONS_MAX} citations");
            return Err(Problem::bad("TICKET_INVALID", detail));
        }
        Ok(())
    }

    /// Digest of the payload's meaning: order of fields and white space do not change it.
    pub(crate) fn fingerprint(&self) -> String {
        let canonical = serde_json::to_vec(self).expect("strings and numbers only");
        blake3::hash(&canonical).to_hex().to_string()
    }
}

/// `T-17`.
pub(crate) fn id_text(row: i64) -> String {
    format!("T-{row}")
}

/// The row of `T-17`; `None` when the text is no id.
pub(crate) fn id_row(text: &str) -> Option<i64> {
    let row = text.strip_prefix("T-")?.parse().ok()?;
    (id_text(row) == text).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_meaning_has_the_same_fingerprint() {
        let plain = NewTicket::read(
            br#"{"source":"s","position":1,"title":"t","body":"b","owner":null,"citations":[]}"#,
        );
        let spaced = NewTicket::read(br#"{ "title":"t", "body":"b", "position":1, "source":"s" }"#);
        let other = NewTicket::read(br#"{"title":"t","body":"b","position":2,"source":"s"}"#);
        let print = |new: Result<NewTicket, Problem>| new.unwrap().fingerprint();
        let plain = print(plain);
        assert_eq!(plain, print(spaced));
        assert_ne!(plain, print(other));
    }

    #[test]
    fn an_id_is_read_only_as_it_is_written() {
        assert_eq!(id_row("T-17"), Some(17));
        for text in ["17", "T-", "T-017", "T-+1", "t-1"] {
            assert_eq!(id_row(text), None, "{text}");
        }
    }
}
