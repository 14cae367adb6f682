//! What may be done to a connection, as data.
//!
//! A fault must never depend on what the bytes mean, only on how many there are and when they come.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bounds::{BYTES_PER_SECOND_MAX, FAULT_MS_MAX, HOLD_MS_DEFAULT};
use crate::error::PlanError;

/// One way from one side to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the client to the upstream.
    Request,
    /// From the upstream to the client.
    #[default]
    Reply,
}

/// One way, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Directions {
    /// From the client to the upstream.
    Request,
    /// From the upstream to the client.
    #[default]
    Reply,
    /// Each for itself.
    Both,
}

/// What is delayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delayed {
    /// The first chunk, and all that follows behind it.
    #[default]
    FirstByte,
    /// Every chunk: what one read took, at most `bounds::BUFFER_BYTES`.
    EachChunk,
}

/// What is done to one connection.
///
/// In data, a name with its values: `cut_after = { bytes = 20, reset = true }`; a direction that is
/// not named is the reply's. Times are in milliseconds, at most `bounds::FAULT_MS_MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// Ends both sides as soon as so many bytes of one direction were passed on; with 0, when the
    /// first is there to be passed on. Fewer bytes than that are no hit.
    CutAfter {
        /// Whose bytes are counted.
        #[serde(default)]
        direction: Direction,
        /// How many are passed on.
        bytes: u64,
        /// Whether both sides see a reset (RST), or an orderly end (FIN). A system may throw away
        /// what it received and nobody has read yet when a reset comes.
        #[serde(default)]
        reset: bool,
    },
    /// Lets bytes wait before they are passed on. While some wait, no more are read, so that they
    /// stay in order and a delay of every chunk is also a bound of how many go in a second.
    Delay {
        /// Whose bytes wait.
        #[serde(default)]
        direction: Directions,
        /// How long, in milliseconds.
        ms: u64,
        /// Which of them.
        #[serde(default)]
        what: Delayed,
    },
    /// Passes the request on and swallows the reply, then closes the client's connection (FIN). It
    /// hits when the reply's first byte comes: the upstream has decided what to say.
    DropReply {
        /// How long after the reply's first byte it is closed, in milliseconds.
        #[serde(default = "hold_default")]
        hold_ms: u64,
    },
    /// Ends one direction (FIN) as soon as so many of its bytes were passed on, and swallows what
    /// follows; with 0, when the first is there. The other direction stays open.
    HalfClose {
        /// Which one is ended.
        #[serde(default)]
        direction: Direction,
        /// How many bytes are passed on before.
        bytes: u64,
    },
    /// Passes on at most so many bytes in a second.
    Throttle {
        /// Whose bytes; with both, each direction has its own rate.
        #[serde(default)]
        direction: Directions,
        /// From 1 to `bounds::BYTES_PER_SECOND_MAX`.
        bytes_per_second: u64,
    },
    /// Resets the connection before anything of it reaches the upstream, which is not even
    /// connected to. The client sees a connection that stood and was reset.
    Refuse,
    /// Takes the connection, reads nothing and passes nothing on, then resets it. The upstream is
    /// not connected to.
    Stall {
        /// How long it is held, in milliseconds.
        #[serde(default = "hold_default")]
        hold_ms: u64,
    },
}

/// Every fault, as one writes it; for hints.
pub(crate) const LIKE: [(&str, &str); 7] = [
    ("cut_after", "cut_after:bytes=20,direction=reply,reset"),
    (
        "delay",
        "delay:ms=100,direction=both,what=each_chunk, or what=first_byte",
    ),
    ("drop_reply", "drop_reply:hold_ms=100"),
    ("half_close", "half_close:bytes=20,direction=reply"),
    ("throttle", "throttle:bytes_per_second=1000,direction=both"),
    ("refuse", "refuse"),
    ("stall", "stall:hold_ms=100"),
];

impl Fault {
    /// Its name, as in data.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CutAfter { .. } => "cut_after",
            Self::Delay { .. } => "delay",
            Self::DropReply { .. } => "drop_reply",
            Self::HalfClose { .. } => "half_close",
            Self::Throttle { .. } => "throttle",
            Self::Refuse => "refuse",
            Self::Stall { .. } => "stall",
        }
    }

    /// Whether its numbers are within their bounds.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        let (number, value, least, most) = match *self {
            Self::CutAfter { .. } | Self::HalfClose { .. } | Self::Refuse => return Ok(()),
            Self::Delay { ms, .. } => ("ms", ms, 1, FAULT_MS_MAX),
            Self::DropReply { hold_ms } | Self::Stall { hold_ms } => {
                ("hold_ms", hold_ms, 0, FAULT_MS_MAX)
            }
            Self::Throttle {
                bytes_per_second, ..
            } => (
                "bytes_per_second",
                bytes_per_second,
                1,
                BYTES_PER_SECOND_MAX,
            ),
        };
        if value < least || most < value {
            return Err(PlanError::OutOfBounds {
                fault: self.name(),
                number,
                value,
                least,
                most,
            });
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const fn hold_default() -> u64 {
    HOLD_MS_DEFAULT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates_beyond_their_bounds_are_refused_with_the_bounds() {
        let endless = Fault::Stall {
            hold_ms: FAULT_MS_MAX + 1,
        };
        let error = endless.check().expect_err("it is too long").to_string();
        assert_eq!(
            error,
            "stall: hold_ms is 600001: it must be from 0 to 600000"
        );
        for never in [
            Fault::Throttle {
                direction: Directions::Both,
                bytes_per_second: 0,
            },
            Fault::Delay {
                direction: Directions::Reply,
                ms: 0,
                what: Delayed::EachChunk,
            },
        ] {
            assert!(never.check().is_err(), "{never:?}");
        }
        assert_eq!(Fault::DropReply { hold_ms: 0 }.check(), Ok(()));
    }
}
