//! Orphans: remote work that no run waits for, as operators list it, take it over and close it.
//!
//! What a person wants is a command in the run's inbox like any other, whoever drives the run. An
//! orphan that is left to its time has no row of its own anywhere: its run says that it is there.

use std::sync::Arc;

use mainstay_graph::OnLate;
use mainstay_ledger::{InboxCommand, RunFilter};
use mainstay_machine::{AskOrphan, Command, Orphan, OrphanWish, Run, RunState, Stand};
use mainstay_types::{
    AttemptNo, CallId, ClassName, Code, Millis, Refusal, RunId, Tenant, Timestamp, limits,
};

use crate::answer::load_run;
use crate::control::{Asks, allowed, refused_after_all, taken};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::load;
use crate::shared::Shared;

/// Which orphans a listing shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrphanFilter {
    /// Only this run's.
    pub run: Option<RunId>,
    /// Only those of which nothing was heard in their time.
    pub overdue: bool,
}

/// Remote work that no run waits for and that somebody may still hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrphanRow {
    /// The run that gave it up.
    pub run: RunId,
    /// The path of the call.
    pub call: String,
    /// The attempt.
    pub attempt: AttemptNo,
    /// Whose it is.
    pub owner: String,
    /// The run's class.
    pub class: ClassName,
    /// Whose run.
    pub tenant: Tenant,
    /// `running`, `adopted` or `overdue`.
    pub state: &'static str,
    /// When the attempt was sent.
    pub sent_at: Timestamp,
    /// Until when it is waited for.
    pub until: Timestamp,
    /// What is done with its answer, should one come.
    pub on_late: OnLate,
}

/// Orphans, and the run before which the next page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrphanPage {
    /// The rows, those of one run together: of at most `limits::EFFECT_RUNS_MAX` runs, and about
    /// `limits::PAGE_ROWS_MAX` at most. May be empty with more to come.
    pub rows: Vec<OrphanRow>,
    /// The cursor of the next page; `None` on the last.
    pub next: Option<RunId>,
}

impl Engine {
    /// Remote work that was given up and that somebody may still hear of, newest run first, before
    /// `cursor`. Cancel safe.
    pub async fn orphans(
        &self,
        filter: OrphanFilter,
        cursor: Option<RunId>,
    ) -> Result<OrphanPage, EngineError> {
        page(self.shared(), filter, cursor).await
    }

    /// Takes over what an attempt goes on doing, for so long: it is theirs, its run is open until
    /// it is known what became of it, and an `orphan_overdue` is told when nothing was heard by
    /// then. `call` is its path. How it stands by that.
    ///
    /// Durable once this returns. Cancel safe: a dropped future may have asked. `ORPHAN_NOT_THERE`
    /// for an attempt that was not given up or of which it is known; `CALL_UNKNOWN`;
    /// `INVALID_INPUT` for longer than `limits::ORPHAN_TTL_MS_MAX`.
    pub async fn adopt_orphan(
        &self,
        run: RunId,
        (call, attempt): (&str, AttemptNo),
        wait: Millis,
        (by, why): (&str, &str),
    ) -> Result<OrphanRow, EngineError> {
        let until = self.shared().now() + wait;
        let wish = OrphanWish::Adopt { until };
        wanted(self.shared(), (run, call, attempt), wish, Asks::of(by, why)).await
    }

    /// Says that nobody waits for what an attempt goes on doing. An answer that comes after all is
    /// still recorded. `call` is its path.
    ///
    /// Durable once this returns. Cancel safe: a dropped future may have asked. `ORPHAN_NOT_THERE`
    /// and `CALL_UNKNOWN` as for [`Engine::adopt_orphan`].
    pub async fn close_orphan(
        &self,
        run: RunId,
        (call, attempt): (&str, AttemptNo),
        (by, why): (&str, &str),
    ) -> Result<(), EngineError> {
        let wish = OrphanWish::Close;
        let closed = wanted(self.shared(), (run, call, attempt), wish, Asks::of(by, why));
        closed.await.map(drop)
    }
}

