//! A caller that did not hear that its run had begun.

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::StartedAgain,
    name: "started_again",
    about: "Somebody starts the same run again, under its key.",
    place: Where::Moment,
    ms: None,
    act: Act::StartAgain,
};
