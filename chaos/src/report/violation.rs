//! A world in which something did not hold, and the shortest way to see it again.

use serde::Serialize;

use super::timeline::{self, Moment};
use crate::campaign::Verdict;
use crate::guarantee::Breach;
use crate::schedule::Schedule;

/// A world in which something did not hold.
#[derive(Clone, Debug, Serialize)]
pub struct Violation {
    /// Its seed: `MAINSTAY_SEED` tries it alone.
    pub seed: u64,
    /// What did not hold.
    pub breaches: Vec<Breach>,
    /// How many faults it had.
    pub faults: usize,
    /// The shortest schedule that was found for the same.
    pub schedule: Schedule,
    /// What did not hold under that one.
    pub shortest: Vec<Breach>,
    /// What happened under that one.
    pub timeline: Vec<Moment>,
}

impl Violation {
    pub(crate) fn new(
        seed: u64,
        (schedule, shortest): (Schedule, Schedule),
        (breaches, verdict): (Vec<Breach>, Verdict),
    ) -> Self {
        let facts = verdict.facts.as_ref();
        Self {
            seed,
            breaches,
            faults: schedule.faults.len(),
            timeline: facts.map_or_else(Vec::new, |facts| timeline::of(facts, &shortest)),
            schedule: shortest,
            shortest: verdict.breaches,
        }
    }
}
