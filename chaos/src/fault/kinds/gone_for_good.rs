//! A provider that refuses for good: no retry helps.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::{Failure, FailureKind, Millis, Sent};

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::GoneForGood,
    name: "gone_for_good",
    about: "It is told that this cannot be done, now or later.",
    place: Where::Request(Of::Any),
    ms: None,
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::Answer(Failure::new(FailureKind::PermanentProvider, Sent::Answered)),
    }),
};
