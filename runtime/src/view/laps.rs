//! The laps of a run: what each was asked for, how it ended, what it spent.

use mainstay_machine::run::Head;
use mainstay_machine::{Admission, Asked, Forecast, Lap, Raise, Run};
use mainstay_types::Millis;
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
    /// What it was admitted on; `None` for a lap that somebody asked for.
    pub admission: Option<AdmissionView>,
    /// Who raised its budget, oldest first.
    pub raises: Vec<RaiseView>,
}

/// Whether an answer in time could be had, and what was compared.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AdmissionView {
    /// `admitted`, `later` or `rejected`.
    pub verdict: &'static str,
    /// The sum of what follows.
    pub need_ms: u64,
    /// The time to the answer.
    pub left_ms: u64,
    /// Expected wait in queues.
    pub queue_ms: u64,
    /// The critical path: nine of ten take no longer.
    pub path_ms: u64,
    /// Reserve for putting the result together.
    pub synthesis_ms: u64,
    /// Reserve for asking what became of writes.
    pub reconcile_ms: u64,
    /// Reserve for giving the answer.
    pub deliver_ms: u64,
    /// Calls whose time was observed; the others are at their contracts' estimates.
    pub observed: u32,
}

/// A budget that was raised.
#[derive(Clone, Debug, Serialize)]
pub struct RaiseView {
    /// Who.
    pub by: String,
    /// Why.
    pub why: String,
    /// When.
    pub at: String,
    /// Retry tokens more.
    pub retry_tokens: u32,
    /// Concurrency tokens more.
    pub concurrency_tokens: u32,
    /// Cost units more.
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

impl AdmissionView {
    pub(super) fn of(admission: &Admission) -> Self {
        Self {
            verdict: admission.verdict.as_str(),
            need_ms: admission.need().get(),
            left_ms: admission.left.get(),
            queue_ms: admission.queue.get(),
            path_ms: admission.path.get(),
            synthesis_ms: admission.synthesis.get(),
            reconcile_ms: admission.reconcile.get(),
            deliver_ms: admission.deliver.get(),
            observed: admission.observed,
        }
    }

    /// The numbers in words.
    pub(super) fn words(&self) -> String {
        let ms = Millis::new;
        format!(
            "it needs {} of {} (critical path {}, queue {}, synthesis {}, reconcile {}, deliver \
             {}; {} calls as observed)",
            ms(self.need_ms),
            ms(self.left_ms),
            ms(self.path_ms),
            ms(self.queue_ms),
            ms(self.synthesis_ms),
            ms(self.reconcile_ms),
            ms(self.deliver_ms),
            self.observed
        )
    }
}

impl RaiseView {
    fn of(raise: &Raise) -> Self {
        Self {
            by: raise.by.clone(),
            why: raise.why.clone(),
            at: raw::time(raise.at),
            retry_tokens: raise.more.retry_tokens.get(),
            concurrency_tokens: raise.more.concurrency_tokens.get(),
            cost_units: raw::units(raise.more.cost_units),
        }
    }
}

/// Every lap of the run.
pub(super) fn all(run: &Run, head: &Head) -> Vec<LapView> {
    let laps = head.past.iter().chain([&head.lap]);
    laps.map(|lap| one(run, lap)).collect()
}

/// What the lap was admitted on. Where nothing was recorded, the class alone decided.
pub(super) fn admission(run: &Run, lap: &Lap) -> Option<Admission> {
    if lap.continued.is_some() {
        return None;
    }
    let by_class = || {
        // Downtime moved the times later; they were decided on as they began.
        let mut times = lap.times;
        times.answer_by = times.answer_by.minus(lap.extended);
        times.work_by = times.work_by.minus(lap.extended);
        let forecast = Forecast::default();
        Admission::of(run.class(), &forecast, (lap.started_at, &times))
    };
    Some(lap.admission.unwrap_or_else(by_class))
}

fn one(run: &Run, lap: &Lap) -> LapView {
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
        admission: admission(run, lap).as_ref().map(AdmissionView::of),
        raises: lap.raises.iter().map(RaiseView::of).collect(),
    }
}
