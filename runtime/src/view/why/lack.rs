//! What the budget of a lap lacks for the calls that it stops, added up over all of them.
//!
//! One row per limit. What waits can go on once somebody raises it; what was given up in this lap
//! stays given up, so that only laps to come have use of more.

use mainstay_graph::Budget;
use mainstay_types::{Code, CostUnits, Tokens, limits};
use serde_json::value::RawValue;

use super::About;
use super::blocked::BlockedView;
use super::change::{self, ChangeView};
use super::stop::Stop;
use crate::view::raw;

/// What calls lack of each limit: those that wait, and those that were given up.
#[derive(Default)]
pub(super) struct Lacks {
    waiting: Lack,
    given_up: Lack,
}

/// Something that is added up without an end: what providers report has none.
trait Amount: Copy + Ord {
    fn and(self, more: Self) -> Self;
}

impl Amount for u32 {
    fn and(self, more: Self) -> Self {
        self.saturating_add(more)
    }
}

impl Amount for CostUnits {
    fn and(self, more: Self) -> Self {
        Self::micros(self.as_micros().saturating_add(more.as_micros()))
    }
}

/// What is needed beside what is used.
#[derive(Default)]
struct Lack {
    retries: Need<u32>,
    places: Need<u32>,
    cost: Need<CostUnits>,
}

/// The sum of what calls need, and the most that one of them has to leave to others.
#[derive(Default)]
struct Need<T> {
    sum: T,
    kept: T,
    calls: Vec<String>,
}

/// What a stop says that is needed, and to be left.
enum Want {
    Retries(u32, u32),
    Places(u32),
    Cost(CostUnits, CostUnits),
}

impl Want {
    /// `None` when it is not about the lap's budget.
    fn of(stop: &Stop) -> Option<Self> {
        let is_cap = stop.number("cap").or(stop.number("cap_micros")).is_some();
        let count = |name| u32::try_from(stop.number(name).unwrap_or(0)).unwrap_or(0);
        let cost = |name| u64::try_from(stop.number(name).unwrap_or(0)).unwrap_or(0);
        let cost = |name| CostUnits::micros(cost(name));
        let retries = || Self::Retries(count("need").max(1), count("kept"));
        if is_cap {
            return None;
        }
        if stop.code == Code::RetryTokensExhausted {
            return Some(retries());
        }
        if stop.code == Code::ConcurrencyExhausted {
            return Some(Self::Places(0));
        }
        let is_yield = stop.code == Code::SoftYields;
        if stop.code == Code::CostExhausted || is_yield && stop.number("need_micros").is_some() {
            return Some(Self::Cost(cost("need_micros"), cost("kept_micros")));
        }
        is_yield.then(|| match stop.number("hard_waiting") {
            Some(_) => Self::Places(count("hard_waiting")),
            None => retries(),
        })
    }
}

impl Lacks {
    /// Whether the lap's budget is what stops the call; then it is counted.
    pub(super) fn take(&mut self, about: About<'_>, row: &BlockedView, stop: &Stop) -> bool {
        let Some(want) = Want::of(stop) else {
            return false;
        };
        let is_open = about.head.lap.outcome.is_none() && row.is_open;
        let lack = match is_open {
            true => &mut self.waiting,
            false => &mut self.given_up,
        };
        match want {
            Want::Retries(need, kept) => lack.retries.add(&row.call, need, kept),
            Want::Cost(need, kept) => lack.cost.add(&row.call, need, kept),
            Want::Places(kept) => {
                lack.places.add(&row.call, 0, kept);
                // One place lets one of them go, and the next after it.
                lack.places.sum = 1;
            }
        }
        true
    }

    /// One row per limit that is short.
    pub(super) fn rows(self, about: About<'_>) -> Vec<ChangeView> {
        let waiting = self.waiting.rows(about, true);
        let given_up = self.given_up.rows(about, false);
        waiting.into_iter().chain(given_up).collect()
    }
}

impl<T: Amount> Need<T> {
    fn add(&mut self, call: &str, need: T, kept: T) {
        self.sum = self.sum.and(need);
        self.kept = self.kept.max(kept);
        change::name(&mut self.calls, call);
    }

    /// What the limit would have to be.
    fn limit(&self, used: T) -> T {
        used.and(self.sum).and(self.kept)
    }
}

