//! What came out of a campaign: figures, what each fault befell, and what did not hold.

mod coverage;
mod html;
mod tally;
mod text;
pub(crate) mod timeline;
mod violation;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

pub use coverage::Row;
pub(crate) use tally::Tally;
pub use timeline::Moment;
pub use violation::Violation;

use crate::campaign::{Declared, Plan};
use crate::fault::Kind;

/// What came out of a campaign.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The class.
    pub class: String,
    /// The commit that was tried, where it is known.
    pub commit: Option<String>,
    /// The first seed.
    pub from: u64,
    /// How many were asked for.
    pub seeds: u64,
    /// How many worlds were tried.
    pub schedules: u64,
    /// Worlds per second, all threads together.
    pub schedules_per_second: f64,
    /// Requests that arrived in the median world, look-ups not counted.
    pub attempts_median: u64,
    /// Faults that changed something in the median world.
    pub hits_median: u64,
    /// How often each kind of fault changed something.
    pub hits: BTreeMap<Kind, u64>,
    /// What each kind befell, in which state, how often.
    pub coverage: Vec<Row>,
    /// How laps ended, over all worlds.
    pub outcomes: BTreeMap<String, u64>,
    /// Kinds that were to happen and never changed anything.
    pub never_hit: Vec<Kind>,
    /// Of the logs of all worlds, in the order of their seeds.
    pub log_hash: String,
    /// What did not hold.
    pub violations: Vec<Violation>,
    /// What happened in the first world.
    pub timeline: Vec<Moment>,
    #[serde(skip)]
    declared: Declared,
    #[serde(skip)]
    attempts: Vec<u64>,
    #[serde(skip)]
    hits_each: Vec<u64>,
    #[serde(skip)]
    rows: BTreeMap<(Kind, String, &'static str), u64>,
    #[serde(skip)]
    hasher: Hasher,
    #[serde(skip)]
    took: Duration,
}

#[derive(Clone, Debug, Default)]
struct Hasher(blake3::Hasher);

/// Below so many worlds a kind that nobody named may miss by chance alone, and no campaign fails
/// for it.
const SCHEDULES_MIN: u64 = 500;

impl Report {
    pub(crate) fn new(plan: &Plan, took: Duration) -> Self {
        Self {
            class: plan.setup.class.data.name.to_string(),
            commit: commit(),
            from: plan.seeds.0,
            seeds: plan.seeds.1,
            schedules: 0,
            schedules_per_second: 0.0,
            attempts_median: 0,
            hits_median: 0,
            hits: plan.declared.kinds.iter().map(|kind| (*kind, 0)).collect(),
            coverage: Vec::new(),
            outcomes: BTreeMap::new(),
            never_hit: Vec::new(),
            log_hash: String::new(),
            violations: Vec::new(),
            timeline: Vec::new(),
            declared: plan.declared.clone(),
            attempts: Vec::new(),
            hits_each: Vec::new(),
            rows: BTreeMap::new(),
            hasher: Hasher::default(),
            took,
        }
    }

    /// Adds what came out of one world.
    pub(crate) fn count(&mut self, tally: &Tally) {
        self.schedules += 1;
        self.attempts.push(tally.attempts);
        self.hits_each.push(tally.hits_count());
        for ((kind, call, state), times) in &tally.hits {
            *self.hits.entry(*kind).or_default() += times;
            let row = self.rows.entry((*kind, call.clone(), *state));
            *row.or_default() += times;
        }
        for (outcome, times) in &tally.outcomes {
            *self.outcomes.entry(outcome.clone()).or_default() += times;
        }
        if let Some(hash) = tally.log_hash {
            self.hasher.0.update(hash.as_bytes());
        }
    }

    /// All worlds are counted.
    pub(crate) fn conclude(&mut self) {
        let seconds = self.took.as_secs_f64().max(f64::MIN_POSITIVE);
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let schedules = self.schedules as f64;
        self.schedules_per_second = schedules / seconds;
        self.attempts_median = median(&mut self.attempts);
        self.hits_median = median(&mut self.hits_each);
        self.log_hash = self.hasher.0.finalize().to_hex().to_string();
        self.coverage = std::mem::take(&mut self.rows)
            .into_iter()
            .map(|((fault, call, state), hits)| Row {
                fault,
                call,
                state,
                hits,
            })
            .collect();
        let has_all = self.declared.by_name && self.schedules == self.seeds;
        if has_all || SCHEDULES_MIN <= self.schedules {
            let hits = &self.hits;
            let never = |kind: &&Kind| hits.get(kind).is_none_or(|hits| *hits == 0);
            self.never_hit = self.declared.kinds.iter().filter(never).copied().collect();
        }
    }

    /// Whether everything held, and every fault that was to happen did.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.violations.is_empty() && self.never_hit.is_empty()
    }
}

fn median(numbers: &mut [u64]) -> u64 {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// The commit of the tree that this is run in, where there is one.
fn commit() -> Option<String> {
    let told = std::process::Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .output();
    let told = told.ok().filter(|told| told.status.success())?;
    let text = String::from_utf8(told.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
