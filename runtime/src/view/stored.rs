//! The view of a run that no engine drives: from the ledger alone, without user code.

use mainstay_ledger::{Ledger, LedgerError};
use mainstay_machine::Machine;
use mainstay_types::RunId;

use super::RunView;
use crate::load;

/// The view of a stored run; `None` when there is no such run.
///
/// Cancel safe. Ledger errors; `CorruptRecord` also when its events contradict each other or its
/// class is not stored.
pub async fn stored(ledger: &dyn Ledger, run: RunId) -> Result<Option<RunView>, LedgerError> {
    let Some(stored) = ledger.load(run).await? else {
        return Ok(None);
    };
    let loaded = load::fold_stored(ledger, &Machine, (run, stored)).await?;
    Ok(loaded.map(|loaded| RunView::of(&loaded.run, &loaded.events)))
}
