//! What a class says about itself as a whole: budget, times, reserves.
//!
//! It only carries numbers; whether they fit together is for the graph's validation to say.

use mainstay_graph::{OnDowntime, Times};
use mainstay_types::{CostUnits, Millis, Tokens};

/// `n` milliseconds.
#[must_use]
pub const fn ms(n: u64) -> Millis {
    Millis::new(n)
}

/// `n` seconds.
#[must_use]
pub const fn secs(n: u64) -> Millis {
    Millis::from_secs(n)
}

/// `n` minutes.
#[must_use]
pub const fn mins(n: u64) -> Millis {
    Millis::from_mins(n)
}

/// `n` hours.
#[must_use]
pub const fn hours(n: u64) -> Millis {
    Millis::from_hours(n)
}

/// `n` days of 24 hours.
#[must_use]
pub const fn days(n: u64) -> Millis {
    Millis::from_days(n)
}

/// A cost: whole units as a number, or [`CostUnits`] for parts (`CostUnits::milli(100)` is 0.1).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no cost",
    note = "write whole units as a number (`18`), parts as `CostUnits::milli(100)` (0.1 unit)"
)]
pub trait Cost {
    /// The amount.
    fn units(self) -> CostUnits;
}

impl Cost for u64 {
    fn units(self) -> CostUnits {
        CostUnits::units(self)
    }
}

impl Cost for CostUnits {
    fn units(self) -> CostUnits {
        self
    }
}

/// What a lap may spend, and until when.
///
/// Defaults: an answer within 30 s, 3 retries, 8 attempts at once, 100 cost units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    pub(crate) spend: mainstay_graph::Budget,
    pub(crate) times: Times,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

impl Budget {
    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        let spend = mainstay_graph::Budget {
            retry_tokens: Tokens::new(3),
            concurrency_tokens: Tokens::new(8),
            cost_units: CostUnits::units(100),
        };
        Self {
            spend,
            times: Times::answer_by(secs(30)),
        }
    }

    /// When the caller stops waiting, from the start.
    #[must_use]
    pub const fn answer_by(mut self, answer_by: Millis) -> Self {
        self.times.answer_by = answer_by;
        self
    }

    /// Until when attempts may run, from the start. Default: `answer_by` less the delivery reserve.
    #[must_use]
    pub const fn work_by(mut self, work_by: Millis) -> Self {
        self.times.work_by = Some(work_by);
        self
    }

    /// When the run is void as business, from the start. Default: never.
    #[must_use]
    pub const fn expires_at(mut self, expires_at: Millis) -> Self {
        self.times.expires_at = Some(expires_at);
        self
    }

    /// How long after `answer_by` an effect in doubt may keep the outcome open. Default: 24 h.
    #[must_use]
    pub const fn doubt_wait(mut self, doubt_wait: Millis) -> Self {
        self.times.doubt_wait = doubt_wait;
        self
    }

    /// Retry tokens, for the whole run: each attempt beyond the first of a call uses one, on the
    /// same provider or another; a snapshot, a cache or local compute uses none, nor does a write
    /// whose process died and that is proven never to have arrived.
    #[must_use]
    pub const fn retries(mut self, tokens: u32) -> Self {
        self.spend.retry_tokens = Tokens::new(tokens);
        self
    }

    /// Attempts in flight at once.
    #[must_use]
    pub const fn concurrency(mut self, tokens: u32) -> Self {
        self.spend.concurrency_tokens = Tokens::new(tokens);
        self
    }

    /// What all attempts together may cost.
    #[must_use]
    pub fn cost(mut self, cost: impl Cost) -> Self {
        self.spend.cost_units = cost.units();
        self
    }
}

/// What a lap may do at most, beside its budget. Default: no cap.
///
/// A call that a cap stops is treated as one that the budget stops: see
/// [`Builder::on_limit`](crate::Builder::on_limit).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    pub(crate) data: mainstay_graph::Caps,
    pub(crate) dependencies: Vec<(String, Cap)>,
}

impl Caps {
    /// No cap.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Attempts of all calls. Look-ups do not count.
    #[must_use]
    pub const fn attempts(mut self, most: u32) -> Self {
        self.data.attempts = Some(most);
        self
    }

    /// Calls that have attempts, items of lists included.
    #[must_use]
    pub const fn branches(mut self, most: u32) -> Self {
        self.data.branches = Some(most);
        self
    }

    /// Attempted calls that may wait for each other in a row; checked when the class is built.
    #[must_use]
    pub const fn depth(mut self, most: u32) -> Self {
        self.data.depth = Some(most);
        self
    }

    /// Cost that is reserved at once, for attempts in flight.
    #[must_use]
    pub fn parallel_cost(mut self, most: impl Cost) -> Self {
        self.data.parallel_cost = Some(most.units());
        self
    }

    /// What the dependency of this name may take of the budget, whichever calls ask it.
    #[must_use]
    pub fn dependency(mut self, name: &str, cap: Cap) -> Self {
        self.dependencies.push((name.to_owned(), cap));
        self
    }
}

/// What one dependency may take of a lap's budget. Default: no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cap {
    pub(crate) retries: Option<Tokens>,
    pub(crate) concurrency: Option<Tokens>,
    pub(crate) cost: Option<CostUnits>,
}

impl Cap {
    /// No cap.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Retry tokens.
    #[must_use]
    pub const fn retries(mut self, tokens: u32) -> Self {
        self.retries = Some(Tokens::new(tokens));
        self
    }

    /// Attempts in flight at once.
    #[must_use]
    pub const fn concurrency(mut self, tokens: u32) -> Self {
        self.concurrency = Some(Tokens::new(tokens));
        self
    }

    /// What all its attempts together may cost.
    #[must_use]
    pub fn cost(mut self, cost: impl Cost) -> Self {
        self.cost = Some(cost.units());
        self
    }
}

/// Time kept back for later stages. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reserve(pub(crate) mainstay_graph::Reserve);

impl Reserve {
    /// No time kept back.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For putting the result together.
    #[must_use]
    pub const fn synthesis(mut self, length: Millis) -> Self {
        self.0.synthesis = length;
        self
    }

    /// For asking what became of a write.
    #[must_use]
    pub const fn reconcile(mut self, length: Millis) -> Self {
        self.0.reconcile = length;
        self
    }

    /// For giving the answer to the caller.
    #[must_use]
    pub const fn deliver(mut self, length: Millis) -> Self {
        self.0.deliver = length;
        self
    }
}

/// Times are moments of the wall clock: downtime does not move them. The default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absolute;

/// Downtime moves the run's times, by at most this much in total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extend(pub Millis);

impl From<Absolute> for OnDowntime {
    fn from(_: Absolute) -> Self {
        Self::Absolute
    }
}

impl From<Extend> for OnDowntime {
    fn from(Extend(max): Extend) -> Self {
        Self::Extend { max }
    }
}
