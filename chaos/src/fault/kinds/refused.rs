//! Nobody listens. The only failure after which nothing can have happened.
//!
//! Source: case F15.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::Refused,
    name: "refused",
    about: "The connection is refused: nothing leaves.",
    place: Where::Request(Of::Any),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::Refuse,
    }),
};
