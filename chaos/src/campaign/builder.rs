//! How a campaign is put together, checked, and begun.

use std::sync::Arc;

use mainstay_class::{Class, Value};
use mainstay_sim::provider::{Kind as Told, SimModel, SimReceiver};

use super::check::{Check, Checks};
use super::faults::{Declared, Faults, Wanted};
use super::misuse::Misuse;
use super::run::Plan;
use crate::fault::Kind;
use crate::mutant::Ports;
use crate::report::Report;
use crate::rng::Rng;
use crate::schedule::{Menu, Schedule};
use crate::targets::{Targets, whom};
use crate::world::Setup;
use crate::world::book::{Callers, Typed};
use crate::world::injector::Radius;

/// Runs in one world: more of them try nothing that more seeds do not.
const RUNS_MAX: usize = 64;
/// Seeds when nothing else is said.
const SEEDS_DEFAULT: u64 = 100;

type Workload<I> = Arc<dyn Fn(&Rng) -> I + Send + Sync>;

/// A campaign over `class`. See [`Campaign`].
pub fn campaign<I: Value, O: Value>(class: Class<I, O>) -> Campaign<I, O> {
    Campaign {
        class,
        doubles: Vec::new(),
        workload: None,
        faults: Faults::all(),
        seeds: (1, SEEDS_DEFAULT),
        checks: Checks::default(),
        runs: 1,
        tenants: Vec::new(),
        blast: Blast::everything(),
        violations_max: 1,
        steady: Checks::default(),
        gate_ms: None,
        threads: None,
        ports: Ports::straight(),
    }
}

/// Many worlds of one class, each with faults of its own.
///
/// A dependency that is not told to be anything gets a double by its contract: one that is read
/// answers as the class's own code does, one that is written to does what its contract promises.
#[must_use = "a campaign begins with `run`"]
pub struct Campaign<I, O> {
    class: Class<I, O>,
    doubles: Vec<(String, Told)>,
    workload: Option<Workload<I>>,
    faults: Faults,
    /// The first one, and how many.
    seeds: (u64, u64),
    checks: Checks,
    runs: usize,
    tenants: Vec<String>,
    blast: Blast,
    violations_max: usize,
    steady: Checks,
    gate_ms: Option<u64>,
    threads: Option<usize>,
    ports: Ports,
}

/// What faults may befall: the blast radius.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Blast {
    tenants: Vec<String>,
    dependencies: Option<Vec<String>>,
    per_mille: u64,
}

impl Blast {
    /// Everything.
    pub const fn everything() -> Self {
        Self {
            tenants: Vec::new(),
            dependencies: None,
            per_mille: 1_000,
        }
    }

    /// Of requests, only those of runs of these tenants.
    pub fn tenants<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.tenants = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// Of dependencies, only these.
    pub fn dependencies<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.dependencies = Some(names.into_iter().map(str::to_owned).collect());
        self
    }

    /// Of requests, only those of so many of 1,000 runs, chosen by their ids.
    pub const fn runs_per_mille(mut self, per_mille: u64) -> Self {
        self.per_mille = per_mille;
        self
    }
}

impl<I: Value, O: Value> Campaign<I, O> {
    /// What the dependency of this name is like.
    pub fn dependency(mut self, name: &str, double: impl Into<Told>) -> Self {
        self.doubles.push((name.to_owned(), double.into()));
        self
    }

    /// Makes what a run is given.
    pub fn workload(mut self, input: impl Fn(&Rng) -> I + Send + Sync + 'static) -> Self {
        self.workload = Some(Arc::new(input));
        self
    }

    /// Which faults befall it; [`Faults::all`] when it is not said.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// How many worlds are tried; 100 when it is not said.
    pub const fn seeds(mut self, seeds: u64) -> Self {
        self.seeds.1 = seeds;
        self
    }

    /// The first world's seed; 1 when it is not said.
    pub const fn from(mut self, seed: u64) -> Self {
        self.seeds.0 = seed;
        self
    }

