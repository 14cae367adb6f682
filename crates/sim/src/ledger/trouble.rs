//! What is wrong with the disk.

use mainstay_types::Millis;

/// What the disk does from a moment on; the default is a disk without any trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// How long each step of a group takes.
    pub latency: Latency,
    /// There is no room for events; everything else still fits, as in the reserve of a real store.
    pub is_full: bool,
    /// So many groups fail before anything of them is written; later ones are taken again.
    pub failing: u32,
    /// The next sync fails: nobody knows what of the group is on the disk, and the ledger takes
    /// nothing more until the process has died.
    pub is_sync_failing: bool,
}

/// How long each step of a group takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Until it is written.
    pub write: Millis,
    /// From then until it is synced.
    pub sync: Millis,
    /// From then until those who asked are told.
    pub tell: Millis,
}
