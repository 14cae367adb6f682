//! Cores and logs that break one law each, so that every law is seen to fail.
//!
//! Most are a core with one unit more than the books were told of, so that a law is seen to be
//! tight: what exceeds a limit by the least there is breaks it. No bend is a switch of the core:
//! what it decided, its state or its log is changed on the way.

use std::sync::Arc;

use mainstay_graph::{Budget, Contract, Node, NodeKind, TaskClass};
use mainstay_machine::{AttemptStarted, Event, Run, RunParts};
use mainstay_types::{AttemptNo, CostUnits, Millis, Tokens};

use super::laws::Law;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bend {
    /// One retry token more than the run has.
    Retries,
    /// One concurrency token more.
    Concurrency,
    /// The smallest cost more.
    Cost,
    /// One retry more than a call's contract says.
    CallRetries,
    /// One attempt more than each rung has.
    RungAttempts,
    /// One attempt more than the cap of all calls.
    Attempts,
    /// One branch more than the cap.
    Branches,
    /// The smallest cost more at once.
    AtOnce,
    /// One retry more than a dependency's cap.
    DependencyRetries,
    /// One attempt at once more than a dependency's cap.
    DependencyConcurrency,
    /// The smallest cost more than a dependency's cap.
    DependencyCost,
    /// The reserve for the result is a millisecond longer.
    Reserve,
    /// Each rung below is useful only from a millisecond more on.
    Rungs,
    /// Attempts take the time that their contract says, whatever is left.
    WholeTimeouts,
    /// Retries are free.
    FreeRetries,
    /// A dead process's attempts are taken for dearer than what was reserved.
    AssumesMore,
    /// A dead process's attempts are taken for dead.
    ForgetsHeld,
    /// What was reserved is given back once more when an attempt is settled.
    RefundsTwice,
    /// Each settlement is written twice.
    SettledTwice,
    /// Each correction is written twice.
    CorrectedTwice,
    /// Settlements are not written.
    NeverSettled,
    /// Settlements name an attempt that was never made.
    SettlesAnother,
}

/// The least cost there is.
const LEAST: CostUnits = CostUnits::micros(1);

impl Bend {
    /// Every bend, with the law it breaks.
    pub(crate) const ALL: [(Self, Law); 22] = [
        (Self::Retries, Law::Retries),
        (Self::Concurrency, Law::Concurrency),
        (Self::Cost, Law::Cost),
        (Self::CallRetries, Law::CallRetries),
        (Self::RungAttempts, Law::RungAttempts),
        (Self::Attempts, Law::Attempts),
        (Self::Branches, Law::Branches),
        (Self::AtOnce, Law::AtOnce),
        (Self::DependencyRetries, Law::DependencyRetries),
        (Self::DependencyConcurrency, Law::DependencyConcurrency),
        (Self::DependencyCost, Law::DependencyCost),
        (Self::Reserve, Law::Covered),
        (Self::Rungs, Law::Covered),
        (Self::WholeTimeouts, Law::Covered),
        (Self::FreeRetries, Law::Paid),
        (Self::AssumesMore, Law::Overshoot),
        (Self::ForgetsHeld, Law::Concurrency),
        (Self::RefundsTwice, Law::Figures),
        (Self::SettledTwice, Law::SettledOnce),
        (Self::CorrectedTwice, Law::CorrectedOnce),
        (Self::NeverSettled, Law::AllSettled),
        (Self::SettlesAnother, Law::Known),
    ];

    /// Whether the core's figures are compared: a bend that they would show first is to be seen by
    /// its own law.
    pub(super) fn shows_figures(bend: Option<Self>) -> bool {
        matches!(bend, None | Some(Self::RefundsTwice))
    }

    /// The class as the books are told of it.
    pub(super) fn told_class(bend: Option<Self>, class: &Arc<TaskClass>) -> Arc<TaskClass> {
        let Some(bend) = bend else {
            return Arc::clone(class);
        };
        let mut told = TaskClass::clone(class);
        bend.tell_contracts(&mut told);
        let caps = &mut told.caps;
        let count = |cap: &mut Option<u32>| *cap = cap.map(|cap| cap - 1);
        let tokens = |cap: &mut Option<Tokens>| *cap = cap.map(|cap| cap.less(Tokens::new(1)));
        let cost = |cap: &mut Option<CostUnits>| *cap = cap.map(|cap| cap.less(LEAST));
        if bend == Self::Attempts {
            count(&mut caps.attempts);
        }
        if bend == Self::Branches {
            count(&mut caps.branches);
        }
        if bend == Self::AtOnce {
            cost(&mut caps.parallel_cost);
        }
        for cap in &mut caps.dependencies {
            if bend == Self::DependencyRetries {
                tokens(&mut cap.retry_tokens);
            }
            if bend == Self::DependencyConcurrency {
                tokens(&mut cap.concurrency_tokens);
            }
            if bend == Self::DependencyCost {
                cost(&mut cap.cost_units);
            }
        }
        if bend == Self::Reserve {
            told.reserve.synthesis = told.reserve.synthesis + Millis::new(1);
        }
        Arc::new(told)
    }

