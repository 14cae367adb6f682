//! What must be true of every world at every moment, whatever was scripted and wherever it crashed.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_ledger::{Ledger, LedgerError, StoredAlert};
use mainstay_machine::{
    AttemptState, EffectStatus, Event, Run, alert, apply, compensate, effect, view,
};
use mainstay_types::{AlertSeq, Reason, RunId};

use super::World;

impl World {
    /// Everything below, for every run there is.
    pub(crate) fn must_be_sound(&self) {
        for run in self.runs() {
            self.budget_holds(run);
            self.nothing_settled_is_asked_again(run);
            self.every_request_was_recorded_before(run);
        }
        self.no_effect_twice();
        self.known_effects_are_true();
        self.rows_say_what_the_log_says();
    }

    /// Rows, alerts and marks are written with the events they follow from: both or neither, each
    /// alert once and numbered without a gap.
    pub(crate) fn rows_say_what_the_log_says(&self) {
        let mut alerts = Vec::new();
        for id in self.runs() {
            let mut run = self.unborn(id).expect("the run exists");
            for stamped in self.ledger.log_of(id).into_iter().flat_map(|a| a.events) {
                apply(&mut run, &stamped.event).expect("the log is in order");
                alerts.extend(alert::of(&run, &stamped.event, stamped.at));
            }
            let (seed, row) = (self.seed, self.read(self.ledger.inner().summary(id)));
            let wanted = view::summary(&run);
            assert_eq!(row, wanted, "seed {seed}: {}", self.describe(id));
            let head = run.head().expect("it has started");
            let driving = self.read(self.ledger.inner().driving(id));
            let owes = !head.closed && head.quarantined.is_none();
            let is_right = owes || driving.is_none();
            assert!(is_right, "seed {seed}: {driving:?} {}", self.describe(id));
        }
        let stored = self.alerts();
        let numbers = stored.iter().map(|alert| alert.seq.get());
        assert!(numbers.eq(1..=alerts.len() as u64), "seed {}", self.seed);
        let stored = stored
            .into_iter()
            .map(|stored| format!("{:?}", stored.alert));
        let (mut stored, mut wanted) = (
            stored.collect::<Vec<_>>(),
            alerts
                .iter()
                .map(|alert| format!("{alert:?}"))
                .collect::<Vec<_>>(),
        );
        stored.sort();
        wanted.sort();
        assert_eq!(stored, wanted, "seed {}", self.seed);
    }

    /// All alerts there are.
    pub(crate) fn alerts(&self) -> Vec<StoredAlert> {
        let mut alerts: Vec<StoredAlert> = Vec::new();
        loop {
            let after = alerts.last().map_or(AlertSeq(0), |last| last.seq);
            let page = self.read(self.ledger.inner().alerts(after));
            let more = page.more;
            alerts.extend(page.rows);
            if !more {
                return alerts;
            }
        }
    }

    fn read<T>(&self, read: impl Future<Output = Result<T, LedgerError>>) -> T {
        self.executor().block_on(read).expect("it can be read")
    }

    /// Authorised amounts stay within the limits at every prefix of the log.
    pub(crate) fn budget_holds(&self, id: RunId) {
        let mut run = self.unborn(id).expect("the run exists");
        for event in self.ledger.events_of(id) {
            apply(&mut run, &event).expect("the log is in order");
            let budget = &run.head().expect("it has started").lap.budget;
            let limits = &budget.limits;
            let seed = self.seed;
            assert!(
                budget.retry_used <= limits.retry_tokens,
                "seed {seed}: {budget:?}"
            );
            assert!(
                budget.in_flight <= limits.concurrency_tokens,
                "seed {seed}: {budget:?}"
            );
            let authorised = budget.spent + budget.reserved;
            assert!(authorised <= limits.cost_units, "seed {seed}: {budget:?}");
        }
    }

    /// Once a call has its value, or is given up, no request for it leaves.
    fn nothing_settled_is_asked_again(&self, id: RunId) {
        let mut settled: BTreeMap<String, u64> = BTreeMap::new();
        let mut run = self.unborn(id).expect("the run exists");
        for append in self.ledger.log_of(id) {
            for stamped in &append.events {
                apply(&mut run, &stamped.event).expect("the log is in order");
                let is_over = matches!(
                    stamped.event,
                    Event::CallSettled { .. }
                        | Event::CallOmitted { .. }
                        | Event::CallFailed { .. }
                        | Event::EffectApplied { .. }
                );
                let over = is_over.then(|| stamped.event.call()).flatten();
                if let Some(call) = over {
                    settled.entry(run.path(call)).or_insert(append.tick);
                }
                if let Event::CompensationWanted(wanted) = &stamped.event
                    && let Some((undo, _)) = compensate::of(&run, wanted.call)
                {
                    settled.remove(&run.path(undo));
                }
                if matches!(stamped.event, Event::LapStarted(_)) {
                    for (call, _) in run.calls().iter().filter(|(_, c)| !c.phase.is_final()) {
                        settled.remove(&run.path(call));
                    }
                }
            }
        }
        for ask in self
            .outside
            .asks()
            .iter()
            .filter(|ask| ask.run == id.to_string())
        {
            let over = settled.get(&ask.call).is_some_and(|&tick| tick < ask.tick);
            assert!(
                !over || 0 < ask.look_up,
                "seed {}: {} asked again\n{}",
                self.seed,
                ask.call,
                self.describe(id)
            );
        }
    }

