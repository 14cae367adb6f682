//! SIGSTOP, a long pause of the machine, a full memory.
//!
//! Source: case F39.

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::Stalled,
    name: "stalled",
    about: "The process stands still for `ms`.",
    place: Where::During,
    ms: Some(100..=9000),
    act: Act::Stall,
};
