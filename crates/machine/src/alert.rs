//! Alerts: what a person or the host should hear of, as a function of what has happened.
//!
//! An alert follows from its event and the state after it and from nothing else, so that it is
//! written with the event and neither lost nor made twice. It carries no payload and no text that
//! user code or a provider wrote.

use mainstay_graph::{OnLate, Resolution};
use mainstay_types::{CallId, EffectKey, LapNo, Reason, RunId, Tenant, Timestamp, limits};

use crate::call::Call;
use crate::effect;
use crate::event::{ClassRef, Event, OutcomeKind};
use crate::orphan::Seen;
use crate::run::{Head, Run};

/// Something a person or the host should hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// When it happened.
    pub at: Timestamp,
    /// In which run.
    pub run: RunId,
    /// Whose run.
    pub tenant: Tenant,
    /// Its class.
    pub class: ClassRef,
    /// In which lap.
    pub lap: LapNo,
    /// What.
    pub kind: AlertKind,
    /// About which call, by its path.
    pub call: Option<String>,
    /// About which effect.
    pub key: Option<EffectKey>,
    /// The stable code of why, for example `DOUBT_WAIT_OVER`.
    pub reason: String,
}

/// What an alert says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertKind {
    /// A lap ended and a person goes on.
    HandedOff,
    /// Nobody knows what became of a write, and somebody was told so or has to find out.
    InDoubt,
    /// A lap ended after the time at which its caller had to have an answer.
    EndedLate,
    /// A receiver did a part of a write.
    PartlyApplied,
    /// A run is not driven until a person looks.
    Quarantined,
    /// What was to undo an effect was not done, and that effect is still in the world.
    CompensationFailed,
    /// Something was learned about a lap after its outcome.
    Addendum,
    /// An answer came too late to be its call's value, and somebody has to look at it: without a
    /// key it may be a second effect.
    LateResult,
    /// Nothing was heard in its time of remote work that was given up.
    OrphanOverdue,
}

impl AlertKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::HandedOff,
        Self::InDoubt,
        Self::EndedLate,
        Self::PartlyApplied,
        Self::Quarantined,
        Self::CompensationFailed,
        Self::Addendum,
        Self::LateResult,
        Self::OrphanOverdue,
    ];

    /// The stable text, for example `handed_off`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HandedOff => "handed_off",
            Self::InDoubt => "in_doubt",
            Self::EndedLate => "ended_late",
            Self::PartlyApplied => "partly_applied",
            Self::Quarantined => "quarantined",
            Self::CompensationFailed => "compensation_failed",
            Self::Addendum => "addendum",
            Self::LateResult => "late_result",
            Self::OrphanOverdue => "orphan_overdue",
        }
    }
}

/// The alerts of `event`, which made `run` what it is, at `at`.
#[must_use]
pub fn of(run: &Run, event: &Event, at: Timestamp) -> Vec<Alert> {
    let Some(head) = run.head() else {
        return Vec::new();
    };
    let about = |kind, call, reason: &str| alert(run, head, at, (kind, call, reason));
    match event {
        Event::LapEnded { .. } | Event::LateValueRecorded { .. } | Event::OrphanObserved { .. } => {
            let told = of_end(head, event).or(of_late(event)).into_iter();
            told.map(|(kind, reason)| about(kind, event.call(), reason.as_str()))
                .collect()
        }
        Event::AnsweredLater { doubts, .. } => {
            let reason = Reason::AnswerTimeReached.as_str();
            let in_doubt = |&call| about(AlertKind::InDoubt, Some(call), reason);
            doubts.iter().map(in_doubt).collect()
        }
        Event::EffectInDoubt { call, reason, .. } if only_a_person_knows(run, *call) => {
            vec![about(AlertKind::InDoubt, Some(*call), reason.as_str())]
        }
        Event::ControlSettled { call, reason, .. } if is_long_undone(run, head, *call) => {
            vec![about(AlertKind::InDoubt, Some(*call), reason.as_str())]
        }
        Event::KeyTakenOver { call, .. } if only_a_person_knows(run, *call) => {
            let reason = Reason::OwnerLost.as_str();
            vec![about(AlertKind::InDoubt, Some(*call), reason)]
        }
        Event::EffectPartlyApplied { call } => {
            let reason = Reason::PartlyApplied.as_str();
            vec![about(AlertKind::PartlyApplied, Some(*call), reason)]
        }
        Event::CallFailed { call, reason, .. } if is_undo(run, *call) => {
            let reason = reason.as_str();
            vec![about(AlertKind::CompensationFailed, Some(*call), reason)]
        }
        Event::RunQuarantined(why) => {
            vec![about(AlertKind::Quarantined, None, why.code.as_str())]
        }
        Event::AddendumRecorded { call, reason } => {
            vec![about(AlertKind::Addendum, Some(*call), reason.as_str())]
        }
        // Nothing that anybody has to hear of.
        #[rustfmt::skip]
        Event::RunStarted(_) | Event::AdmissionDecided(_) | Event::NextDecided(_)
        | Event::RepairWanted { .. } | Event::LeaseTaken(_) | Event::CallPrepared { .. }
        | Event::ListRecorded { .. } | Event::AttemptStarted(_) | Event::AttemptSettled { .. }
        | Event::AttemptInterrupted { .. } | Event::CallSettled { .. }
        | Event::CallRescheduled { .. } | Event::CallOmitted { .. } | Event::CallSkipped { .. }
        | Event::CallFailed { .. } | Event::CodeFailed { .. } | Event::EffectIntended { .. }
        | Event::EffectApplied { .. } | Event::EffectInDoubt { .. } | Event::EffectAbsent { .. }
        | Event::EffectSettledByHand(_) | Event::CompensationWanted(_)
        | Event::EffectCompensated { .. } | Event::ToolCalled(_) | Event::ToolsDone { .. }
        | Event::ControlSettled { .. } | Event::KeyAwaited { .. } | Event::KeyTakenOver { .. }
        | Event::LateResult { .. } | Event::AttemptOrphaned { .. } | Event::OrphanAdopted { .. }
        | Event::OrphanClosed { .. } | Event::CancelRequested { .. } | Event::HardPathLost { .. }
        | Event::RunClosed | Event::QuarantineLifted { .. } | Event::RunTerminated { .. }
        | Event::LapStarted(_) | Event::BudgetRaised(_) => Vec::new(),
    }
}

