//! A run as people and programs read it: plain data, made from its state and its events.
//!
//! One view for the command line, the library and whatever shows runs later, so that they never
//! tell different stories. It decides nothing, changes nothing and is never stored. Its fields are
//! texts and numbers on purpose: they are the JSON shape, for readers that do not have our types.
//!
//! Times are RFC 3339 in UTC with milliseconds; `_ms` are milliseconds; cost units are JSON numbers
//! with all their decimals; payloads are the stored JSON, byte for byte.

mod alert;
mod budget;
mod call;
mod decided;
mod effect;
mod given_up;
mod hidden;
mod history;
mod laps;
mod raw;
mod row;
mod sentence;
mod status;
mod stored;
pub mod text;
mod timeline;
mod waiting;
pub mod why;

#[cfg(test)]
mod tests;

pub use alert::AlertRow;
pub use budget::{
    BudgetView, CapView, ConcurrencyView, CostView, DowntimeView, RetryView, TimesView,
};
pub use call::{AttemptView, CallView, EffectView, OrphanView, SettledView};
pub use effect::{OneEffect, OtherEffect, PromiseView};
pub use laps::{AdmissionView, AskedView, LapView, RaiseView};
pub use row::{ClassView, SummaryRow};
pub use status::{EffectLine, NotDrivenView, OrphanLine, StatusView};
pub use stored::stored;
pub(crate) use stored::{of as of_loaded, why_of};
pub use timeline::TimelineRow;

pub use mainstay_machine::{OutcomeKind, RunState};

use std::collections::BTreeMap;
use std::fmt;

use mainstay_ledger::Recorded;
use mainstay_machine::run::Head;
use mainstay_machine::{Run, StateReason, view};
use mainstay_types::{CallId, Code, Millis, Reason, Timestamp};
use serde::Serialize;
use serde_json::value::RawValue;

use history::History;

/// A run with its calls, attempts, effects, budget and timeline.
#[derive(Clone, Serialize)]
pub struct RunView {
    /// The run.
    pub run_id: String,
    /// Its class.
    pub class: ClassView,
    /// Whose run.
    pub tenant: String,
    /// The caller's key.
    pub start_key: Option<String>,
    /// The newest lap, from 1.
    pub lap: u32,
    /// The epoch of its owner, from 1; each take-over adds one.
    pub epoch: u32,
    /// `running`, `waiting`, `ended`, `closed` or `quarantined`.
    pub state: &'static str,
    /// The code of why it waits or is quarantined, for example `EFFECT_IN_DOUBT`.
    pub state_reason: Option<&'static str>,
    /// What it waits for, in words; empty when it waits for nothing.
    pub waiting_for: Vec<String>,
    /// Who asked it to stop, and why.
    pub cancel: Option<AskedView>,
    /// Who ended it whatever its state, and why.
    pub terminated: Option<AskedView>,
    /// What the caller was told; `None` while nothing was.
    pub answer: Option<AnswerView>,
    /// `completed`, `degraded`, `handed_off`, `failed` or `canceled`; `None` while open.
    pub outcome: Option<&'static str>,
    /// The reason of the outcome.
    pub reason: Option<&'static str>,
    /// The class's result.
    pub result: Option<Box<RawValue>>,
    /// For `handed_off` and `failed`: every value that is there, by the call's path. Items have
    /// their own entries only when their each has no value.
    pub package: Option<BTreeMap<String, Box<RawValue>>>,
    /// What the result lacks.
    pub notices: Vec<String>,
    /// What was learned after the outcome.
    pub addenda: Vec<AddendumView>,
    /// When the lap ended.
    pub ended_at: Option<String>,
    /// From the lap's start to its end.
    pub took_ms: Option<u64>,
    /// Every lap, oldest first.
    pub laps: Vec<LapView>,
    /// What the newest lap may spend and has spent.
    pub budget: BudgetView,
    /// The calls in the class's order, items after their each.
    pub calls: Vec<CallView>,
    /// What has happened, in order.
    pub timeline: Vec<TimelineRow>,
}

/// What the caller was told.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnswerView {
    /// The outcome.
    Ready,
    /// That the outcome comes later.
    Later {
        /// Why.
        why: &'static str,
        /// The paths of the calls whose effects were in doubt.
        doubts: Vec<String>,
        /// The keys of these effects, in the same order.
        keys: Vec<String>,
        /// When the outcome will be there at the latest.
        expected_by: String,
    },
}

/// Something learned after the outcome.
#[derive(Clone, Debug, Serialize)]
pub struct AddendumView {
    /// The path of the call it is about.
    pub call: String,
    /// What became known.
    pub reason: &'static str,
}

