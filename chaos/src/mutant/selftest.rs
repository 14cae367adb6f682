//! The campaign held against itself: it has to see every bug that is put in on purpose, by the
//! property that should.

use std::time::Instant;

use serde::Serialize;

use super::{ALL, Mutant, Ports};
use crate::campaign::{Guarantees, Plan, shrink};
use crate::guarantee::Breach;
use crate::meeting;
use crate::schedule::Schedule;

/// What became of one bug.
#[derive(Clone, Debug, Serialize)]
pub struct Bug {
    /// Its name.
    pub name: &'static str,
    /// What is wrong, in one sentence.
    pub about: &'static str,
    /// Whether the property that should see it did.
    pub caught: bool,
    /// That property; else the first that saw anything.
    pub property: Option<String>,
    /// What it saw.
    pub what: Option<String>,
    /// The seed of the world in which it was seen.
    pub seed: Option<u64>,
    /// How many worlds were tried.
    pub schedules: u64,
    /// How many faults a schedule had that was made as large as can be.
    pub faults: Option<usize>,
    /// How many are left of it that still show the bug.
    pub shortest: Option<usize>,
    /// How long the search for them took.
    pub shrunk_in_ms: Option<u64>,
}

/// What became of all bugs.
#[derive(Clone, Debug, Serialize)]
pub struct SelfTest {
    /// How many worlds each had at most.
    pub seeds: u64,
    /// The bugs.
    pub bugs: Vec<Bug>,
}

impl SelfTest {
    /// Whether every bug was caught.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.bugs.iter().all(|bug| bug.caught)
    }
}

/// Faults of the large schedule in which each bug is looked for a second time.
const MANY: u64 = 24;
/// Worlds in which a large schedule is looked for that shows the bug.
const MANY_SEEDS: u64 = 400;

/// Puts every bug in, one at a time, and looks for it in at most `seeds` worlds of the built-in
/// class; says each as it is done.
pub fn selftest(seeds: u64, mut says: impl FnMut(&Bug)) -> SelfTest {
    let bugs = ALL.iter().map(|mutant| {
        let bug = look_for(mutant, seeds);
        says(&bug);
        bug
    });
    SelfTest {
        seeds,
        bugs: bugs.collect(),
    }
}

fn plan(ports: Ports) -> Plan {
    let campaign = meeting::campaign_of().expect("the built-in class is valid");
    let campaign = campaign.check(Guarantees::all()).ports(ports);
    campaign.plan().expect("the built-in campaign can begin")
}

/// The first of `found` that one of the properties saw that should see the mutant.
fn seen<'a>(mutant: &Mutant, found: &'a [Breach]) -> Option<&'a Breach> {
    let should = |breach: &&Breach| {
        let mut wanted = mutant.seen_by.iter();
        wanted.any(|guarantee| guarantee.to_string() == breach.property)
    };
    found.iter().find(should)
}

fn look_for(mutant: &Mutant, seeds: u64) -> Bug {
    let plan = plan((mutant.ports)());
    let mut bug = Bug {
        name: mutant.name,
        about: mutant.about,
        caught: false,
        property: None,
        what: None,
        seed: None,
        schedules: 0,
        faults: None,
        shortest: None,
        shrunk_in_ms: None,
    };
    for seed in 1..=seeds {
        bug.schedules = seed;
        let found = plan.judge(seed, &plan.schedule(seed)).breaches;
        let by = seen(mutant, &found);
        bug.caught = by.is_some();
        if let Some(breach) = by.or_else(|| found.first().filter(|_| bug.seed.is_none())) {
            bug.property = Some(breach.property.clone());
            bug.what = Some(breach.what.clone());
            bug.seed = Some(seed);
        }
        if bug.caught {
            break;
        }
    }
    if bug.caught {
        makes_it_short(mutant, &plan, &mut bug);
    }
    bug
}

/// Looks for the bug in a schedule with many faults, and leaves out what it does not need.
fn makes_it_short(mutant: &Mutant, plan: &Plan, bug: &mut Bug) {
    let shows = |seed: u64, schedule: &Schedule| {
        seen(mutant, &plan.judge(seed, schedule).breaches).is_some()
    };
    let large = (1..=MANY_SEEDS).find_map(|seed| {
        let schedule = plan.menu.draw_many(seed, MANY);
        shows(seed, &schedule).then_some((seed, schedule))
    });
    let Some((seed, schedule)) = large else {
        return;
    };
    let began = Instant::now();
    let shortest = shrink(&schedule, |smaller| shows(seed, smaller));
    bug.faults = Some(schedule.faults.len());
    bug.shortest = Some(shortest.faults.len());
    bug.shrunk_in_ms = u64::try_from(began.elapsed().as_millis()).ok();
}
