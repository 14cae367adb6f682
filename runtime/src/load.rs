//! Loading a run: its class, its newest snapshot, the events after it, folded. The only way a state
//! comes from the ledger.
//!
//! Recovery, a take-over, a question about a run that is not live and the aftermath of a panic all
//! come through here; none of them has a path of its own. A snapshot only saves work: one that
//! cannot be used is said so and passed over, and the events alone decide what the run is.

use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_ledger::codec::{self, KeptState};
use mainstay_ledger::{InboxMessage, Ledger, LedgerError, Loaded, Recorded, Snapshot};
use mainstay_machine::{ClassRef, Core, Event, Run};
use mainstay_types::{Code, Epoch, RunId, Seq, Timestamp};

use crate::marked::marked_polls;
use crate::poison::{Poison, caught};
use crate::registry::Registry;
use crate::shared::Shared;

/// A run as it was durable.
pub(crate) struct LoadedRun {
    pub(crate) id: RunId,
    pub(crate) run: Run,
    pub(crate) class: ClassRef,
    /// The newest time in its events.
    pub(crate) last_at: Timestamp,
    /// At which event its state was kept; 0 when it never was.
    pub(crate) kept_at: Seq,
    pub(crate) inbox: Vec<InboxMessage>,
}

/// Loads and folds; `None` when there is no such run. A fold that panics is a corrupt record: who
/// asks about a run must never be taken down by it.
pub(crate) async fn load(shared: &Shared, id: RunId) -> Result<Option<LoadedRun>, LedgerError> {
    match shared.ledger.load(id).await? {
        Some(stored) => {
            // In a place of its own: whoever waits for a run carries no room for loading it.
            let fold = Box::pin(fold_stored(Source::of(shared, id), stored));
            marked_polls(shared, id, fold).await
        }
        None => Ok(None),
    }
}

/// The run that these stored events make; `None` when they make none.
pub(crate) async fn folded(shared: &Shared, id: RunId, stored: Loaded) -> Option<LoadedRun> {
    let loaded = fold_stored(Source::of(shared, id), stored).await;
    loaded.ok().flatten()
}

pub(crate) async fn fold_stored(
    source: Source<'_>,
    stored: Loaded,
) -> Result<Option<LoadedRun>, LedgerError> {
    let id = source.id;
    let Loaded {
        snapshot,
        events,
        inbox,
    } = stored;
    let mut kept_at = Seq(0);
    let fold = match snapshot {
        Some(snapshot) => match source.resumed(&snapshot, &events).await? {
            Ok(fold) => {
                kept_at = snapshot.seq;
                Some(fold)
            }
            Err(detail) => {
                tracing::info!(run = %id, at = %snapshot.seq, detail, "a snapshot is passed over");
                source.whole().await?
            }
        },
        None => source.folded(&events).await?,
    };
    Ok(fold.map(|fold| LoadedRun {
        id,
        class: fold.class,
        run: fold.run,
        last_at: fold.last_at,
        kept_at,
        inbox,
    }))
}

/// Where a state comes from.
pub(crate) struct Source<'a> {
    pub(crate) ledger: &'a dyn Ledger,
    pub(crate) core: &'a dyn Core,
    /// Classes whose data is in memory: what is stored under the same fingerprint is the same.
    pub(crate) registry: Option<&'a Registry>,
    pub(crate) id: RunId,
}

/// A state in the making.
struct Fold {
    run: Run,
    class: ClassRef,
    last_at: Timestamp,
}

impl<'a> Source<'a> {
    fn of(shared: &'a Shared, id: RunId) -> Self {
        Self {
            ledger: &*shared.ledger,
            core: &*shared.core,
            registry: Some(&shared.registry),
            id,
        }
    }
}

