//! What is asked of a run. A command that is refused changes nothing.
//!
//! Delivering a command twice gives the state of delivering it once: each names the attempt,
//! look-up or state it belongs to.

use mainstay_graph::Budget;
use mainstay_types::{
    AttemptNo, CallId, CostUnits, EffectKey, Failure, LapNo, Millis, NodeId, Payload, RunId, Rung,
    Timestamp, WorkerId,
};

use crate::admission::Forecast;
use crate::by_hand::Ruling;
use crate::event::{Prepared, RunStarted};
use crate::run::Quarantine;
use crate::tools::ToolCallId;

/// Something asked of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Begin to exist.
    Start(Box<AskStart>),
    /// Belong to another worker incarnation.
    TakeOver {
        /// Who.
        worker: WorkerId,
        /// How long nobody could have driven the run.
        downtime: Millis,
    },
    /// Here are the call's request bytes.
    Prepared {
        /// Which call.
        call: CallId,
        /// The request.
        prepared: Prepared,
    },
    /// Here are the items of an each.
    Listed {
        /// The each.
        call: CallId,
        /// The items' requests.
        items: Vec<Prepared>,
    },
    /// Here is the value of a local or a when (`true` or `false`).
    Computed {
        /// Which call.
        call: CallId,
        /// The value.
        result: Payload,
    },
    /// The call's own code returned an error.
    Unpreparable {
        /// Which call.
        call: CallId,
        /// What it said.
        failure: Failure,
    },
    /// The gates let it pass: may it leave?
    Authorize {
        /// Which call.
        call: CallId,
        /// On which rung the gates let it pass.
        rung: Rung,
        /// Volatile facts for the decision.
        evidence: Evidence,
    },
    /// An attempt is over.
    Settle(Settle),
    /// An attempt is over whose key the ledger says to be another run's by now.
    SettleHeld {
        /// How it ended.
        report: Settle,
        /// What the other run has.
        entry: Box<EffectEntry>,
    },
    /// Another run was answered about an effect whose key this one has taken over.
    FoundByOther(Box<FoundByOther>),
    /// The receiver was asked what became of a write.
    LookedUp(LookedUp),
    /// A person found out what became of a write.
    SettleByHand(AskSettle),
    /// Somebody wants an effect undone.
    Compensate(AskCompensate),
    /// A person says what is to be done about remote work that no run waits for.
    Orphan(AskOrphan),
    /// A model asks for a tool.
    ToolCall(Box<AskTool>),
    /// The model is done with what a call offers.
    ToolsDone {
        /// The call that offers tools.
        call: CallId,
    },
    /// The ledger says that another run holds the key: to a call that wants it, or that has taken
    /// its value from there.
    KeyHeld {
        /// The call that wants it.
        call: CallId,
        /// What the other run has.
        entry: Box<EffectEntry>,
        /// When that run cannot go on by itself: what is known of its requests.
        abandoned: Option<Abandoned>,
    },
    /// Another run's entry under this key is settled: ask for the key again.
    KeySettled {
        /// The key.
        key: EffectKey,
    },
    /// The class's result, from the settled values.
    Assembled {
        /// The result, or what its code said.
        result: Result<Payload, Failure>,
    },
    /// Stop.
    Cancel {
        /// Who asks.
        by: String,
        /// Why.
        why: String,
    },
    /// Go on after the outcome of `from` in a new lap; or drive a quarantined run again.
    Continue {
        /// The lap that is gone on from; nothing follows when a later one has begun.
        from: LapNo,
        /// Who asks.
        by: String,
        /// Why.
        why: String,
    },
    /// Let a lap spend more.
    Raise(AskRaise),
    /// End whatever the state.
    Terminate {
        /// Who asks.
        by: String,
        /// Why.
        why: String,
    },
    /// Time passed: do what is due by itself.
    Advance,
    /// Driving the run panicked.
    Quarantine(Quarantine),
}

/// A run that is to begin, and what is known of how long it will take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskStart {
    /// The run.
    pub started: RunStarted,
    /// What its admission is decided on.
    pub forecast: Forecast,
}

impl From<RunStarted> for AskStart {
    fn from(started: RunStarted) -> Self {
        let forecast = Forecast::default();
        Self { started, forecast }
    }
}

/// What is asked for a lap that is to spend more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskRaise {
    /// Which lap.
    pub lap: LapNo,
    /// After how many raises of it; nothing follows when there are more by now.
    pub after: u32,
    /// By how much each limit grows.
    pub more: Budget,
    /// Who asks. Bound: `limits::TEXT_BYTES_MAX`.
    pub by: String,
    /// Why. Bound: `limits::TEXT_BYTES_MAX`.
    pub why: String,
}

/// What a model asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskTool {
    /// The call that offers tools.
    pub tools: CallId,
    /// The model's id of its call. Bound: `limits::TOOL_CALL_ID_BYTES_MAX`.
    pub id: ToolCallId,
    /// Which tool, by its node.
    pub tool: NodeId,
    /// The request that the class made of the arguments.
    pub prepared: Prepared,
    /// Calls of the model whose outcome it was told before it asked.
    pub told: Vec<ToolCallId>,
}

