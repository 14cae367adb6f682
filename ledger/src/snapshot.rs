//! The state of a run at one of its events, kept so that loading it folds only what came after.
//!
//! A hint and nothing else: every fact is in the events, and a run without a snapshot is the same
//! run. Nothing may be learned from one that its events do not say.

use mainstay_types::{Digest, Payload, Seq};

/// The state after the first `seq` events of a run. Made and read by
/// [`codec::snapshot`](crate::codec::snapshot).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The newest event in it.
    pub seq: Seq,
    /// Which shape of the state it is. One that is not known is as good as none.
    pub schema: u32,
    /// The state. Bound: `limits::SNAPSHOT_STATE_BYTES_MAX`.
    pub state: Vec<u8>,
    /// What the state refers to: each payload above `limits::SNAPSHOT_INLINE_BYTES_MAX`, once, in
    /// the order of their digests. A backend stores each payload of a run once.
    pub payloads: Vec<(Digest, Payload)>,
}
