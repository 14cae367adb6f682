//! The layers an attempt passes on its way out, outermost first: trace, timeout, classify, then
//! the user's own.
//!
//! Each has one reason to exist, told at the top of its file. None may retry, change the request or
//! hold an attempt back: holding back is what gates do, before anything is recorded.

mod classify;
mod timeout;
mod trace;

pub(crate) use classify::Classify;
pub(crate) use timeout::Timeout;
pub(crate) use trace::Trace;
