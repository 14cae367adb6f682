//! Numbers for workloads: from the seed and the run's place alone.

use mainstay_sim::SeededRng;
use mainstay_types::Rng as _;

/// Draws what a run is given. The same seed draws the same; no run's draws move another's.
#[derive(Debug)]
pub struct Rng(SeededRng);

impl Rng {
    pub(crate) fn of(seed: u64, run: usize) -> Self {
        Self(SeededRng::stream(seed, &format!("workload/{run}")))
    }

    /// A number of 64 random bits.
    #[must_use]
    pub fn next_u64(&self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`; 0 when that is 0.
    #[must_use]
    pub fn below(&self, bound: u64) -> u64 {
        self.next_u64() % bound.max(1)
    }

    /// One of `those`; `None` when there is none.
    pub fn one_of<'a, T>(&self, those: &'a [T]) -> Option<&'a T> {
        let place = self.below(u64::try_from(those.len()).unwrap_or(u64::MAX));
        those.get(usize::try_from(place).unwrap_or(usize::MAX))
    }

    /// Whether something happens that does in `per_mille` of 1,000 cases.
    #[must_use]
    pub fn chance(&self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }
}
