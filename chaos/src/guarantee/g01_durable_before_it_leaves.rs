//! G1: an attempt that arrived somewhere was durable before, and it arrived once.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_machine::{Event, Run};
use mainstay_types::{AttemptNo, RunId, Seq};

use super::{Breaches, Seen, Watch};
use crate::facts::Facts;

#[derive(Default)]
pub(super) struct G1 {
    started: BTreeMap<(RunId, String, AttemptNo), Seq>,
}

impl Watch for G1 {
    fn see(&mut self, seen: &Seen<'_>, _: &mut Breaches) {
        if let Event::AttemptStarted(started) = seen.event {
            let path = seen.run.path(started.call);
            self.started
                .insert((seen.id, path, started.attempt), seen.seq);
        }
    }

    fn end(&mut self, facts: &Facts, _: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        let mut arrived = BTreeSet::new();
        let arrivals = facts.outside.iter().flat_map(|outside| &outside.arrivals);
        for arrival in arrivals.filter(|arrival| !arrival.is_look_up) {
            let attempt = (arrival.run, arrival.call.clone(), arrival.attempt);
            let told = format!(
                "{}/{} of run {}",
                arrival.call, arrival.attempt, arrival.run
            );
            match self.started.get(&attempt) {
                None => breaches.add(format_args!("{told} arrived and is in no log")),
                Some(seq) if arrival.durable < *seq => breaches.add(format_args!(
                    "{told} arrived when its log had {} events, its intention is event {seq}",
                    arrival.durable
                )),
                Some(_) => {}
            }
            if !arrived.insert(attempt) {
                breaches.add(format_args!("{told} arrived twice"));
            }
        }
    }
}
