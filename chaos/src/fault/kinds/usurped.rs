//! Two who both believe they own a run.
//!
//! Source: mission A25, fewer workers; case F12.

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::Usurped,
    name: "usurped",
    about: "The process stands still for `ms`; another takes its runs over, and then both go on.",
    place: Where::During,
    ms: Some(31000..=60000),
    act: Act::Usurp,
};
