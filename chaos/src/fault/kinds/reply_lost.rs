//! The write happened, and its sender does not hear of it.
//!
//! Source: mission A25, tool response lost after commit.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::ReplyLost,
    name: "reply_lost",
    about: "It is done, and its reply never comes.",
    place: Where::Request(Of::Writes),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::LoseReply,
    }),
};
