//! A write that stopped half way downstream: a person has to look.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::DoneInPart,
    name: "done_in_part",
    about: "A part of it is done, and no reply comes.",
    place: Where::Request(Of::AskableWrites),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::DoInPart,
    }),
};
