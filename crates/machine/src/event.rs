//! What has happened to a run: the only thing that changes its state.
//!
//! An event carries every number its decision used, so that replay needs no clock, no draw and no
//! user code. Each kind's stored form is frozen by `ledger::codec`.

use mainstay_graph::{Budget, OnFailure, OnLate};
use mainstay_types::{
    AttemptNo, CallId, ClassName, ClassVersion, CostUnits, Digest, EffectKey, Epoch, Failure,
    FailureKind, LapNo, Millis, NodeId, Payload, Reason, RunId, Rung, StartKey, Tenant, Timestamp,
    Tokens, WorkerId,
};

use crate::admission::Admission;
use crate::by_hand::Ruling;
use crate::decision::Decision;
use crate::orphan::Seen;
use crate::run::Quarantine;
use crate::tools::ToolCallId;

/// One fact about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run exists, with its first lap.
    RunStarted(Box<RunStarted>),
    /// Whether the run's lap begins, decided on more than the class alone. Before anything else of
    /// the lap.
    AdmissionDecided(Admission),
    /// A worker incarnation took the run over; later appends carry the new epoch.
    LeaseTaken(LeaseTaken),
    /// A call's request bytes are fixed; every attempt and look-up uses them.
    CallPrepared {
        /// Which call.
        call: CallId,
        /// The request and what names it.
        prepared: Prepared,
    },
    /// An each's items are fixed, before the first write. Makes one call per item.
    ListRecorded {
        /// The each.
        call: CallId,
        /// The items' requests, in order.
        items: Vec<Prepared>,
    },
    /// A request may leave, within the send window.
    AttemptStarted(AttemptStarted),
    /// An attempt is over; what was reserved for it is settled.
    AttemptSettled {
        /// Which call.
        call: CallId,
        /// Which attempt.
        attempt: AttemptNo,
        /// How it ended.
        end: AttemptEnd,
        /// What it cost.
        cost: CostUnits,
        /// Retries its client library made inside it.
        client_retries: u32,
    },
    /// The process that made the attempt is gone; it is settled at its estimate, assumed.
    AttemptInterrupted {
        /// Which call.
        call: CallId,
        /// Which attempt.
        attempt: AttemptNo,
        /// The assumed cost.
        cost: CostUnits,
    },
    /// A read, local, when or each has its value.
    CallSettled {
        /// Which call.
        call: CallId,
        /// Who answered; 0 unless a fallback did.
        rung: Rung,
        /// The value.
        result: Payload,
    },
    /// The call will try again, perhaps on another rung.
    CallRescheduled {
        /// Which call.
        call: CallId,
        /// On which rung.
        rung: Rung,
        /// Not before this moment.
        not_before: Timestamp,
        /// Why.
        reason: Reason,
    },
    /// What is done next about the call, and why; the next event does it.
    NextDecided(Box<Decision>),
    /// The reply did not keep its schema: the class makes the request anew, once.
    RepairWanted {
        /// Which call.
        call: CallId,
        /// The attempt whose reply it was.
        of: AttemptNo,
    },
    /// The call is left out, and its notice says so.
    CallOmitted {
        /// Which call.
        call: CallId,
        /// Why.
        reason: Reason,
    },
    /// The call's predicate said no.
    CallSkipped {
        /// Which call.
        call: CallId,
    },
    /// The call cannot have a value any more in this lap.
    CallFailed {
        /// Which call.
        call: CallId,
        /// The kind of its last failure.
        kind: FailureKind,
        /// Why nothing more is tried.
        reason: Reason,
    },
    /// The class's own code returned an error; what follows from it is said by the next event.
    CodeFailed {
        /// Which call's code; `None`: the code that puts the result together.
        call: Option<CallId>,
        /// The kind it gave.
        kind: FailureKind,
        /// What it said. May hold what a user wrote.
        message: String,
    },
    /// An effect is about to be sent for the first time.
    EffectIntended {
        /// The call that writes.
        call: CallId,
        /// The effect's key.
        key: EffectKey,
    },
    /// The effect is in the world; its call has its value.
    EffectApplied {
        /// The call that writes.
        call: CallId,
        /// What the receiver answered.
        result: Payload,
        /// How it became known.
        reason: Reason,
    },
    /// Nobody knows whether the effect is in the world.
    EffectInDoubt {
        /// The call that writes.
        call: CallId,
        /// Why.
        reason: Reason,
        /// When the receiver is asked first.
        lookup_at: Timestamp,
        /// From when "not found" is believed.
        absent_after: Timestamp,
    },
    /// The effect is proven not to be in the world.
    EffectAbsent {
        /// The call that writes.
        call: CallId,
        /// What proves it.
        reason: Reason,
    },
    /// The receiver did a part of it; a person has to look.
    EffectPartlyApplied {
        /// The call that writes.
        call: CallId,
    },
    /// A person found out what became of an effect; the next event says what it is by that.
    EffectSettledByHand(Box<SettledByHand>),
    /// Somebody wants an effect undone: the call that does it begins, or begins again.
    CompensationWanted(Box<CompensationWanted>),
    /// What undoes the effect is in the world.
    EffectCompensated {
        /// The call whose effect was undone.
        call: CallId,
    },
    /// A model asked for a tool.
    ToolCalled(Box<ToolCalled>),
    /// The model is done with what the call offers.
    ToolsDone {
        /// The call that offers tools.
        call: CallId,
    },
    /// A look-up changed when the next one is due.
    ControlSettled {
        /// The call that writes.
        call: CallId,
        /// The how-manieth look-up of this effect, from 1.
        number: u32,
        /// What the receiver said.
        reason: Reason,
        /// When the next look-up is due.
        next_at: Timestamp,
    },
    /// Another run holds the effect's key; ask again later.
    KeyAwaited {
        /// The call that wants it.
        call: CallId,
        /// Who holds it.
        holder: RunId,
        /// When to ask again.
        until: Timestamp,
    },
    /// Another run holds the effect's key and cannot go on: what became of its write is asked from
    /// here.
    KeyTakenOver {
        /// The call that wants it.
        call: CallId,
        /// Who held it.
        holder: RunId,
        /// When its first request left.
        sent_at: Timestamp,
        /// When the receiver is asked first.
        lookup_at: Timestamp,
        /// From when "not found" is believed.
        absent_after: Timestamp,
    },
    /// A report came for an attempt that was over: its cost is known now. What else it changes
    /// follows as its own event.
    LateResult {
        /// Which call.
        call: CallId,
        /// Which attempt.
        attempt: AttemptNo,
        /// What it cost.
        cost: CostUnits,
        /// Retries its client library made that were not counted before.
        client_retries: u32,
    },
    /// What is done with a late answer that its call does not take as its value.
    LateValueRecorded {
        /// Which call.
        call: CallId,
        /// Which attempt.
        attempt: AttemptNo,
        /// What the class says of late answers.
        policy: OnLate,
        /// The answer, where it is kept or reviewed.
        value: Option<Payload>,
    },
    /// An attempt was told to stop while it may have left: what it does is somebody's from here on.
    AttemptOrphaned {
        /// Which call.
        call: CallId,
        /// Which attempt.
        attempt: AttemptNo,
        /// Whose it is. Bound: `limits::TEXT_BYTES_MAX`.
        owner: String,
        /// Until when it is waited for.
        until: Timestamp,
    },
    /// What became of remote work that was told to stop, or that nothing was heard of it.
    OrphanObserved {
        /// Which call.
        call: CallId,
        /// Which attempt.
        attempt: AttemptNo,
        /// What was seen.
        seen: Seen,
    },
    /// A person took an orphan over.
    OrphanAdopted {
        /// Which call.
        call: CallId,
        /// Which attempt.
        attempt: AttemptNo,
        /// Who. Bound: `limits::TEXT_BYTES_MAX`.
        by: String,
        /// Why. Bound: `limits::TEXT_BYTES_MAX`.
        why: String,
        /// Until when it is waited for.
        until: Timestamp,
    },
    /// A person said that nobody waits for an orphan.
    OrphanClosed {
        /// Which call.
        call: CallId,
        /// Which attempt.
        attempt: AttemptNo,
        /// Who. Bound: `limits::TEXT_BYTES_MAX`.
        by: String,
        /// Why. Bound: `limits::TEXT_BYTES_MAX`.
        why: String,
    },
    /// Someone asked to stop.
    CancelRequested {
        /// Who.
        by: String,
        /// Why.
        why: String,
    },
    /// The lap cannot be completed any more; no write starts from here on.
    HardPathLost {
        /// The call that is missing.
        call: CallId,
    },
    /// The caller was told "later".
    AnsweredLater {
        /// The calls whose effects are in doubt.
        doubts: Vec<CallId>,
        /// When more will be known.
        expected_by: Timestamp,
    },
    /// The lap has its outcome.
    LapEnded {
        /// How it ended.
        outcome: OutcomeKind,
        /// Why.
        reason: Reason,
        /// The class's result, when it could be put together.
        result: Option<Payload>,
        /// When.
        at: Timestamp,
    },
    /// Something about the lap was learned after its outcome.
    AddendumRecorded {
        /// About which call.
        call: CallId,
        /// What became known.
        reason: Reason,
    },
    /// The run owes nothing any more.
    RunClosed,
    /// The run is not driven any more until a person looks.
    RunQuarantined(Quarantine),
    /// A person looked: the run is driven again, in the lap it was in.
    QuarantineLifted {
        /// Who.
        by: String,
        /// Why.
        why: String,
    },
    /// Someone ended the run whatever its state; the end of its lap follows when it had none.
    RunTerminated {
        /// Who.
        by: String,
        /// Why.
        why: String,
    },
    /// The lap may spend more from here on.
    BudgetRaised(Raise),
    /// The next lap begins: fresh times and budget, on the same keys and effects.
    LapStarted(LapStarted),
}

