//! Values that must reach JSON exactly: payloads, amounts, moments.
//!
//! No number may pass through a double here, and nothing stored may make a view fail.

use chrono::{DateTime, SecondsFormat, Utc};
use mainstay_types::{CostUnits, Payload, Timestamp};
use serde_json::value::RawValue;

/// A stored payload as it is. Bytes that are not JSON are shown as a text.
pub(super) fn json(payload: &Payload) -> Box<RawValue> {
    let text = String::from_utf8_lossy(payload.as_bytes());
    RawValue::from_string(text.clone().into_owned()).unwrap_or_else(|_| {
        let quoted = serde_json::Value::String(text.into_owned()).to_string();
        number_or_text(quoted)
    })
}

/// An amount as a JSON number with all its decimals.
pub(super) fn units(cost: CostUnits) -> Box<RawValue> {
    number_or_text(cost.to_string())
}

/// A count as a JSON number.
pub(super) fn count(count: u32) -> Box<RawValue> {
    number_or_text(count.to_string())
}

fn number_or_text(text: String) -> Box<RawValue> {
    RawValue::from_string(text).expect("digits with a point, or a quoted text, are JSON")
}

/// A moment in RFC 3339, UTC, with milliseconds; what lies beyond the calendar is its end.
pub(super) fn time(at: Timestamp) -> String {
    let ms = at.as_millis();
    let edge = if ms < 0 {
        DateTime::<Utc>::MIN_UTC
    } else {
        DateTime::<Utc>::MAX_UTC
    };
    let moment = DateTime::from_timestamp_millis(ms).unwrap_or(edge);
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}
