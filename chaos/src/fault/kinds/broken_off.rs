//! A connection that ends between request and reply, before the receiver acted.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::BrokenOff,
    name: "broken_off",
    about: "The connection breaks; nothing was done, and nobody knows.",
    place: Where::Request(Of::Any),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::BreakOff,
    }),
};
