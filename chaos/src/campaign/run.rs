//! Tries the worlds of a campaign, on as many threads as there are cores; what comes out does not
//! depend on how many.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use super::check::Checks;
use super::faults::Declared;
use super::misuse::Misuse;
use super::shrink;
use super::world::World;
use crate::facts::Facts;
use crate::guarantee::{self, Breach, Guarantee};
use crate::report::{Report, Tally, Violation, timeline};
use crate::schedule::{Menu, Schedule};
use crate::world::{self, Setup};

/// Of so many worlds one is tried twice, to see whether the same seed gives the same log.
const TWICE_EVERY: u64 = 16;

/// Everything that a campaign needs to try a world.
pub(crate) struct Plan {
    pub(crate) setup: Setup,
    pub(crate) menu: Menu,
    /// The faults of every world, when they are not drawn.
    pub(crate) planned: Option<Schedule>,
    /// The kinds that have to hit.
    pub(crate) declared: Declared,
    pub(crate) seeds: (u64, u64),
    pub(crate) checks: Checks,
    pub(crate) steady: Checks,
    pub(crate) violations_max: usize,
    pub(crate) threads: Option<usize>,
}

/// What came out of one world.
pub(crate) struct Verdict {
    pub(crate) breaches: Vec<Breach>,
    pub(crate) tally: Tally,
    /// `None` when the world could not be looked at.
    pub(crate) facts: Option<Facts>,
}

impl Plan {
    /// The faults of a world.
    pub(crate) fn schedule(&self, seed: u64) -> Schedule {
        match &self.planned {
            Some(schedule) => schedule.clone(),
            None => self.menu.draw(seed),
        }
    }

    /// Lets the world of `seed` happen under `schedule`, and judges it.
    pub(crate) fn judge(&self, seed: u64, schedule: &Schedule) -> Verdict {
        judge(&self.setup, (seed, schedule), &self.checks)
    }

    fn has(&self, guarantee: Guarantee) -> bool {
        self.checks.guarantees.contains(&guarantee)
    }

    /// One world of the campaign; now and then a second time.
    fn tries(&self, seed: u64) -> Verdict {
        let schedule = self.schedule(seed);
        let mut verdict = self.judge(seed, &schedule);
        if self.has(Guarantee::G12)
            && (seed.is_multiple_of(TWICE_EVERY) || self.seeds.1 == 1)
            && let Some(first) = &verdict.facts
        {
            let second = self.judge(seed, &schedule);
            verdict
                .breaches
                .extend(differs(first, second.facts.as_ref()));
        }
        verdict
    }
}

/// Lets a world happen and holds `checks` against it.
fn judge(setup: &Setup, (seed, schedule): (u64, &Schedule), checks: &Checks) -> Verdict {
    let happened = catch_unwind(AssertUnwindSafe(|| world::run(setup, seed, schedule)));
    let facts = match happened {
        Ok(facts) => facts,
        Err(panic) => return fell_over(&*panic),
    };
    let mut breaches = breaches_of(&facts, checks);
    breaches.extend(facts.gate.iter().map(|what| Breach {
        property: "recovery gate".to_owned(),
        what: what.clone(),
    }));
    Verdict {
        breaches,
        tally: Tally::of(&facts),
        facts: Some(facts),
    }
}

/// What of `checks` does not hold of a world that is over.
pub(crate) fn breaches_of(facts: &Facts, checks: &Checks) -> Vec<Breach> {
    let (mut breaches, runs) = guarantee::check(facts, &checks.guarantees);
    let seen = World::new(facts, &runs);
    for (place, own) in checks.own.iter().enumerate() {
        if let Some(what) = own(&seen) {
            breaches.push(Breach {
                property: format!("check {}", place + 1),
                what,
            });
        }
    }
    breaches
}

fn fell_over(panic: &(dyn std::any::Any + Send)) -> Verdict {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    Verdict {
        breaches: vec![Breach {
            property: "no panic".to_owned(),
            what: text.unwrap_or_else(|| "something panicked".to_owned()),
        }],
        tally: Tally::default(),
        facts: None,
    }
}

