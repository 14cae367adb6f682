//! What one world adds to the figures.

use std::collections::BTreeMap;

use mainstay_machine::Event;

use crate::facts::Facts;
use crate::fault::Kind;

/// The figures of one world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) attempts: u64,
    pub(crate) hits: BTreeMap<(Kind, String, &'static str), u64>,
    /// Faults that changed something, each once.
    faults: u64,
    pub(crate) outcomes: BTreeMap<String, u64>,
    pub(crate) log_hash: Option<blake3::Hash>,
}

impl Tally {
    pub(crate) fn of(facts: &Facts) -> Self {
        let mut tally = Self {
            attempts: u64::try_from(facts.attempts()).unwrap_or(u64::MAX),
            log_hash: Some(facts.log_hash()),
            ..Self::default()
        };
        let mut faults: Vec<usize> = facts.hits.iter().map(|hit| hit.fault).collect();
        faults.sort_unstable();
        faults.dedup();
        tally.faults = u64::try_from(faults.len()).unwrap_or(u64::MAX);
        for hit in &facts.hits {
            if let Some(kind) = facts.kinds.get(hit.fault) {
                let row = tally.hits.entry((*kind, hit.call.clone(), hit.state));
                *row.or_default() += 1;
            }
        }
        let events = facts.appends.iter().flat_map(|append| &append.events);
        for stamped in events {
            if let Event::LapEnded { outcome, .. } = &stamped.event {
                *tally
                    .outcomes
                    .entry(outcome.as_str().to_owned())
                    .or_default() += 1;
            }
        }
        tally
    }

    /// How many of its faults changed something.
    pub(crate) const fn hits_count(&self) -> u64 {
        self.faults
    }
}
