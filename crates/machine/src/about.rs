//! What an event is called, and which call it is about.
//!
//! Names and places only: what an event does to a run is said by `core::apply`.

use mainstay_types::CallId;

use crate::event::Event;

impl Event {
    /// The kind's stable name, as in the timeline.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RunStarted(_) => "RunStarted",
            Self::AdmissionDecided(_) => "AdmissionDecided",
            Self::LeaseTaken(_) => "LeaseTaken",
            Self::CallPrepared { .. } => "CallPrepared",
            Self::ListRecorded { .. } => "ListRecorded",
            Self::AttemptStarted(_) => "AttemptStarted",
            Self::AttemptSettled { .. } => "AttemptSettled",
            Self::AttemptInterrupted { .. } => "AttemptInterrupted",
            Self::CallSettled { .. } => "CallSettled",
            Self::CallRescheduled { .. } => "CallRescheduled",
            Self::NextDecided(_) => "NextDecided",
            Self::RepairWanted { .. } => "RepairWanted",
            Self::CallOmitted { .. } => "CallOmitted",
            Self::CallSkipped { .. } => "CallSkipped",
            Self::CallFailed { .. } => "CallFailed",
            Self::CodeFailed { .. } => "CodeFailed",
            Self::EffectIntended { .. } => "EffectIntended",
            Self::EffectApplied { .. } => "EffectApplied",
            Self::EffectInDoubt { .. } => "EffectInDoubt",
            Self::EffectAbsent { .. } => "EffectAbsent",
            Self::EffectPartlyApplied { .. } => "EffectPartlyApplied",
            Self::EffectSettledByHand(_) => "EffectSettledByHand",
            Self::CompensationWanted(_) => "CompensationWanted",
            Self::EffectCompensated { .. } => "EffectCompensated",
            Self::ToolCalled(_) => "ToolCalled",
            Self::ToolsDone { .. } => "ToolsDone",
            Self::ControlSettled { .. } => "ControlSettled",
            Self::KeyAwaited { .. } => "KeyAwaited",
            Self::KeyTakenOver { .. } => "KeyTakenOver",
            Self::LateResult { .. } => "LateResult",
            Self::LateValueRecorded { .. } => "LateValueRecorded",
            Self::AttemptOrphaned { .. } => "AttemptOrphaned",
            Self::OrphanObserved { .. } => "OrphanObserved",
            Self::OrphanAdopted { .. } => "OrphanAdopted",
            Self::OrphanClosed { .. } => "OrphanClosed",
            Self::CancelRequested { .. } => "CancelRequested",
            Self::HardPathLost { .. } => "HardPathLost",
            Self::AnsweredLater { .. } => "AnsweredLater",
            Self::LapEnded { .. } => "LapEnded",
            Self::AddendumRecorded { .. } => "AddendumRecorded",
            Self::RunClosed => "RunClosed",
            Self::RunQuarantined { .. } => "RunQuarantined",
            Self::QuarantineLifted { .. } => "QuarantineLifted",
            Self::RunTerminated { .. } => "RunTerminated",
            Self::LapStarted(_) => "LapStarted",
            Self::BudgetRaised(_) => "BudgetRaised",
        }
    }

    /// Whether this takes the key that the call wants over from another run.
    #[must_use]
    pub fn takes_over(&self, wants: CallId) -> bool {
        matches!(self, Self::KeyTakenOver { call, .. } if *call == wants)
    }

    /// The call it is about; `None` when it is about the run as a whole.
    #[must_use]
    pub const fn call(&self) -> Option<CallId> {
        match self {
            Self::AttemptStarted(started) => Some(started.call),
            Self::NextDecided(decision) => Some(decision.call),
            Self::EffectSettledByHand(settled) => Some(settled.call),
            Self::CompensationWanted(wanted) => Some(wanted.call),
            Self::ToolCalled(called) => Some(called.tools),
            Self::CallPrepared { call, .. }
            | Self::ListRecorded { call, .. }
            | Self::AttemptSettled { call, .. }
            | Self::AttemptInterrupted { call, .. }
            | Self::CallSettled { call, .. }
            | Self::CallRescheduled { call, .. }
            | Self::RepairWanted { call, .. }
            | Self::CallOmitted { call, .. }
            | Self::CallSkipped { call }
            | Self::CallFailed { call, .. }
            | Self::EffectIntended { call, .. }
            | Self::EffectApplied { call, .. }
            | Self::EffectInDoubt { call, .. }
            | Self::EffectAbsent { call, .. }
            | Self::EffectPartlyApplied { call }
            | Self::EffectCompensated { call }
            | Self::ControlSettled { call, .. }
            | Self::KeyAwaited { call, .. }
            | Self::KeyTakenOver { call, .. }
            | Self::LateResult { call, .. }
            | Self::LateValueRecorded { call, .. }
            | Self::AttemptOrphaned { call, .. }
            | Self::OrphanObserved { call, .. }
            | Self::OrphanAdopted { call, .. }
            | Self::OrphanClosed { call, .. }
            | Self::HardPathLost { call }
            | Self::ToolsDone { call }
            | Self::AddendumRecorded { call, .. } => Some(*call),
            Self::CodeFailed { call, .. } => *call,
            Self::RunStarted(_)
            | Self::AdmissionDecided(_)
            | Self::LeaseTaken(_)
            | Self::CancelRequested { .. }
            | Self::AnsweredLater { .. }
            | Self::LapEnded { .. }
            | Self::RunClosed
            | Self::RunQuarantined { .. }
            | Self::QuarantineLifted { .. }
            | Self::RunTerminated { .. }
            | Self::LapStarted(_)
            | Self::BudgetRaised(_) => None,
        }
    }
}