/// The first event of every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStarted {
    /// The run.
    pub run: RunId,
    /// Its class, with the fingerprint of the class's data.
    pub class: ClassRef,
    /// Whose run.
    pub tenant: Tenant,
    /// The caller's key, when it gave one.
    pub start_key: Option<StartKey>,
    /// What the run was given.
    pub input: Payload,
    /// When it began.
    pub at: Timestamp,
    /// The lap, 1.
    pub lap: LapNo,
    /// Until when.
    pub times: LapTimes,
    /// What it may spend.
    pub budget: Budget,
    /// What a lost hard call does.
    pub on_failure: OnFailure,
    /// Who drives it, in epoch 1.
    pub worker: WorkerId,
    /// The caller's W3C `traceparent`, when it gave one.
    pub traceparent: Option<String>,
}

/// A class by name, version and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassRef {
    /// The name.
    pub name: ClassName,
    /// The version.
    pub version: ClassVersion,
    /// The digest of the class's stored form.
    pub fingerprint: Digest,
}

/// A lap's times as moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LapTimes {
    /// When the caller stops waiting.
    pub answer_by: Timestamp,
    /// Until when attempts may run.
    pub work_by: Timestamp,
    /// When the run is void as business.
    pub expires_at: Option<Timestamp>,
    /// Until when an effect in doubt keeps the outcome open.
    pub doubt_until: Timestamp,
}

