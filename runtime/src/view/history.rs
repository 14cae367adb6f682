//! What only the events tell: when attempts ended and when doubts began.
//!
//! The state keeps what decisions need, and no more; this is for people.

use std::collections::BTreeMap;

use mainstay_ledger::Recorded;
use mainstay_machine::{Event, SettledByHand};
use mainstay_types::{AttemptNo, CallId, Timestamp};

/// Moments that a run's state does not keep.
#[derive(Default)]
pub(super) struct History {
    attempts_ended: BTreeMap<(CallId, AttemptNo), Timestamp>,
    doubts_began: BTreeMap<CallId, Timestamp>,
    settled_by_hand: BTreeMap<CallId, SettledByHand>,
}

impl History {
    pub(super) fn of(recorded: &[Recorded]) -> Self {
        let mut history = Self::default();
        for entry in recorded {
            history.note(entry);
        }
        history
    }

    /// When the attempt was reported over; for a late answer, when that came.
    pub(super) fn ended(&self, call: CallId, attempt: AttemptNo) -> Option<Timestamp> {
        self.attempts_ended.get(&(call, attempt)).copied()
    }

    /// When the call's newest doubt began.
    pub(super) fn doubted(&self, call: CallId) -> Option<Timestamp> {
        self.doubts_began.get(&call).copied()
    }

    /// Who settled the call's effect last, if a person did.
    pub(super) fn settled_by_hand(&self, call: CallId) -> Option<&SettledByHand> {
        self.settled_by_hand.get(&call)
    }

    fn note(&mut self, entry: &Recorded) {
        let at = entry.at;
        match &entry.event {
            Event::AttemptSettled { call, attempt, .. }
            | Event::AttemptInterrupted { call, attempt, .. }
            | Event::LateResult { call, attempt, .. } => {
                self.attempts_ended.insert((*call, *attempt), at);
            }
            Event::EffectInDoubt { call, .. } | Event::KeyTakenOver { call, .. } => {
                self.doubts_began.insert(*call, at);
            }
            Event::EffectSettledByHand(settled) => {
                self.settled_by_hand
                    .insert(settled.call, SettledByHand::clone(settled));
            }
            Event::RunStarted(_)
            | Event::AdmissionDecided(_)
            | Event::NextDecided(_)
            | Event::RepairWanted { .. }
            | Event::LeaseTaken(_)
            | Event::CallPrepared { .. }
            | Event::ListRecorded { .. }
            | Event::AttemptStarted(_)
            | Event::CallSettled { .. }
            | Event::CallRescheduled { .. }
            | Event::CallOmitted { .. }
            | Event::CallSkipped { .. }
            | Event::CallFailed { .. }
            | Event::CodeFailed { .. }
            | Event::EffectIntended { .. }
            | Event::EffectApplied { .. }
            | Event::EffectAbsent { .. }
            | Event::EffectPartlyApplied { .. }
            | Event::CompensationWanted(_)
            | Event::EffectCompensated { .. }
            | Event::ControlSettled { .. }
            | Event::KeyAwaited { .. }
            | Event::LateValueRecorded { .. }
            | Event::AttemptOrphaned { .. }
            | Event::OrphanObserved { .. }
            | Event::OrphanAdopted { .. }
            | Event::OrphanClosed { .. }
            | Event::CancelRequested { .. }
            | Event::HardPathLost { .. }
            | Event::AnsweredLater { .. }
            | Event::LapEnded { .. }
            | Event::AddendumRecorded { .. }
            | Event::RunClosed
            | Event::RunQuarantined { .. }
            | Event::QuarantineLifted { .. }
            | Event::RunTerminated { .. }
            | Event::BudgetRaised(_)
            | Event::ToolCalled(_)
            | Event::ToolsDone { .. }
            | Event::LapStarted(_) => {}
        }
    }
}