    /// Holds this against every world: [`Guarantees`](super::Guarantees), or a closure over the
    /// [`World`](super::World) that says `bool` or `Result<(), impl ToString>`.
    pub fn check(mut self, check: impl Check) -> Self {
        check.add_to(&mut self.checks);
        self
    }

    /// How many runs each world has at once; 1 when it is not said.
    pub const fn runs(mut self, runs: usize) -> Self {
        self.runs = runs;
        self
    }

    /// Whose runs they are, one after another; all of `default` when it is not said.
    pub fn tenants<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.tenants = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// What faults may befall; everything when it is not said.
    pub fn blast(mut self, blast: Blast) -> Self {
        self.blast = blast;
        self
    }

    /// The abort condition: no further world is tried after so many in which something did not
    /// hold; 1 when it is not said.
    pub const fn abort_after(mut self, violations: usize) -> Self {
        self.violations_max = violations;
        self
    }

    /// The steady state: what holds of a world without any fault, which is tried before all others.
    /// The guarantees always do.
    pub fn steady_state(mut self, check: impl Check) -> Self {
        check.add_to(&mut self.steady);
        self
    }

    /// The recovery gate: once the faults are over, a fresh run completes within so many ms.
    pub const fn recovers_within(mut self, ms: u64) -> Self {
        self.gate_ms = Some(ms);
        self
    }

    /// On how many threads worlds are tried; as many as there are cores when it is not said. What
    /// comes out is the same.
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The class's name.
    pub(crate) fn class_name(&self) -> String {
        self.class.data().name.to_string()
    }

    /// Bends the ports on purpose.
    pub(crate) fn ports(mut self, ports: Ports) -> Self {
        self.ports = ports;
        self
    }

    /// Tries all worlds; `MAINSTAY_SEED=n` in the environment tries that one alone.
    ///
    /// # Panics
    /// When something does not hold, with the seed, the shortest schedule of faults that was found
    /// for it, and the timeline; and when the campaign cannot begin, with what to write instead.
    #[track_caller]
    pub fn run(self) -> Report {
        let report = self.report().unwrap_or_else(|misuse| panic!("{misuse}"));
        assert!(report.is_good(), "{report}");
        report
    }

    /// Tries all worlds; what does not hold is in the report.
    ///
    /// Errors: the campaign cannot begin.
    pub fn report(self) -> Result<Report, Misuse> {
        let mut plan = self.plan()?;
        if let Ok(text) = std::env::var("MAINSTAY_SEED") {
            let seed = text.trim().parse();
            plan.seeds = (seed.map_err(|_| Misuse::NoSeedNumber { text })?, 1);
        }
        super::run::run(&plan)
    }

    /// Everything that the worlds have in common.
    pub(crate) fn plan(self) -> Result<Plan, Misuse> {
        self.check_numbers()?;
        let mut targets = Targets::of(self.class.data());
        let doubles = doubles(&targets, &self.doubles)?;
        for (name, told) in &doubles {
            if let Told::Model(model) = told {
                targets.mark(name, model.can_be_cut(), model.can_be_stale());
            }
        }
        let within = match &self.blast.dependencies {
            Some(names) => targets.within(names),
            None => targets.clone(),
        };
        let (menu, planned, declared) = menu(&self.faults, &within)?;
        let callers = callers(self.class.clone(), self.workload.ok_or(Misuse::NoWorkload)?);
        let setup = Setup {
            class: self.class.erased(),
            doubles,
            targets,
            radius: Radius {
                runs_per_mille: self.blast.per_mille,
                tenants: self.blast.tenants,
            },
            tenants: self.tenants,
            runs: self.runs,
            callers,
            gate_ms: self.gate_ms,
            ports: self.ports,
        };
        Ok(Plan {
            setup,
            menu,
            planned,
            declared,
            seeds: self.seeds,
            checks: self.checks,
            steady: self.steady,
            violations_max: self.violations_max,
            threads: self.threads,
        })
    }

