//! A user who does not want it any more.
//!
//! Source: mission A20, A25: cancel, ignored or late.

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::Canceled,
    name: "canceled",
    about: "Somebody cancels a run.",
    place: Where::Moment,
    ms: None,
    act: Act::Cancel,
};
