//! A receiver that cannot be asked.

use mainstay_sim::provider::Sight;
use mainstay_types::{Failure, FailureKind, Millis, Sent};

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::LookUpFails,
    name: "look_up_fails",
    about: "Asking what became of it fails.",
    place: Where::LookUp,
    ms: None,
    act: Act::LookUp(|_| {
        (
            Millis::ZERO,
            Sight::Fail(Failure::new(
                FailureKind::TransientTransport,
                Sent::MaybeSent,
            )),
        )
    }),
};
