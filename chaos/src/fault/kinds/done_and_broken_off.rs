//! The write happened, and its sender hears a failure of the transport.
//!
//! Source: mission A25, tool response lost after commit.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::DoneAndBrokenOff,
    name: "done_and_broken_off",
    about: "It is done, and the connection breaks.",
    place: Where::Request(Of::Writes),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::DoAndBreakOff,
    }),
};
