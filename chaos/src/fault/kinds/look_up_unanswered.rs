//! A receiver that accepts a question and says nothing.

use mainstay_sim::provider::Sight;
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::LookUpUnanswered,
    name: "look_up_unanswered",
    about: "Asking what became of it is never answered.",
    place: Where::LookUp,
    ms: None,
    act: Act::LookUp(|_| (Millis::ZERO, Sight::Nothing)),
};
