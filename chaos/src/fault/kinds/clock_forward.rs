//! Somebody sets the clock, or it is corrected.
//!
//! Source: case F31.

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::ClockForward,
    name: "clock_forward",
    about: "The wall clock jumps forward by `ms`.",
    place: Where::Moment,
    ms: Some(100..=7200000),
    act: Act::Clock(|clock, by| clock.jump_forward(by)),
};
