//! What goes wrong outside while processes die: drawn for the how-manieth request to whom.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mainstay_sim::SeededRng;
use mainstay_sim::provider::{Arrival, Deed, Sight, Twist, Twists};
use mainstay_types::{Failure, FailureKind, Millis, Rng as _, Sent};

/// See the module. Once it is calm nothing goes wrong any more.
pub(super) struct Weather {
    seed: u64,
    is_calm: AtomicBool,
    troubles: AtomicU64,
}

impl Weather {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            is_calm: AtomicBool::new(false),
            troubles: AtomicU64::new(0),
        }
    }

    pub(super) fn calm(&self) {
        self.is_calm.store(true, Ordering::SeqCst);
    }

    /// How often something went wrong.
    pub(super) fn troubles(&self) -> u64 {
        self.troubles.load(Ordering::SeqCst)
    }

    /// A number below 1,000 for this arrival.
    fn lot(&self, arrival: &Arrival) -> u64 {
        let Arrival {
            dependency,
            nth,
            is_look_up,
            ..
        } = arrival;
        let purpose = format!("{dependency}/{nth}/{is_look_up}");
        SeededRng::stream(self.seed, &purpose).next_u64() % 1_000
    }
}

fn deed(is_write: bool, lot: u64) -> Deed {
    let overloaded = || Failure::new(FailureKind::Overloaded, Sent::Answered);
    match (is_write, lot) {
        // Done, and the reply is lost: with a connection that breaks, or with silence.
        (true, 0..150) => Deed::DoAndBreakOff,
        (true, 150..170) => Deed::LoseReply,
        (true, 170..200) => Deed::DoLate(Millis::new(300)),
        (true, 200..220) => Deed::DoTwice,
        (true, 220..250) => Deed::BreakOff,
        (true, 250..280) => Deed::Answer(overloaded()),
        (false, 0..30) => Deed::BreakOff,
        (false, 30..50) => Deed::Answer(overloaded()),
        (_, _) => Deed::Straight,
    }
}

impl Twists for Weather {
    fn request(&self, arrival: &Arrival) -> Twist {
        if self.is_calm.load(Ordering::SeqCst) {
            return Twist::NONE;
        }
        let deed = deed(arrival.key.is_some(), self.lot(arrival));
        if deed == Deed::Straight {
            return Twist::NONE;
        }
        self.troubles.fetch_add(1, Ordering::SeqCst);
        Twist {
            deed,
            ..Twist::NONE
        }
    }

    fn look_up(&self, arrival: &Arrival) -> (Millis, Sight) {
        const TRUTH: (Millis, Sight) = (Millis::ZERO, Sight::Truth);
        if self.is_calm.load(Ordering::SeqCst) {
            return TRUTH;
        }
        let sight = match self.lot(arrival) {
            0..50 => Sight::Fail(Failure::new(FailureKind::Overloaded, Sent::Answered)),
            50..70 => Sight::InProgress,
            70..90 => Sight::Nothing,
            _ => return TRUTH,
        };
        self.troubles.fetch_add(1, Ordering::SeqCst);
        (Millis::ZERO, sight)
    }
}
