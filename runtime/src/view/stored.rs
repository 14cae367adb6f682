//! The view of a run that no engine drives: from the ledger alone, without user code.

use mainstay_ledger::{Ledger, LedgerError};
use mainstay_machine::Machine;
use mainstay_types::{RunId, Timestamp};

use super::RunView;
use super::why::WhyView;
use crate::load::{self, LoadedRun, Source};

/// The view of a stored run; `None` when there is no such run.
///
/// Cancel safe. Ledger errors; `CorruptRecord` also when its events contradict each other or its
/// class is not stored.
pub async fn stored(ledger: &dyn Ledger, run: RunId) -> Result<Option<RunView>, LedgerError> {
    let Some(stored) = ledger.load(run).await? else {
        return Ok(None);
    };
    let source = Source {
        ledger,
        core: &Machine,
        registry: None,
        id: run,
    };
    let loaded = load::fold_stored(source, stored).await?;
    match loaded {
        Some(loaded) => Ok(Some(of(ledger, &loaded).await?)),
        None => Ok(None),
    }
}

/// The view of a loaded run, with the events that made it.
pub(crate) async fn of(ledger: &dyn Ledger, loaded: &LoadedRun) -> Result<RunView, LedgerError> {
    let events = load::events_until(ledger, loaded.id, loaded.run.seq()).await?;
    Ok(RunView::of(&loaded.run, &events))
}

/// The explanation of a loaded run at `now`, with the events that made it.
pub(crate) async fn why_of(
    ledger: &dyn Ledger,
    loaded: &LoadedRun,
    now: Timestamp,
) -> Result<WhyView, LedgerError> {
    let events = load::events_until(ledger, loaded.id, loaded.run.seq()).await?;
    Ok(WhyView::of(&loaded.run, &events, now))
}
