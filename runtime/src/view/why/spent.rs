//! What the newest lap spent on what: per node and dependency, and beside its limits.
//!
//! Sums of attempts; the totals are the budget's own, and both are the same money.

use std::collections::BTreeMap;

use mainstay_machine::{Attempt, AttemptState};
use mainstay_types::{CostUnits, Timestamp, Tokens};
use serde::Serialize;
use serde_json::value::RawValue;

use super::About;
use crate::view::call::dependency;
use crate::view::{CapView, budget, raw};

/// What was spent, and what is left.
#[derive(Clone, Debug, Serialize)]
pub struct SpentView {
    /// Retry tokens.
    pub retry_tokens: LimitView,
    /// Concurrency tokens: in use and held now.
    pub concurrency_tokens: LimitView,
    /// Cost units, reservations included.
    pub cost_units: LimitView,
    /// The class's caps.
    pub caps: Vec<CapView>,
    /// Time.
    pub time: TimeView,
    /// Per node and dependency, the dearest first.
    pub on: Vec<SpendingView>,
}

/// A limit and its use.
#[derive(Clone, Debug, Serialize)]
pub struct LimitView {
    /// What the lap may use.
    pub limit: Box<RawValue>,
    /// What is used of it.
    pub used: Box<RawValue>,
    /// What is left.
    pub left: Box<RawValue>,
}

/// How far the lap is in its time. Negative: that long ago.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TimeView {
    /// Since the lap began.
    pub since_start_ms: i64,
    /// Until the caller has to have an answer.
    pub to_answer_by_ms: i64,
    /// Until the last moment of attempts.
    pub to_work_by_ms: i64,
}

/// What the attempts of one node at one dependency came to.
#[derive(Clone, Debug, Serialize)]
pub struct SpendingView {
    /// The node; its items together.
    pub node: String,
    /// Who was asked; `None` for work in the process.
    pub dependency: Option<String>,
    /// Attempts.
    pub attempts: u32,
    /// Of these, answered.
    pub answered: u32,
    /// Of these, out.
    pub in_flight: u32,
    /// Of these, cut off with their process.
    pub interrupted: u32,
    /// Of these, failed, by failure kind.
    pub failed: BTreeMap<&'static str, u32>,
    /// Retry tokens.
    pub retry_tokens: u32,
    /// Cost units of those that are over.
    pub cost_units: Box<RawValue>,
    /// Cost units reserved for those that are out.
    pub reserved_units: Box<RawValue>,
}

#[derive(Default)]
struct Sum {
    attempts: u32,
    answered: u32,
    in_flight: u32,
    interrupted: u32,
    failed: BTreeMap<&'static str, u32>,
    retry_tokens: Tokens,
    cost: CostUnits,
    reserved: CostUnits,
}

impl SpentView {
    pub(super) fn of(about: About<'_>) -> Self {
        let lap = &about.head.lap;
        let (spent, limits) = (&lap.budget, &lap.budget.limits);
        let in_use = spent.in_flight + about.head.held_at(about.now);
        Self {
            retry_tokens: tokens(limits.retry_tokens, spent.retry_used),
            concurrency_tokens: tokens(limits.concurrency_tokens, in_use),
            cost_units: LimitView {
                limit: raw::units(limits.cost_units),
                used: raw::units(spent.spent + spent.reserved),
                left: raw::units(spent.cost_left()),
            },
            caps: budget::caps(about.run.class(), lap),
            time: TimeView {
                since_start_ms: apart(lap.started_at, about.now),
                to_answer_by_ms: apart(about.now, lap.times.answer_by),
                to_work_by_ms: apart(about.now, lap.times.work_by),
            },
            on: spendings(about),
        }
    }
}

fn tokens(limit: Tokens, used: Tokens) -> LimitView {
    LimitView {
        limit: raw::count(limit.get()),
        used: raw::count(used.get()),
        left: raw::count(limit.less(used).get()),
    }
}

fn apart(from: Timestamp, to: Timestamp) -> i64 {
    to.as_millis().saturating_sub(from.as_millis())
}

fn spendings(about: About<'_>) -> Vec<SpendingView> {
    let mut sums: BTreeMap<(String, Option<String>), Sum> = BTreeMap::new();
    for (_, call) in about.run.calls().iter() {
        let node = about.run.class().node(call.node);
        let of_lap = call.attempts.iter();
        for made in of_lap.filter(|made| made.lap == about.head.lap.no) {
            let contract = node.contract();
            let whom = contract.and_then(|contract| dependency(contract, made.rung));
            let sum = sums.entry((node.name.to_string(), whom)).or_default();
            sum.take(made);
        }
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse((sum.cost + sum.reserved, sum.attempts)));
    sums.into_iter()
        .map(|((node, dependency), sum)| sum.view(node, dependency))
        .collect()
}

impl Sum {
    fn take(&mut self, made: &Attempt) {
        self.attempts += 1;
        self.retry_tokens = self.retry_tokens + made.retry_tokens;
        match &made.state {
            AttemptState::InFlight => {
                self.in_flight += 1;
                self.reserved = self.reserved + made.reserved;
            }
            AttemptState::Answered { cost } | AttemptState::Late { cost } => {
                self.answered += 1;
                self.cost = self.cost + *cost;
            }
            AttemptState::Failed { failure, cost } => {
                *self.failed.entry(failure.kind.as_str()).or_default() += 1;
                self.cost = self.cost + *cost;
            }
            AttemptState::Interrupted { cost } => {
                self.interrupted += 1;
                self.cost = self.cost + *cost;
            }
        }
    }

    fn view(self, node: String, dependency: Option<String>) -> SpendingView {
        SpendingView {
            node,
            dependency,
            attempts: self.attempts,
            answered: self.answered,
            in_flight: self.in_flight,
            interrupted: self.interrupted,
            failed: self.failed,
            retry_tokens: self.retry_tokens.get(),
            cost_units: raw::units(self.cost),
            reserved_units: raw::units(self.reserved),
        }
    }
}
