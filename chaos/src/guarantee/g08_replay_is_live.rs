//! G8: after every append the row that the living engine wrote is the one that the log makes, and
//! the ledger has the whole log.

use std::collections::BTreeMap;

use mainstay_machine::{Run, view};
use mainstay_types::{RunId, Seq};

use super::{Breaches, Seen, Watch};
use crate::facts::Facts;

#[derive(Default)]
pub(super) struct G8 {
    heads: BTreeMap<RunId, Seq>,
}

impl Watch for G8 {
    fn see(&mut self, seen: &Seen<'_>, breaches: &mut Breaches) {
        if seen.seq != self.heads.get(&seen.id).copied().unwrap_or_default().next() {
            breaches.add(format_args!(
                "run {}: event {} follows no other",
                seen.id, seen.seq
            ));
        }
        self.heads.insert(seen.id, seen.seq);
        if !seen.ends_append() {
            return;
        }
        let replayed = view::summary(seen.run);
        if let Some(live) = &seen.append.summary
            && replayed.as_ref() != Some(live)
        {
            breaches.add(format_args!(
                "run {} at event {}: live it was {live:?}, replayed it is {replayed:?}",
                seen.id, seen.seq
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
