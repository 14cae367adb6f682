//! G9: every append carries its owner's epoch; an epoch begins by one event, one above the last,
//! and nothing of an older one follows.

use std::collections::BTreeMap;

use mainstay_machine::{Event, Run};
use mainstay_types::{Epoch, RunId, Seq};

use super::{Breaches, Seen, Watch};
use crate::facts::Facts;

#[derive(Default)]
pub(super) struct G9 {
    epochs: BTreeMap<RunId, Epoch>,
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks at some kinds of events among many"
)]
impl Watch for G9 {
    fn see(&mut self, seen: &Seen<'_>, breaches: &mut Breaches) {
        let epoch = seen.append.epoch;
        let begins = match seen.event {
            Event::RunStarted(_) => Some(Epoch(1)),
            Event::LeaseTaken(lease) => Some(lease.epoch),
            _ => None,
        };
        let before = self.epochs.get(&seen.id).copied();
        match (before, begins) {
            (None, Some(Epoch(1))) => {}
            (Some(before), Some(begins)) if begins.get() == before.get() + 1 => {}
            (Some(before), None) if before == epoch => {}
            (before, _) => breaches.add(format_args!(
                "run {}: {} in epoch {epoch}, its owner's is {before:?}",
                seen.id,
                seen.event.name()
            )),
        }
        self.epochs.insert(
            seen.id,
            begins.unwrap_or(epoch).max(before.unwrap_or_default()),
        );
    }

    fn end(&mut self, facts: &Facts, _: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        let appends = facts.appends.iter();
        let written: BTreeMap<(RunId, Seq), Epoch> = appends
            .map(|append| ((append.run, append.last), append.epoch))
            .collect();
        for acked in &facts.acked {
            let written = written.get(&(acked.run, acked.last));
            if let Some(written) = written.filter(|written| **written != acked.epoch) {
                breaches.add(format_args!(
                    "run {}: an append of epoch {} was taken in epoch {written}",
                    acked.run, acked.epoch
                ));
            }
        }
    }
}
