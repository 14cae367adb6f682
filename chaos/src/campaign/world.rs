//! A world that is over, as its author's own checks see it.

use std::collections::BTreeMap;
use std::fmt;

use mainstay_machine::{OutcomeKind, Run, view};
use mainstay_sim::provider::Applied;
use mainstay_types::{Payload, RunId};

use crate::facts::{Facts, Outside};

/// A world that is over.
pub struct World<'a> {
    facts: &'a Facts,
    runs: &'a BTreeMap<RunId, Run>,
}

/// A dependency's own table.
pub struct Receiver<'a>(&'a Outside);

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// The run.
    pub id: RunId,
    /// How its newest lap ended; `None`: it has not.
    pub outcome: Option<OutcomeKind>,
    /// What its result lacks.
    pub notices: Vec<String>,
    /// What it was given.
    pub input: Payload,
    /// The class's result.
    pub result: Option<Payload>,
}

impl<'a> World<'a> {
    pub(crate) const fn new(facts: &'a Facts, runs: &'a BTreeMap<RunId, Run>) -> Self {
        Self { facts, runs }
    }

    /// Its seed.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.facts.seed
    }

    /// The dependency of this name.
    ///
    /// # Panics
    /// When the class asks none of this name, with the names there are.
    #[track_caller]
    #[must_use]
    pub fn receiver(&self, name: &str) -> Receiver<'a> {
        let mut outside = self.facts.outside.iter();
        outside.find(|outside| outside.name == name).map_or_else(
            || {
                let known: Vec<&str> = self.facts.outside.iter().map(|it| &*it.name).collect();
                panic!("no dependency `{name}`: there are {}", known.join(", "))
            },
            Receiver,
        )
    }

    /// Its runs, in the order of their ids.
    #[must_use]
    pub fn runs(&self) -> Vec<RunEnd> {
        let ends = self.runs.iter().filter_map(|(id, run)| {
            let head = run.head()?;
            let outcome = head.lap.outcome.as_ref();
            Some(RunEnd {
                id: *id,
                outcome: outcome.map(|outcome| outcome.kind),
                notices: view::notices(run),
                input: head.input.clone(),
                result: outcome.and_then(|outcome| outcome.result.clone()),
            })
        });
        ends.collect()
    }
}

impl Receiver<'_> {
    /// Every change it made to its world, in order.
    #[must_use]
    pub fn applied(&self) -> &[Applied] {
        &self.0.applied
    }

    /// How many requests reached it, look-ups not counted.
    #[must_use]
    pub fn requests(&self) -> usize {
        let arrivals = self.0.arrivals.iter();
        arrivals.filter(|arrival| !arrival.is_look_up).count()
    }

    /// Whether it did each key at most `max` times; what was done in part only is not counted.
    pub fn applied_per_key_at_most(&self, max: usize) -> Result<(), String> {
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for applied in self.0.applied.iter().filter(|applied| !applied.in_part) {
            *times.entry(applied.key.to_string()).or_default() += 1;
        }
        match times.into_iter().find(|(_, times)| max < *times) {
            Some((key, times)) => Err(format!("{}: {key} was done {times} times", self.0.name)),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("seed", &self.facts.seed)
            .field("runs", &self.runs.len())
            .finish_non_exhaustive()
    }
}