impl RunView {
    /// The view of `run`. `recorded` are its events, for the timeline and for when attempts ended;
    /// without them both stay empty.
    ///
    /// # Panics
    /// When the run has not started: there is nothing to view before its first event.
    #[must_use]
    pub fn of(run: &Run, recorded: &[Recorded]) -> Self {
        let head = run.head().expect("a run is viewed after its first event");
        let state = view::state(run).expect("it has a head");
        let history = History::of(recorded);
        let outcome = head.lap.outcome.as_ref();
        Self {
            run_id: head.run.to_string(),
            class: ClassView::of(&head.class),
            tenant: head.tenant.to_string(),
            start_key: head.start_key.as_ref().map(ToString::to_string),
            lap: head.lap.no.get(),
            epoch: head.epoch.get(),
            state: state.as_str(),
            waiting_for: waiting::reasons(run, head, state),
            state_reason: view::reason(run).map(StateReason::as_str),
            cancel: head.cancel.as_ref().map(AskedView::of),
            terminated: head.terminated.as_ref().map(AskedView::of),
            answer: answer(run, head),
            outcome: outcome.map(|outcome| outcome.kind.as_str()),
            reason: outcome.map(|outcome| outcome.reason.as_str()),
            result: outcome
                .and_then(|outcome| outcome.result.as_ref())
                .map(raw::json),
            package: outcome.and_then(|outcome| package(run, outcome.kind)),
            notices: view::notices(run),
            addenda: addenda(run, head),
            ended_at: outcome.map(|outcome| raw::time(outcome.at)),
            took_ms: outcome
                .map(|outcome| outcome.at.since(head.lap.started_at))
                .map(Millis::get),
            laps: laps::all(run, head),
            budget: BudgetView::of(run.class(), head),
            calls: call::all(run, head, &history),
            timeline: timeline::rows(run, head, recorded),
        }
    }
}

impl RunView {
    /// Leaves out places that dead attempts had and that are free by now.
    pub(crate) fn forget_free_places(&mut self, now: Timestamp) {
        let now = raw::time(now);
        // Moments of one form and zone are in the order of their texts.
        self.budget
            .concurrency_tokens
            .held_until
            .retain(|until| now < *until);
    }

    /// The same run as an engine sees it that has no code for it: nothing of it is done or asked.
    pub(crate) fn without_code(mut self, code: Code, detail: &str) -> Self {
        let is_over =
            self.state == RunState::Closed.as_str() || self.state == RunState::Quarantined.as_str();
        if !is_over {
            self.state = RunState::WaitingForCode.as_str();
            self.state_reason = Some(code.as_str());
            self.waiting_for = vec![format!("a process with its code: {detail}")];
        }
        self
    }
}

/// The run's name only: its values may hold what a log must not show.
impl fmt::Debug for RunView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunView")
            .field("run_id", &self.run_id)
            .field("state", &self.state)
            .field("outcome", &self.outcome)
            .finish_non_exhaustive()
    }
}

fn answer(run: &Run, head: &Head) -> Option<AnswerView> {
    // What was told stays told: an outcome that came later does not make the answer "ready".
    match (&head.lap.later, &head.lap.outcome) {
        (Some(later), _) => Some(AnswerView::Later {
            why: Reason::AnswerTimeReached.as_str(),
            doubts: later.doubts.iter().map(|&call| run.path(call)).collect(),
            keys: later
                .doubts
                .iter()
                .filter_map(|&call| key(run, call))
                .collect(),
            expected_by: raw::time(later.expected_by),
        }),
        (None, Some(_)) => Some(AnswerView::Ready),
        (None, None) => None,
    }
}

fn key(run: &Run, call: CallId) -> Option<String> {
    let effect = run.calls().get(call)?.effect.as_ref()?;
    Some(effect.key.to_string())
}

fn addenda(run: &Run, head: &Head) -> Vec<AddendumView> {
    let addendum = |&(call, reason): &(CallId, Reason)| AddendumView {
        call: run.path(call),
        reason: reason.as_str(),
    };
    head.lap.addenda.iter().map(addendum).collect()
}

/// What a person goes on with.
fn package(run: &Run, outcome: OutcomeKind) -> Option<BTreeMap<String, Box<RawValue>>> {
    match outcome {
        OutcomeKind::HandedOff | OutcomeKind::Failed => {}
        OutcomeKind::Completed
        | OutcomeKind::Degraded
        | OutcomeKind::Canceled
        | OutcomeKind::Terminated
        | OutcomeKind::Rejected => return None,
    }
    let values = view::package(run).into_iter();
    let values = values.map(|(path, value)| (path, raw::json(&value)));
    Some(values.collect())
}
