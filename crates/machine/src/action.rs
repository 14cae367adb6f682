//! What has to be done outside for a run, as a function of its state.
//!
//! Each action names its call and attempt, so that the runtime can compare the list with what is
//! running: it starts what is new and drops what vanished.

use mainstay_types::{AttemptNo, CallId, Rung, Timestamp};

/// Something to be done outside the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Time or the state demands a step of the core itself: send `Command::Advance`.
    Advance,
    /// Run the call's own code: its request, items, value or predicate.
    Prepare {
        /// Which call.
        call: CallId,
    },
    /// The call could start: ask the gates, then send `Command::Authorize`.
    Start {
        /// Which call.
        call: CallId,
        /// On which rung.
        rung: Rung,
    },
    /// An attempt is out: it has to be running.
    Attempt {
        /// Which call.
        call: CallId,
        /// Which attempt.
        attempt: AttemptNo,
    },
    /// Ask the receiver what became of the write.
    LookUp {
        /// The call that writes.
        call: CallId,
        /// The how-manieth look-up of this effect, from 1; no number is used twice.
        number: u32,
        /// Not before this moment.
        at: Timestamp,
    },
    /// All values are there: put the result together.
    Assemble,
    /// Look again at this moment.
    WakeAt(Timestamp),
}
