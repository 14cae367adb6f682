//! What operators list: runs, effects, the engine's own state.
//!
//! Rows are read from the ledger; only which code this engine has is its own knowledge.

use mainstay_ledger::{Page, RunFilter};
use mainstay_machine::{Call, EffectStatus, Run, RunState, StateReason, Summary, effect};
use mainstay_types::{CallId, EffectKey, Millis, Reason, RunId, Timestamp, WorkerId, limits};

use crate::error::EngineError;
use crate::load;
use crate::not_driven::{NotDriven, NotDrivenReason};
use crate::shared::Shared;

/// Which effects a listing shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EffectFilter {
    /// Only this run's.
    pub run: Option<RunId>,
    /// Only those nobody knows the outcome of.
    pub in_doubt: bool,
}

/// One effect of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectRow {
    /// Its key.
    pub key: EffectKey,
    /// How it stands: `intended`, `dispatched`, `in_doubt`, `applied`, `partly_applied`, `absent`,
    /// `taken_over` (by another run, which is to find out), `compensated`.
    pub state: &'static str,
    /// The code of why it stands so, where there is one.
    pub reason: Option<&'static str>,
    /// The run that intends it.
    pub run: RunId,
    /// The path of the call that writes.
    pub call: String,
    /// When it was first sent.
    pub first_sent_at: Option<Timestamp>,
    /// Look-ups made for it.
    pub lookups: u32,
    /// For a doubt: when its receiver is asked next.
    pub lookup_at: Option<Timestamp>,
    /// For a doubt: from when "not found" is believed.
    pub absent_after: Option<Timestamp>,
}

/// An engine as its operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The worker incarnation: new with every engine.
    pub worker: WorkerId,
    /// When the engine started.
    pub started_at: Timestamp,
    /// For how long it has been there.
    pub up: Millis,
    /// Whether it drives runs, or is there for operators only.
    pub drives: bool,
    /// Whether it is shutting down.
    pub stopping: bool,
    /// Runs in memory.
    pub live: usize,
    /// Attempts and look-ups that are out.
    pub out: usize,
    /// Runs it may have in memory before it refuses to start more.
    pub runs_max: usize,
    /// Runs that have to be driven and are not.
    pub not_driven: Vec<NotDriven>,
    /// Appends made since the ledger was opened.
    pub appends: u64,
}

pub(crate) fn status(shared: &Shared) -> Status {
    let (now, started_at) = (shared.now(), shared.time.opened_at());
    Status {
        worker: shared.worker,
        started_at,
        up: now.since(started_at),
        drives: shared.drives,
        stopping: shared.is_stopping(),
        live: shared.live_count(),
        out: shared.out(),
        runs_max: shared.runs_max,
        not_driven: shared.not_driven(),
        appends: shared.ledger.appends(),
    }
}

/// A page of runs. Those this engine has no code for say so.
pub(crate) async fn runs(
    shared: &Shared,
    filter: RunFilter,
    cursor: Option<RunId>,
) -> Result<Page<Summary>, EngineError> {
    if filter.state == Some(RunState::WaitingForCode) {
        return without_code(shared, &filter, cursor).await;
    }
    let wanted = |row: &Summary| filter.state.is_none_or(|state| state == row.state);
    let mut after = cursor;
    loop {
        let page = shared.ledger.runs(filter.clone(), after).await?;
        after = page.rows.last().map(|row| row.run);
        let rows = page.rows.into_iter().map(|row| overlaid(shared, row));
        let rows: Vec<Summary> = rows.filter(wanted).collect();
        // Whoever pages goes on from the last row, so a page with more to come has one.
        if !rows.is_empty() || !page.more {
            let more = page.more;
            return Ok(Page { rows, more });
        }
    }
}

async fn without_code(
    shared: &Shared,
    filter: &RunFilter,
    cursor: Option<RunId>,
) -> Result<Page<Summary>, EngineError> {
    let mut rows = Vec::new();
    for entry in shared.not_driven().into_iter().rev() {
        let is_before = cursor.is_none_or(|cursor| entry.run < cursor);
        if waits_for_code(&entry) && is_before {
            rows.extend(shared.ledger.summary(entry.run).await?);
        }
        if limits::PAGE_ROWS_MAX < rows.len() {
            break;
        }
    }
    let rows = rows.into_iter().map(|row| overlaid(shared, row));
    Ok(Page::of(rows.filter(|row| filter.passes(row))))
}

