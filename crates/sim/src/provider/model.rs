//! What a double is like when nothing is wrong.

use std::sync::Arc;

use mainstay_dispatch::Value;
use mainstay_types::{CostUnits, Failure, FailureKind, Millis, Payload, Sent};

use super::answers::Answers;
use super::latency::Spread;

/// What a dependency that is read is like: a model, a search, an agent.
///
/// Unless told otherwise the class's own dependency makes the replies, half of them within 100 ms
/// and 95 of 100 within 300 ms, for as many requests at once as come.
#[derive(Clone)]
#[must_use]
pub struct SimModel {
    pub(super) traits: Traits,
}

/// What a dependency that is written to is like.
///
/// Unless told otherwise it does what its contract promises: the way to find out (by key, by
/// status, ..), how long it remembers a key. Everything else is as for [`SimModel`].
#[derive(Clone)]
#[must_use]
pub struct SimReceiver {
    pub(super) traits: Traits,
}

/// What both kinds have.
#[derive(Clone)]
pub(super) struct Traits {
    pub(super) spread: Spread,
    pub(super) capacity: Option<u32>,
    pub(super) when_full: Failure,
    pub(super) answers: Answers,
    pub(super) cut: Option<Alter>,
    pub(super) stale: Option<Alter>,
    pub(super) cost: Option<(CostUnits, CostUnits)>,
}

/// Makes another reply of one: a part of it, an old one.
pub(super) type Alter = Arc<dyn Fn(&Payload) -> Option<Payload> + Send + Sync>;

impl Traits {
    fn new() -> Self {
        Self {
            spread: Spread {
                p50: Millis::new(100),
                p95: Millis::new(300),
            },
            capacity: None,
            when_full: Failure::new(FailureKind::Overloaded, Sent::Answered)
                .message("the double is at its capacity"),
            answers: Answers::Own,
            cut: None,
            stale: None,
            cost: None,
        }
    }
}

macro_rules! settings {
    ($double:ident) => {
        impl Default for $double {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $double {
            /// One that is as the type's page says.
            pub fn new() -> Self {
                Self {
                    traits: Traits::new(),
                }
            }

            /// Half of the requests take at most so many ms; none takes less than half of that.
            pub const fn p50(mut self, ms: u64) -> Self {
                self.traits.spread.p50 = Millis::new(ms);
                self
            }

            /// 95 of 100 requests take at most so many ms; none takes more than twice that.
            pub const fn p95(mut self, ms: u64) -> Self {
                self.traits.spread.p95 = Millis::new(ms);
                self
            }

            /// Takes at most so many requests at once, and answers OVERLOADED to those beyond.
            pub const fn capacity(mut self, requests: u32) -> Self {
                self.traits.capacity = Some(requests);
                self
            }

            /// Answers like this to requests beyond its capacity.
            pub fn when_full(mut self, failure: Failure) -> Self {
                self.traits.when_full = failure;
                self
            }

            /// Replies with what `reply` makes of a request.
            pub fn answers_with<Q: Value, R: Value>(
                mut self,
                reply: impl Fn(Q) -> R + Send + Sync + 'static,
            ) -> Self {
                self.traits.answers = Answers::with(reply);
                self
            }

            /// Attempts cost something between these two, whatever the contract expects.
            pub const fn cost_between(mut self, low: CostUnits, high: CostUnits) -> Self {
                self.traits.cost = Some((low, high));
                self
            }
        }
    };
}

settings!(SimModel);
settings!(SimReceiver);

impl SimModel {
    /// What is left of a reply of which only a part came: the fault `partial_reply` needs it.
    pub fn cut_to<R: Value>(mut self, part: impl Fn(R) -> R + Send + Sync + 'static) -> Self {
        self.traits.cut = Some(alter(part));
        self
    }

    /// What a reply is like that was right some time ago: the fault `stale_reply` needs it.
    pub fn stale_to<R: Value>(mut self, old: impl Fn(R) -> R + Send + Sync + 'static) -> Self {
        self.traits.stale = Some(alter(old));
        self
    }

    /// Whether a reply can come in part.
    #[must_use]
    pub fn can_be_cut(&self) -> bool {
        self.traits.cut.is_some()
    }

    /// Whether a reply can be an old one.
    #[must_use]
    pub fn can_be_stale(&self) -> bool {
        self.traits.stale.is_some()
    }
}

fn alter<R: Value>(change: impl Fn(R) -> R + Send + Sync + 'static) -> Alter {
    Arc::new(move |reply| {
        let reply: R = mainstay_dispatch::decode(reply).ok()?;
        mainstay_dispatch::encode(&change(reply)).ok()
    })
}
