//! How long things took, as counts in buckets that are about 2 % wide.
//!
//! Its size does not grow with what is counted, so that a measurement of minutes does not measure
//! its own notes. Adding waits for nobody.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Buckets for each doubling.
const SPLIT_BITS: u32 = 6;
const SPLIT: u64 = 1 << SPLIT_BITS;
const BUCKETS: usize = ((64 - SPLIT_BITS as usize) + 1) << SPLIT_BITS;

/// Counted times.
pub(crate) struct Latencies {
    counts: Vec<AtomicU64>,
}

impl Latencies {
    pub(crate) fn new() -> Self {
        Self {
            counts: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(crate) fn add(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanos)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        let counts = self.counts.iter();
        counts.map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// The time that `part` of a thousand stay at or below, in milliseconds; 0 when none was
    /// counted.
    pub(crate) fn per_mille_ms(&self, part: u64) -> f64 {
        let wanted = (self.count() * part).div_ceil(1_000);
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += count.load(Ordering::Relaxed);
            if 0 < wanted && wanted <= seen {
                return floor(at) as f64 / 1e6;
            }
        }
        0.0
    }
}

fn bucket(nanos: u64) -> usize {
    let doublings = (u64::BITS - 1 - SPLIT_BITS).saturating_sub(nanos.leading_zeros());
    let place = if nanos < SPLIT {
        nanos
    } else {
        (nanos >> doublings) - SPLIT
    };
    let row = if nanos < SPLIT {
        0
    } else {
        u64::from(doublings) + 1
    };
    usize::try_from((row << SPLIT_BITS) + place).expect("below BUCKETS")
}

/// The shortest time of a bucket.
fn floor(bucket: usize) -> u64 {
    let (row, place) = (bucket >> SPLIT_BITS, bucket as u64 & (SPLIT - 1));
    if row == 0 {
        place
    } else {
        (SPLIT + place) << (row - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_within_two_percent_whatever_its_size() {
        for power in 0..64 {
            for nanos in [
                1 << power,
                (1 << power) + (1 << power) / 3,
                u64::MAX >> power,
            ] {
                let told = floor(bucket(nanos));
                assert!(told <= nanos, "{nanos}: {told}");
                assert!(nanos - told <= nanos / 64, "{nanos}: {told}");
            }
        }
    }

    #[test]
    fn parts_of_a_thousand_are_found_by_counting() {
        let times = Latencies::new();
        assert_eq!(times.per_mille_ms(500), 0.0);
        for ms in 1..=1_000 {
            times.add(Duration::from_millis(ms));
        }
        assert_eq!(times.count(), 1_000);
        for (part, about) in [(500, 500.0), (990, 990.0), (1_000, 1_000.0)] {
            let told = times.per_mille_ms(part);
            assert!((about * 0.98..=about).contains(&told), "{part}: {told}");
        }
    }
}
