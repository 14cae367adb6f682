//! A disk that takes its time.

use mainstay_types::Millis;

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::SlowSync,
    name: "slow_sync",
    about: "Each sync takes a tenth of `ms` longer, for `ms`.",
    place: Where::During,
    ms: Some(100..=6000),
    act: Act::Disk(|fault, trouble| trouble.latency.sync = Millis::new(fault.length() / 10)),
};
