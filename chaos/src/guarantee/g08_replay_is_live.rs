//! G8: after every append the row that the living engine wrote is the one that the log makes, and
//! the ledger has the whole log.

use std::collections::BTreeMap;

use mainstay_machine::{Run, view};
use mainstay_types::{RunId, Seq};

use super::{Breaches, Step, Watch};
use crate::facts::Facts;

#[derive(Default)]
pub(super) struct G8 {
    heads: BTreeMap<RunId, Seq>,
}

impl Watch for G8 {
    fn see(&mut self, step: &Step<'_>, breaches: &mut Breaches) {
        if step.seq != self.heads.get(&step.id).copied().unwrap_or_default().next() {
            breaches.add(format_args!(
                "run {}: event {} follows no other",
                step.id, step.seq
            ));
        }
        self.heads.insert(step.id, step.seq);
        if !step.ends_append() {
            return;
        }
        let replayed = view::summary(step.run);
        if let Some(live) = &step.append.summary
            && replayed.as_ref() != Some(live)
        {
            breaches.add(format_args!(
                "run {} at event {}: live it was {live:?}, replayed it is {replayed:?}",
                step.id, step.seq
            ));
        }
    }

    fn end(&mut self, facts: &Facts, runs: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        for (id, row, durable) in &facts.rows {
            let Some(run) = runs.get(id) else {
                continue;
            };
            if run.seq() != *durable {
                breaches.add(format_args!(
                    "run {id}: {durable} events are kept of {}",
                    run.seq()
                ));
            }
            if *row != view::summary(run) {
                breaches.add(format_args!(
                    "run {id}: its row is not what its log says: {row:?}"
                ));
            }
        }
    }
}