/// What somebody has to hear of a late answer, and of what was given up.
const fn of_late(event: &Event) -> Option<(AlertKind, Reason)> {
    if let Event::LateValueRecorded {
        policy: OnLate::Review,
        ..
    } = event
    {
        return Some((AlertKind::LateResult, Reason::Answered));
    }
    let Event::OrphanObserved {
        seen: Seen::StillRunning,
        ..
    } = event
    else {
        return None;
    };
    Some((AlertKind::OrphanOverdue, Reason::StillRunning))
}

/// What somebody has to hear of a lap's end.
fn of_end(head: &Head, event: &Event) -> Option<(AlertKind, Reason)> {
    let Event::LapEnded {
        outcome,
        reason,
        at,
        ..
    } = event
    else {
        return None;
    };
    let is_late = head.lap.later.is_some() || head.lap.times.answer_by < *at;
    ended(*outcome, is_late).map(|kind| (kind, *reason))
}

/// What the end of a lap is to those who do not wait for its answer.
const fn ended(outcome: OutcomeKind, late: bool) -> Option<AlertKind> {
    match (outcome, late) {
        (OutcomeKind::HandedOff, _) => Some(AlertKind::HandedOff),
        (
            OutcomeKind::Completed
            | OutcomeKind::Degraded
            | OutcomeKind::Failed
            | OutcomeKind::Canceled
            | OutcomeKind::Terminated,
            true,
        ) => Some(AlertKind::EndedLate),
        (
            OutcomeKind::Completed
            | OutcomeKind::Degraded
            | OutcomeKind::Failed
            | OutcomeKind::Canceled
            | OutcomeKind::Terminated,
            false,
        )
        | (OutcomeKind::Rejected, _) => None,
    }
}

fn is_undo(run: &Run, call: CallId) -> bool {
    run.calls().get(call).is_some_and(Call::is_undo)
}

/// Whether nobody has heard for long whether an effect is undone, and nothing else will tell: the
/// lap has its outcome.
fn is_long_undone(run: &Run, head: &Head, call: CallId) -> bool {
    let undo = run.calls().get(call).filter(|call| call.is_undo());
    let doubt = undo.and_then(effect::doubt);
    head.lap.outcome.is_some()
        && doubt.is_some_and(|doubt| doubt.asked == limits::UNDO_LOOKUPS_QUIET_MAX)
}

fn only_a_person_knows(run: &Run, call: CallId) -> bool {
    let node = run.calls().get(call).map(|call| call.node);
    let effect = node.and_then(|node| run.class().node(node).effect());
    effect.is_some_and(|effect| effect.resolution == Resolution::ByHuman)
}

fn alert(
    run: &Run,
    head: &Head,
    at: Timestamp,
    (kind, call, reason): (AlertKind, Option<CallId>, &str),
) -> Alert {
    let called = call.and_then(|id| run.calls().get(id));
    let key = called.and_then(|call| match &call.effect {
        Some(effect) => Some(effect.key.clone()),
        // What could not even be sent is known by its key all the same.
        None => effect::key_of(run, call).filter(|_| call.is_undo()),
    });
    Alert {
        at,
        run: head.run,
        tenant: head.tenant.clone(),
        class: head.class.clone(),
        lap: head.lap.no,
        kind,
        call: call.map(|call| run.path(call)),
        key,
        reason: reason.to_owned(),
    }
}
