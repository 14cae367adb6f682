//! What a lap may spend and has spent, and until when.
//!
//! Numbers only, limit beside use; whether they suffice is the core's to say.

use mainstay_graph::{OnDowntime, TaskClass};
use mainstay_machine::Lap;
use mainstay_machine::run::Head;
use mainstay_types::{CostUnits, Millis, Tokens};
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
    /// The class's caps beside these limits, and what the lap has taken of them.
    pub caps: Vec<CapView>,
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
#[derive(Clone, Debug, Serialize)]
pub struct ConcurrencyView {
    /// Attempts that may be in flight at once.
    pub limit: u32,
    /// The most that were.
    pub used: u32,
    /// Those that are.
    pub in_flight: u32,
    /// For each token that an attempt of a process that is gone may still use: from when it is
    /// free.
    pub held_until: Vec<String>,
}

/// A cap and what was taken of it: counts, or cost units as exact decimal numbers.
#[derive(Clone, Debug, Serialize)]
pub struct CapView {
    /// `attempts`, `branches` or `cost_units_at_once` of the lap; `retry_tokens`,
    /// `concurrency_tokens` or `cost_units` of one dependency.
    pub what: &'static str,
    /// Whose; `None` for a cap of the whole lap.
    pub dependency: Option<String>,
    /// The cap.
    pub limit: Box<RawValue>,
    /// What was taken of it, reservations included.
    pub used: Box<RawValue>,
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
                held_until: held_until(head),
            },
            cost_units: CostView {
                limit: raw::units(limits.cost_units),
                used: raw::units(budget.spent),
                reserved: raw::units(budget.reserved),
                assumed: raw::units(budget.assumed),
            },
            caps: caps(class, &head.lap),
        }
    }
}

/// Until when places are held; a closed run has no use of any.
fn held_until(head: &Head) -> Vec<String> {
    let held = head.held.iter().filter(|_| !head.closed);
    held.map(|held| raw::time(held.until)).collect()
}

/// Every cap that the class sets.
pub(super) fn caps(class: &TaskClass, lap: &Lap) -> Vec<CapView> {
    let (caps, uses) = (&class.caps, &lap.uses);
    let count = |what, limit: Option<u32>, used: u32| {
        let view = |limit: u32| CapView {
            what,
            dependency: None,
            limit: raw::count(limit),
            used: raw::count(used),
        };
        limit.map(view)
    };
    let at_once = caps.parallel_cost.map(|limit| CapView {
        what: "cost_units_at_once",
        dependency: None,
        limit: raw::units(limit),
        used: raw::units(lap.budget.reserved),
    });
    let of_lap = [
        count("attempts", caps.attempts, uses.attempts),
        count("branches", caps.branches, uses.branches),
        at_once,
    ];
    let of_dependencies = caps.dependencies.iter().zip(&uses.dependencies);
    let of_dependencies = of_dependencies.flat_map(|(cap, taken)| {
        let name = cap.dependency.to_string();
        let tokens = |what, limit: Option<Tokens>, used: Tokens| {
            count(what, limit.map(Tokens::get), used.get())
        };
        let cost = |limit: CostUnits| CapView {
            what: "cost_units",
            dependency: None,
            limit: raw::units(limit),
            used: raw::units(taken.spent + taken.reserved),
        };
        let views = [
            tokens("retry_tokens", cap.retry_tokens, taken.retry_used),
            tokens(
                "concurrency_tokens",
                cap.concurrency_tokens,
                taken.in_flight,
            ),
            cap.cost_units.map(cost),
        ];
        views.into_iter().flatten().map(move |view| CapView {
            dependency: Some(name.clone()),
            ..view
        })
    });
    of_lap
        .into_iter()
        .flatten()
        .chain(of_dependencies)
        .collect()
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
