//! What a turn writes beside its events: entries of effects, waits, alerts, who drives the run, its
//! row.
//!
//! Everything here follows from the events and the state after them; nothing is decided.

use std::sync::Arc;

use mainstay_ledger::{Drive, Op, Part, Stamped};
use mainstay_machine::{Event, effect, view};
use mainstay_types::{CallId, EffectKey, Epoch};

use crate::turn::{Held, Scratch, Turn, input_digest};

impl Turn<'_> {
    pub(crate) fn finish(self) -> Scratch {
        let mut ops: Vec<Op> = self.acks.iter().copied().map(Op::InboxAck).collect();
        ops.extend(
            self.events
                .iter()
                .flat_map(|stamped| self.ops_of(&stamped.event)),
        );
        // An entry that another run holds stays as that run has it, whatever is learned here.
        // It is this one's where it has been taken over.
        ops.extend(self.touched.iter().filter_map(|&id| self.entry_of(id)));
        ops.extend(self.waits());
        ops.extend(self.alerts.iter().cloned().map(Op::Alert));
        // Whatever was taken: a run that owes nothing has not to be driven for it.
        let head = self.run.head();
        let owes = head.is_none_or(|head| !head.closed && head.quarantined.is_none());
        let drive = self
            .drive
            .map(|drive| if owes { drive } else { Drive::Off });
        ops.extend(drive.map(Op::Drive));
        let summary = view::summary(self.run);
        if summary != self.summary_before {
            ops.extend(summary.map(Op::Summary));
        }
        let head = self.run.head();
        let part = Part {
            run: self.id,
            expected_seq: self.expected_seq,
            epoch: head.map_or(Epoch(1), |head| head.epoch),
            events: self.events,
            ops,
        };
        let says_nothing = |op: &Op| matches!(op, Op::Drive(_));
        let is_empty = part.events.is_empty() && part.ops.iter().all(says_nothing);
        Scratch {
            part,
            is_empty,
            notes: self.notes,
            refused: self.refused,
            wants: self.wants,
            handed: self.handed,
        }
    }

    fn ops_of(&self, event: &Event) -> Vec<Op> {
        if let Event::RunStarted(started) = event {
            let mut ops = vec![Op::Class(Arc::clone(self.run.class()))];
            ops.extend(started.start_key.clone().map(|key| Op::StartKey {
                tenant: started.tenant.clone(),
                key,
                input: input_digest(&started.class.name, &started.input),
            }));
            return ops;
        }
        Vec::new()
    }

    /// What an event says of who drives the run; the last one that says so counts.
    pub(crate) fn drive_of(&self, event: &Event) -> Option<Drive> {
        let driven = Drive::Driven {
            worker: self.shared.worker,
        };
        match event {
            Event::RunClosed | Event::RunQuarantined { .. } => Some(Drive::Off),
            Event::RunStarted(_)
            | Event::LeaseTaken(_)
            | Event::LapStarted(_)
            | Event::BudgetRaised(_)
            | Event::EffectSettledByHand(_)
            | Event::CompensationWanted(_)
            | Event::OrphanAdopted { .. }
            | Event::OrphanClosed { .. }
            | Event::ToolCalled(_)
            | Event::ToolsDone { .. }
            | Event::QuarantineLifted { .. }
            | Event::RunTerminated { .. } => {
                // What is taken over for the sake of one command is not driven for it.
                let head = self.run.head()?;
                let owes = !head.closed && head.quarantined.is_none();
                owes.then_some(driven)
            }
            Event::AdmissionDecided(_)
            | Event::NextDecided(_)
            | Event::RepairWanted { .. }
            | Event::CallPrepared { .. }
            | Event::ListRecorded { .. }
            | Event::AttemptStarted(_)
            | Event::AttemptSettled { .. }
            | Event::AttemptInterrupted { .. }
            | Event::CallSettled { .. }
            | Event::CallRescheduled { .. }
            | Event::CallOmitted { .. }
            | Event::CallSkipped { .. }
            | Event::CallFailed { .. }
            | Event::CodeFailed { .. }
            | Event::EffectIntended { .. }
            | Event::EffectApplied { .. }
            | Event::EffectInDoubt { .. }
            | Event::EffectAbsent { .. }
            | Event::EffectPartlyApplied { .. }
            | Event::EffectCompensated { .. }
            | Event::KeyTakenOver { .. }
            | Event::ControlSettled { .. }
            | Event::KeyAwaited { .. }
            | Event::LateResult { .. }
            | Event::LateValueRecorded { .. }
            | Event::AttemptOrphaned { .. }
            | Event::OrphanObserved { .. }
            | Event::CancelRequested { .. }
            | Event::HardPathLost { .. }
            | Event::AnsweredLater { .. }
            | Event::LapEnded { .. }
            | Event::AddendumRecorded { .. } => None,
        }
    }

    /// The entry of a call's effect as it stands now, when it is this run's.
    fn entry_of(&self, id: CallId) -> Option<Op> {
        let entry = effect::entry(self.run, id, self.now)?;
        let memory = effect::memory(self.run, id);
        let held = self.held_under(&entry.key);
        let is_taken_over = |stamped: &Stamped| stamped.event.takes_over(id);
        let over = held.map(|held| held.version);
        let falls_back = held.is_some_and(Held::falls_back);
        let is_ours = over.is_none() || falls_back || self.events.iter().any(is_taken_over);
        is_ours.then_some(Op::Effect {
            entry,
            memory,
            over,
        })
    }

    pub(crate) fn held_under(&self, key: &EffectKey) -> Option<&Held> {
        self.held.iter().find(|held| held.entry.key == *key)
    }

    /// Every key that is waited for since this turn: whoever settles it wakes the run.
    fn waits(&self) -> Vec<Op> {
        let waits = self.events.iter().filter_map(|stamped| {
            let Event::KeyAwaited { call, .. } = &stamped.event else {
                return None;
            };
            let waiting = self.run.calls().get(*call)?;
            // What undoes an effect may have given up in the same breath.
            let waiting = Some(waiting).filter(|call| !call.phase.is_final())?;
            let key = effect::key(self.run, *call, waiting).ok()?;
            let version = self.held_under(&key)?.version;
            Some(Op::Wait { key, version })
        });
        waits.collect()
    }
}

