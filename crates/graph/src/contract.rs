//! Contracts: what an edge and its dependency promise each other.
//!
//! Only promises, no policy: what is done about a broken one is decided by the core.

use mainstay_types::{CostUnits, DependencyName, EffectName, Millis, Rung, Tokens, limits};

use crate::class::Schema;

/// The promises of one edge. Source: mission A1 and 001 section 4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The port of the class that is asked.
    pub dependency: DependencyName,
    /// What is asked of it, for example `retrieve_policy_evidence`.
    pub operation: String,
    /// What an attempt does to the world.
    pub effect: EffectSemantics,
    /// What a cancel of it is worth.
    pub cancel: CancelSemantics,
    /// What is done with an answer that comes too late to be the call's value; `None`: the default
    /// of its effect, see [`OnLate::of`].
    pub on_late: Option<OnLate>,
    /// How long after its timeout an attempt that was given up is still waited for; `None`: not at
    /// all. From 1 ms to `limits::ORPHAN_TTL_MS_MAX`.
    pub orphan_ttl: Option<Millis>,
    /// Attempts of the primary. From 1 to `limits::CALL_ATTEMPTS_MAX`.
    pub max_attempts: u32,
    /// The longest one attempt may take.
    pub timeout: Millis,
    /// How long an attempt is expected to take (nine of ten).
    pub estimate: Millis,
    /// An attempt with less time than this is not worth starting.
    pub min_useful: Millis,
    /// What an attempt is expected to cost.
    pub cost: CostUnits,
    /// Time this edge keeps back for what comes after it, beside the class's reserves.
    pub deadline_reserve: Millis,
    /// How long to wait between attempts.
    pub backoff: Backoff,
    /// Whether the class can ask once more with what was wrong when a reply does not keep its
    /// schema. Only for reads.
    pub repair: bool,
    /// The most retry tokens this call may use; `None`: all of the run's.
    pub retry_cap: Option<Tokens>,
    /// What is tried after the primary, in order.
    pub fallbacks: Vec<Fallback>,
    /// The request's schema.
    pub request: Schema,
    /// The reply's schema.
    pub reply: Schema,
}

impl Contract {
    /// How long after a send the request may still land, given the receiver's bound.
    #[must_use]
    pub fn horizon(&self, effect: &EffectContract) -> Millis {
        Millis::new(limits::SEND_WINDOW_MS) + self.timeout + effect.receiver_bound
    }

    /// How young a key must be, less than its TTL, for a request with this timeout to be sent again
    /// under it: it lands, and can be looked up, while the receiver remembers the key.
    #[must_use]
    pub fn resend_needs(&self, effect: &EffectContract, timeout: Millis) -> Millis {
        let horizon = Millis::new(limits::SEND_WINDOW_MS) + timeout + effect.receiver_bound;
        timeout + horizon + Millis::new(limits::KEY_TTL_SKEW_MS)
    }

    /// What is done with an answer that comes too late to be the call's value.
    #[must_use]
    pub fn late(&self) -> OnLate {
        self.on_late.unwrap_or(OnLate::of(self.effect))
    }

    /// The fallback that stands on `rung`; `None` for the primary, and beyond the last.
    #[must_use]
    pub fn fallback(&self, rung: Rung) -> Option<&Fallback> {
        let below = usize::from(rung.get()).checked_sub(1)?;
        self.fallbacks.get(below)
    }

    /// Whom an attempt on `rung` asks; `None` for one that asks nobody, and beyond the last.
    #[must_use]
    pub fn asked(&self, rung: Rung) -> Option<&DependencyName> {
        match rung {
            Rung(0) => Some(&self.dependency),
            below => self.fallback(below)?.dependency.as_ref(),
        }
    }
}

/// What an attempt does to the outside world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectSemantics {
    /// Nothing.
    ReadOnly,
    /// A change that a repeated key does not repeat.
    WriteIdempotentWithKey,
    /// A change that each attempt may make again.
    WriteWithoutKey,
}

/// What a cancel of an attempt is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelSemantics {
    /// Nothing can be stopped: a read is not stopped for a hard call, and one that is given up
    /// before its timeout keeps its concurrency token until then.
    None,
    /// It may or may not stop.
    BestEffort,
    /// The provider says whether it stopped.
    Confirmed,
}

