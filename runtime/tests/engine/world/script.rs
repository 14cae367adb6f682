//! What the outside does with what it is asked, as each test wants it.

use mainstay_types::{CostUnits, Failure, FailureKind, Millis, Sent};

/// A request as it arrives outside.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// How much had happened in the world before it: appends and requests.
    pub(crate) tick: u64,
    /// Milliseconds since the world began.
    pub(crate) at: u64,
    pub(crate) dependency: String,
    pub(crate) run: String,
    pub(crate) call: String,
    pub(crate) attempt: u32,
    /// The how-manieth request of this call of this run, look-ups apart, from 1.
    pub(crate) nth: usize,
    /// The how-manieth look-up of this call of this run, from 1; 0 for a request.
    pub(crate) look_up: usize,
    pub(crate) key: Option<String>,
    pub(crate) fence: u32,
    pub(crate) time_left: u64,
    pub(crate) traceparent: Option<String>,
    pub(crate) body: String,
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(crate) enum Does {
    /// It is answered after so many milliseconds; a write is in the world from its arrival.
    Answer(u64),
    /// The same, and the answer says what it cost and how many more requests its client library
    /// sent for it.
    Bill(u64, CostUnits, u32),
    /// It fails after so many milliseconds, and nothing was done.
    Fail(u64, Failure),
    /// Nothing is done and nothing comes back.
    Hang,
    /// The adapter panics after so many milliseconds; nothing was done.
    Panic(u64),
    /// A write lands after so many milliseconds, and nothing comes back.
    Lose(u64),
    /// A write lands after so many milliseconds, and the adapter fails after so many.
    LandAndFail(u64, u64, Failure),
    /// A write lands after so many milliseconds, and is answered after so many.
    LandLater(u64, u64),
    /// A part of a write is done on arrival, and the adapter fails after so many milliseconds.
    LandInPart(u64, Failure),
}

/// What becomes of a look-up.
#[derive(Clone, Debug)]
pub(crate) enum Find {
    /// The receiver says what is true, after so many milliseconds.
    Truth(u64),
    /// The receiver says that it does not know the key, whatever is true.
    NotFound(u64),
    /// The receiver is still at it.
    InProgress(u64),
    /// A part was done.
    Partly(u64),
    /// The receiver cannot be asked.
    CannotTell(u64),
    /// Nothing comes back.
    Hang,
    /// The adapter panics.
    Panic,
}

/// A failure of this kind whose request may have arrived.
pub(crate) fn maybe_sent(kind: FailureKind) -> Failure {
    Failure::new(kind, Sent::MaybeSent)
}

/// A failure of this kind that the receiver answered with.
pub(crate) fn refused(kind: FailureKind) -> Failure {
    Failure::new(kind, Sent::Answered)
}

/// The connection never stood.
pub(crate) fn not_sent() -> Failure {
    Failure::new(FailureKind::TransientTransport, Sent::NotSent)
}

/// Try again after so many milliseconds.
pub(crate) fn busy(retry_after: u64) -> Failure {
    refused(FailureKind::Overloaded).retry_after(Millis::new(retry_after))
}
