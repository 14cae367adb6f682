//! What can be said about a run without its code: its row in listings, its notices.
//!
//! Views are functions of the state; nothing is stored for them alone.

use std::collections::BTreeMap;

use mainstay_graph::{Criticality, FallbackKind, OnLimit};
use mainstay_types::{CallId, Code, LapNo, Payload, RunId, StartKey, Tenant, Timestamp};

use crate::call::{AT_ONCE, Call, Phase};
use crate::event::{ClassRef, OutcomeKind};
use crate::guard::Site;
use crate::run::Run;
use crate::{attempt, caps, lap};

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunState {
    /// Something of it is being done, or can be at once.
    Running,
    /// Nothing of it can be done before something else happens; its reason says what.
    Waiting,
    /// A limit stops its hard path, and its class waits for somebody who raises it; its reason says
    /// which.
    Paused,
    /// It has to be driven, and the engine that was asked has no code for its class. Said by an
    /// engine, which knows its code; never by the run's own state.
    WaitingForCode,
    /// The newest lap has its outcome, and something is still owed.
    Ended,
    /// Ended, and owes nothing.
    Closed,
    /// Not driven until a person looks.
    Quarantined,
}

impl RunState {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Running,
        Self::Waiting,
        Self::Paused,
        Self::WaitingForCode,
        Self::Ended,
        Self::Closed,
        Self::Quarantined,
    ];

    /// The stable text, for example `running`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::WaitingForCode => "waiting_for_code",
            Self::Ended => "ended",
            Self::Closed => "closed",
            Self::Quarantined => "quarantined",
        }
    }
}

/// A run's row in listings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The run.
    pub run: RunId,
    /// Its class.
    pub class: ClassRef,
    /// Whose run.
    pub tenant: Tenant,
    /// The caller's key.
    pub start_key: Option<StartKey>,
    /// Where it stands.
    pub state: RunState,
    /// The newest lap.
    pub lap: LapNo,
    /// How that lap ended.
    pub outcome: Option<OutcomeKind>,
    /// Effects nobody knows the outcome of.
    pub in_doubt: u32,
    /// When the run began.
    pub started_at: Timestamp,
    /// When the lap ended.
    pub ended_at: Option<Timestamp>,
    /// Why it waits or is not driven.
    pub reason: Option<StateReason>,
}

/// Why a run is in the state it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateReason {
    /// Waiting: a receiver has to say what became of a write.
    EffectInDoubt,
    /// Waiting: another run holds an effect's key.
    KeyHeld,
    /// Waiting: a call is tried again at a later moment.
    Backoff,
    /// Quarantined, waiting for code or paused, with the code of what is in the way.
    Code(Code),
}

impl StateReason {
    /// The stable text, for example `EFFECT_IN_DOUBT`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EffectInDoubt => Code::EffectInDoubt.as_str(),
            Self::KeyHeld => Code::KeyHeld.as_str(),
            Self::Backoff => "BACKOFF",
            Self::Code(code) => code.as_str(),
        }
    }

    /// The reason with this text.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let waiting = [Self::EffectInDoubt, Self::KeyHeld, Self::Backoff];
        let known = waiting.into_iter().find(|reason| reason.as_str() == text);
        known.or_else(|| Code::from_text(text).map(Self::Code))
    }
}

/// The run's row as it stands; `None` before it has started.
#[must_use]
pub fn summary(run: &Run) -> Option<Summary> {
    let head = run.head()?;
    let outcome = head.lap.outcome.as_ref();
    let in_doubt = lap::open_effects(run)
        .filter(|(_, call)| call.phase == Phase::InDoubt)
        .count();
    Some(Summary {
        run: head.run,
        class: head.class.clone(),
        tenant: head.tenant.clone(),
        start_key: head.start_key.clone(),
        state: state(run)?,
        lap: head.lap.no,
        outcome: outcome.map(|outcome| outcome.kind),
        in_doubt: u32::try_from(in_doubt).unwrap_or(u32::MAX),
        started_at: head.started_at,
        ended_at: outcome.map(|outcome| outcome.at),
        reason: reason(run),
    })
}

/// Why the run waits or is not driven; `None` in the other states.
#[must_use]
pub fn reason(run: &Run) -> Option<StateReason> {
    let head = run.head()?;
    match (&head.quarantined, &head.lap.outcome) {
        (Some(why), _) => Some(StateReason::Code(why.code)),
        (None, None) => waits_for(run),
        (None, Some(_)) => None,
    }
}

