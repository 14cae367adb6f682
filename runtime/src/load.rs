//! Loading a run: its class, its events, folded. The only way a state comes from the ledger.
//!
//! Recovery, a take-over, a question about a run that is not live and the aftermath of a panic all
//! come through here; none of them has a path of its own.

use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_ledger::{InboxMessage, Ledger, LedgerError, Loaded, Recorded};
use mainstay_machine::{ClassRef, Core, Event, Run};
use mainstay_types::{Code, RunId, Seq, Timestamp};

use crate::marked::marked_polls;
use crate::poison::{Poison, caught};
use crate::shared::Shared;

/// A run as it was durable.
pub(crate) struct LoadedRun {
    pub(crate) id: RunId,
    pub(crate) run: Run,
    pub(crate) class: ClassRef,
    pub(crate) last_at: Timestamp,
    pub(crate) inbox: Vec<InboxMessage>,
    pub(crate) events: Vec<Recorded>,
}

/// Loads and folds; `None` when there is no such run. A fold that panics is a corrupt record: who
/// asks about a run must never be taken down by it.
pub(crate) async fn load(shared: &Shared, id: RunId) -> Result<Option<LoadedRun>, LedgerError> {
    match shared.ledger.load(id).await? {
        Some(stored) => {
            let fold = fold_stored(&*shared.ledger, &*shared.core, (id, stored));
            marked_polls(shared, id, fold).await
        }
        None => Ok(None),
    }
}

/// The run that these stored events make; `None` when they make none.
pub(crate) async fn folded(shared: &Shared, id: RunId, stored: Loaded) -> Option<LoadedRun> {
    let loaded = fold_stored(&*shared.ledger, &*shared.core, (id, stored)).await;
    loaded.ok().flatten()
}

pub(crate) async fn fold_stored(
    ledger: &dyn Ledger,
    core: &dyn Core,
    (id, stored): (RunId, Loaded),
) -> Result<Option<LoadedRun>, LedgerError> {
    let corrupt = |seq, detail: String| LedgerError::CorruptRecord {
        run: id,
        seq,
        detail,
    };
    let Some(first) = stored.events.first() else {
        return Ok(None);
    };
    let Event::RunStarted(started) = &first.event else {
        return Err(corrupt(
            first.seq,
            "the first event is not RunStarted".to_owned(),
        ));
    };
    let class = started.class.clone();
    let found = ledger.class(class.name.clone(), class.version).await?;
    let Some(found) = found.filter(|found| found.fingerprint == class.fingerprint) else {
        let detail = format!("class {} v{} is not stored", class.name, class.version);
        return Err(corrupt(first.seq, detail));
    };
    let (run, last_at) = fold(core, found.class, &stored.events)
        .map_err(|(seq, poison)| corrupt(seq, poison.to_string()))?;
    let Loaded { events, inbox } = stored;
    Ok(Some(LoadedRun {
        id,
        run,
        class,
        last_at,
        inbox,
        events,
    }))
}

fn fold(
    core: &dyn Core,
    data: Arc<TaskClass>,
    events: &[Recorded],
) -> Result<(Run, Timestamp), (Seq, Poison)> {
    let mut run = Run::unborn(data);
    let mut last_at = Timestamp::from_millis(i64::MIN);
    for recorded in events {
        last_at = last_at.max(recorded.at);
        caught(Code::TurnPanicked, || core.apply(&mut run, &recorded.event))
            .and_then(|applied| applied.map_err(Poison::from))
            .map_err(|poison| (recorded.seq, poison))?;
    }
    Ok((run, last_at))
}
