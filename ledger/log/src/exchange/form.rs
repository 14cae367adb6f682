//! The form of an export: JSON Lines, each with its checksum, in a fixed order, with an end.
//!
//! A line is `{"check":"<crc32, 8 hex digits>","body":{"<kind>":{…}}}`; the checksum is over the
//! bytes of the body as they stand. The order is: one `head`, every `class`, then each `run` with
//! its `records` and `row`s, then `row`s that belong to no exported run, and one `end`, which
//! counts the lines before it and carries a digest over their checksums. Bytes are base64 and
//! prove themselves beyond that; what stands beside them in words is for readers and is not read
//! back.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::ExchangeError;

/// The version of the form. A change that an older reader would misread is a new number.
pub(crate) const FORM: u32 = 1;

/// Bytes as base64.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text.as_bytes());
        bytes.map(Self).map_err(serde::de::Error::custom)
    }
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Body {
    Head(HeadLine),
    Class(RowLine),
    Run(RunLine),
    Records(RecordsLine),
    Row(RowLine),
    End(EndLine),
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeadLine {
    /// [`FORM`].
    pub(crate) mainstay_export: u32,
    /// The program that wrote it.
    pub(crate) by: String,
    /// The store it comes from.
    pub(crate) store: String,
    /// The one run it has; absent when it has all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) only: Option<String>,
}

/// Where a run stands; its records and rows follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunLine {
    pub(crate) run: String,
    /// How many records follow.
    pub(crate) events: u64,
    /// For readers: tenant, class, state, outcome.
    pub(crate) about: String,
    pub(crate) row: Bytes,
}

/// Records of the run before, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordsLine {
    pub(crate) first: u64,
    pub(crate) records: Vec<RecordForm>,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordForm {
    /// For readers: when it was decided, in milliseconds since 1970.
    pub(crate) at_ms: i64,
    /// For readers: the event's name.
    pub(crate) event: String,
    pub(crate) bytes: Bytes,
}

/// A row of how things stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowLine {
    /// For readers: what it is about.
    pub(crate) about: String,
    pub(crate) key: Bytes,
    pub(crate) value: Bytes,
}

/// The last line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndLine {
    /// Lines before this one.
    pub(crate) lines: u64,
    /// Runs in it.
    pub(crate) runs: u64,
    /// Runs that could not be read, and are not in it.
    pub(crate) left_out: Vec<LeftOut>,
    /// blake3 over the checksums of all lines before this one, as they stand.
    pub(crate) digest: String,
}

/// A run that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The run.
    pub run: String,
    /// Why, with its code in front.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outer<'a> {
    check: &'a str,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// What is known of the lines so far.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) lines: u64,
    hasher: blake3::Hasher,
}

impl Tally {
    fn count(&mut self, check: &str) {
        self.lines += 1;
        self.hasher.update(check.as_bytes());
    }

    /// The digest over everything so far.
    pub(crate) fn digest(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
}

/// The line that says `body`, with its line feed; counts it.
pub(crate) fn write_line(tally: &mut Tally, body: &Body) -> Result<String, ExchangeError> {
    let body = serde_json::to_string(body)
        .map_err(|error| ExchangeError::Output(std::io::Error::other(error)))?;
    let check = format!("{:08x}", crc32fast::hash(body.as_bytes()));
    tally.count(&check);
    Ok(format!("{{\"check\":\"{check}\",\"body\":{body}}}\n"))
}

/// What the line says; counts it. The error is its text alone.
pub(crate) fn read_line(tally: &mut Tally, line: &str) -> Result<Body, String> {
    let outer: Outer<'_> =
        serde_json::from_str(line).map_err(|error| format!("it has no form of a line: {error}"))?;
    let body = outer.body.get();
    let check = format!("{:08x}", crc32fast::hash(body.as_bytes()));
    if check != outer.check {
        return Err(format!(
            "its body has checksum {check}, the line says {}",
            outer.check
        ));
    }
    let body = serde_json::from_str(body).map_err(|error| format!("its body: {error}"))?;
    if !matches!(body, Body::End(_)) {
        tally.count(&check);
    }
    Ok(body)
}
