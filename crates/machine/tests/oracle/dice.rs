//! Numbers drawn from a seed and a place, so that a draw never depends on which came before it.
//!
//! Two drives of one seed ask in different orders and must be told the same. Integers only.

/// The odd number by which the state grows: 2^64 divided by the golden ratio.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of draws (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The stream of one place of a seed.
    pub(crate) fn of(seed: u64, place: &[u64]) -> Self {
        let parts = place.iter();
        Self(parts.fold(mixed(seed.wrapping_add(GAMMA)), |state, part| {
            mixed(state ^ part.wrapping_add(1).wrapping_mul(GAMMA))
        }))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mixed(self.0)
    }

    /// From `low` to `high`, both possible.
    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// True in so many of a thousand.
    pub(crate) fn permille(&mut self, share: u64) -> bool {
        self.next() % 1_000 < share
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let many = u64::try_from(all.len()).expect("a slice of a test");
        let place = usize::try_from(self.next() % many).expect("a place in the slice");
        all[place]
    }

    /// For jitter: a uniform draw in units of 1/2^32.
    pub(crate) fn fraction(&mut self) -> u32 {
        u32::try_from(self.next() >> 32).expect("the upper half has 32 bits")
    }
}

const fn mixed(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}
