//! How runs are driven, in sled: a row by run for driven ones, a row by moment for parked ones.
//!
//! Everything here is staged, nothing is written. A run never has rows of two kinds at once.

use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_ledger::{Drive, LedgerError};
use mainstay_types::{RunId, Seq, Timestamp, WorkerId};

use crate::fault;
use crate::fields::Fields;
use crate::keys;
use crate::pieces::{self, Broken};
use crate::stage::Stage;

/// Stages that the run is driven so from here on.
pub(crate) fn write(stage: &mut Stage<'_>, run: RunId, to: Drive) -> Result<(), LedgerError> {
    forget(stage, run, to).map_err(|broken| fault::of_run(run, Seq(0), "how it wakes", broken))?;
    match to {
        Drive::Driven { worker } => {
            let key = keys::driven(run);
            stage.put(key.clone(), &seal_value(&key, worker.as_bytes()));
        }
        Drive::Parked { wake_at: Some(at) } => {
            let key = keys::wake(at, run);
            stage.put(key.clone(), &seal_value(&key, &[]));
            let key = keys::parked(run);
            let value = seal_value(&key, &at.as_millis().to_le_bytes());
            stage.put(key, &value);
        }
        // Its inbox and those who wait are found without a row of its own.
        Drive::Parked { wake_at: None } | Drive::Off => {}
    }
    Ok(())
}

/// Removes the rows that the run has and `to` does not replace.
fn forget(stage: &mut Stage<'_>, run: RunId, to: Drive) -> Result<(), Broken> {
    let key = keys::parked(run);
    if let Some(value) = stage.value(&key)? {
        let mut fields = Fields(open_value(&key, &value)?);
        let at = fields.i64().filter(|_| fields.is_empty());
        let at = at.ok_or_else(|| Broken::bytes("when it wakes has no valid form"))?;
        stage.remove(keys::wake(Timestamp::from_millis(at), run));
        stage.remove(key);
    }
    let key = keys::driven(run);
    let stays = matches!(to, Drive::Driven { .. });
    if !stays && stage.holds(&key)? {
        stage.remove(key);
    }
    Ok(())
}

/// Who drives a run, as its row says; all zeros in a row of format 1, which did not say.
pub(crate) fn worker_in(key: &[u8], stored: &[u8], tree: &sled::Tree) -> Result<WorkerId, Broken> {
    let value = pieces::open(key, stored, tree)?;
    match open_value(key, &value)? {
        [] => Ok(WorkerId::from_bytes([0; 16])),
        worker => worker
            .try_into()
            .map(WorkerId::from_bytes)
            .map_err(|_| Broken::bytes("who drives a run has no valid form")),
    }
}