/// The call whose effect an event changes.
pub(crate) fn effect_call(event: &Event) -> Option<CallId> {
    match event {
        Event::EffectIntended { call, .. }
        | Event::EffectApplied { call, .. }
        | Event::EffectInDoubt { call, .. }
        | Event::EffectAbsent { call, .. }
        | Event::EffectPartlyApplied { call }
        | Event::EffectCompensated { call }
        | Event::KeyTakenOver { call, .. } => Some(*call),
        Event::CompensationWanted(wanted) => Some(wanted.call),
        Event::AttemptStarted(started) => Some(started.call),
        Event::RunStarted(_)
        | Event::AdmissionDecided(_)
        | Event::NextDecided(_)
        | Event::RepairWanted { .. }
        | Event::LeaseTaken(_)
        | Event::CallPrepared { .. }
        | Event::ListRecorded { .. }
        | Event::AttemptSettled { .. }
        | Event::AttemptInterrupted { .. }
        | Event::CallSettled { .. }
        | Event::CallRescheduled { .. }
        | Event::CallOmitted { .. }
        | Event::CallSkipped { .. }
        | Event::CallFailed { .. }
        | Event::CodeFailed { .. }
        | Event::ControlSettled { .. }
        | Event::KeyAwaited { .. }
        | Event::LateResult { .. }
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
        | Event::EffectSettledByHand(_)
        | Event::ToolCalled(_)
        | Event::ToolsDone { .. }
        | Event::LapStarted(_) => None,
    }
}
