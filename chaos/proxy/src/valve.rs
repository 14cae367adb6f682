//! What a fault does to one direction, chunk by chunk. It is a function of numbers: it must never
//! touch a socket or a clock.

use std::time::Duration;

use crate::bounds::{BUFFER_BYTES, THROTTLE_SLICE_MS, millis};
use crate::fault::{Delayed, Direction, Directions, Fault};

/// One direction of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Valve {
    /// Everything goes through.
    Open,
    /// So many bytes, then the end of both directions.
    Cut { left: u64, reset: bool },
    /// So many bytes, then the end of this direction.
    Shut { left: u64 },
    /// This chunk waits, and perhaps every other one.
    Late { wait: Duration, what: Delayed },
    /// A rate.
    Slow { bytes_per_second: u64 },
    /// Nothing goes through, and the connection ends so long after the first byte.
    Swallow { hold: Duration },
}

/// What is done with a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// How long it waits.
    pub(crate) wait: Duration,
    /// How much of it is passed on.
    pub(crate) pass: usize,
    /// What follows.
    pub(crate) then: Then,
    /// Whether the fault did something to it.
    pub(crate) hit: bool,
}

/// What follows a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// The next one.
    GoOn,
    /// The end of both directions.
    Cut { reset: bool },
    /// The end of this direction; the rest of it is swallowed.
    Shut,
    /// The rest is swallowed, and so much later both directions end.
    Hold(Duration),
}

/// What a fault does to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// It is reset at once.
    Refuse,
    /// It is held and then reset.
    Stall(Duration),
    /// It is passed on, through a valve for each direction.
    Carry { request: Valve, reply: Valve },
}

impl Course {
    pub(crate) fn of(fault: Option<Fault>) -> Self {
        let Some(fault) = fault else {
            return Self::both(Valve::Open, Valve::Open);
        };
        match fault {
            Fault::Refuse => Self::Refuse,
            Fault::Stall { hold_ms } => Self::Stall(millis(hold_ms)),
            Fault::CutAfter {
                direction,
                bytes: left,
                reset,
            } => Self::one(direction, Valve::Cut { left, reset }),
            Fault::HalfClose {
                direction,
                bytes: left,
            } => Self::one(direction, Valve::Shut { left }),
            Fault::DropReply { hold_ms } => {
                let hold = millis(hold_ms);
                Self::one(Direction::Reply, Valve::Swallow { hold })
            }
            Fault::Delay {
                direction,
                ms,
                what,
            } => {
                let wait = millis(ms);
                Self::some(direction, Valve::Late { wait, what })
            }
            Fault::Throttle {
                direction,
                bytes_per_second,
            } => Self::some(direction, Valve::Slow { bytes_per_second }),
        }
    }

    const fn both(request: Valve, reply: Valve) -> Self {
        Self::Carry { request, reply }
    }

    const fn one(direction: Direction, valve: Valve) -> Self {
        match direction {
            Direction::Request => Self::both(valve, Valve::Open),
            Direction::Reply => Self::both(Valve::Open, valve),
        }
    }

    const fn some(directions: Directions, valve: Valve) -> Self {
        match directions {
            Directions::Request => Self::one(Direction::Request, valve),
            Directions::Reply => Self::one(Direction::Reply, valve),
            Directions::Both => Self::both(valve, valve),
        }
    }
}

impl Valve {
    /// The most that the next chunk may have, in bytes: from 1 to `BUFFER_BYTES`.
    pub(crate) fn room(&self) -> usize {
        match self {
            Self::Slow { bytes_per_second } => {
                let slice = bytes_per_second.saturating_mul(THROTTLE_SLICE_MS) / 1_000;
                usize::try_from(slice).map_or(BUFFER_BYTES, |slice| slice.clamp(1, BUFFER_BYTES))
            }
            Self::Open
            | Self::Cut { .. }
            | Self::Shut { .. }
            | Self::Late { .. }
            | Self::Swallow { .. } => BUFFER_BYTES,
        }
    }

