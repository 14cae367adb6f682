//! Work that goes on and on.
//!
//! Source: mission A25, task stuck working.

use mainstay_sim::provider::Sight;
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::StillAtIt,
    name: "still_at_it",
    about: "The receiver is still at it.",
    place: Where::LookUp,
    ms: None,
    act: Act::LookUp(|_| (Millis::ZERO, Sight::InProgress)),
};