fn overlaid(shared: &Shared, row: Summary) -> Summary {
    let is_open = match row.state {
        RunState::Running
        | RunState::Waiting
        | RunState::Paused
        | RunState::WaitingForCode
        | RunState::Ended => true,
        RunState::Closed | RunState::Quarantined => false,
    };
    match shared.not_driven_run(row.run).filter(waits_for_code) {
        Some(entry) if is_open => Summary {
            state: RunState::WaitingForCode,
            reason: Some(StateReason::Code(entry.reason.code())),
            ..row
        },
        Some(_) | None => row,
    }
}

pub(crate) fn waits_for_code(entry: &NotDriven) -> bool {
    match entry.reason {
        NotDrivenReason::WaitingForCode | NotDrivenReason::ClassChanged => true,
        NotDrivenReason::Corrupt
        | NotDrivenReason::StoreFull
        | NotDrivenReason::LeaseLost
        | NotDrivenReason::StoreFailed
        | NotDrivenReason::StoreIo => false,
    }
}

/// The effects of the runs of one page, newest run first, and where the next page begins.
pub(crate) async fn effects(
    shared: &Shared,
    filter: EffectFilter,
    cursor: Option<RunId>,
) -> Result<EffectPage, EngineError> {
    if let Some(run) = filter.run {
        let rows = of_run(shared, filter, run).await?;
        return Ok(EffectPage { rows, next: None });
    }
    let wanted = RunFilter {
        in_doubt: filter.in_doubt.then_some(true),
        ..RunFilter::default()
    };
    let page = shared.ledger.runs(wanted, cursor).await?;
    let (mut rows, mut last) = (Vec::new(), None);
    for summary in page.rows.iter().take(limits::EFFECT_RUNS_MAX) {
        rows.extend(of_run(shared, filter, summary.run).await?);
        last = Some(summary.run);
        if limits::PAGE_ROWS_MAX <= rows.len() {
            break;
        }
    }
    let is_whole = last == page.rows.last().map(|summary| summary.run);
    let next = last.filter(|_| page.more || !is_whole);
    Ok(EffectPage { rows, next })
}

/// Effects, and the run before which the next page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectPage {
    /// The rows, those of one run together: of at most `limits::EFFECT_RUNS_MAX` runs, and about
    /// `limits::PAGE_ROWS_MAX` at most.
    pub rows: Vec<EffectRow>,
    /// The cursor of the next page; `None` on the last.
    pub next: Option<RunId>,
}

async fn of_run(
    shared: &Shared,
    filter: EffectFilter,
    run: RunId,
) -> Result<Vec<EffectRow>, EngineError> {
    let Some(loaded) = load::load(shared, run).await? else {
        return Ok(Vec::new());
    };
    let listed = shared.not_driven_run(run);
    let is_asked = !listed.is_some_and(|listed| waits_for_code(&listed));
    let run = &loaded.run;
    let calls = run.calls().iter();
    let rows = calls.filter_map(|(id, call)| row(run, id, call));
    Ok(rows
        .filter(|row| !filter.in_doubt || row.absent_after.is_some())
        .map(|row| EffectRow {
            // Without its code nobody asks.
            lookup_at: row.lookup_at.filter(|_| is_asked),
            ..row
        })
        .collect())
}

fn row(run: &Run, id: CallId, call: &Call) -> Option<EffectRow> {
    let stands = call.effect.as_ref()?;
    let doubt = effect::doubt(call);
    let reason = match &stands.status {
        EffectStatus::Applied(reason) | EffectStatus::Absent(reason) => Some(reason.as_str()),
        EffectStatus::InDoubt(doubt) => Some(doubt.reason.as_str()),
        EffectStatus::Compensated => Some(Reason::Compensated.as_str()),
        EffectStatus::Intended | EffectStatus::Dispatched | EffectStatus::PartlyApplied => None,
    };
    Some(EffectRow {
        key: stands.key.clone(),
        state: stands.status.as_str(),
        reason,
        run: run.head()?.run,
        call: run.path(id),
        first_sent_at: stands.first_sent_at,
        lookups: stands.lookups,
        lookup_at: doubt.map(|doubt| doubt.lookup_at),
        absent_after: doubt.map(|doubt| doubt.absent_after),
    })
}
