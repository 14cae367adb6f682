//! Draws of one case: a seed and a purpose give the same ones for ever.
//!
//! It prints nothing: a case is printed by whoever runs it.

use mainstay_sim::SeededRng;
use mainstay_types::Rng as _;

/// A stream of draws.
pub struct Dice(SeededRng);

impl Dice {
    /// The stream for one purpose of a seed.
    #[must_use]
    pub fn of(seed: u64, purpose: &str) -> Self {
        Self(SeededRng::stream(seed, purpose))
    }

    /// A number from 0 to `bound`, without `bound`; 0 for a bound of 0.
    #[must_use]
    pub fn below(&self, bound: u64) -> u64 {
        self.0.next_u64().checked_rem(bound).unwrap_or(0)
    }

    /// An index below `len`; 0 for a length of 0.
    #[must_use]
    pub fn index(&self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("below a length")
    }

    /// True in `percent` of all draws.
    #[must_use]
    pub fn percent(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of them.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn one<'a, T>(&self, from: &'a [T]) -> &'a T {
        &from[self.index(from.len())]
    }
}