/// What an open lap waits for when nothing of it can be done now: nothing is out, no code has to
/// run, and no call may start before a later moment.
fn waits_for(run: &Run) -> Option<StateReason> {
    let calls = run.calls();
    if calls.in_flight().next().is_some() || calls.preparing().next().is_some() {
        return None;
    }
    let mut reasons = Vec::new();
    for (id, call) in calls.ready() {
        if let Some(code) = paused_by(run, id, call) {
            reasons.push(StateReason::Code(code));
            continue;
        }
        let at_once = Phase::Ready {
            not_before: AT_ONCE,
        };
        if call.phase == at_once {
            return None;
        }
        let holder = call.key_holder;
        reasons.push(holder.map_or(StateReason::Backoff, |_| StateReason::KeyHeld));
    }
    reasons.extend(calls.in_doubt().map(|_| StateReason::EffectInDoubt));
    reasons.into_iter().min()
}

/// The limit that a call of the hard path waits for, in a class that waits for it to be raised.
#[must_use]
pub fn paused_by(run: &Run, id: CallId, call: &Call) -> Option<Code> {
    // Tokens that are held for a moment pause nobody.
    let (head, now) = (run.head()?, Timestamp::from_millis(i64::MAX));
    let site = Site {
        run,
        head,
        id,
        call,
        now,
    };
    match caps::rule(site) {
        OnLimit::Pause => attempt::stops(site).map(|refusal| refusal.code),
        OnLimit::Degrade | OnLimit::HandOff | OnLimit::Fail => None,
    }
}

/// Where the run stands; `None` before it has started.
#[must_use]
pub fn state(run: &Run) -> Option<RunState> {
    let head = run.head()?;
    Some(match (&head.quarantined, head.closed, &head.lap.outcome) {
        (Some(_), _, _) => RunState::Quarantined,
        (None, true, _) => RunState::Closed,
        (None, false, Some(_)) => RunState::Ended,
        (None, false, None) => match waits_for(run) {
            Some(StateReason::Code(_)) => RunState::Paused,
            Some(_) => RunState::Waiting,
            None => RunState::Running,
        },
    })
}

/// What the result lacks, in words, in the order of the calls.
#[must_use]
pub fn notices(run: &Run) -> Vec<String> {
    run.calls()
        .iter()
        .filter_map(|(id, call)| notice(run, id, call))
        .collect()
}

fn notice(run: &Run, id: CallId, call: &Call) -> Option<String> {
    let node = run.class().node(call.node);
    match &call.phase {
        Phase::Omitted { .. } => match &node.criticality {
            Criticality::Soft { notice } | Criticality::Advisory { notice } => Some(notice.clone()),
            Criticality::Hard => None,
        },
        Phase::Settled { rung, .. } => {
            let fallback = node.contract()?.fallback(*rung)?;
            Some(format!(
                "{} answered by {}",
                node.name,
                fallback_words(fallback.kind)
            ))
        }
        Phase::Failed { kind, reason } => {
            Some(format!("{} failed: {kind}, {reason}", run.path(id)))
        }
        Phase::InDoubt => Some(format!("{} is in doubt", run.path(id))),
        Phase::Waiting
        | Phase::Preparing
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::Items
        | Phase::Skipped => None,
    }
}

fn fallback_words(kind: FallbackKind) -> String {
    match kind {
        FallbackKind::Provider => "another provider".to_owned(),
        FallbackKind::ApprovedSnapshot { max_age } => {
            format!("an approved snapshot, at most {max_age} old")
        }
        FallbackKind::Cache => "a cache".to_owned(),
        FallbackKind::LocalCompute => "local compute".to_owned(),
        FallbackKind::OmitWithNotice | FallbackKind::Human => "nobody".to_owned(),
    }
}

/// Every value that is there, by its call's path: what a person goes on with. Items stand for
/// themselves only while their each has no value.
#[must_use]
pub fn package(run: &Run) -> BTreeMap<String, Payload> {
    let is_part = |call: &Call| {
        let each = call.item.and_then(|item| run.calls().get(item.parent));
        each.is_some_and(|each| each.value().is_some())
    };
    let values = run.calls().iter().filter(|(_, call)| !is_part(call));
    values
        .filter_map(|(id, call)| call.value().map(|value| (run.path(id), value.clone())))
        .collect()
}
