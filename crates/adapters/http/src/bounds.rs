//! The bounds of this crate, from `mainstay_types::limits`, in the types they are used in.

use mainstay_types::{Millis, limits};

pub use limits::{
    HTTP_IDLE_CONNECTIONS_MAX as IDLE_CONNECTIONS_MAX, HTTP_REFUSAL_BYTES_MAX as REFUSAL_BYTES_MAX,
    HTTP_SHOWN_URL_CHARS_MAX as SHOWN_URL_CHARS_MAX,
};

/// `X-Time-Left-Ms` is the time left less this, at least 1.
pub const TRAVEL_MARGIN: Millis = Millis::new(limits::HTTP_TRAVEL_MARGIN_MS);

/// The adapter stops waiting this much before the attempt's time is up.
pub const TELLING_MARGIN: Millis = Millis::new(limits::HTTP_TELLING_MARGIN_MS);

/// How long an unused connection is kept.
pub const IDLE_CONNECTION: Millis = Millis::new(limits::HTTP_IDLE_CONNECTION_MS_MAX);