/// What a person says of an effect that no machine can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskSettle {
    /// The call that writes.
    pub call: CallId,
    /// The newest attempt that the person knew of.
    pub attempt: AttemptNo,
    /// What they found out.
    pub ruling: Ruling,
    /// For an effect that is applied: what its receiver answered or would have answered. Bound:
    /// `limits::PAYLOAD_BYTES_MAX`.
    pub result: Payload,
    /// Who. Bound: `limits::TEXT_BYTES_MAX`.
    pub by: String,
    /// How they know. Bound: `limits::TEXT_BYTES_MAX`.
    pub why: String,
}

/// What is asked for an effect that is to be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskCompensate {
    /// The call that wrote.
    pub call: CallId,
    /// How often it was wanted before; nothing follows when that was more often by now.
    pub after: u32,
    /// Who. Bound: `limits::TEXT_BYTES_MAX`.
    pub by: String,
    /// Why. Bound: `limits::TEXT_BYTES_MAX`.
    pub why: String,
}

/// What a person wants done about remote work that no run waits for any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskOrphan {
    /// Which call.
    pub call: CallId,
    /// Which attempt.
    pub attempt: AttemptNo,
    /// What.
    pub wish: OrphanWish,
    /// After how many times that it was taken over; nothing follows when there are more by now.
    pub after: u32,
    /// Who. Bound: `limits::TEXT_BYTES_MAX`.
    pub by: String,
    /// Why. Bound: `limits::TEXT_BYTES_MAX`.
    pub why: String,
}

/// What may be done about an orphan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrphanWish {
    /// It is theirs from here on.
    Adopt {
        /// Until when it is waited for; at most `limits::ORPHAN_TTL_MS_MAX` from now.
        until: Timestamp,
    },
    /// Nobody waits for it.
    Close,
}

/// How an attempt ended, with the draw for what may follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle {
    /// Which call.
    pub call: CallId,
    /// Which attempt.
    pub attempt: AttemptNo,
    /// How it ended.
    pub end: SettleEnd,
    /// Volatile facts for the decision that follows.
    pub evidence: Evidence,
}

/// How an attempt ended, as the dispatcher saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettleEnd {
    /// With a value.
    Answered {
        /// The value.
        result: Payload,
        /// What it cost; `None`: the estimate.
        cost: Option<CostUnits>,
        /// Retries its client library made.
        client_retries: u32,
    },
    /// With a failure.
    Failed(Failure),
}

/// An answer that a run got to a request under a key which it has lost to this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundByOther {
    /// The key.
    pub key: EffectKey,
    /// The digest of the request's significant fields.
    pub fingerprint: mainstay_types::Digest,
    /// What the receiver answered. Bound: `limits::PAYLOAD_BYTES_MAX`.
    pub result: Payload,
    /// The run that sent the request.
    pub run: RunId,
    /// Its call.
    pub call: CallId,
    /// The attempt that was answered.
    pub attempt: AttemptNo,
}

/// What a look-up found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookedUp {
    /// The call that writes.
    pub call: CallId,
    /// The how-manieth look-up of this effect, from 1.
    pub number: u32,
    /// When the receiver was asked.
    pub asked_at: Timestamp,
    /// What it said.
    pub finding: Finding,
    /// Volatile facts for the decision that follows.
    pub evidence: Evidence,
}

/// What a receiver says about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It was done, with this answer.
    Applied(Payload),
    /// A part was done.
    Partly,
    /// It is being done.
    InProgress,
    /// The key is not known.
    NotFound,
    /// It could not be asked, or could not tell.
    CannotTell,
    /// It was not asked: the ledger says that another run has taken the key over.
    Held(Box<EffectEntry>),
}

/// Every volatile fact a decision may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// A uniform draw in units of 1/2^32, for jitter.
    pub draw: u32,
    /// Retries the dependency can take now; `None`: nobody limits them.
    pub dependency_capacity: Option<u32>,
    /// Retries the tenant may still make; `None`: nobody limits them.
    pub tenant_quota: Option<u32>,
    /// Retries all runs of the process may still make; `None`: nobody limits them.
    pub global_ratio: Option<u32>,
    /// How long an attempt is expected to take by what was observed (nine of ten); `None`: too
    /// little was observed, and the contract's estimate holds.
    pub predicted: Option<Millis>,
    /// What an attempt is expected to cost by what was observed (nine of ten). Reserved when it is
    /// more than the contract's estimate.
    pub predicted_cost: Option<CostUnits>,
}

/// One effect as the ledger keeps it for all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectEntry {
    /// The key, compared in full.
    pub key: EffectKey,
    /// The run that holds it.
    pub run: RunId,
    /// The call that writes.
    pub call: CallId,
    /// The digest of the request's significant fields.
    pub fingerprint: mainstay_types::Digest,
    /// How it stands.
    pub state: EntryState,
    /// When it last changed.
    pub at: Timestamp,
}

/// What is known of an entry whose run cannot go on: it is quarantined, it is gone, or nobody has
/// its class's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// When its first request left.
    pub sent_at: Timestamp,
    /// From when nothing that it sent can land any more; `None`: nobody knows, and what holds for
    /// the call that wants the key is taken, from when the entry changed last.
    pub absent_after: Option<Timestamp>,
}

/// How an effect entry stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Intended or sent; nothing is known yet.
    Open,
    /// Nobody knows.
    InDoubt,
    /// In the world, with the receiver's answer.
    Applied(Payload),
    /// In part in the world.
    PartlyApplied,
    /// Proven not to be in the world; another run may take the key.
    NotApplied,
    /// It was in the world, and was undone: the key is used up.
    Compensated,
}
