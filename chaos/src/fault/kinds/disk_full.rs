//! A full disk, until somebody makes room.
//!
//! Source: case F32.

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::DiskFull,
    name: "disk_full",
    about: "There is no room for events for `ms`.",
    place: Where::During,
    ms: Some(50..=8000),
    act: Act::Disk(|_, trouble| trouble.is_full = true),
};