    /// What is done with a chunk of so many bytes, at least 1.
    pub(crate) fn take(&mut self, arrived: usize) -> Verdict {
        let through = Verdict {
            wait: Duration::ZERO,
            pass: arrived,
            then: Then::GoOn,
            hit: false,
        };
        match self {
            Self::Open => through,
            Self::Cut { left, reset } => {
                let then = Then::Cut { reset: *reset };
                up_to(left, through, then)
            }
            Self::Shut { left } => up_to(left, through, Then::Shut),
            Self::Late { wait, what } => {
                let wait = *wait;
                if *what == Delayed::FirstByte {
                    *self = Self::Open;
                }
                Verdict {
                    wait,
                    hit: true,
                    ..through
                }
            }
            Self::Slow { bytes_per_second } => Verdict {
                wait: time_of(arrived, *bytes_per_second),
                hit: true,
                ..through
            },
            Self::Swallow { hold } => Verdict {
                pass: 0,
                then: Then::Hold(*hold),
                hit: true,
                ..through
            },
        }
    }
}

/// Lets through what is left; with the last byte of it comes the end.
fn up_to(left: &mut u64, through: Verdict, then: Then) -> Verdict {
    let arrived = u64::try_from(through.pass).unwrap_or(u64::MAX);
    if arrived < *left {
        *left -= arrived;
        return through;
    }
    let pass = usize::try_from(*left).unwrap_or(through.pass);
    *left = 0;
    Verdict {
        pass,
        then,
        hit: true,
        ..through
    }
}

/// How long so many bytes take at this rate: a chunk is there when its last byte is.
fn time_of(bytes: usize, bytes_per_second: u64) -> Duration {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    let nanos = bytes.saturating_mul(1_000_000_000) / bytes_per_second.max(1);
    Duration::from_nanos(nanos)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_limit_passes_exactly_its_bytes_however_they_come(
            chunks in proptest::collection::vec(1_usize..300, 0..20),
            limit in 0_u64..2_000,
            cut in any::<bool>(),
        ) {
            let (left, reset) = (limit, false);
            let mut valve = if cut { Valve::Cut { left, reset } } else { Valve::Shut { left } };
            let end = if cut { Then::Cut { reset } } else { Then::Shut };
            let (mut sent, mut passed, mut ended) = (0, 0, false);
            for chunk in chunks {
                let verdict = valve.take(chunk);
                sent += chunk as u64;
                passed += verdict.pass as u64;
                ended = verdict.then != Then::GoOn;
                prop_assert_eq!(verdict.hit, ended);
                if ended {
                    prop_assert_eq!(verdict.then, end);
                    break;
                }
            }
            prop_assert_eq!(passed, sent.min(limit));
            prop_assert_eq!(ended, 0 < sent && limit <= sent);
        }

        #[test]
        fn a_throttle_waits_as_long_as_its_bytes_take(
            rate in 1_u64..1 << 31,
            full in any::<bool>(),
        ) {
            let mut valve = Valve::Slow { bytes_per_second: rate };
            let room = valve.room();
            prop_assert!((1..=BUFFER_BYTES).contains(&room));
            let chunk = if full { room } else { 1 };
            let verdict = valve.take(chunk);
            prop_assert_eq!((verdict.pass, verdict.then), (chunk, Then::GoOn));
            let took = verdict.wait.as_secs_f64() * rate as f64;
            prop_assert!((took - chunk as f64).abs() <= 0.01 * chunk as f64 + rate as f64 * 1e-9);
        }
    }

    #[test]
    fn only_the_first_chunk_or_each_one_waits() {
        let wait = millis(7);
        for (what, second) in [
            (Delayed::FirstByte, Duration::ZERO),
            (Delayed::EachChunk, wait),
        ] {
            let mut valve = Valve::Late { wait, what };
            assert_eq!(valve.take(3).wait, wait);
            assert_eq!(valve.take(3).wait, second);
        }
    }

    #[test]
    fn a_fault_of_one_direction_leaves_the_other_open() {
        let slow = Valve::Slow {
            bytes_per_second: 9,
        };
        for (direction, request, reply) in [
            (Directions::Request, slow, Valve::Open),
            (Directions::Reply, Valve::Open, slow),
            (Directions::Both, slow, slow),
        ] {
            let fault = Fault::Throttle {
                direction,
                bytes_per_second: 9,
            };
            assert_eq!(Course::of(Some(fault)), Course::Carry { request, reply });
        }
    }
}
