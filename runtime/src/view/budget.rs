//! What a lap may spend and has spent, and until when.
//!
//! Numbers only, limit beside use; whether they suffice is the core's to say.

use mainstay_graph::{OnDowntime, TaskClass};
use mainstay_machine::run::Head;
use mainstay_types::Millis;
use serde::Serialize;
use serde_json::value::RawValue;

use super::raw;

/// A lap's times and tokens.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetView {
    /// Until when.
    pub times: TimesView,
    /// Attempts beyond the first of each call that load a provider.
    pub retry_tokens: RetryView,
    /// Attempts in flight at once.
    pub concurrency_tokens: ConcurrencyView,
    /// Cost of all attempts.
    pub cost_units: CostView,
}

/// A lap's moments.
#[derive(Clone, Debug, Serialize)]
pub struct TimesView {
    /// When the run began.
    pub started_at: String,
    /// When the caller stops waiting.
    pub answer_by: String,
    /// Until when attempts may run.
    pub work_by: String,
    /// When the run is void as business; `None`: never.
    pub expires_at: Option<String>,
    /// Until when an effect in doubt keeps the outcome open.
    pub doubt_until: String,
    /// By how much downtime has moved the times.
    pub extended_ms: u64,
    /// What downtime does to the times.
    pub on_downtime: DowntimeView,
}

/// What downtime does to a run's times.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DowntimeView {
    /// Nothing.
    Absolute,
    /// They move with it.
    Extend {
        /// The most that all downtimes of a lap may add.
        ms_max: u64,
    },
}

/// Retry tokens.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RetryView {
    /// What the lap may use.
    pub limit: u32,
    /// What it has used.
    pub used: u32,
}

/// Concurrency tokens.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ConcurrencyView {
    /// Attempts that may be in flight at once.
    pub limit: u32,
    /// The most that were.
    pub used: u32,
    /// Those that are.
    pub in_flight: u32,
}

/// Cost units, as exact decimal numbers.
#[derive(Clone, Debug, Serialize)]
pub struct CostView {
    /// What the lap may spend.
    pub limit: Box<RawValue>,
    /// What attempts that are over have cost.
    pub used: Box<RawValue>,
    /// What is reserved for attempts in flight.
    pub reserved: Box<RawValue>,
    /// The part of `used` that is assumed, because the process that knew it is gone.
    pub assumed: Box<RawValue>,
}

impl BudgetView {
    pub(super) fn of(class: &TaskClass, head: &Head) -> Self {
        let (budget, limits) = (&head.lap.budget, &head.lap.budget.limits);
        Self {
            times: TimesView::of(class, head),
            retry_tokens: RetryView {
                limit: limits.retry_tokens.get(),
                used: budget.retry_used.get(),
            },
            concurrency_tokens: ConcurrencyView {
                limit: limits.concurrency_tokens.get(),
                used: budget.in_flight_peak.get(),
                in_flight: budget.in_flight.get(),
            },
            cost_units: CostView {
                limit: raw::units(limits.cost_units),
                used: raw::units(budget.spent),
                reserved: raw::units(budget.reserved),
                assumed: raw::units(budget.assumed),
            },
        }
    }
}

impl TimesView {
    fn of(class: &TaskClass, head: &Head) -> Self {
        let times = &head.lap.times;
        Self {
            started_at: raw::time(head.started_at),
            answer_by: raw::time(times.answer_by),
            work_by: raw::time(times.work_by),
            expires_at: times.expires_at.map(raw::time),
            doubt_until: raw::time(times.doubt_until),
            extended_ms: head.lap.extended.get(),
            on_downtime: match class.on_downtime {
                OnDowntime::Absolute => DowntimeView::Absolute,
                OnDowntime::Extend { max } => DowntimeView::Extend {
                    ms_max: Millis::get(max),
                },
            },
        }
    }
}
