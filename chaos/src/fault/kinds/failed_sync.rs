//! After a failed sync nothing is certain until the log is read again.

use crate::fault::{Act, Kind, Named, Where};

pub(super) const NAMED: Named = Named {
    kind: Kind::FailedSync,
    name: "failed_sync",
    about: "The next sync fails: nobody knows what is on the disk, and the process has to die.",
    place: Where::Moment,
    ms: None,
    act: Act::Disk(|_, trouble| trouble.is_sync_failing = true),
};
