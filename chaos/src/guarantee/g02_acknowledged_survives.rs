//! G2: what an engine, or a caller, was told is there in the end, and stays what it was.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_machine::{Event, OutcomeKind, Run};
use mainstay_types::{Payload, RunId, Seq};

use super::{Breaches, Seen, Watch};
use crate::facts::Facts;
use crate::world::book::Told;

#[derive(Default)]
pub(super) struct G2 {
    outcomes: BTreeMap<RunId, Vec<(OutcomeKind, Option<Payload>)>>,
    canceled: BTreeSet<RunId>,
    ended: BTreeSet<RunId>,
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks at some kinds of events among many"
)]
impl Watch for G2 {
    fn see(&mut self, seen: &Seen<'_>, _: &mut Breaches) {
        match seen.event {
            Event::LapEnded {
                outcome, result, ..
            } => {
                let of_it = self.outcomes.entry(seen.id).or_default();
                of_it.push((*outcome, result.clone()));
                self.ended.insert(seen.id);
            }
            Event::CancelRequested { .. } => drop(self.canceled.insert(seen.id)),
            _ => {}
        }
    }

    fn end(&mut self, facts: &Facts, _: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        let appends = facts.appends.iter();
        let written: BTreeSet<(RunId, Seq)> =
            appends.map(|append| (append.run, append.last)).collect();
        for acked in &facts.acked {
            if !written.contains(&(acked.run, acked.last)) {
                breaches.add(format_args!(
                    "the engine was told that event {} of run {} is durable, and it is gone",
                    acked.last, acked.run
                ));
            }
        }
        let mut runs: BTreeMap<usize, RunId> = BTreeMap::new();
        for line in &facts.lines {
            if let Told::Started(run) = line.told {
                let first = *runs.entry(line.order).or_insert(run);
                if first != run {
                    breaches.add(format_args!(
                        "one start key stands for runs {first} and {run}"
                    ));
                }
                if !facts.runs().any(|there| there == run) {
                    breaches.add(format_args!(
                        "run {run} was told to be durable, and is gone"
                    ));
                }
            }
        }
        for line in &facts.lines {
            if let Some(run) = runs.get(&line.order) {
                self.is_true(*run, &line.told, breaches);
            }
        }
    }
}

impl G2 {
    fn is_true(&self, run: RunId, told: &Told, breaches: &mut Breaches) {
        match told {
            Told::Ready(kind, result) | Told::Outcome(kind, result) => {
                let is_there = self.outcomes.get(&run).is_some_and(|outcomes| {
                    outcomes
                        .iter()
                        .any(|(there, value)| there == kind && value == result)
                });
                if !is_there {
                    breaches.add(format_args!(
                        "{kind:?} of run {run} was told and is in no log"
                    ));
                }
            }
            Told::Canceled if !self.canceled.contains(&run) && !self.ended.contains(&run) => {
                breaches.add(format_args!(
                    "a cancel of run {run} was acknowledged and is gone"
                ));
            }
            Told::Started(_) | Told::Later | Told::Canceled => {}
        }
    }
}
