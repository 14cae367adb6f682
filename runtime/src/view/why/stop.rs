//! What stands in a call's way: a code with the numbers that were compared.
//!
//! From the core's refusal of this moment, or from the last decision that was recorded about it.

use std::collections::BTreeMap;

use mainstay_ledger::Recorded;
use mainstay_machine::{Decision, Event, Refused};
use mainstay_types::{CallId, Code, Refusal, Timestamp};

/// A code and its numbers.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    pub(super) code: Code,
    pub(super) numbers: BTreeMap<String, i64>,
    /// Which call or cap, as the refusal has it.
    pub(super) about: Option<String>,
}

impl Stop {
    /// The core's own words.
    pub(super) fn of(refusal: &Refusal) -> Self {
        let numbers = refusal.numbers.iter();
        Self {
            code: refusal.code,
            numbers: numbers.map(|&(name, n)| (name.to_owned(), n)).collect(),
            about: refusal.about.clone(),
        }
    }

    fn of_refused(refused: &Refused) -> Self {
        Self {
            code: refused.code,
            numbers: refused.numbers.iter().cloned().collect(),
            about: None,
        }
    }

    /// What a decision was stopped by; `None` when nothing that has a page did.
    fn of_decision(decision: &Decision) -> Option<Self> {
        if let Some(refused) = &decision.refused {
            return Some(Self::of_refused(refused));
        }
        let code = Code::from_text(decision.reason.as_str())?;
        let n = &decision.numbers;
        let numbers = [
            ("attempts_left", Some(i64::from(n.attempts_left))),
            ("allowed_by_run", Some(i64::from(n.allowed.run))),
            ("allowed_by_dependency", n.allowed.dependency.map(i64::from)),
            ("allowed_by_tenant", n.allowed.tenant.map(i64::from)),
            ("allowed_by_all_runs", n.allowed.global.map(i64::from)),
            ("need_ms", i64::try_from((n.wait + n.predicted).get()).ok()),
            ("left_ms", i64::try_from(n.left.get()).ok()),
        ];
        let numbers = numbers
            .into_iter()
            .filter_map(|(name, n)| Some((name.to_owned(), n?)));
        Some(Self {
            code,
            numbers: numbers.collect(),
            about: None,
        })
    }

    /// The number with this name.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.numbers.get(name).copied()
    }
}

/// The last decision of the newest lap about each call.
#[derive(Default)]
pub(super) struct Stops<'a> {
    last: BTreeMap<CallId, &'a Decision>,
}

impl<'a> Stops<'a> {
    /// Of the events of the lap that began at `since`.
    pub(super) fn of(recorded: &'a [Recorded], since: Timestamp) -> Self {
        let newest = recorded.iter().filter(|entry| since <= entry.at);
        let decided = newest.filter_map(|entry| {
            let Event::NextDecided(decision) = &entry.event else {
                return None;
            };
            Some((decision.call, &**decision))
        });
        Self {
            last: decided.collect(),
        }
    }

    /// The decision itself.
    pub(super) fn decision(&self, call: CallId) -> Option<&'a Decision> {
        self.last.get(&call).copied()
    }

    /// What it was stopped by.
    pub(super) fn stop(&self, call: CallId) -> Option<Stop> {
        self.decision(call).and_then(Stop::of_decision)
    }
}
