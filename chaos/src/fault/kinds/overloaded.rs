//! A provider with more to do than it can: its queue is full.
//!
//! Source: mission A25, queue full.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::{Failure, FailureKind, Millis, Sent};

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::Overloaded,
    name: "overloaded",
    about: "It is told that there is too much to do.",
    place: Where::Request(Of::Any),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::Answer(Failure::new(FailureKind::Overloaded, Sent::Answered)),
    }),
};
