//! G4: while an engine is alive and its disk answers, the caller hears by answer_by; no attempt
//! starts that cannot end before work_by less what has to follow it.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_graph::path;
use mainstay_machine::{Event, Run};
use mainstay_sim::START;
use mainstay_types::{LapNo, Millis, RunId};

use super::{Breaches, Seen, Watch};
use crate::facts::Facts;
use crate::world::book::Told;

/// What an answer may be late by: a group of commits that waits for the one before it.
const SLACK: Millis = Millis::new(50);

#[derive(Default)]
pub(super) struct G4 {
    /// What has to follow each node.
    after: Option<Vec<Millis>>,
}

impl Watch for G4 {
    fn see(&mut self, seen: &Seen<'_>, breaches: &mut Breaches) {
        let Event::AttemptStarted(started) = seen.event else {
            return;
        };
        let class = seen.run.class();
        let after = self
            .after
            .get_or_insert_with(|| path::downstream_reserves(class));
        let (Some(head), Some(call)) = (seen.run.head(), seen.run.calls().get(started.call)) else {
            return;
        };
        // What undoes an effect is never too late.
        if call.is_undo() {
            return;
        }
        let reserve = after
            .get(usize::from(call.node.get()))
            .copied()
            .unwrap_or_default();
        let ends = started.at + started.timeout + reserve;
        if head.lap.times.work_by < ends {
            breaches.add(format_args!(
                "{}/{} of run {} may end {} after the time that what follows needs",
                seen.run.path(started.call),
                started.attempt,
                seen.id,
                ends.since(head.lap.times.work_by)
            ));
        }
    }

    fn end(&mut self, facts: &Facts, runs: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        for (run, order) in begun(facts) {
            let due = runs.get(&run).and_then(due);
            let latest = due.and_then(|due| facts.disturbances.latest(due));
            let Some(latest) = latest.map(|latest| latest + SLACK) else {
                continue;
            };
            let mut lines = facts.lines.iter().filter(|line| line.order == order);
            let heard = lines.find(|line| matches!(line.told, Told::Ready(..) | Told::Later));
            match heard {
                Some(line) if latest < line.at => breaches.add(format_args!(
                    "the caller of run {run} heard {} too late",
                    line.at.less(latest)
                )),
                None if facts.ended => {
                    breaches.add(format_args!("the caller of run {run} never heard"));
                }
                // A world that did not go on says so by `ends`.
                None | Some(_) => {}
            }
        }
    }
}

/// The runs whose callers heard that they are durable, and which orders they are for.
fn begun(facts: &Facts) -> impl Iterator<Item = (RunId, usize)> {
    let mut seen = BTreeSet::new();
    facts.lines.iter().filter_map(move |line| {
        let run = line.told.run()?;
        seen.insert(line.order).then_some((run, line.order))
    })
}

/// When the answer of a run's first lap is due, since the world began; what its owners were away
/// for is in it, where the class says so. `None` in a later lap: nobody waits for the first one.
fn due(run: &Run) -> Option<Millis> {
    let lap = &run.head()?.lap;
    let is_first = lap.no == LapNo(1);
    is_first.then(|| lap.times.answer_by.since(START))
}