/// What of a world was another thing the second time.
fn differs(first: &Facts, second: Option<&Facts>) -> Option<Breach> {
    let breach = |what: String| Breach {
        property: Guarantee::G12.to_string(),
        what,
    };
    let Some(second) = second else {
        return Some(breach("the second time something panicked".to_owned()));
    };
    if first.log_hash() == second.log_hash() {
        return None;
    }
    let events = |facts: &Facts| {
        let appends = facts.appends.iter().cloned();
        let told = appends.flat_map(|append| {
            let run = append.run;
            let events = append.events.into_iter();
            events.map(move |stamped| format!("run {run}: {:?}", stamped.event))
        });
        told.collect::<Vec<_>>()
    };
    let (one, two) = (events(first), events(second));
    let place = one.iter().zip(&two).position(|(one, two)| one != two);
    let place = place.unwrap_or(one.len().min(two.len()));
    let told = |events: &[String]| {
        let event = events
            .get(place)
            .map_or("nothing more", |event| event.as_str());
        event.chars().take(300).collect::<String>()
    };
    Some(breach(format!(
        "the same seed gave another log: event {} was {}, the second time {}; code of the class \
         or of its doubles depends on something else than its input",
        place + 1,
        told(&one),
        told(&two)
    )))
}

/// Tries all worlds of `plan`.
pub(crate) fn run(plan: &Plan) -> Result<Report, Misuse> {
    steady(plan)?;
    let began = Instant::now();
    let (first, count) = plan.seeds;
    let next = AtomicU64::new(0);
    let (bad, is_aborted) = (AtomicUsize::new(0), AtomicBool::new(false));
    let verdicts: Mutex<BTreeMap<u64, Tried>> = Mutex::new(BTreeMap::new());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = plan.threads.unwrap_or(cores).max(1);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if count <= place || is_aborted.load(Ordering::Relaxed) {
                        return;
                    }
                    let seed = first.wrapping_add(place);
                    let verdict = plan.tries(seed);
                    if !verdict.breaches.is_empty()
                        && plan.violations_max <= 1 + bad.fetch_add(1, Ordering::Relaxed)
                    {
                        is_aborted.store(true, Ordering::Relaxed);
                    }
                    let tried = Tried {
                        breaches: verdict.breaches,
                        tally: verdict.tally,
                    };
                    verdicts.lock().insert(place, tried);
                }
            });
        }
    });
    let took = began.elapsed();
    let mut report = Report::new(plan, took);
    let schedule = plan.schedule(first);
    if let Some(facts) = plan.judge(first, &schedule).facts {
        report.timeline = timeline::of(&facts, &schedule);
    }
    for (place, tried) in verdicts.into_inner() {
        let seed = first.wrapping_add(place);
        report.count(&tried.tally);
        if !tried.breaches.is_empty() && report.violations.len() < plan.violations_max.max(1) {
            report
                .violations
                .push(violation(plan, seed, tried.breaches));
        }
    }
    report.conclude();
    Ok(report)
}

struct Tried {
    breaches: Vec<Breach>,
    tally: Tally,
}

/// A violation with the shortest schedule that shows it, and what happened under that.
fn violation(plan: &Plan, seed: u64, breaches: Vec<Breach>) -> Violation {
    let schedule = plan.schedule(seed);
    let properties: Vec<String> = breaches.iter().map(|one| one.property.clone()).collect();
    let shortest = shrink::shrink(&schedule, |smaller| {
        let found = plan.judge(seed, smaller).breaches;
        found
            .iter()
            .any(|breach| properties.contains(&breach.property))
    });
    let verdict = plan.judge(seed, &shortest);
    Violation::new(seed, (schedule, shortest), (breaches, verdict))
}

/// A world without any fault does what it should; else nothing is learned from those with some.
fn steady(plan: &Plan) -> Result<(), Misuse> {
    let seed = plan.seeds.0;
    let calm = Schedule::default();
    let checks = [&plan.steady, &plan.checks];
    for checks in checks {
        let found = judge(&plan.setup, (seed, &calm), checks).breaches;
        if let Some(breach) = found.into_iter().next() {
            return Err(Misuse::NoSteadyState {
                seed,
                what: format!("{}: {}", breach.property, breach.what),
            });
        }
    }
    Ok(())
}
