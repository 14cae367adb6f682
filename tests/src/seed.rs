//! Chance that can be had again: one seed, printed, gives the same draws.
//!
//! It must never draw from the system after the seed is made.

use mainstay::types::Rng as _;
use mainstay_sim::SeededRng;

/// A stream of draws.
pub struct Draw {
    seed: u64,
    rng: SeededRng,
}

impl Draw {
    /// The stream for one purpose of the seed in `MAINSTAY_SEED`; without it a new seed. Prints it.
    #[must_use]
    pub fn new(purpose: &str) -> Self {
        let given = std::env::var("MAINSTAY_SEED").ok();
        let seed = given
            .and_then(|seed| seed.parse().ok())
            .unwrap_or_else(service_kit::now_ms);
        println!("MAINSTAY_SEED={seed} ({purpose})");
        Self {
            seed,
            rng: SeededRng::stream(seed, purpose),
        }
    }

    /// The seed.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// A number from 0 to `bound`, without `bound`; 0 for a bound of 0.
    #[must_use]
    pub fn below(&self, bound: u64) -> u64 {
        self.rng.next_u64().checked_rem(bound).unwrap_or(0)
    }
}
