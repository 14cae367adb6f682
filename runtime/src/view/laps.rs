//! The laps of a run: what each was asked for, how it ended, what it spent.

use mainstay_machine::run::Head;
use mainstay_machine::{Asked, Lap};
use serde::Serialize;
use serde_json::value::RawValue;

use super::raw;

/// One lap, oldest first in a run's view.
#[derive(Clone, Debug, Serialize)]
pub struct LapView {
    /// Its number, from 1.
    pub lap: u32,
    /// When it began.
    pub started_at: String,
    /// Who asked for it, and why; `None` for the first.
    pub continued: Option<AskedView>,
    /// When its caller had to have an answer.
    pub answer_by: String,
    /// How it ended; `None` while open.
    pub outcome: Option<&'static str>,
    /// The reason of the outcome.
    pub reason: Option<&'static str>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// Retry tokens its attempts used.
    pub retry_tokens: u32,
    /// Cost units its attempts spent, those included whose end became known in a later lap.
    pub cost_units: Box<RawValue>,
}

/// Somebody's request about a run.
#[derive(Clone, Debug, Serialize)]
pub struct AskedView {
    /// Who.
    pub by: String,
    /// Why.
    pub why: String,
}

impl AskedView {
    pub(super) fn of(asked: &Asked) -> Self {
        Self {
            by: asked.by.clone(),
            why: asked.why.clone(),
        }
    }
}

/// Every lap of the run.
pub(super) fn all(head: &Head) -> Vec<LapView> {
    head.past.iter().chain([&head.lap]).map(one).collect()
}

fn one(lap: &Lap) -> LapView {
    let outcome = lap.outcome.as_ref();
    LapView {
        lap: lap.no.get(),
        started_at: raw::time(lap.started_at),
        continued: lap.continued.as_ref().map(AskedView::of),
        answer_by: raw::time(lap.times.answer_by),
        outcome: outcome.map(|outcome| outcome.kind.as_str()),
        reason: outcome.map(|outcome| outcome.reason.as_str()),
        ended_at: outcome.map(|outcome| raw::time(outcome.at)),
        retry_tokens: lap.budget.retry_used.get(),
        cost_units: raw::units(lap.budget.spent),
    }
}