    /// Each request that arrived stands for one attempt that had been durable before; each attempt
    /// sends at most one.
    fn every_request_was_recorded_before(&self, id: RunId) {
        let mut recorded: BTreeMap<(String, u32), u64> = BTreeMap::new();
        let mut run = self.unborn(id).expect("the run exists");
        for append in self.ledger.log_of(id) {
            for stamped in &append.events {
                apply(&mut run, &stamped.event).expect("the log is in order");
                if let Event::AttemptStarted(started) = &stamped.event {
                    let path = run.path(started.call);
                    recorded.insert((path, started.attempt.get()), append.tick);
                }
            }
        }
        let mut sent = BTreeSet::new();
        let asks = self.outside.asks().into_iter();
        for ask in asks.filter(|ask| ask.run == id.to_string() && ask.look_up == 0) {
            let attempt = (ask.call.clone(), ask.attempt);
            let before = recorded.get(&attempt).is_some_and(|&tick| tick < ask.tick);
            assert!(
                before,
                "seed {}: {attempt:?} left before its record",
                self.seed
            );
            assert!(
                sent.insert(attempt.clone()),
                "seed {}: {attempt:?} left twice",
                self.seed
            );
        }
    }

    /// No key has two effects, landed or on their way.
    pub(crate) fn no_effect_twice(&self) {
        let mut keys = BTreeSet::new();
        for effect in self.outside.effects() {
            assert!(
                keys.insert(effect.key.clone()),
                "seed {}: {} has two effects\n{}",
                self.seed,
                effect.key,
                self.runs()
                    .iter()
                    .map(|&run| self.describe(run))
                    .collect::<String>()
            );
        }
    }

    /// What a run says to be applied is in the world; what it says to be absent is not, unless
    /// another run has made it since.
    fn known_effects_are_true(&self) {
        let effects = self.outside.effects();
        for id in self.runs() {
            let run = self.state(id);
            for (call, key, applied) in known(&run) {
                let mut same = effects.iter().filter(|effect| effect.key == key);
                let is_true = match applied {
                    true => same.next().is_some(),
                    false => same.all(|effect| effect.run != id.to_string()),
                };
                let (seed, path) = (self.seed, run.path(call));
                assert!(is_true, "seed {seed}: {path} {key}\n{}", self.describe(id));
            }
        }
    }

    /// How many attempts were in flight at all crashes of this run.
    pub(crate) fn interrupted(&self, id: RunId) -> usize {
        let events = self.ledger.events_of(id);
        events
            .iter()
            .filter(|event| event.name() == "AttemptInterrupted")
            .count()
    }

    /// How many requests of this run arrived beyond the first of their call.
    pub(crate) fn re_requests(&self, id: RunId) -> usize {
        let asks = self.outside.asks().into_iter();
        asks.filter(|ask| ask.run == id.to_string() && ask.look_up == 0 && 1 < ask.nth)
            .count()
    }

    /// How many attempts of this run were made beyond the first of their call.
    pub(crate) fn retries(&self, id: RunId) -> usize {
        let run = self.state(id);
        let attempts = run.calls().iter().map(|(_, call)| call.attempts.len());
        attempts.map(|made| made.saturating_sub(1)).sum()
    }
}

/// The effects whose end is known: their call, key, and whether they are in the world.
fn known(run: &Run) -> Vec<(mainstay_types::CallId, String, bool)> {
    let effects = run.calls().iter().filter_map(|(id, call)| {
        let out = call
            .attempts
            .iter()
            .any(|a| matches!(a.state, AttemptState::InFlight));
        let effect = call.effect.as_ref()?;
        let applied = match effect.status {
            EffectStatus::Applied(_) | EffectStatus::Compensated => true,
            // Another call under its key tells more of it.
            EffectStatus::Absent(_) if effect::under(run, &effect.key) != Some(id) => return None,
            // It is the other run's that is held to the truth.
            EffectStatus::Absent(Reason::KeyHeldByOtherRun) => return None,
            EffectStatus::Absent(_) => false,
            EffectStatus::Intended
            | EffectStatus::Dispatched
            | EffectStatus::InDoubt(_)
            | EffectStatus::PartlyApplied => return None,
        };
        (!out).then(|| (id, effect.key.to_string(), applied))
    });
    effects.collect()
}
