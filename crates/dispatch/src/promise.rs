//! What a dependency itself promises: the defaults of every contract that names it.
//!
//! A promise is about the dependency, not about a run: how much of a run's time or budget a call
//! may take is said by the class, which may also override each promise.

use mainstay_graph::{Backoff, CancelSemantics};
use mainstay_types::{CostUnits, Millis, Tokens};

/// Whether a receiver tells a repeated request from a new one by its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keys {
    /// It does not look at keys: each send may change the world again.
    #[default]
    Ignored,
    /// The same key changes the world once.
    Honoured,
}

/// What a dependency promises, with defaults that promise little.
///
/// ```
/// use mainstay_dispatch::{Keys, Millis, Promise};
/// let promise = Promise::new().operation("create_ticket").timeout(Millis::from_secs(3));
/// assert_eq!(promise.keys, Keys::Ignored);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// What is asked of it, for example `retrieve_policy_evidence`; `None`: its name.
    pub operation: Option<String>,
    /// The longest one attempt may take. Default: 5 s.
    pub timeout: Millis,
    /// How long nine of ten attempts take. Default: a fifth of the timeout.
    pub estimate: Option<Millis>,
    /// An attempt with less time than this is not worth starting. Default: 50 ms, at most the
    /// timeout.
    pub min_useful: Option<Millis>,
    /// What an attempt is expected to cost. Default: 1 unit, so that forgetting it cannot make a
    /// budget endless.
    pub cost: CostUnits,
    /// How long to wait between attempts. Default: 100 ms, doubling up to 2 s.
    pub backoff: Backoff,
    /// The most retry tokens one call may use. Default: all of the run's.
    pub retry_cap: Option<Tokens>,
    /// What a cancel of an attempt is worth. Default: it may or may not stop.
    pub cancel: CancelSemantics,
    /// For writes: whether a repeated key is seen as such. Default: it is not.
    pub keys: Keys,
    /// For writes: how long the receiver may take to act on a request it accepted. Default: 30 s.
    pub receiver_bound: Millis,
    /// For writes: how long the receiver remembers a key. Default: for good.
    pub receiver_key_ttl: Option<Millis>,
}

impl Default for Promise {
    fn default() -> Self {
        Self::new()
    }
}

impl Promise {
    /// A promise of the defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            operation: None,
            timeout: Millis::from_secs(5),
            estimate: None,
            min_useful: None,
            cost: CostUnits::units(1),
            backoff: Backoff {
                base: Millis::new(100),
                max: Millis::from_secs(2),
            },
            retry_cap: None,
            cancel: CancelSemantics::BestEffort,
            keys: Keys::Ignored,
            receiver_bound: Millis::from_secs(30),
            receiver_key_ttl: None,
        }
    }

    /// Names what is asked of the dependency.
    #[must_use]
    pub fn operation(mut self, operation: impl Into<String>) -> Self {
        self.operation = Some(operation.into());
        self
    }

    /// The estimate, or its default.
    #[must_use]
    pub fn estimate_or_default(&self) -> Millis {
        self.estimate.unwrap_or(Millis::new(self.timeout.get() / 5))
    }

    /// The least useful time, or its default.
    #[must_use]
    pub fn min_useful_or_default(&self) -> Millis {
        self.min_useful.unwrap_or(Millis::new(50).min(self.timeout))
    }

    /// Sets the longest one attempt may take.
    #[must_use]
    pub const fn timeout(mut self, timeout: Millis) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long nine of ten attempts take.
    #[must_use]
    pub const fn estimate(mut self, estimate: Millis) -> Self {
        self.estimate = Some(estimate);
        self
    }

    /// Sets the least time an attempt is worth starting with.
    #[must_use]
    pub const fn min_useful(mut self, min_useful: Millis) -> Self {
        self.min_useful = Some(min_useful);
        self
    }

    /// Sets what an attempt is expected to cost.
    #[must_use]
    pub const fn cost(mut self, cost: CostUnits) -> Self {
        self.cost = cost;
        self
    }

    /// Sets the waits between attempts: the first one's upper end, and that of every one.
    #[must_use]
    pub const fn backoff(mut self, base: Millis, max: Millis) -> Self {
        self.backoff = Backoff { base, max };
        self
    }

    /// Caps the retry tokens that one call may use.
    #[must_use]
    pub const fn retry_cap(mut self, cap: Tokens) -> Self {
        self.retry_cap = Some(cap);
        self
    }

    /// Says what a cancel of an attempt is worth.
    #[must_use]
    pub const fn cancel(mut self, cancel: CancelSemantics) -> Self {
        self.cancel = cancel;
        self
    }

    /// Promises that a repeated key changes the world once, for as long as `ttl` (`None`: for
    /// good).
    #[must_use]
    pub const fn honours_keys(mut self, ttl: Option<Millis>) -> Self {
        self.keys = Keys::Honoured;
        self.receiver_key_ttl = ttl;
        self
    }

    /// Promises that an accepted request is acted on within `bound`, or never.
    #[must_use]
    pub const fn receiver_bound(mut self, bound: Millis) -> Self {
        self.receiver_bound = bound;
        self
    }
}
