//! What no crash takes away, and what every process of a world is made from.

use std::sync::Arc;

use mainstay_class::ErasedClass;
use mainstay_dispatch::Provider;
use mainstay_ledger::Ledger;
use mainstay_machine::Core;
use mainstay_sim::ledger::{Latency, Trouble};
use mainstay_sim::provider::{Double, Kind, Outside, Twists};
use mainstay_sim::{START, SeededIds, SeededRng, SimLedger, VirtualClock, VirtualTimers};
use mainstay_types::{DependencyName, Millis, Rung};
use parking_lot::Mutex;

use super::book::{Book, Callers, Desk, Order, Scribe};
use super::injector::{Injector, Radius};
use super::witness::Witness;
use crate::fault::Kind as FaultKind;
use crate::mutant::Ports;
use crate::schedule::Schedule;
use crate::targets::{Target, Targets};

/// How long the disk takes when nothing is wrong with it.
pub(crate) const DISK: Latency = Latency {
    write: Millis::ZERO,
    sync: Millis::new(1),
    tell: Millis::ZERO,
};

/// What all worlds of a campaign have in common.
pub(crate) struct Setup {
    pub(crate) class: Arc<ErasedClass>,
    pub(crate) doubles: Vec<(String, Kind)>,
    pub(crate) targets: Targets,
    pub(crate) radius: Radius,
    pub(crate) tenants: Vec<String>,
    /// How many runs each world has.
    pub(crate) runs: usize,
    /// Who calls in the world of a seed.
    pub(crate) callers: Arc<dyn Fn(u64) -> Arc<dyn Callers> + Send + Sync>,
    /// Within how many ms a fresh run has to complete once the faults are over.
    pub(crate) gate_ms: Option<u64>,
    /// The ports that are bent on purpose; none in a campaign.
    pub(crate) ports: Ports,
}

/// The world of one seed.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) timers: VirtualTimers,
    pub(crate) disk: SimLedger,
    /// Whether more processes than one may have it at a time.
    pub(crate) is_shared: bool,
    /// The disk as engines see it.
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) core: Arc<dyn Core>,
    pub(crate) class: Arc<ErasedClass>,
    pub(crate) callers: Arc<dyn Callers>,
    pub(crate) book: Arc<Book>,
    pub(crate) witness: Arc<Witness>,
    pub(crate) injector: Arc<Injector>,
    pub(crate) doubles: Vec<Double>,
    /// When a process began.
    pub(crate) lives: Arc<Mutex<Vec<Millis>>>,
    pub(crate) orders: Vec<Order>,
    pub(crate) rng: Arc<SeededRng>,
    pub(crate) ids: Arc<SeededIds>,
}

impl Stage {
    pub(crate) fn new(setup: &Setup, seed: u64, schedule: &Schedule) -> Self {
        let timers = VirtualTimers::new(VirtualClock::new(START));
        let disk = SimLedger::new(seed, &timers);
        disk.trouble(healthy());
        let mut faults = schedule.faults.iter();
        let is_shared = faults.any(|fault| fault.kind == FaultKind::Usurped);
        if is_shared {
            disk.share();
        }
        let injector = Arc::new(Injector::new(schedule, &setup.radius));
        let twists: Arc<dyn Twists> = Arc::clone(&injector) as _;
        let outside = Outside::new(seed, &timers, &disk, twists);
        let (class, doubles) = doubled(setup, &outside);
        let bent = (setup.ports.ledger)(Arc::new(disk.clone()));
        let witness = Arc::new(Witness::of(bent));
        Self {
            ledger: Arc::clone(&witness) as _,
            core: (setup.ports.core)(()),
            class: Arc::new(class),
            callers: (setup.callers)(seed),
            book: Arc::new(Book::default()),
            witness,
            injector,
            doubles,
            lives: Arc::default(),
            orders: orders(setup, seed),
            rng: Arc::new(SeededRng::stream(seed, "engine")),
            ids: Arc::new(SeededIds::new(seed)),
            timers,
            disk,
            is_shared,
        }
    }

    pub(crate) fn desk(&self) -> Desk {
        let scribe = Scribe {
            book: Arc::clone(&self.book),
            clock: Arc::new(self.timers.clock().clone()),
        };
        Desk {
            hears: Arc::new(scribe),
            timers: Arc::new(self.timers.clone()),
        }
    }
}

/// A disk without trouble.
pub(crate) fn healthy() -> Trouble {
    Trouble {
        latency: DISK,
        ..Trouble::default()
    }
}

/// The class with a double behind each of its dependencies.
pub(crate) fn doubled(setup: &Setup, outside: &Outside) -> (ErasedClass, Vec<Double>) {
    let mut doubles = Vec::new();
    let class = replaced(setup, |target, own| {
        let (_, kind) = setup
            .doubles
            .iter()
            .find(|(name, _)| *name == target.name)?;
        let effect = target.effect.as_ref();
        let effect = effect.map(|effect| (effect, target.honours_keys));
        let double = Double::new(&target.name, kind, (own, effect), outside);
        doubles.push(double.clone());
        Some(Arc::new(double))
    });
    (class, doubles)
}

/// The class with another provider behind each of its dependencies; `make` is given the own one.
pub(crate) fn replaced(
    setup: &Setup,
    mut make: impl FnMut(&Target, &Arc<dyn Provider>) -> Option<Arc<dyn Provider>>,
) -> ErasedClass {
    let mut class = (*setup.class).clone();
    for target in setup.targets.iter() {
        let own = own(&setup.class, &target.name);
        let Some(provider) = own.and_then(|own| make(target, &own)) else {
            continue;
        };
        let name = DependencyName::new(target.name.as_str()).expect("it is a name of the class");
        if let Ok(replaced) = class.replace(&name, &provider) {
            class = replaced;
        }
    }
    class
}

/// Who stands behind a dependency of the class.
fn own(class: &ErasedClass, dependency: &str) -> Option<Arc<dyn Provider>> {
    class.data.ids().find_map(|(id, node)| {
        let contract = node.contract()?;
        let fallbacks = contract.fallbacks.iter();
        let asked = fallbacks.map(|fallback| fallback.dependency.as_ref());
        let mut rungs = std::iter::once(Some(&contract.dependency)).chain(asked);
        let place = rungs.position(|name| name.is_some_and(|name| name.as_str() == dependency))?;
        let rung = Rung(u8::try_from(place).ok()?);
        class.provider(id, rung).cloned()
    })
}

fn orders(setup: &Setup, seed: u64) -> Vec<Order> {
    let tenant = |no: usize| {
        let place = no.checked_rem(setup.tenants.len());
        place.map_or_else(
            || "default".to_owned(),
            |place| setup.tenants[place].clone(),
        )
    };
    (0..setup.runs)
        .map(|no| Order {
            no,
            key: format!("{seed}-{no}"),
            tenant: tenant(no),
        })
        .collect()
}
