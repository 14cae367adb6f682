//! A network, or a library in between, that delivers a request twice.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::DoneTwice,
    name: "done_twice",
    about: "It reaches the receiver twice.",
    place: Where::Request(Of::KeyedWrites),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::DoTwice,
    }),
};