/// The beginning of a lap beyond the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LapStarted {
    /// The lap, one above the last.
    pub lap: LapNo,
    /// Who asked for it.
    pub by: String,
    /// Why.
    pub why: String,
    /// When.
    pub at: Timestamp,
    /// Until when.
    pub times: LapTimes,
    /// What it may spend.
    pub budget: Budget,
}

/// More to spend for a lap, given by somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raise {
    /// Who. Bound: `limits::TEXT_BYTES_MAX`.
    pub by: String,
    /// Why. Bound: `limits::TEXT_BYTES_MAX`.
    pub why: String,
    /// When.
    pub at: Timestamp,
    /// By how much each limit grows.
    pub more: Budget,
}

/// A model's call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCalled {
    /// The call that offers tools.
    pub tools: CallId,
    /// The model's id of its call. Bound: `limits::TOOL_CALL_ID_BYTES_MAX`.
    pub id: ToolCallId,
    /// What stands for it in the run.
    pub made: ToolMade,
    /// Calls of the model whose outcome it was told before it asked.
    pub told: Vec<ToolCallId>,
}

/// What stands in the run for a model's call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolMade {
    /// A call of its own.
    New {
        /// The tool, by its node.
        node: NodeId,
        /// The how-manieth intent of its effect's name, from 1.
        slot: u32,
        /// Its request.
        prepared: Prepared,
    },
    /// The same intent as an earlier one: this call stands for both.
    Joined(CallId),
}

