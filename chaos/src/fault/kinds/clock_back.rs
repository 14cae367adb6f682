//! Somebody sets the clock, or it is corrected.
//!
//! Source: case F31.

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::ClockBack,
    name: "clock_back",
    about: "The wall clock jumps back by `ms`.",
    place: Where::Moment,
    ms: Some(100..=7200000),
    act: Act::Clock(|clock, by| clock.jump_back(by)),
};
