//! What soft calls do to the hard path: a run beside the same run without them.
//!
//! The calls of the hard path meet the same truth in both, so whatever differs for them is the
//! soft calls' doing. Compared are only classes in which no call of the hard path uses a value
//! from beside it: one that does has to wait for it, by its author's word.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainstay_graph::path;
use mainstay_machine::{Event, Run, apply};
use mainstay_types::{AttemptNo, NodeId, Timestamp};

use super::bent::Bent;
use super::draw::Draw;
use super::drive::{Driven, drive};

/// What differs for a hard path that is whole without the soft calls; one that is lost needs no
/// place any more, and soft calls need not yield to what is left of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compared {
    /// It is not whole with them.
    pub(crate) is_lost: bool,
    /// An attempt of it starts later with them, or not at all.
    pub(crate) is_late: bool,
    /// For another reason than a soft attempt that left the path enough tokens when it began.
    pub(crate) is_displaced: bool,
    /// It needs the least it can: no second attempt, and nothing costs more than its estimate.
    pub(crate) is_smooth: bool,
}

/// Drives both; the one with soft calls by a driver that may be bent. `None` when the hard path is
/// lost without them too.
pub(crate) fn compare(draw: &Draw, bent: Option<Bent>) -> Option<Compared> {
    let alone = draw.without_soft();
    let (with, without) = (drive(draw, bent), drive(&alone, None));
    let (begun, wanted) = (starts(draw, &with), starts(&alone, &without));
    if !without.has_hard_path() {
        return None;
    }
    let later = wanted.iter().filter(|(attempt, at)| {
        let begun = begun.get(attempt);
        begun.is_none_or(|begun| *at < begun)
    });
    let first = later.map(|(_, at)| *at).min();
    Some(Compared {
        is_lost: !with.has_hard_path(),
        is_late: first.is_some(),
        is_displaced: first.is_some_and(|at| !is_explained(draw, &with, at)),
        is_smooth: wanted.keys().all(|(_, no)| *no == AttemptNo(1)) && !is_dear(&with),
    })
}

/// Whether an attempt cost more than what was reserved for it.
fn is_dear(driven: &Driven) -> bool {
    driven.log.iter().any(|stamped| {
        let Event::AttemptSettled {
            call,
            attempt,
            cost,
            ..
        } = &stamped.event
        else {
            return false;
        };
        let made = driven
            .run
            .calls()
            .get(*call)
            .and_then(|call| call.attempt(*attempt));
        made.is_some_and(|made| made.reserved < *cost)
    })
}

/// When each attempt began, by its node's place in the drawn class.
fn starts(draw: &Draw, driven: &Driven) -> BTreeMap<(u64, AttemptNo), Timestamp> {
    let started = driven.log.iter().filter_map(|stamped| {
        let Event::AttemptStarted(started) = &stamped.event else {
            return None;
        };
        let place = draw.places[usize::try_from(started.call.get()).expect("few calls")];
        Some(((place, started.attempt), stamped.at))
    });
    started.collect()
}

/// Whether soft attempts are out at this moment, each of which left, when it began, a token for
/// every hard call that waited then.
fn is_explained(draw: &Draw, driven: &Driven, at: Timestamp) -> bool {
    let hard: BTreeSet<NodeId> = path::hard_path(&draw.class);
    let mut run = Run::unborn(Arc::clone(driven.run.class()));
    let mut out = BTreeMap::new();
    for stamped in driven.log.iter().filter(|stamped| stamped.at <= at) {
        if let Event::AttemptStarted(started) = &stamped.event {
            let call = run.calls().get(started.call).expect("it is started");
            if !hard.contains(&call.node) {
                out.insert(started.call, leaves_enough(&run, &hard));
            }
        }
        if let Event::AttemptSettled { call, .. } = &stamped.event {
            out.remove(call);
        }
        apply(&mut run, &stamped.event).expect("a log that was written can be read");
    }
    !out.is_empty() && out.into_values().all(|enough| enough)
}

/// Whether the run has a token more than hard calls that wait for one.
fn leaves_enough(run: &Run, hard: &BTreeSet<NodeId>) -> bool {
    let waiting = run.calls().ready().chain(run.calls().preparing());
    let waiting = waiting
        .filter(|(_, call)| hard.contains(&call.node))
        .count();
    let left = run.head().expect("started").lap.budget.concurrency_left();
    waiting < usize::try_from(left.get()).expect("few tokens")
}
