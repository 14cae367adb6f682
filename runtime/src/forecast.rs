//! What attempts will take and cost, by what was seen of them in this process.
//!
//! One watch for each operation of a dependency, shared by all classes that ask it. Nine of ten is
//! what counts. Until enough was seen nothing is said, and the contract's estimate holds; what was
//! seen long ago is forgotten, and so is all of it when nothing was seen for a while: a start that
//! is refused for it asks nobody, and nothing else might ever show that it is over. Nothing here is
//! stored: what a decision used is in its event.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use hdrhistogram::Histogram;
use mainstay_graph::Contract;
use mainstay_types::{CostUnits, DependencyName, Millis, Rung, Timestamp, limits};
use parking_lot::Mutex;

/// "Nothing is known."
const UNKNOWN: u64 = u64::MAX;

/// Of how many the quantile is taken anew, once enough was seen.
const REFRESH_EVERY: u32 = 16;

/// The longest time and the highest cost that are told apart.
const VALUE_MAX: u64 = 1 << 40;

/// Who is asked, and what.
type Operation = (DependencyName, String);

/// The watches of a process.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    all: BTreeMap<Operation, Arc<Watch>>,
}

/// What was seen of one operation.
#[derive(Debug)]
pub(crate) struct Watch {
    seen: Mutex<Seen>,
    /// Nine of ten took no longer, in milliseconds.
    took: AtomicU64,
    /// Nine of ten cost no more, in micro-units.
    cost: AtomicU64,
    /// When the newest was seen, in milliseconds of the engine's time.
    seen_at: AtomicI64,
}

#[derive(Debug)]
struct Seen {
    took: Windows,
    cost: Windows,
}

/// What was seen lately: a window that fills and the one before it.
#[derive(Debug)]
struct Windows {
    now: Histogram<u32>,
    before: Histogram<u32>,
}

impl Watches {
    /// The watch of the dependency that a rung of `contract` asks; `None` for a rung that asks
    /// nobody, or beyond the bound.
    pub(crate) fn of(&mut self, contract: &Contract, rung: Rung) -> Option<Arc<Watch>> {
        let dependency = match usize::from(rung.get()).checked_sub(1) {
            None => &contract.dependency,
            Some(below) => contract.fallbacks.get(below)?.dependency.as_ref()?,
        };
        let operation = (dependency.clone(), contract.operation.clone());
        let has_room = self.all.len() < limits::SEEN_OPERATIONS_MAX;
        match self.all.get(&operation) {
            Some(watch) => Some(Arc::clone(watch)),
            None if has_room => {
                let watch = Arc::new(Watch::new());
                self.all.insert(operation, Arc::clone(&watch));
                Some(watch)
            }
            None => None,
        }
    }
}

impl Watch {
    fn new() -> Self {
        let (took, cost) = (Windows::new(), Windows::new());
        Self {
            seen: Mutex::new(Seen { took, cost }),
            took: AtomicU64::new(UNKNOWN),
            cost: AtomicU64::new(UNKNOWN),
            seen_at: AtomicI64::new(i64::MIN),
        }
    }

    /// An attempt is over, now; its cost is known when the provider said it.
    pub(crate) fn note(&self, took: Millis, cost: Option<CostUnits>, now: Timestamp) {
        let mut seen = self.seen.lock();
        if !self.is_fresh(now) {
            (seen.took, seen.cost) = (Windows::new(), Windows::new());
            self.took.store(UNKNOWN, Ordering::Relaxed);
            self.cost.store(UNKNOWN, Ordering::Relaxed);
        }
        self.seen_at.fetch_max(now.as_millis(), Ordering::Relaxed);
        if let Some(nine_of_ten) = seen.took.note(took.get()) {
            self.took.store(nine_of_ten, Ordering::Relaxed);
        }
        if let Some(cost) = cost
            && let Some(nine_of_ten) = seen.cost.note(cost.as_micros())
        {
            self.cost.store(nine_of_ten, Ordering::Relaxed);
        }
    }

    /// How long nine of ten attempts took, as far as that counts now.
    pub(crate) fn took(&self, now: Timestamp) -> Option<Millis> {
        let took = known(&self.took).filter(|_| self.is_fresh(now));
        took.map(Millis::new)
    }

    /// What nine of ten attempts cost, as far as that counts now.
    pub(crate) fn cost(&self, now: Timestamp) -> Option<CostUnits> {
        let cost = known(&self.cost).filter(|_| self.is_fresh(now));
        cost.map(CostUnits::micros)
    }

