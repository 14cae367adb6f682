//! G4: while an engine is alive and its disk answers, the caller hears by answer_by; no attempt
//! starts that cannot end before work_by less what has to follow it.

use std::collections::BTreeMap;

use mainstay_graph::path;
use mainstay_machine::{Event, Run};
use mainstay_types::{Millis, RunId};

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

    fn end(&mut self, facts: &Facts, _: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        let answer_by = facts.class.times.answer_by + SLACK;
        let begun = facts.lines.iter();
        let begun = begun.filter_map(|line| Some((line.order, line.told.run()?, line.at)));
        for (order, run, begun) in begun {
            let latest = begun + answer_by;
            if facts.disturbed_at.is_some_and(|at| at <= latest) {
                continue;
            }
            let mut lines = facts.lines.iter().filter(|line| line.order == order);
            let heard = lines.find(|line| matches!(line.told, Told::Ready(..) | Told::Later));
            match heard {
                Some(line) if latest < line.at => breaches.add(format_args!(
                    "the caller of run {run} heard {} too late",
                    line.at.less(latest)
                )),
                None => breaches.add(format_args!("the caller of run {run} never heard")),
                Some(_) => {}
            }
        }
    }
}
