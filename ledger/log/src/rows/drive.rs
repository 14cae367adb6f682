//! How runs are driven: a row by run for driven ones, a row by moment for parked ones.
//!
//! Both follow from the run's own row and only say where to look. A run never has both.

use mainstay_ledger::Drive;
use mainstay_ledger::codec::value::seal_value;
use mainstay_types::RunId;

use crate::keys;
use crate::stage::Stage;

/// Stages that `run` is driven as `to` says, and no more as `from` said.
pub(crate) fn write(stage: &mut Stage<'_>, run: RunId, (from, to): (Drive, Drive), born: bool) {
    if from == to {
        return;
    }
    match from {
        Drive::Driven { .. } if !matches!(to, Drive::Driven { .. }) => {
            stage.remove(keys::driven(run));
        }
        Drive::Parked { wake_at: Some(at) } => stage.remove(keys::wake(at, run)),
        Drive::Driven { .. } | Drive::Parked { wake_at: None } | Drive::Off => {}
    }
    match to {
        Drive::Driven { worker } => {
            let key = keys::driven(run);
            let value = seal_value(&key, worker.as_bytes());
            match born {
                true => stage.put_fresh(key, value),
                false => stage.put(key, value),
            }
        }
        Drive::Parked { wake_at: Some(at) } => {
            let key = keys::wake(at, run);
            stage.put(key.clone(), seal_value(&key, &[]));
        }
        // Its inbox and those who wait are found without a row of its own.
        Drive::Parked { wake_at: None } | Drive::Off => {}
    }
}
