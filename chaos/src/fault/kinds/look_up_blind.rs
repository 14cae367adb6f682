//! A receiver that is there and cannot say.

use mainstay_sim::provider::Sight;
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::LookUpBlind,
    name: "look_up_blind",
    about: "The receiver cannot tell what became of the request.",
    place: Where::LookUp,
    ms: None,
    act: Act::LookUp(|_| (Millis::ZERO, Sight::Blind)),
};