    fn check_numbers(&self) -> Result<(), Misuse> {
        if self.workload.is_none() {
            return Err(Misuse::NoWorkload);
        }
        if self.seeds.1 == 0 {
            return Err(Misuse::NoSeeds);
        }
        if self.runs == 0 {
            return Err(Misuse::NoRuns);
        }
        if RUNS_MAX < self.runs {
            let (runs, max) = (self.runs, RUNS_MAX);
            return Err(Misuse::TooManyRuns { runs, max });
        }
        if self.checks.guarantees.is_empty() && self.checks.own.is_empty() {
            return Err(Misuse::NothingChecked);
        }
        let per_mille = self.blast.per_mille;
        if !(1..=1_000).contains(&per_mille) {
            return Err(Misuse::NoShare { per_mille });
        }
        let known = Targets::of(self.class.data());
        for name in self.blast.dependencies.iter().flatten() {
            if known.get(name).is_none() {
                return Err(Misuse::UnknownDependency {
                    name: name.clone(),
                    known: known.names(),
                });
            }
        }
        Ok(())
    }
}

/// The doubles of all dependencies: as told, else by their contract.
fn doubles(targets: &Targets, told: &[(String, Told)]) -> Result<Vec<(String, Told)>, Misuse> {
    for (place, (name, double)) in told.iter().enumerate() {
        if told[..place].iter().any(|(other, _)| other == name) {
            return Err(Misuse::ToldTwice { name: name.clone() });
        }
        let Some(target) = targets.get(name) else {
            return Err(Misuse::UnknownDependency {
                name: name.clone(),
                known: targets.names(),
            });
        };
        let (reads, writes) = (("is read", "SimModel"), ("is written to", "SimReceiver"));
        let (is, is_told) = match (target.effect.is_some(), double.is_write()) {
            (true, false) => (writes, reads),
            (false, true) => (reads, writes),
            (true, true) | (false, false) => continue,
        };
        return Err(Misuse::WrongDouble {
            name: name.clone(),
            does: is.0,
            fits: is.1,
            told: is_told.1,
        });
    }
    let double = |target: &crate::targets::Target| {
        let own = told.iter().find(|(name, _)| *name == target.name);
        let by_contract = || match target.effect {
            Some(_) => SimReceiver::new().into(),
            None => SimModel::new().into(),
        };
        let kind = own.map_or_else(by_contract, |(_, kind)| kind.clone());
        (target.name.clone(), kind)
    };
    Ok(targets.iter().map(double).collect())
}

/// What is drawn from, what is planned, and which kinds have to hit.
fn menu(faults: &Faults, targets: &Targets) -> Result<(Menu, Option<Schedule>, Declared), Misuse> {
    let declared = |kinds: Vec<Kind>, by_name: bool| Declared { kinds, by_name };
    match &faults.0 {
        Wanted::Drawn(kinds) => {
            let menu = Menu::of(kinds, targets);
            let kinds = declared(menu.kinds.clone(), false);
            Ok((menu, None, kinds))
        }
        Wanted::Declared(kinds) => {
            let menu = Menu::of(kinds, targets);
            if let Some(kind) = kinds.iter().find(|kind| !menu.kinds.contains(kind)) {
                let of = kind.named().of();
                return Err(Misuse::FaultWithoutTarget {
                    kind: *kind,
                    whom: of.map_or("nothing", whom),
                });
            }
            Ok((menu, None, declared(kinds.clone(), true)))
        }
        Wanted::Planned(schedule) => {
            for fault in &schedule.faults {
                targets.check(fault)?;
            }
            let mut kinds: Vec<Kind> = schedule.faults.iter().map(|fault| fault.kind).collect();
            kinds.sort();
            kinds.dedup();
            let menu = Menu::of(&kinds, targets);
            Ok((menu, Some(schedule.clone()), declared(kinds, true)))
        }
    }
}

type CallersOf = Arc<dyn Fn(u64) -> Arc<dyn Callers> + Send + Sync>;

fn callers<I: Value, O: Value>(class: Class<I, O>, workload: Workload<I>) -> CallersOf {
    Arc::new(move |seed| {
        let (class, workload) = (class.clone(), Arc::clone(&workload));
        Arc::new(Typed {
            class,
            input: Arc::new(move |no| workload(&Rng::of(seed, no))),
        })
    })
}