    /// Whether something was seen lately.
    fn is_fresh(&self, now: Timestamp) -> bool {
        let seen_at = Timestamp::from_millis(self.seen_at.load(Ordering::Relaxed));
        now.since(seen_at) < Millis::new(limits::SEEN_FRESH_MS)
    }
}

fn known(value: &AtomicU64) -> Option<u64> {
    let value = value.load(Ordering::Relaxed);
    (value != UNKNOWN).then_some(value)
}

impl Windows {
    fn new() -> Self {
        let new = || Histogram::new_with_max(VALUE_MAX, 2).expect("a valid range and precision");
        Self {
            now: new(),
            before: new(),
        }
    }

    /// Counts a value; the quantile when it is taken anew.
    fn note(&mut self, value: u64) -> Option<u64> {
        self.now.saturating_record(value.min(VALUE_MAX));
        let fresh = self.now.len();
        if u64::from(limits::SEEN_ATTEMPTS_MAX / 2) <= fresh {
            std::mem::swap(&mut self.now, &mut self.before);
            self.now.reset();
        }
        let all = self.now.len() + self.before.len();
        let is_due = all == u64::from(limits::SEEN_ATTEMPTS_MIN)
            || fresh.is_multiple_of(u64::from(REFRESH_EVERY));
        (is_due && u64::from(limits::SEEN_ATTEMPTS_MIN) <= all).then(|| self.nine_of_ten())
    }

    fn nine_of_ten(&self) -> u64 {
        let mut both = self.before.clone();
        both.add(&self.now).expect("both have the same range");
        both.value_at_quantile(0.9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn seen(values: impl IntoIterator<Item = u64>) -> Watch {
        let watch = Watch::new();
        for value in values {
            let cost = CostUnits::micros(value * 3);
            watch.note(Millis::new(value), Some(cost), NOW);
        }
        watch
    }

    #[test]
    fn nothing_is_said_before_enough_was_seen() {
        let few = u64::from(limits::SEEN_ATTEMPTS_MIN) - 1;
        let watch = seen(std::iter::repeat_n(700, usize::try_from(few).expect("few")));
        assert_eq!((watch.took(NOW), watch.cost(NOW)), (None, None));
        watch.note(Millis::new(700), None, NOW);
        assert_eq!(watch.cost(NOW), None, "what it costs was seen less often");
        let took = watch.took(NOW).expect("enough was seen").get();
        assert!((700..=710).contains(&took), "{took}");
    }

    #[test]
    fn nine_of_ten_are_below_and_the_slowest_tenth_is_not_waited_for() {
        let watch = seen((0..200).map(|n| if n % 10 == 9 { 60_000 } else { 100 + n }));
        let took = watch.took(NOW).expect("enough was seen").get();
        assert!((290..=310).contains(&took), "{took}");
    }

    #[test]
    fn what_was_seen_long_ago_is_forgotten() {
        let bound = usize::try_from(limits::SEEN_ATTEMPTS_MAX).expect("few");
        let slow = std::iter::repeat_n(9_000, bound);
        let watch = seen(slow.chain(std::iter::repeat_n(50, bound)));
        let took = watch.took(NOW).expect("enough was seen").get();
        assert!((50..=51).contains(&took), "{took}");
    }

    #[test]
    fn values_beyond_the_range_are_its_end() {
        let watch = seen(std::iter::repeat_n(u64::MAX / 3, 32));
        let took = watch.took(NOW).expect("enough was seen").get();
        assert!(VALUE_MAX / 2 < took, "{took}");
    }

    #[test]
    fn what_was_seen_counts_for_a_while_and_then_it_takes_enough_again() {
        let enough = usize::try_from(limits::SEEN_ATTEMPTS_MIN).expect("few");
        let watch = seen(std::iter::repeat_n(700, enough));
        let fresh = Millis::new(limits::SEEN_FRESH_MS);
        let last = NOW + fresh.less(Millis::new(1));
        assert!(watch.took(last).is_some() && watch.cost(last).is_some());
        let over = NOW + fresh;
        assert_eq!((watch.took(over), watch.cost(over)), (None, None));
        let cost = Some(CostUnits::micros(20));
        for _ in 1..enough {
            watch.note(Millis::new(10), cost, over);
            assert_eq!((watch.took(over), watch.cost(over)), (None, None));
        }
        watch.note(Millis::new(10), cost, over);
        let now = (watch.took(over), watch.cost(over));
        assert_eq!(now, (Some(Millis::new(10)), cost));
    }
}
