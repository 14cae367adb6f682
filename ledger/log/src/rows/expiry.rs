//! When rows may be forgotten: a queue by moment, beside the row that says so itself.
//!
//! The queue only says where to look; whether a row goes is read from the row.

use mainstay_ledger::codec::DecodeError;
use mainstay_ledger::codec::value::seal_value;
use mainstay_types::Timestamp;

use crate::fields::Fields;
use crate::keys;
use crate::stage::Stage;

/// "Never", as a moment: no real one is that late.
const NEVER: i64 = i64::MAX;

/// The moment as the first field of a row.
pub(crate) fn encode(expires_at: Option<Timestamp>) -> [u8; 8] {
    expires_at
        .map_or(NEVER, |at| at.as_millis().min(NEVER - 1))
        .to_le_bytes()
}

/// The moment in the first field of a row.
pub(crate) fn decode(fields: &mut Fields<'_>) -> Result<Option<Timestamp>, DecodeError> {
    match fields.i64() {
        None => Err(DecodeError::Form {
            detail: "it is cut short before its expiry".to_owned(),
        }),
        Some(NEVER) => Ok(None),
        Some(at) => Ok(Some(Timestamp::from_millis(at))),
    }
}

/// Stages that the row under `key` is looked at from `to` on, and no more at `from`.
pub(crate) fn replace(
    stage: &mut Stage<'_>,
    key: &[u8],
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) {
    if from == to {
        return;
    }
    if let Some(at) = from {
        stage.remove(keys::expiry(at, key));
    }
    if let Some(at) = to {
        let queued = keys::expiry(at, key);
        stage.put(queued.clone(), seal_value(&queued, &[]));
    }
}
