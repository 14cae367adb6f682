//! What went wrong with an attempt: a stable kind, and whether the request may have left.
//!
//! Providers' own codes stand beside the kind, never instead of it: decisions look at the kind
//! and at [`Sent`] only.

use std::fmt;

use crate::units::{CostUnits, Millis};

/// The ten failure kinds. Source: mission A7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// The request itself is wrong; the same request will always fail.
    InvalidInput,
    /// Identity or right is missing; never retried by the engine.
    Unauthorized,
    /// The provider limits our rate; it may say when to come back.
    RateLimited,
    /// The provider has too much to do; back off.
    Overloaded,
    /// The connection or a proxy failed.
    TransientTransport,
    /// The provider answered that it cannot do this, and will not later.
    PermanentProvider,
    /// An answer came, but it breaks its schema or its grounding.
    ResultInvalid,
    /// A write without an answer: it may have happened.
    EffectUnknown,
    /// Time ran out before or during the attempt.
    DeadlineExhausted,
    /// The run, or this call, was canceled.
    Canceled,
}

impl FailureKind {
    /// Every kind, in the order of the table above.
    pub const ALL: [Self; 10] = [
        Self::InvalidInput,
        Self::Unauthorized,
        Self::RateLimited,
        Self::Overloaded,
        Self::TransientTransport,
        Self::PermanentProvider,
        Self::ResultInvalid,
        Self::EffectUnknown,
        Self::DeadlineExhausted,
        Self::Canceled,
    ];

    /// The stable code, for example `RATE_LIMITED`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidInput => "INVALID_INPUT",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::RateLimited => "RATE_LIMITED",
            Self::Overloaded => "OVERLOADED",
            Self::TransientTransport => "TRANSIENT_TRANSPORT",
            Self::PermanentProvider => "PERMANENT_PROVIDER",
            Self::ResultInvalid => "RESULT_INVALID",
            Self::EffectUnknown => "EFFECT_UNKNOWN",
            Self::DeadlineExhausted => "DEADLINE_EXHAUSTED",
            Self::Canceled => "CANCELED",
        }
    }

    /// The kind with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == code)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether the request of a failed attempt may have reached its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sent {
    /// Proven: no byte of the request left, or the connection never stood.
    NotSent,
    /// It may have arrived, and may still act.
    MaybeSent,
    /// The receiver answered: it knows the request and said how it ended.
    Answered,
}

impl Sent {
    /// The stable code, for example `MAYBE_SENT`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSent => "NOT_SENT",
            Self::MaybeSent => "MAYBE_SENT",
            Self::Answered => "ANSWERED",
        }
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed attempt, as the adapter saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The stable kind, which decides what may come next.
    pub kind: FailureKind,
    /// Whether the request may have left.
    pub sent: Sent,
    /// The provider's own code (an HTTP status, an error name), for people.
    pub provider_code: Option<String>,
    /// One line for people; must not hold secrets. Bound: `limits::TEXT_BYTES_MAX`.
    pub message: Option<String>,
    /// How long the provider asked us to wait.
    pub retry_after: Option<Millis>,
    /// Requests a client library sent inside this attempt beyond the first: retries of its own, and
    /// each extra copy of a hedge. One retry token of the run is deducted for each.
    pub client_retries: u32,
    /// What the attempt cost, when the provider said so.
    pub cost: Option<CostUnits>,
}

impl Failure {
    /// A failure of `kind`, with nothing else known.
    #[must_use]
    pub const fn new(kind: FailureKind, sent: Sent) -> Self {
        Self {
            kind,
            sent,
            provider_code: None,
            message: None,
            retry_after: None,
            client_retries: 0,
            cost: None,
        }
    }

    /// Adds the provider's own code.
    #[must_use]
    pub fn provider_code(mut self, code: impl Into<String>) -> Self {
        self.provider_code = Some(code.into());
        self
    }

    /// Adds one line for people.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Adds how long the provider asked us to wait.
    #[must_use]
    pub const fn retry_after(mut self, wait: Millis) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Adds how many requests a client library sent beyond the first: its retries, and each extra
    /// copy of a hedge.
    #[must_use]
    pub const fn client_retries(mut self, retries: u32) -> Self {
        self.client_retries = retries;
        self
    }

    /// Adds what the attempt cost.
    #[must_use]
    pub const fn cost(mut self, cost: CostUnits) -> Self {
        self.cost = Some(cost);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.kind, self.sent)?;
        if let Some(code) = &self.provider_code {
            write!(f, ", provider code {code}")?;
        }
        if let Some(message) = &self.message {
            write!(f, ": {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
