//! Ids from a seed: UUIDs of version 7 whose time is the one given and whose rest is drawn.
//!
//! It must never ask a clock or the system for chance, and never give an id twice.

use std::sync::Mutex;

use mainstay_types::{IdSource, MessageId, Rng, RunId, Timestamp, WorkerId};
use uuid::{Builder, Uuid};

use crate::lock::lock;
use crate::rng::SeededRng;

/// Bits of the counter that orders the ids of one millisecond; the other 32 are drawn each time.
const COUNTER_BITS: u32 = 42;

/// A source of ids; same seed and same moments, same ids.
///
/// Ids of one millisecond grow: 42 bits behind the time are a counter that starts at a drawn number
/// below half of its range. When the clock goes back, so do the ids, as their time is the clock's.
#[derive(Debug)]
pub struct SeededIds {
    rng: SeededRng,
    last: Mutex<Last>,
}

#[derive(Debug)]
struct Last {
    ms: Option<u64>,
    counter: u64,
}

impl SeededIds {
    /// The ids of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let rng = SeededRng::stream(seed, "ids");
        Self {
            rng,
            last: Mutex::new(Last {
                ms: None,
                counter: 0,
            }),
        }
    }

    fn next(&self, now: Timestamp) -> Uuid {
        // Version 7 has no moments before 1970.
        let ms = u64::try_from(now.as_millis()).unwrap_or(0);
        let mut last = lock(&self.last);
        last.counter = match last.ms {
            Some(same) if same == ms => last.counter + 1,
            Some(_) | None => self.rng.next_u64() >> (64 - (COUNTER_BITS - 1)),
        };
        last.ms = Some(ms);
        compose(ms, last.counter, self.rng.next_u64())
    }
}

/// 48 bits of time, then the counter, then what was drawn. The builder takes 12 bits in front of
/// the variant from the first two bytes (the low ones) and 62 bits from the other eight.
fn compose(ms: u64, counter: u64, drawn: u64) -> Uuid {
    let high = counter >> (COUNTER_BITS - 12);
    let low = (counter << 32 | drawn >> 32) & (u64::MAX >> 2);
    let mut bytes = [0; 10];
    bytes[..2].copy_from_slice(&high.to_be_bytes()[6..]);
    bytes[2..].copy_from_slice(&low.to_be_bytes());
    Builder::from_unix_timestamp_millis(ms, &bytes).into_uuid()
}

impl IdSource for SeededIds {
    fn run_id(&self, now: Timestamp) -> RunId {
        RunId::from_uuid(self.next(now))
    }

    fn worker_id(&self, now: Timestamp) -> WorkerId {
        WorkerId::from_uuid(self.next(now))
    }

    fn message_id(&self, now: Timestamp) -> MessageId {
        MessageId::from_uuid(self.next(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::START;
    use mainstay_types::Millis;

    fn made(seed: u64, n: u64) -> Vec<RunId> {
        let ids = SeededIds::new(seed);
        // Three ids of each millisecond.
        (0..n)
            .map(|i| ids.run_id(START + Millis::new(i / 3)))
            .collect()
    }

    #[test]
    fn a_seed_gives_the_same_ids_and_another_one_others() {
        assert_eq!(made(11, 300), made(11, 300));
        let (one, other) = (made(11, 300), made(12, 300));
        assert!(
            one.iter().all(|id| !other.contains(id)),
            "seeds 11 and 12 share an id"
        );
    }

    #[test]
    fn ids_grow_also_within_one_millisecond_and_over_all_kinds() {
        let ids = SeededIds::new(3);
        let mut all: Vec<[u8; 16]> = Vec::new();
        for i in 0..20_000_u64 {
            let now = START + Millis::new(i / 10_000);
            all.push(match i % 3 {
                0 => *ids.run_id(now).as_bytes(),
                1 => *ids.worker_id(now).as_bytes(),
                _ => *ids.message_id(now).as_bytes(),
            });
        }
        assert!(all.is_sorted_by(|a, b| a < b), "seed 3");
    }

    #[test]
    fn an_id_is_of_version_7_and_holds_the_moment_it_was_given() {
        let ids = SeededIds::new(5);
        let early = Timestamp::from_millis(-1);
        for (now, ms) in [
            (START, START.as_millis()),
            (early, 0),
            (START, START.as_millis()),
        ] {
            let id = Uuid::from_bytes(*ids.run_id(now).as_bytes());
            assert_eq!(id.get_version_num(), 7);
            assert_eq!(id.get_variant(), uuid::Variant::RFC4122);
            let held = i64::try_from(id.as_u128() >> 80).unwrap();
            assert_eq!(held, ms);
        }
    }
}
