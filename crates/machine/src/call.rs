//! One logical call: where it stands, its request, its attempts, its effect.
//!
//! A call is changed only by `apply`; nothing here decides.

use mainstay_types::{
    AttemptNo, CallId, CostUnits, EffectKey, Epoch, Failure, FailureKind, LapNo, Millis, NodeId,
    Payload, Reason, RunId, Rung, Timestamp, Tokens,
};

use crate::event::Prepared;
use crate::orphan::Orphan;
use crate::streak::Streak;
use crate::tools::ToolsAsked;

/// A call of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The node it is an instance of.
    pub node: NodeId,
    /// For an item of an each: whose, and where.
    pub item: Option<Item>,
    /// Where it stands.
    pub phase: Phase,
    /// Needs that are not settled yet.
    pub needs_open: u32,
    /// Its request, once fixed.
    pub prepared: Option<Prepared>,
    /// The rung the next attempt goes to.
    pub rung: Rung,
    /// Attempts of that rung that count against its maximum.
    pub rung_attempts: u32,
    /// Failures of that rung that repeat each other.
    pub streak: Streak,
    /// Its request as it is made anew for one attempt more of that rung.
    pub repair: Option<Repair>,
    /// All attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// The effect it intends, for writes.
    pub effect: Option<Effect>,
    /// Its items, for an each whose list is recorded.
    pub items: Option<Items>,
    /// The run that held its effect key when it last asked.
    pub key_holder: Option<RunId>,
    /// The how-manieth intent of its effect's name it is, from 1.
    pub slot: u32,
    /// What a model has asked for, for a call that offers tools and has begun.
    pub asked: Option<ToolsAsked>,
    /// For a call that undoes another's effect: whose, and for the how-manieth time somebody wants
    /// it.
    pub undoes: Option<Undoes>,
    /// A late answer that is kept, with the attempt that gave it: the call's value once it could
    /// start again.
    pub kept: Option<(AttemptNo, Payload)>,
}

impl Call {
    /// A call that waits for `needs_open` others.
    #[must_use]
    pub const fn new(node: NodeId, item: Option<Item>, needs_open: u32, phase: Phase) -> Self {
        Self {
            node,
            item,
            phase,
            needs_open,
            prepared: None,
            rung: Rung(0),
            rung_attempts: 0,
            streak: Streak {
                kind: None,
                length: 0,
                forfeited: 0,
            },
            repair: None,
            attempts: Vec::new(),
            effect: None,
            items: None,
            key_holder: None,
            slot: 1,
            asked: None,
            undoes: None,
            kept: None,
        }
    }

    /// Whether it undoes another call's effect: it is bound to no lap's times, caps or end.
    #[must_use]
    pub const fn is_undo(&self) -> bool {
        self.undoes.is_some()
    }

    /// Whether what it did was undone.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        let effect = self.effect.as_ref();
        effect.is_some_and(|effect| effect.status == EffectStatus::Compensated)
    }

    /// The request its next attempt sends: its own, or the one that repairs a reply.
    #[must_use]
    pub fn request(&self) -> Option<&Prepared> {
        let repaired = self
            .repair
            .as_ref()
            .and_then(|repair| repair.prepared.as_ref());
        repaired.or(self.prepared.as_ref())
    }

    /// The attempt with this number.
    #[must_use]
    pub fn attempt(&self, no: AttemptNo) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.no == no)
    }

    /// The attempt that is out.
    #[must_use]
    pub fn in_flight(&self) -> Option<&Attempt> {
        match self.phase {
            Phase::InFlight(no) => self.attempt(no),
            Phase::Waiting
            | Phase::Preparing
            | Phase::Ready { .. }
            | Phase::InDoubt
            | Phase::Items
            | Phase::Settled { .. }
            | Phase::Omitted { .. }
            | Phase::Skipped
            | Phase::Failed { .. } => None,
        }
    }

    /// Its value, once settled.
    #[must_use]
    pub const fn value(&self) -> Option<&Payload> {
        match &self.phase {
            Phase::Settled { result, .. } => Some(result),
            Phase::Waiting
            | Phase::Preparing
            | Phase::Ready { .. }
            | Phase::InFlight(_)
            | Phase::InDoubt
            | Phase::Items
            | Phase::Omitted { .. }
            | Phase::Skipped
            | Phase::Failed { .. } => None,
        }
    }

    /// The newest failure of its attempts.
    #[must_use]
    pub fn last_failure(&self) -> Option<&Failure> {
        self.attempts
            .iter()
            .rev()
            .find_map(|attempt| match &attempt.state {
                AttemptState::Failed { failure, .. } => Some(failure),
                AttemptState::InFlight
                | AttemptState::Answered { .. }
                | AttemptState::Interrupted { .. }
                | AttemptState::Late { .. } => None,
            })
    }
}

/// What a call undoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undoes {
    /// The call whose effect it undoes.
    pub call: CallId,
    /// How often somebody wanted it, from 1: again only after it had failed.
    pub wanted: u32,
    /// How often it was told since then that its key is another one's.
    pub asked: u32,
}

/// A request made anew because a reply did not keep its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The attempt whose reply it was.
    pub of: AttemptNo,
    /// The request, once fixed; `None` also on a later rung, which asks with the first request.
    pub prepared: Option<Prepared>,
}

/// The place of an item call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The each it belongs to.
    pub parent: CallId,
    /// Its place in the recorded list, from 0.
    pub position: u32,
}