/// What is done with an answer that comes too late to be the value of its call. Its cost is
/// recorded whatever is done with it. Source: mission A20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLate {
    /// It is thrown away. Only for reads.
    Drop,
    /// A read's is kept: when the call opens again in a later lap it has its value, and nobody is
    /// asked. A write's is under its key.
    Keep,
    /// It is recorded, and somebody is told: what was given up may have changed something.
    Review,
}

impl OnLate {
    /// The default for what an attempt does to the world: reads drop, a write under a key keeps,
    /// one without may have changed something twice and is reviewed.
    #[must_use]
    pub const fn of(effect: EffectSemantics) -> Self {
        match effect {
            EffectSemantics::ReadOnly => Self::Drop,
            EffectSemantics::WriteIdempotentWithKey => Self::Keep,
            EffectSemantics::WriteWithoutKey => Self::Review,
        }
    }
}

/// Waits between attempts: `random(0, min(max, base * 2^n))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait's upper end.
    pub base: Millis,
    /// The upper end of every wait.
    pub max: Millis,
}

/// One rung below the primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// What stands behind it.
    pub kind: FallbackKind,
    /// Who answers; `None` for the kinds that end the call.
    pub dependency: Option<DependencyName>,
    /// Attempts of this rung, from 1.
    pub max_attempts: u32,
    /// The longest one attempt may take.
    pub timeout: Millis,
    /// How long an attempt is expected to take.
    pub estimate: Millis,
    /// An attempt with less time than this is not worth starting.
    pub min_useful: Millis,
    /// What an attempt is expected to cost.
    pub cost: CostUnits,
}

/// What stands behind a fallback. Source: 001 section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallbackKind {
    /// Another provider of the same operation.
    Provider,
    /// An approved snapshot, at most this old.
    ApprovedSnapshot {
        /// Older ones do not answer.
        max_age: Millis,
    },
    /// A cache.
    Cache,
    /// Nothing: the call is omitted and the result says so. Ends the call.
    OmitWithNotice,
    /// Local compute in place of the provider.
    LocalCompute,
    /// A person: the run is handed off. Ends the call.
    Human,
}

impl FallbackKind {
    /// Whether an attempt is made on this rung.
    #[must_use]
    pub const fn attempts(self) -> bool {
        match self {
            Self::Provider | Self::ApprovedSnapshot { .. } | Self::Cache | Self::LocalCompute => {
                true
            }
            Self::OmitWithNotice | Self::Human => false,
        }
    }
}

/// How a write is named, compared and found again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectContract {
    /// What is changed, for example `ticket`.
    pub name: EffectName,
    /// Where the key is unique.
    pub scope: ScopeKind,
    /// What a second request of the same effect means.
    pub rule: SameRequestRule,
    /// How an unknown outcome is resolved.
    pub resolution: Resolution,
    /// How long the receiver may take to act on a request it accepted.
    pub receiver_bound: Millis,
    /// How long the receiver remembers a key; `None`: for good.
    pub receiver_key_ttl: Option<Millis>,
    /// How long our entry outlives the run.
    pub key_memory: Millis,
    /// JSON pointers of the fields that make two requests the same; empty: all of them.
    pub significant: Vec<String>,
}

/// Where an effect key is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// Over all runs of the tenant, by an id of the business.
    Business,
    /// Inside the run, by the call's path.
    Run,
}

/// What a second request of the same effect name and scope means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameRequestRule {
    /// One effect ever: a second call gets the recorded result.
    PerRun,
    /// After an applied outcome was told, a second request is a second effect.
    PerSlot,
    /// One effect per item of the recorded list.
    PerItem,
}

/// How the outcome of a write without an answer is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Ask the receiver by our key.
    ByKey,
    /// Ask for the operation's status.
    ByStatus,
    /// Search for our business id.
    ByBusinessKey,
    /// Write the same state again under our id.
    ByUpsert,
    /// Read the receiver's ledger.
    ByLedger,
    /// A person finds out.
    ByHuman,
}
