//! What has expired, as it is taken away: keys of effects and starts, closed runs, alerts.

use mainstay_ledger::LedgerError;
use mainstay_ledger::codec::DecodeError;
use mainstay_ledger::codec::value::seal_value;
use mainstay_machine::EntryState;
use mainstay_types::{AlertSeq, RunId, Timestamp};

use crate::fault;
use crate::keys::{self, Key};
use crate::rows::effects::EffectRow;
use crate::rows::starts::StartRow;
use crate::stage::Stage;

/// Stages that keys are forgotten whose time is over, and that the queue says so no more.
pub(crate) fn forget_keys(
    stage: &mut Stage<'_>,
    now: Timestamp,
    queued: &[Key],
) -> Result<u64, LedgerError> {
    let mut forgotten = 0;
    for place in queued {
        if let Some((at, key)) = keys::expiry_in(place).filter(|(at, _)| *at <= now) {
            match is_over(stage, at, key) {
                Ok(true) => {
                    stage.remove(key.to_vec());
                    forgotten += 1;
                }
                Ok(false) => {}
                // It stays, for a version that can read it; it does not hold up those behind it.
                Err(LedgerError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        stage.remove(place.clone());
    }
    Ok(forgotten)
}

/// Whether the row under `key` says that its time is over at `at`. One that changed since has a
/// later place in the queue, or none.
fn is_over(stage: &mut Stage<'_>, at: Timestamp, key: &[u8]) -> Result<bool, LedgerError> {
    let Some(value) = stage.value(key)? else {
        return Ok(false);
    };
    let error = |error: DecodeError| fault::of_store("a row that expires", &error);
    if keys::is_effect(key) {
        let row = EffectRow::decode(key, &value).map_err(error)?;
        let known = match row.entry.state {
            EntryState::Applied(_)
            | EntryState::PartlyApplied
            | EntryState::NotApplied
            | EntryState::Compensated => true,
            EntryState::Open | EntryState::InDoubt => false,
        };
        if known && row.expires_at == Some(at) {
            stage.remove(keys::waiters(&row.entry.key));
            return Ok(true);
        }
        return Ok(false);
    }
    let row = StartRow::decode(key, &value).map_err(error)?;
    Ok(row.expires_at == Some(at))
}

/// Stages that nothing is left of closed runs but the keys that outlive them.
pub(crate) fn prune(stage: &mut Stage<'_>, runs: &[RunId]) -> Result<u64, LedgerError> {
    let mut pruned = 0;
    for &run in runs {
        let Some(found) = stage.run(run)? else {
            continue;
        };
        // One that the same group moves is looked at again in a later round.
        if !found.row.rests() || stage.is_touched(run) {
            continue;
        }
        // A run that never heard of a message has no rows of messages.
        if 0 < found.row.arrived {
            for key in stage.keys_of(&keys::messages_of(run))? {
                stage.remove(key);
            }
        }
        stage.prune(run);
        pruned += 1;
    }
    Ok(pruned)
}

/// Stages that alerts after `from` up to `through` are not kept any more.
pub(crate) fn forget_alerts(
    stage: &mut Stage<'_>,
    from: u64,
    through: u64,
) -> Result<u64, LedgerError> {
    for seq in from + 1..=through {
        stage.remove(keys::alert(AlertSeq(seq)));
    }
    let key = keys::oldest_alert();
    let value = seal_value(&key, &through.to_le_bytes());
    stage.put(key, value);
    Ok(through - from)
}
