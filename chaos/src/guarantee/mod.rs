//! The guarantees of the runtime as properties of one world: a file each.
//!
//! The log is replayed once, by the production core, and each guarantee looks on; then it is held
//! against what arrived outside and what callers were told. None of them asks the engine.

mod ends;
mod g01_durable_before_it_leaves;
mod g02_acknowledged_survives;
mod g03_budget_holds;
mod g04_answers_in_time;
mod g05_reconcile_first;
mod g06_once_per_key;
mod g07_late_once;
mod g08_replay_is_live;
mod g09_one_owner;
mod g10_degraded_is_said;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use mainstay_machine::{Event, Run, apply};
use mainstay_sim::ledger::Append;
use mainstay_types::{RunId, Seq};
use serde::Serialize;

use crate::facts::Facts;

/// What has to hold in every world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Guarantee {
    /// No attempt leaves before its intention is durable.
    G1,
    /// What was acknowledged survives.
    G2,
    /// The budget holds at every prefix of the log, and everything is refunded once.
    G3,
    /// The caller has an answer in time, and no attempt starts that cannot end in time.
    G4,
    /// A write with an unknown outcome is reconciled before anything else is tried.
    G5,
    /// One effect per key.
    G6,
    /// Late results are recorded once and never delivered twice.
    G7,
    /// Replaying the log gives the state that was live.
    G8,
    /// One owner: an older one's append is refused.
    G9,
    /// Degraded is said, and soft calls leave the hard path what it needs.
    G10,
    /// The same seed gives the same log.
    G12,
    /// Once the faults are over, everything ends.
    Ends,
}

impl Guarantee {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::G1,
        Self::G2,
        Self::G3,
        Self::G4,
        Self::G5,
        Self::G6,
        Self::G7,
        Self::G8,
        Self::G9,
        Self::G10,
        Self::G12,
        Self::Ends,
    ];

    fn watch(self) -> Option<Box<dyn Watch>> {
        Some(match self {
            Self::G1 => Box::<g01_durable_before_it_leaves::G1>::default(),
            Self::G2 => Box::<g02_acknowledged_survives::G2>::default(),
            Self::G3 => Box::<g03_budget_holds::G3>::default(),
            Self::G4 => Box::<g04_answers_in_time::G4>::default(),
            Self::G5 => Box::<g05_reconcile_first::G5>::default(),
            Self::G6 => Box::<g06_once_per_key::G6>::default(),
            Self::G7 => Box::<g07_late_once::G7>::default(),
            Self::G8 => Box::<g08_replay_is_live::G8>::default(),
            Self::G9 => Box::<g09_one_owner::G9>::default(),
            Self::G10 => Box::<g10_degraded_is_said::G10>::default(),
            Self::Ends => Box::<ends::Ends>::default(),
            // It is seen by running a seed again, not by looking at one world.
            Self::G12 => return None,
        })
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::Ends {
            return f.write_str("ends");
        }
        fmt::Debug::fmt(self, f)
    }
}

/// A guarantee that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Breach {
    /// Which; the user's own checks have their own names.
    pub property: String,
    /// What was seen, in one line.
    pub what: String,
}

/// Where a guarantee writes down what it sees.
pub(crate) struct Breaches {
    property: String,
    found: Vec<Breach>,
}

/// One world rarely breaks a guarantee in more ways than anybody reads.
const BREACHES_MAX: usize = 8;

impl Breaches {
    fn new(property: String) -> Self {
        Self {
            property,
            found: Vec::new(),
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(crate) fn add(&mut self, what: impl fmt::Display) {
        if self.found.len() < BREACHES_MAX {
            self.found.push(Breach {
                property: self.property.clone(),
                what: what.to_string(),
            });
        }
    }
}

/// One event of the log, as it is replayed.
pub(crate) struct Seen<'a> {
    pub(crate) id: RunId,
    /// Its place in the run's log, from 1.
    pub(crate) seq: Seq,
    pub(crate) event: &'a Event,
    /// The run after it.
    pub(crate) run: &'a Run,
    pub(crate) append: &'a Append,
}

impl Seen<'_> {
    /// Whether this is the last event of its append.
    pub(crate) fn ends_append(&self) -> bool {
        self.seq == self.append.last
    }
}

/// Looks on while the log is replayed, and judges in the end.
pub(crate) trait Watch {
    fn see(&mut self, _: &Seen<'_>, _: &mut Breaches) {}

    fn end(&mut self, _: &Facts, _: &BTreeMap<RunId, Run>, _: &mut Breaches) {}
}

/// What did not hold of `wanted` in this world, and the runs as its log makes them.
pub(crate) fn check(facts: &Facts, wanted: &[Guarantee]) -> (Vec<Breach>, BTreeMap<RunId, Run>) {
    let mut watches: Vec<(Box<dyn Watch>, Breaches)> = wanted
        .iter()
        .filter_map(|guarantee| {
            let breaches = Breaches::new(guarantee.to_string());
            Some((guarantee.watch()?, breaches))
        })
        .collect();
    let (runs, corrupt) = replayed(facts, &mut watches);
    let ends = watches.into_iter().flat_map(|(mut watch, mut breaches)| {
        watch.end(facts, &runs, &mut breaches);
        breaches.found
    });
    let mut found: Vec<Breach> = ends.collect();
    if wanted.contains(&Guarantee::G8) {
        found.extend(corrupt);
    }
    (found, runs)
}

/// The runs as the log makes them; what of it could not be replayed.
fn replayed(
    facts: &Facts,
    watches: &mut [(Box<dyn Watch>, Breaches)],
) -> (BTreeMap<RunId, Run>, Vec<Breach>) {
    let mut runs: BTreeMap<RunId, Run> = BTreeMap::new();
    let mut corrupt = Breaches::new(Guarantee::G8.to_string());
    for append in &facts.appends {
        let fresh = || Run::unborn(Arc::clone(&facts.class));
        let run = runs.entry(append.run).or_insert_with(fresh);
        for stamped in &append.events {
            let name = stamped.event.name();
            if let Err(error) = apply(run, &stamped.event) {
                corrupt.add(format_args!(
                    "run {}: {name} does not apply: {error}",
                    append.run
                ));
                break;
            }
            let seen = Seen {
                id: append.run,
                seq: run.seq(),
                event: &stamped.event,
                run,
                append,
            };
            for (watch, breaches) in watches.iter_mut() {
                watch.see(&seen, breaches);
            }
        }
    }
    (runs, corrupt.found)
}
