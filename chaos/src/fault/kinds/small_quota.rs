//! A quota that is smaller than usual for a while.
//!
//! Source: mission A25, smaller quota.

use mainstay_sim::provider::{Deed, Twist};
use mainstay_types::{Failure, FailureKind, Millis, Sent};

use crate::fault::{Act, Kind, Named, Of, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::SmallQuota,
    name: "small_quota",
    about: "Of the requests within `ms` from `at_ms` every other one is told 429.",
    place: Where::RequestsDuring(Of::Any),
    ms: Some(500..=10000),
    act: Act::Request(|_| Twist {
        delay: Millis::ZERO,
        deed: Deed::Answer(Failure::new(FailureKind::RateLimited, Sent::Answered)),
    }),
};
