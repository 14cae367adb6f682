//! The bounds that only this crate knows; those a user may meet are in `mainstay_types::limits`.

use mainstay_types::{Millis, limits};

/// How much earlier than we stop waiting a receiver is told to be done, so that its answer still
/// has time to travel. `X-Time-Left-Ms` is the time left less this, at least 1.
pub const TRAVEL_MARGIN: Millis = Millis::new(25);

/// How much earlier than the attempt's time is up we stop waiting, so that what is known of the
/// request is told before the timeout layer, which knows less, ends the attempt.
pub const TELLING_MARGIN: Millis = Millis::new(5);

/// How long an unused connection is kept. Servers commonly close after 5 s and more; a request that
/// meets such a close on its way is in doubt for nothing.
pub const IDLE_CONNECTION: Millis = Millis::from_secs(4);

/// Unused connections kept for one client. Beyond: closed after use.
pub const IDLE_CONNECTIONS_MAX: usize = 64;

/// Longest URL in a message, in characters. Beyond: cut, with an ellipsis.
pub const SHOWN_URL_CHARS_MAX: usize = 200;

const _: () = assert!(TELLING_MARGIN.get() < TRAVEL_MARGIN.get());
const _: () = assert!(TRAVEL_MARGIN.get() < limits::HTTP_CONNECT_MS_DEFAULT);