/// Has a person's wish taken by the run.
async fn wanted(
    shared: &Arc<Shared>,
    (id, path, attempt): (RunId, &str, AttemptNo),
    wish: OrphanWish,
    Asks { by, why }: Asks,
) -> Result<OrphanRow, EngineError> {
    let run = load_run(shared, id).await?.run;
    let call = run.calls().iter().map(|(call, _)| call);
    let mut call = call.filter(|&call| run.path(call) == path);
    let Some(call) = call.next() else {
        let about = format!("run {id} has no call {path}");
        return Err(Refusal::new(Code::CallUnknown).about(about).into());
    };
    let ask = AskOrphan {
        call,
        attempt,
        wish,
        after: orphan(&run, (call, attempt)).map_or(0, |orphan| orphan.adoptions),
        by,
        why,
    };
    allowed(shared, &run, || Command::Orphan(ask.clone()))?;
    let run = taken(shared, id, InboxCommand::Orphan(ask.clone())).await?;
    match orphan(&run, (call, attempt)) {
        Some(orphan) if is_taken(orphan, &ask) => {
            let row = row(&run, (call, attempt));
            row.ok_or_else(|| Refusal::new(Code::RunUnknown).into())
        }
        Some(orphan) if ask.after < orphan.adoptions => {
            let about = format!("{id}: somebody else took it over meanwhile; look, and ask again");
            Err(Refusal::new(Code::OrphanNotThere).about(about).into())
        }
        Some(_) | None => Err(refused_after_all(shared, &run, Command::Orphan(ask))),
    }
}

fn orphan(run: &Run, (call, attempt): (CallId, AttemptNo)) -> Option<&Orphan> {
    run.calls().get(call)?.attempt(attempt)?.orphan()
}

/// Whether it stands as was wished; what became of it since changes nothing of that.
fn is_taken(orphan: &Orphan, ask: &AskOrphan) -> bool {
    match ask.wish {
        OrphanWish::Adopt { until } => orphan.owner == ask.by && orphan.until == until,
        OrphanWish::Close => orphan.stand == Stand::Closed,
    }
}

async fn page(
    shared: &Shared,
    filter: OrphanFilter,
    cursor: Option<RunId>,
) -> Result<OrphanPage, EngineError> {
    if let Some(run) = filter.run {
        let run = load_run(shared, run).await?.run;
        let rows = of_run(&run, filter, shared.now());
        return Ok(OrphanPage { rows, next: None });
    }
    let page = shared.ledger.runs(RunFilter::default(), cursor).await?;
    let (mut rows, mut last, mut loaded) = (Vec::new(), None, 0);
    for summary in &page.rows {
        // What is overdue holds its run.
        if !filter.overdue || summary.state != RunState::Closed {
            if let Some(stored) = load::load(shared, summary.run).await? {
                rows.extend(of_run(&stored.run, filter, shared.now()));
            }
            loaded += 1;
        }
        last = Some(summary.run);
        if limits::PAGE_ROWS_MAX <= rows.len() || limits::EFFECT_RUNS_MAX <= loaded {
            break;
        }
    }
    let is_whole = last == page.rows.last().map(|summary| summary.run);
    let next = last.filter(|_| page.more || !is_whole);
    Ok(OrphanPage { rows, next })
}

fn of_run(run: &Run, filter: OrphanFilter, now: Timestamp) -> Vec<OrphanRow> {
    let made = run.calls().iter().flat_map(|(id, call)| {
        let made = call.attempts.iter();
        let open = made.filter(|made| made.orphan().is_some_and(|it| it.is_open(now)));
        open.filter_map(move |made| row(run, (id, made.no)))
    });
    // Where nobody drives the run, nobody has said so yet.
    let overdue = Stand::Overdue.as_str();
    let is_overdue = |row: &OrphanRow| row.state == overdue || row.until <= now;
    made.filter(|row| !filter.overdue || is_overdue(row))
        .collect()
}

fn row(run: &Run, (id, no): (CallId, AttemptNo)) -> Option<OrphanRow> {
    let (head, call) = (run.head()?, run.calls().get(id)?);
    let made = call.attempt(no)?;
    let orphan = made.orphan()?;
    Some(OrphanRow {
        run: head.run,
        call: run.path(id),
        attempt: no,
        owner: orphan.owner.clone(),
        class: head.class.name.clone(),
        tenant: head.tenant.clone(),
        state: orphan.stand.as_str(),
        sent_at: made.at,
        until: orphan.until,
        on_late: run.class().node(call.node).contract()?.late(),
    })
}
