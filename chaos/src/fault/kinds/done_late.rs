//! A write that lands after its sender gave up, perhaps after the next attempt, or after a look-up
//! that found nothing.
//!
//! Source: mission A25, late terminal event; case F11.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::DoneLate,
    name: "done_late",
    about: "It is done up to `ms` after it was sent, within its receiver's bound; no reply comes.",
    place: Where::Request(Of::Writes),
    ms: Some(500..=40000),
    act: Act::Request(|fault| Twist {
        delay: Millis::ZERO,
        deed: Deed::DoLate(Millis::new(fault.length())),
    }),
};
