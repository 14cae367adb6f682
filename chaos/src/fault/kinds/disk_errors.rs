//! A disk that does not take what it is given, and then does again.
//!
//! Source: case F01.

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::DiskErrors,
    name: "disk_errors",
    about: "Writes fail for `ms`, before anything of them is on the disk.",
    place: Where::During,
    ms: Some(20..=2500),
    act: Act::Disk(|_, trouble| trouble.failing = u32::MAX),
};