    fn tell_contracts(self, class: &mut TaskClass) {
        for contract in class.nodes.iter_mut().filter_map(contract_mut) {
            if self == Self::CallRetries {
                contract.retry_cap = contract.retry_cap.map(|cap| cap.less(Tokens::new(1)));
            }
            if self == Self::RungAttempts {
                contract.max_attempts -= 1;
            }
            if self == Self::Rungs {
                for rung in &mut contract.fallbacks {
                    rung.min_useful = rung.min_useful + Millis::new(1);
                }
            }
        }
    }

    /// What the core decides instead.
    pub(super) fn decided(bend: Option<Self>, mut event: Event, run: &Run) -> Event {
        if let Event::AttemptStarted(started) = &mut event {
            if bend == Some(Self::WholeTimeouts) {
                started.timeout = whole(run, started).unwrap_or(started.timeout);
            }
            if bend == Some(Self::FreeRetries) {
                started.retry_tokens = Tokens::ZERO;
            }
        }
        if let Event::AttemptInterrupted { cost, .. } = &mut event
            && bend == Some(Self::AssumesMore)
        {
            *cost = cost.times(2);
        }
        event
    }

    /// What becomes of the core's state after an event.
    pub(super) fn applied(bend: Option<Self>, event: &Event, run: &mut Run) {
        if bend == Some(Self::ForgetsHeld) && matches!(event, Event::AttemptInterrupted { .. }) {
            rebuild(run, |parts| parts.head.held.clear());
        }
        if let Event::AttemptSettled { cost, .. } = event
            && bend == Some(Self::RefundsTwice)
        {
            rebuild(run, |parts| {
                let budget = &mut parts.head.lap.budget;
                budget.spent = budget.spent.less(*cost);
            });
        }
    }

    /// The event as the books are told of it, as often as they are.
    pub(super) fn told(self, event: &Event) -> Vec<Event> {
        let mut told = event.clone();
        if let Event::RunStarted(started) = &mut told {
            self.tell_budget(&mut started.budget);
        }
        if let Event::LapStarted(started) = &mut told {
            self.tell_budget(&mut started.budget);
        }
        if let Event::AttemptSettled { attempt, .. } = &mut told
            && self == Self::SettlesAnother
        {
            *attempt = AttemptNo(attempt.get() + 1_000);
        }
        let is_settled = matches!(event, Event::AttemptSettled { .. });
        let is_corrected = matches!(event, Event::LateResult { .. });
        let twice = is_settled && self == Self::SettledTwice
            || is_corrected && self == Self::CorrectedTwice;
        let times = match is_settled && self == Self::NeverSettled {
            true => 0,
            false => 1 + usize::from(twice),
        };
        vec![told; times]
    }

    fn tell_budget(self, budget: &mut Budget) {
        let one = Tokens::new(1);
        if self == Self::Retries {
            budget.retry_tokens = budget.retry_tokens.less(one);
        }
        if self == Self::Concurrency {
            budget.concurrency_tokens = budget.concurrency_tokens.less(one);
        }
        if self == Self::Cost {
            budget.cost_units = budget.cost_units.less(LEAST);
        }
    }
}

/// The contract of a node's attempts, to change it.
pub(crate) fn contract_mut(node: &mut Node) -> Option<&mut Contract> {
    match &mut node.kind {
        NodeKind::Read { contract }
        | NodeKind::Write { contract, .. }
        | NodeKind::Each { contract, .. } => Some(contract),
        NodeKind::Tools { .. } | NodeKind::Local | NodeKind::When => None,
    }
}

/// The time that the contract of an attempt's rung says.
fn whole(run: &Run, started: &AttemptStarted) -> Option<Millis> {
    let node = run.calls().get(started.call)?.node;
    let contract = run.class().node(node).contract()?;
    let below = contract.fallback(started.rung);
    Some(below.map_or(contract.timeout, |rung| rung.timeout))
}

fn rebuild(run: &mut Run, change: impl FnOnce(&mut RunParts)) {
    let parts = run.parts().expect("it has started");
    let mut parts = RunParts {
        seq: parts.seq,
        head: parts.head.clone(),
        calls: parts.calls.to_vec(),
    };
    change(&mut parts);
    let class = Arc::clone(run.class());
    *run = Run::from_parts(class, parts).expect("they are parts of a run");
}