/// Any moment: the call may start at once.
pub(crate) const AT_ONCE: Timestamp = Timestamp::from_millis(i64::MIN);

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Something it needs is not settled.
    Waiting,
    /// Its own code has to run: request, items, value or predicate.
    Preparing,
    /// An attempt could start.
    Ready {
        /// Not before this moment.
        not_before: Timestamp,
    },
    /// This attempt is out.
    InFlight(AttemptNo),
    /// Nobody knows what became of its write.
    InDoubt,
    /// Its items are being written, or a model is asking for its tools.
    Items,
    /// It has its value.
    Settled {
        /// The value.
        result: Payload,
        /// Who answered.
        rung: Rung,
    },
    /// It was left out.
    Omitted {
        /// Why.
        reason: Reason,
    },
    /// Its predicate said no.
    Skipped,
    /// It cannot have a value in this lap.
    Failed {
        /// The kind of its last failure.
        kind: FailureKind,
        /// Why nothing more is tried.
        reason: Reason,
    },
}

impl Phase {
    /// With this value, by this rung.
    pub(crate) fn settled(result: &Payload, rung: Rung) -> Self {
        Self::Settled {
            result: result.clone(),
            rung,
        }
    }

    /// The stable text, for example `in_doubt`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Preparing => "preparing",
            Self::Ready { .. } => "ready",
            Self::InFlight(_) => "in_flight",
            Self::InDoubt => "in_doubt",
            Self::Items => "items",
            Self::Settled { .. } => "settled",
            Self::Omitted { .. } => "omitted",
            Self::Skipped => "skipped",
            Self::Failed { .. } => "failed",
        }
    }

    /// Whether nothing more happens to the call in this lap.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        match self {
            Self::Settled { .. } | Self::Omitted { .. } | Self::Skipped | Self::Failed { .. } => {
                true
            }
            Self::Waiting
            | Self::Preparing
            | Self::Ready { .. }
            | Self::InFlight(_)
            | Self::InDoubt
            | Self::Items => false,
        }
    }
}

/// The items of an each, which are calls of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items {
    /// The first item's call; the others follow.
    pub first: CallId,
    /// How many.
    pub count: u32,
    /// How many are not final.
    pub open: u32,
}

impl Items {
    /// The item calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = CallId> + use<> {
        (self.first.get()..self.first.get().saturating_add(self.count)).map(CallId)
    }
}

/// One dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its number in the call.
    pub no: AttemptNo,
    /// To which provider.
    pub rung: Rung,
    /// In which lap.
    pub lap: LapNo,
    /// By an owner of which epoch.
    pub epoch: Epoch,
    /// When it was authorised.
    pub at: Timestamp,
    /// How long it may take.
    pub timeout: Millis,
    /// What was reserved for it.
    pub reserved: CostUnits,
    /// Retry tokens it used.
    pub retry_tokens: Tokens,
    /// How it stands.
    pub state: AttemptState,
    /// Whose it is, for one that was given up while it may have left.
    pub orphan: Option<Box<Orphan>>,
}

/// How an attempt stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptState {
    /// It is out.
    InFlight,
    /// The provider answered with a value.
    Answered {
        /// What it cost.
        cost: CostUnits,
    },
    /// It failed.
    Failed {
        /// How.
        failure: Failure,
        /// What it cost.
        cost: CostUnits,
    },
    /// Its process is gone; the cost is assumed.
    Interrupted {
        /// The assumed cost.
        cost: CostUnits,
    },
    /// It was over here, and what became of it was reported later.
    Late {
        /// What it cost.
        cost: CostUnits,
    },
}

/// The effect of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Its key.
    pub key: EffectKey,
    /// How it stands.
    pub status: EffectStatus,
    /// When it was first sent.
    pub first_sent_at: Option<Timestamp>,
    /// Look-ups made for it over its life.
    pub lookups: u32,
}

/// How an effect stands. Source: architecture section 6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectStatus {
    /// Recorded, not sent.
    Intended,
    /// A request is out.
    Dispatched,
    /// Nobody knows.
    InDoubt(Doubt),
    /// In the world.
    Applied(Reason),
    /// In part in the world.
    PartlyApplied,
    /// Proven not to be in the world; or, with KEY_HELD_BY_OTHER_RUN, that run's to find out.
    Absent(Reason),
    /// It was in the world, and was undone.
    Compensated,
}

impl EffectStatus {
    /// The stable text, for example `in_doubt`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Dispatched => "dispatched",
            Self::InDoubt(_) => "in_doubt",
            Self::Applied(_) => "applied",
            Self::PartlyApplied => "partly_applied",
            Self::Absent(Reason::KeyHeldByOtherRun) => "taken_over",
            Self::Absent(_) => "absent",
            Self::Compensated => "compensated",
        }
    }
}

/// An effect nobody knows the outcome of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Why it is in doubt.
    pub reason: Reason,
    /// When the receiver is asked next.
    pub lookup_at: Timestamp,
    /// From when "not found" is believed.
    pub absent_after: Timestamp,
    /// Look-ups of this doubt that are settled.
    pub asked: u32,
    /// Whether it is about what another run sent, whose key this one has taken over.
    pub of_other: bool,
}

impl Doubt {
    /// A doubt nobody has been asked about yet.
    pub(crate) const fn new(reason: Reason, lookup_at: Timestamp, absent_after: Timestamp) -> Self {
        Self {
            reason,
            lookup_at,
            absent_after,
            asked: 0,
            of_other: false,
        }
    }

    /// A doubt about what another run sent.
    pub(crate) const fn of_other(lookup_at: Timestamp, absent_after: Timestamp) -> Self {
        Self {
            of_other: true,
            ..Self::new(Reason::OwnerLost, lookup_at, absent_after)
        }
    }
}
