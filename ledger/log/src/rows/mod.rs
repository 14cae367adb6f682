//! What a request becomes: which rows change when a part or a command is written.
//!
//! Everything here is staged, nothing is written; a request that reaches this folder was checked.

pub(crate) mod alerts;
pub(crate) mod drive;
pub(crate) mod effects;
pub(crate) mod expiry;
pub(crate) mod inbox;
pub(crate) mod part;
pub(crate) mod starts;
pub(crate) mod waits;

pub(crate) use part::write_part;

use mainstay_types::EffectKey;

/// Effect keys that a request settled, with the version they have by it.
pub(crate) type Settled = Vec<(EffectKey, u64)>;
