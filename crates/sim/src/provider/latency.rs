//! How long a double takes: a curve through two percentiles, in whole numbers.
//!
//! No float takes part, so that a seed gives the same moments on every machine. Which point of the
//! curve a request gets depends on the seed, the double and the request's number alone: what
//! becomes of one request moves no other.

use mainstay_types::{Digest, Millis};

/// Points of the curve between 0 and the longest time.
const POINTS: u64 = 10_000;
const HALF: u64 = POINTS / 2;
const P95: u64 = POINTS * 95 / 100;

/// How long requests take: half of them at most `p50`, 95 of 100 at most `p95`, none less than
/// half of `p50` and none more than twice `p95`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The median.
    pub p50: Millis,
    /// What 95 of 100 do not exceed; at least the median.
    pub p95: Millis,
}

impl Spread {
    /// The time at `point` of the curve, 0 to [`POINTS`].
    fn at(self, point: u64) -> Millis {
        let (p50, p95) = (self.p50.get(), self.p95.get().max(self.p50.get()));
        let (from, to, low, high) = match point {
            0..HALF => (0, HALF, p50 / 2, p50),
            HALF..P95 => (HALF, P95, p50, p95),
            _ => (P95, POINTS, p95, p95.saturating_mul(2)),
        };
        let rise = high.saturating_sub(low);
        let part = rise.saturating_mul(point.saturating_sub(from)) / (to - from);
        Millis::new(low.saturating_add(part))
    }

    /// The time of the `nth` request to `name`.
    pub(super) fn draw(self, seed: u64, name: &str, nth: u64) -> Millis {
        self.at(lot(seed, name, nth) % POINTS)
    }
}

/// A number that belongs to the `nth` request to `name` under `seed`, whatever else happens.
pub fn lot(seed: u64, name: &str, nth: u64) -> u64 {
    let mut bytes = Vec::with_capacity(16 + name.len());
    bytes.extend_from_slice(&seed.to_le_bytes());
    bytes.extend_from_slice(&nth.to_le_bytes());
    bytes.extend_from_slice(name.as_bytes());
    let digest = Digest::of(&bytes);
    let (first, _) = digest.as_bytes().split_at(8);
    u64::from_le_bytes(first.try_into().expect("eight bytes were split off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPREAD: Spread = Spread {
        p50: Millis::new(800),
        p95: Millis::new(2_000),
    };

    #[test]
    fn the_curve_goes_through_its_percentiles_and_never_falls() {
        assert_eq!(SPREAD.at(0), Millis::new(400));
        assert_eq!(SPREAD.at(HALF), Millis::new(800));
        assert_eq!(SPREAD.at(P95), Millis::new(2_000));
        assert_eq!(SPREAD.at(POINTS), Millis::new(4_000));
        let times: Vec<Millis> = (0..=POINTS).map(|point| SPREAD.at(point)).collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn draws_have_the_percentiles_they_were_asked_for() {
        let mut drawn: Vec<u64> = (1..=10_000)
            .map(|nth| SPREAD.draw(7, "draft", nth).get())
            .collect();
        drawn.sort_unstable();
        // Six standard deviations of the rank: 300 at the half, 131 at 95 of 100.
        assert!((drawn[4_700]..=drawn[5_300]).contains(&800), "seed 7");
        assert!((drawn[9_369]..=drawn[9_631]).contains(&2_000), "seed 7");
    }

    #[test]
    fn a_curve_upside_down_is_flat() {
        let flat = Spread {
            p50: Millis::new(500),
            p95: Millis::new(100),
        };
        assert_eq!(flat.at(P95), Millis::new(500));
    }

    #[test]
    fn a_request_has_its_own_lot_whatever_others_have() {
        let lots: std::collections::BTreeSet<u64> =
            (1..=1_000).map(|nth| lot(1, "a", nth)).collect();
        assert_eq!(lots.len(), 1_000);
        assert_eq!(lot(1, "a", 5), lot(1, "a", 5));
        assert_ne!(lot(1, "a", 5), lot(1, "b", 5));
        assert_ne!(lot(1, "a", 5), lot(2, "a", 5));
    }
}
