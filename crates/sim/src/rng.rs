//! Random numbers from a seed: SplitMix64, written by hand.
//!
//! A seed is only worth printing if it gives the same numbers next year. `rand` promises that for
//! none of its standard generators: their streams may change with a release. SplitMix64 is fixed
//! by its three constants, passes the usual test batteries and has every 64-bit value once in its
//! period of 2^64. It must never be used for secrets.

use std::sync::atomic::{AtomicU64, Ordering};

use mainstay_types::{Digest, Rng};

/// The odd number by which the state grows: 2^64 divided by the golden ratio.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random numbers; same seed, same stream.
#[derive(Debug)]
pub struct SeededRng(AtomicU64);

impl SeededRng {
    /// The stream of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// A stream of its own for one purpose, so that drawing more in one place shifts no other.
    #[must_use]
    pub fn stream(seed: u64, purpose: &str) -> Self {
        let digest = Digest::of(format!("{seed}/{purpose}").as_bytes());
        let (first, _) = digest.as_bytes().split_at(8);
        Self::new(u64::from_le_bytes(
            first.try_into().expect("eight bytes were split off"),
        ))
    }
}

impl Rng for SeededRng {
    fn next_u64(&self) -> u64 {
        // Draws from several threads get different numbers; their order is then the threads'.
        let state = self
            .0
            .fetch_add(GAMMA, Ordering::Relaxed)
            .wrapping_add(GAMMA);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(rng: &SeededRng, n: usize) -> Vec<u64> {
        (0..n).map(|_| rng.next_u64()).collect()
    }

    #[test]
    fn the_stream_is_the_published_one() {
        // The first outputs of the reference implementation for seed 1234567.
        let known = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(draw(&SeededRng::new(1_234_567), 5), known);
    }

    #[test]
    fn a_seed_gives_the_same_numbers_and_each_purpose_its_own() {
        let of = |seed, purpose| draw(&SeededRng::stream(seed, purpose), 16);
        assert_eq!(of(7, "ids"), of(7, "ids"));
        assert_ne!(of(7, "ids"), of(7, "rng"));
        assert_ne!(of(7, "ids"), of(8, "ids"));
    }

    #[test]
    fn every_bit_is_drawn_about_half_of_the_time() {
        let drawn = draw(&SeededRng::new(42), 4_096);
        for bit in 0..64 {
            let ones = drawn.iter().filter(|n| (*n >> bit) & 1 == 1).count();
            // Six standard deviations (32 each) around the half.
            assert!(
                (1_856..=2_240).contains(&ones),
                "seed 42, bit {bit}: {ones} of 4096"
            );
        }
    }
}