impl Lack {
    fn rows(self, about: About<'_>, can_raise: bool) -> Vec<ChangeView> {
        let (budget, held) = (&about.head.lap.budget, about.head.held_at(about.now));
        let limits = budget.limits;
        let wanted = Budget {
            retry_tokens: Tokens::new(self.retries.limit(budget.retry_used.get())),
            concurrency_tokens: Tokens::new(self.places.limit((budget.in_flight + held).get())),
            cost_units: self.cost.limit(budget.spent + budget.reserved),
        };
        let tokens = |is: Tokens, needs: Tokens| (raw::count(is.get()), raw::count(needs.get()));
        let counts = [
            (
                "retry_tokens",
                self.retries.calls,
                tokens(limits.retry_tokens, wanted.retry_tokens),
                Budget {
                    retry_tokens: wanted.retry_tokens.less(limits.retry_tokens),
                    ..NOTHING
                },
            ),
            (
                "concurrency_tokens",
                self.places.calls,
                tokens(limits.concurrency_tokens, wanted.concurrency_tokens),
                Budget {
                    concurrency_tokens: wanted.concurrency_tokens.less(limits.concurrency_tokens),
                    ..NOTHING
                },
            ),
            (
                "cost_units",
                self.cost.calls,
                (raw::units(limits.cost_units), raw::units(wanted.cost_units)),
                Budget {
                    cost_units: wanted.cost_units.less(limits.cost_units),
                    ..NOTHING
                },
            ),
        ];
        let short = counts.into_iter().filter(|(_, calls, _, more)| {
            // What was short when a call was given up may be there by now.
            !calls.is_empty() && *more != NOTHING
        });
        short
            .map(|(name, calls, values, more)| row(about, can_raise, (name, calls), (values, more)))
            .collect()
    }
}

const NOTHING: Budget = Budget {
    retry_tokens: Tokens::ZERO,
    concurrency_tokens: Tokens::ZERO,
    cost_units: CostUnits::ZERO,
};

fn row(
    about: About<'_>,
    can_raise: bool,
    (name, calls): (&str, Vec<String>),
    (values, more): ((Box<RawValue>, Box<RawValue>), Budget),
) -> ChangeView {
    let refusal = refusal(about, &more);
    let how = match (can_raise, refusal) {
        (true, None) if more.concurrency_tokens != Tokens::ZERO => {
            "wait until an attempt that is out comes back, or one that is held is free; or raise \
             the lap's budget"
                .to_owned()
        }
        (true, None) => "raise the lap's budget, or the class's for the laps to come".to_owned(),
        (true, Some(why)) => format!("the lap's budget is not raised any more: {why}"),
        (false, _) => {
            "more in the class, for laps to come: what was given up in this lap stays so".to_owned()
        }
    };
    let can = can_raise && refusal.is_none();
    let command = can.then(|| change::command(about, "raise", &arguments(&more)));
    ChangeView {
        calls,
        ..change::number(name, values, &how, command)
    }
}

/// Why somebody who raises the budget by so much would be refused.
fn refusal(about: About<'_>, more: &Budget) -> Option<&'static str> {
    let (lap, limits) = (&about.head.lap, &about.head.lap.budget.limits);
    let retries = (limits.retry_tokens + more.retry_tokens).get();
    let places = (limits.concurrency_tokens + more.concurrency_tokens).get();
    if about.head.quarantined.is_some() {
        Some("the run is quarantined")
    } else if limits::LAP_RAISES_MAX <= lap.raises.len() {
        Some("that was done as often as it may be")
    } else if limits::RUN_RETRIES_MAX < retries || limits::RUN_CONCURRENCY_MAX < places {
        Some("no run may have so much")
    } else {
        None
    }
}

fn arguments(more: &Budget) -> String {
    let Budget {
        retry_tokens,
        concurrency_tokens,
        cost_units,
    } = more;
    let mut arguments = String::new();
    if *retry_tokens != Tokens::ZERO {
        arguments.push_str(&format!(" --retries {retry_tokens}"));
    }
    if *concurrency_tokens != Tokens::ZERO {
        arguments.push_str(&format!(" --concurrency {concurrency_tokens}"));
    }
    if *cost_units != CostUnits::ZERO {
        arguments.push_str(&format!(" --cost {cost_units}"));
    }
    arguments
}
