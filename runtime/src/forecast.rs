//! What attempts will take and cost, by what was seen of them in this process.
//!
//! One watch for each operation of a dependency, shared by all classes that ask it. Nine of ten is
//! what counts. Until enough was seen nothing is said, and the contract's estimate holds; what was
//! seen long ago is forgotten, also when nothing was seen since: starts that are refused for what
//! was seen must not be what keeps it from being seen anew. Nothing here is stored: what a decision
//! used is in its event.

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
    /// When an attempt was seen last, in milliseconds.
    last: AtomicI64,
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
        let dependency = contract.asked(rung)?;
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
            last: AtomicI64::new(i64::MIN),
        }
    }

    /// An attempt is over; its cost is known when the provider said it.
    pub(crate) fn note(&self, now: Timestamp, took: Millis, cost: Option<CostUnits>) {
        let mut seen = self.seen.lock();
        if self.is_stale(now) {
            (seen.took, seen.cost) = (Windows::new(), Windows::new());
            self.took.store(UNKNOWN, Ordering::Relaxed);
            self.cost.store(UNKNOWN, Ordering::Relaxed);
        }
        self.last.store(now.as_millis(), Ordering::Relaxed);
        if let Some(nine_of_ten) = seen.took.note(took.get()) {
            self.took.store(nine_of_ten, Ordering::Relaxed);
        }
        if let Some(cost) = cost
            && let Some(nine_of_ten) = seen.cost.note(cost.as_micros())
        {
            self.cost.store(nine_of_ten, Ordering::Relaxed);
        }
    }

    /// How long nine of ten attempts took.
    pub(crate) fn took(&self, now: Timestamp) -> Option<Millis> {
        self.known(&self.took, now).map(Millis::new)
    }

    /// What nine of ten attempts cost.
    pub(crate) fn cost(&self, now: Timestamp) -> Option<CostUnits> {
        self.known(&self.cost, now).map(CostUnits::micros)
    }

    fn known(&self, value: &AtomicU64, now: Timestamp) -> Option<u64> {
        let value = value.load(Ordering::Relaxed);
        (value != UNKNOWN && !self.is_stale(now)).then_some(value)
    }

    /// Whether nothing was seen for so long that nothing is believed any more.
    fn is_stale(&self, now: Timestamp) -> bool {
        let last = Timestamp::from_millis(self.last.load(Ordering::Relaxed));
        last + Millis::new(limits::SEEN_MS_MAX) <= now
    }
}

impl Windows {
    fn new() -> Self {
        // They grow with what is recorded: most operations of a process are never asked.
        let new = || Histogram::new(2).expect("a valid precision");
        Self {
            now: new(),
            before: new(),
        }
    }

    /// Counts a value; the quantile when it is taken anew.
    fn note(&mut self, value: u64) -> Option<u64> {
        let value = value.min(VALUE_MAX);
        self.now.record(value).expect("it grows to the bound");
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

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn seen(values: impl IntoIterator<Item = u64>) -> Watch {
        let watch = Watch::new();
        for value in values {
            watch.note(NOW, Millis::new(value), Some(CostUnits::micros(value * 3)));
        }
        watch
    }

    #[test]
    fn nothing_is_said_before_enough_was_seen() {
        let few = u64::from(limits::SEEN_ATTEMPTS_MIN) - 1;
        let watch = seen(std::iter::repeat_n(700, usize::try_from(few).expect("few")));
        assert_eq!((watch.took(NOW), watch.cost(NOW)), (None, None));
        watch.note(NOW, Millis::new(700), None);
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
    fn what_nobody_asked_for_a_while_is_forgotten_and_has_to_be_seen_anew() {
        let few = usize::try_from(limits::SEEN_ATTEMPTS_MIN).expect("few");
        let watch = seen(std::iter::repeat_n(9_000, few));
        let while_ = Millis::new(limits::SEEN_MS_MAX - 1);
        assert!(watch.took(NOW + while_).is_some() && watch.cost(NOW + while_).is_some());
        let later = NOW + while_ + Millis::new(1);
        assert_eq!((watch.took(later), watch.cost(later)), (None, None));
        for n in 1..=few {
            assert_eq!(watch.took(later), None, "after {n}");
            watch.note(later, Millis::new(50), None);
        }
        let took = watch.took(later).expect("enough was seen").get();
        assert!((50..=51).contains(&took), "{took}");
        assert_eq!(watch.cost(later), None);
    }

    #[test]
    fn values_beyond_the_range_are_its_end() {
        let watch = seen(std::iter::repeat_n(u64::MAX / 3, 32));
        let took = watch.took(NOW).expect("enough was seen").get();
        assert!(VALUE_MAX / 2 < took, "{took}");
    }
}