impl Source<'_> {
    /// The state that was kept with the events after it; the inner error says why it cannot be
    /// used.
    async fn resumed(
        &self,
        snapshot: &Snapshot,
        tail: &[Recorded],
    ) -> Result<Result<Fold, String>, LedgerError> {
        let kept = match codec::decode_snapshot(snapshot) {
            Ok(kept) => kept,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let KeptState { parts, last_at } = kept;
        if parts.head.run != self.id {
            return Ok(Err(format!("it is of run {}", parts.head.run)));
        }
        let class = parts.head.class.clone();
        let Some(data) = self.class(&class).await? else {
            return Ok(Err("its class is not stored".to_owned()));
        };
        let run = match Run::from_parts(data, parts) {
            Ok(run) => run,
            Err(corrupt) => return Ok(Err(corrupt.to_string())),
        };
        let mut fold = Fold {
            run,
            class,
            last_at,
        };
        let taken = fold.take(self.core, tail);
        Ok(taken
            .map(|()| fold)
            .map_err(|(_, poison)| poison.to_string()))
    }

    /// The state that all of a run's events make, read page by page.
    async fn whole(&self) -> Result<Option<Fold>, LedgerError> {
        let mut fold: Option<Fold> = None;
        loop {
            let after = fold.as_ref().map_or(Seq(0), |fold| fold.run.seq());
            let Some(page) = self.ledger.history(self.id, after).await? else {
                return Ok(fold);
            };
            match &mut fold {
                Some(fold) => self.go_on(fold, &page.rows)?,
                None => fold = self.folded(&page.rows).await?,
            }
            if !page.more {
                return Ok(fold);
            }
        }
    }

    /// The state that these events, from the first on, make; `None` when there are none.
    async fn folded(&self, events: &[Recorded]) -> Result<Option<Fold>, LedgerError> {
        let Some(first) = events.first() else {
            return Ok(None);
        };
        let mut fold = self.begin(first).await?;
        self.go_on(&mut fold, events)?;
        Ok(Some(fold))
    }

    /// The state before the first event.
    async fn begin(&self, first: &Recorded) -> Result<Fold, LedgerError> {
        let Event::RunStarted(started) = &first.event else {
            let detail = "the first event is not RunStarted".to_owned();
            return Err(self.corrupt(first.seq, detail));
        };
        let class = started.class.clone();
        let Some(run) = self.unborn(&class).await? else {
            let detail = format!("class {} v{} is not stored", class.name, class.version);
            return Err(self.corrupt(first.seq, detail));
        };
        Ok(Fold {
            run,
            class,
            last_at: Timestamp::from_millis(i64::MIN),
        })
    }

    async fn unborn(&self, class: &ClassRef) -> Result<Option<Run>, LedgerError> {
        let known = self.registry.and_then(|registry| registry.find(class));
        match known {
            Some(known) => Ok(Some(known.unborn())),
            None => Ok(self.class(class).await?.map(Run::unborn)),
        }
    }

    fn go_on(&self, fold: &mut Fold, events: &[Recorded]) -> Result<(), LedgerError> {
        let taken = fold.take(self.core, events);
        taken.map_err(|(seq, poison)| self.corrupt(seq, poison.to_string()))
    }

    async fn class(&self, class: &ClassRef) -> Result<Option<Arc<TaskClass>>, LedgerError> {
        let known = self.registry.and_then(|registry| registry.find(class));
        if let Some(known) = known {
            return Ok(Some(Arc::clone(&known.class.data)));
        }
        let found = self.ledger.class(class.name.clone(), class.version).await?;
        let same = found.filter(|found| found.fingerprint == class.fingerprint);
        Ok(same.map(|found| found.class))
    }

    fn corrupt(&self, seq: Seq, detail: String) -> LedgerError {
        LedgerError::CorruptRecord {
            run: self.id,
            seq,
            detail,
        }
    }
}

impl Fold {
    fn take(&mut self, core: &dyn Core, events: &[Recorded]) -> Result<(), (Seq, Poison)> {
        let run = &mut self.run;
        for recorded in events {
            self.last_at = self.last_at.max(recorded.at);
            caught(Code::TurnPanicked, || core.apply(run, &recorded.event))
                .and_then(|applied| applied.map_err(Poison::from))
                .map_err(|poison| (recorded.seq, poison))?;
        }
        Ok(())
    }
}

/// Where a stored run ends and who wrote that, without folding it: the newest event says both.
pub(crate) async fn end_of(
    ledger: &dyn Ledger,
    id: RunId,
    stored: &Loaded,
) -> Result<(Seq, Epoch), LedgerError> {
    if let Some(last) = stored.events.last() {
        return Ok((last.seq, last.epoch));
    }
    let seq = stored.seq();
    let before = Seq(seq.get().saturating_sub(1));
    let page = ledger.history(id, before).await?;
    let last = page.as_ref().and_then(|page| page.rows.first());
    Ok(last.map_or((seq, Epoch(1)), |last| (last.seq, last.epoch)))
}

/// The events of a run up to `until`, page by page.
pub(crate) async fn events_until(
    ledger: &dyn Ledger,
    id: RunId,
    until: Seq,
) -> Result<Vec<Recorded>, LedgerError> {
    let mut events: Vec<Recorded> = Vec::new();
    loop {
        let last = events.last().map_or(Seq(0), |last| last.seq);
        if until <= last {
            break;
        }
        let Some(page) = ledger.history(id, last).await? else {
            break;
        };
        events.extend(page.rows);
        if !page.more {
            break;
        }
    }
    events.retain(|recorded| recorded.seq <= until);
    Ok(events)
}