/// What a person said of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledByHand {
    /// The call that writes.
    pub call: CallId,
    /// Its newest attempt then.
    pub attempt: AttemptNo,
    /// What they found out.
    pub ruling: Ruling,
    /// Who. Bound: `limits::TEXT_BYTES_MAX`.
    pub by: String,
    /// How they know. Bound: `limits::TEXT_BYTES_MAX`.
    pub why: String,
    /// When.
    pub at: Timestamp,
}

/// An effect that is to be undone, and what that is expected to take at most. The lap's limits
/// follow what it does take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompensationWanted {
    /// The call whose effect is to be undone.
    pub call: CallId,
    /// The how-manieth time it is wanted, from 1.
    pub wanted: u32,
    /// Who. Bound: `limits::TEXT_BYTES_MAX`.
    pub by: String,
    /// Why. Bound: `limits::TEXT_BYTES_MAX`.
    pub why: String,
    /// When.
    pub at: Timestamp,
    /// What all attempts to undo it may cost.
    pub cost: CostUnits,
    /// Retry tokens for all attempts beyond the first.
    pub retry_tokens: Tokens,
}

/// A change of owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTaken {
    /// The new epoch, one above the last.
    pub epoch: Epoch,
    /// The new owner.
    pub worker: WorkerId,
    /// When.
    pub at: Timestamp,
    /// Time since the run's last durable event.
    pub downtime: Millis,
    /// By how much the times move.
    pub extended: Millis,
}

/// A request whose bytes are fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The request.
    pub request: Payload,
    /// The digest of its significant fields.
    pub fingerprint: Digest,
    /// The business id, for effects scoped by one.
    pub business_id: Option<mainstay_types::BusinessId>,
}

/// An attempt that may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptStarted {
    /// Which call.
    pub call: CallId,
    /// The how-manieth attempt of the call.
    pub attempt: AttemptNo,
    /// To which provider.
    pub rung: Rung,
    /// When it was authorised.
    pub at: Timestamp,
    /// How long it may take.
    pub timeout: Millis,
    /// What is reserved for it.
    pub cost: CostUnits,
    /// Retry tokens it uses: 0 or 1.
    pub retry_tokens: Tokens,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The provider answered with a value.
    Answered,
    /// It failed.
    Failed(Failure),
}

/// How a lap ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeKind {
    /// Everything is there.
    Completed,
    /// The result is there; its notices say what it lacks.
    Degraded,
    /// A person goes on, with a package of what is there.
    HandedOff,
    /// It failed.
    Failed,
    /// It was canceled; effects that were applied stay applied.
    Canceled,
    /// A person ended it whatever its state; effects that were applied stay applied.
    Terminated,
    /// It did not begin: what it needs at least did not fit before its answer.
    Rejected,
}

impl OutcomeKind {
    /// Every outcome.
    pub const ALL: [Self; 7] = [
        Self::Completed,
        Self::Degraded,
        Self::HandedOff,
        Self::Failed,
        Self::Canceled,
        Self::Terminated,
        Self::Rejected,
    ];

    /// The stable text, for example `handed_off`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Degraded => "degraded",
            Self::HandedOff => "handed_off",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Terminated => "terminated",
            Self::Rejected => "rejected",
        }
    }
}
