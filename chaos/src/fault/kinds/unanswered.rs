//! A request that nobody ever answers. The attempt ends by its own time.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::Unanswered,
    name: "unanswered",
    about: "It is lost on the way: nothing is done, no reply comes.",
    place: Where::Request(Of::Any),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::LoseRequest,
    }),
};
