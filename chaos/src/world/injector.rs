//! Does the faults of a schedule that befall requests and look-ups, and notes which one hit what.

use std::sync::atomic::{AtomicBool, Ordering};

use mainstay_sim::provider::{Arrival, Sight, Twist, Twists, lot};
use mainstay_types::Millis;
use parking_lot::Mutex;

use crate::fault::{Act, Fault, Kind, Where};
use crate::schedule::Schedule;

/// A fault that changed something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    /// Which fault of the schedule, from 0.
    pub(crate) fault: usize,
    /// When, since the world began.
    pub(crate) at: Millis,
    /// The path of the call that it befell; `-` for a fault that befalls no call.
    pub(crate) call: String,
    /// In which state that was.
    pub(crate) state: &'static str,
}

/// Which runs and dependencies faults may befall.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Radius {
    /// Of 1,000 runs so many, by their id.
    pub(crate) runs_per_mille: u64,
    /// Only runs of these tenants; empty: of all.
    pub(crate) tenants: Vec<String>,
}

impl Radius {
    fn takes_in(&self, arrival: &Arrival) -> bool {
        let bytes = arrival.run.as_bytes();
        let seed = bytes.iter().fold(0, |sum: u64, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
        });
        let mut tenants = self.tenants.iter();
        let of_tenant =
            self.tenants.is_empty() || tenants.any(|name| name == arrival.tenant.as_str());
        of_tenant && lot(seed, "radius", 0) % 1_000 < self.runs_per_mille
    }
}

/// See the module.
pub(crate) struct Injector {
    faults: Vec<Fault>,
    radius: Radius,
    is_calm: AtomicBool,
    hits: Mutex<Vec<Hit>>,
}

impl Injector {
    pub(crate) fn new(schedule: &Schedule, radius: &Radius) -> Self {
        Self {
            faults: schedule.faults.clone(),
            radius: radius.clone(),
            is_calm: AtomicBool::new(false),
            hits: Mutex::new(Vec::new()),
        }
    }

    /// From now on nothing is different any more.
    pub(crate) fn calm(&self) {
        self.is_calm.store(true, Ordering::Relaxed);
    }

    /// Something else than a request or a look-up was hit.
    pub(crate) fn hit(&self, fault: usize, at: Millis, state: &'static str) {
        let call = "-".to_owned();
        self.hits.lock().push(Hit {
            fault,
            at,
            call,
            state,
        });
    }

    /// The kinds of the faults, in the order of the schedule.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        self.faults.iter().map(|fault| fault.kind).collect()
    }

    pub(crate) fn hits(&self) -> Vec<Hit> {
        self.hits.lock().clone()
    }

    fn is_quiet(&self, arrival: &Arrival) -> bool {
        self.is_calm.load(Ordering::Relaxed) || !self.radius.takes_in(arrival)
    }

    /// The first fault that befalls `arrival`.
    fn first(&self, arrival: &Arrival) -> Option<(usize, &Fault)> {
        let at = arrival.at.get();
        let befalls = |fault: &Fault| {
            if fault.dependency.as_deref() != Some(arrival.dependency.as_str()) {
                return false;
            }
            match fault.kind.named().place {
                Where::Request(_) => !arrival.is_look_up && fault.is_at(arrival.nth),
                Where::LookUp => arrival.is_look_up && fault.is_at(arrival.nth),
                Where::RequestsDuring(_) => {
                    // Which of two, the fault says: who is asked once only is met as well.
                    let is_other = (arrival.nth + fault.length()).is_multiple_of(2);
                    !arrival.is_look_up && fault.is_during(at) && is_other
                }
                Where::Commit | Where::Moment | Where::During => false,
            }
        };
        let mut faults = self.faults.iter().enumerate();
        faults.find(|(_, fault)| befalls(fault))
    }

    fn note(&self, fault: usize, arrival: &Arrival) {
        let state = match arrival {
            Arrival {
                is_look_up: true, ..
            } => "in doubt",
            Arrival { rung: 1.., .. } => "fallback",
            Arrival { attempt, .. } if attempt.get() == 1 => "first attempt",
            Arrival { .. } => "later attempt",
        };
        self.hits.lock().push(Hit {
            fault,
            at: arrival.at,
            call: label(&arrival.call),
            state,
        });
    }
}

/// A call's path without an item's position: one row of a table for all of them.
fn label(call: &str) -> String {
    call.split('[').next().unwrap_or(call).to_owned()
}

impl Twists for Injector {
    fn request(&self, arrival: &Arrival) -> Twist {
        if self.is_quiet(arrival) {
            return Twist::NONE;
        }
        if let Some((place, fault)) = self.first(arrival)
            && let Act::Request(twist) = fault.kind.named().act
        {
            self.note(place, arrival);
            return twist(fault);
        }
        Twist::NONE
    }

    fn look_up(&self, arrival: &Arrival) -> (Millis, Sight) {
        const TRUTH: (Millis, Sight) = (Millis::ZERO, Sight::Truth);
        if self.is_quiet(arrival) {
            return TRUTH;
        }
        if let Some((place, fault)) = self.first(arrival)
            && let Act::LookUp(sight) = fault.kind.named().act
        {
            self.note(place, arrival);
            return sight(fault);
        }
        TRUTH
    }
}
