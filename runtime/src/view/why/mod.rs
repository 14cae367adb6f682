//! Why a run stands where it stands: what is in the way, what it spent on what, what comes next,
//! what nobody knows, and which number would have to change.
//!
//! Every "may it" and "what then" is asked of the core itself, on the state as it is: nothing is
//! decided here a second time, and nothing is changed or stored.

mod blocked;
mod change;
mod lack;
mod next;
mod spent;
mod stop;
mod uncertain;

pub use blocked::BlockedView;
pub use change::ChangeView;
pub use next::NextView;
pub use spent::{LimitView, SpendingView, SpentView, TimeView};
pub use uncertain::UncertainView;

use mainstay_ledger::Recorded;
use mainstay_machine::run::Head;
use mainstay_machine::{Action, Run, RunState, StateReason, pending, view};
use mainstay_types::{Code, Timestamp, limits};
use serde::Serialize;

use super::laps::{self, AdmissionView};
use super::{ClassView, raw};
use stop::Stops;

/// A run explained at one moment. Texts for people, fields for programs; no payload and no word of
/// a provider is in it.
#[derive(Clone, Debug, Serialize)]
pub struct WhyView {
    /// The run.
    pub run_id: String,
    /// Its class.
    pub class: ClassView,
    /// The newest lap, from 1.
    pub lap: u32,
    /// The moment that all of this is about.
    pub at: String,
    /// As in the run's view.
    pub state: &'static str,
    /// The code of why it waits, is paused or not driven.
    pub state_reason: Option<&'static str>,
    /// How the newest lap ended; `None` while open.
    pub outcome: Option<&'static str>,
    /// In one sentence.
    pub because: String,
    /// Per call, the hard path first: what it waits for, or why it has no value. Bound:
    /// `limits::WHY_ROWS_MAX`.
    pub blocked: Vec<BlockedView>,
    /// Calls beyond that bound.
    pub blocked_more: u64,
    /// What the newest lap was admitted on; `None` for one that somebody asked for.
    pub admission: Option<AdmissionView>,
    /// What the newest lap spent on what.
    pub spent: SpentView,
    /// What comes next, soonest first. Bound: `limits::WHY_ROWS_MAX`.
    pub next: Vec<NextView>,
    /// What nobody knows. Bound: `limits::WHY_ROWS_MAX`.
    pub uncertain: Vec<UncertainView>,
    /// Which numbers would have to change, and how somebody changes them.
    pub changes: Vec<ChangeView>,
}

impl WhyView {
    /// Explains `run` at `now`. `recorded` are its events, for what was decided about calls;
    /// without them only the state speaks.
    ///
    /// # Panics
    /// When the run has not started: there is nothing to explain before its first event.
    #[must_use]
    pub fn of(run: &Run, recorded: &[Recorded], now: Timestamp) -> Self {
        let head = run
            .head()
            .expect("a run is explained after its first event");
        let state = view::state(run).expect("it has a head");
        let admission = laps::admission(run, &head.lap);
        let about = About { run, head, now };
        let stops = Stops::of(recorded, head.lap.started_at);
        let blocked = blocked::rows(about, &stops);
        let blocked_more = blocked.len().saturating_sub(limits::WHY_ROWS_MAX);
        Self {
            run_id: head.run.to_string(),
            class: ClassView::of(&head.class),
            lap: head.lap.no.get(),
            at: raw::time(now),
            state: state.as_str(),
            state_reason: view::reason(run).map(StateReason::as_str),
            outcome: head.lap.outcome.as_ref().map(|end| end.kind.as_str()),
            because: because(about, state),
            changes: change::rows(about, &blocked, admission.as_ref()),
            blocked: blocked
                .into_iter()
                .take(limits::WHY_ROWS_MAX)
                .map(|(row, _)| row)
                .collect(),
            blocked_more: u64::try_from(blocked_more).unwrap_or(u64::MAX),
            admission: admission.as_ref().map(AdmissionView::of),
            spent: SpentView::of(about),
            next: next::rows(about),
            uncertain: uncertain::rows(about),
        }
    }

    /// The same run as an engine sees it that has no code for it: nothing of it is done.
    pub(crate) fn without_code(mut self, code: Code, detail: &str) -> Self {
        let is_over =
            self.state == RunState::Closed.as_str() || self.state == RunState::Quarantined.as_str();
        if !is_over {
            self.state = RunState::WaitingForCode.as_str();
            self.state_reason = Some(code.as_str());
            self.because = format!("no process here has its code: {detail}");
            self.next.clear();
            self.changes.insert(0, change::code_missing(&self.class));
        }
        self
    }
}

impl WhyView {
    /// The same run as an engine sees it that drives nothing: what comes next has to wait for one
    /// that does.
    pub(crate) fn without_driver(mut self) -> Self {
        if self.state != RunState::Closed.as_str() {
            "no process drives the store, so nothing of it moves".clone_into(&mut self.because);
            self.changes.insert(0, change::driver_missing());
        }
        self
    }
}

/// What is explained.
#[derive(Clone, Copy)]
struct About<'a> {
    run: &'a Run,
    head: &'a Head,
    now: Timestamp,
}

/// Whether a call may start now, or the core has something to decide.
fn may_move(about: About<'_>) -> bool {
    let is_now = |action: &Action| match action {
        Action::Advance | Action::Start { .. } | Action::Assemble | Action::Prepare { .. } => true,
        Action::Attempt { .. } | Action::LookUp { .. } | Action::WakeAt(_) => false,
    };
    pending(about.run, about.now).iter().any(is_now)
}

fn because(about: About<'_>, state: RunState) -> String {
    let About { run, head, .. } = about;
    let calls = run.calls();
    let outcome = head.lap.outcome.as_ref();
    match state {
        RunState::Quarantined => {
            let code = head
                .quarantined
                .as_ref()
                .map_or(Code::RunQuarantined, |why| why.code);
            format!("it is quarantined and not driven until a person looks: {code}")
        }
        RunState::Closed | RunState::Ended => {
            let ended = outcome.map_or_else(String::new, |end| {
                let (no, kind) = (head.lap.no, end.kind.as_str());
                format!("lap {no} ended {kind}: {}", end.reason)
            });
            match state == RunState::Ended {
                true => format!(
                    "{ended}; what is still out, in doubt or given up and watched is waited for"
                ),
                false => format!("it is over: {ended}"),
            }
        }
        RunState::Paused => {
            let code = view::reason(run).map_or("a limit", StateReason::as_str);
            format!("{code} stops its hard path, and its class waits until somebody raises it")
        }
        RunState::Waiting | RunState::WaitingForCode => match view::reason(run) {
            Some(StateReason::EffectInDoubt) => {
                "nobody knows yet whether an effect happened; nothing else can be done before"
                    .to_owned()
            }
            Some(StateReason::KeyHeld) => "another run holds the key of its effect".to_owned(),
            Some(StateReason::Backoff) => "its next attempt waits for its moment".to_owned(),
            Some(StateReason::Code(code)) => format!("it waits: {code}"),
            None => "it waits".to_owned(),
        },
        RunState::Running => {
            let (out, code) = (calls.in_flight().count(), calls.preparing().count());
            match (out, code) {
                (0, 0) if may_move(about) => "something of it can be done at once".to_owned(),
                (0, 0) => "nothing of it may start now: see what each call waits for".to_owned(),
                (0, code) => format!("its own code has to run for {code} calls"),
                (1, _) => "it moves: 1 attempt is out".to_owned(),
                (out, _) => format!("it moves: {out} attempts are out"),
            }
        }
    }
}
