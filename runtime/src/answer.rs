//! What a caller gets: a handle, one answer, one outcome, and what was learned later.
//!
//! Everything is read from the run's durable state; a notification is only a hint. Dropping a
//! future here cancels nothing.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use mainstay_machine::{OutcomeKind, Run, view};
use mainstay_types::{
    CallId, Code, EffectKey, Millis, Payload, Reason, Refusal, RunId, Timestamp, limits,
};
use serde::de::DeserializeOwned;

use crate::control::{self, Asks};
use crate::error::EngineError;
use crate::listing::waits_for_code;
use crate::load::{self, LoadedRun};
use crate::mailbox::{Left, Question};
use crate::not_driven::NotDrivenReason;
use crate::shared::Shared;
use crate::take_up::{TakenUp, patiently, take_up};
use crate::view::why::WhyView;
use crate::view::{RunView, of_loaded, why_of};

/// A run that was started, or found again by its key.
pub struct RunHandle<O> {
    id: RunId,
    reused: bool,
    shared: Arc<Shared>,
    /// What the run was when it was over here.
    left: Left,
    output: PhantomData<fn() -> O>,
}

/// A run that a handle is to be made for.
pub(crate) struct Found {
    pub(crate) id: RunId,
    pub(crate) reused: bool,
    pub(crate) left: Left,
}

impl Found {
    /// A run that was there before.
    pub(crate) fn reused(id: RunId) -> Self {
        Self {
            id,
            reused: true,
            left: Left::default(),
        }
    }
}

/// What the caller is told, once, by answer_by.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer<O> {
    /// The lap has its outcome.
    Ready(Outcome<O>),
    /// An effect is in doubt, or the class works behind its answer; the outcome comes later.
    Later(Later),
}

/// Why there is no outcome yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Later {
    /// Why.
    pub why: Reason,
    /// The effects that were in doubt.
    pub doubts: Vec<Doubtful>,
    /// When the outcome will be there at the latest.
    pub expected_by: Timestamp,
}

/// An effect that was in doubt when the caller was told "later".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubtful {
    /// The path of the call that writes.
    pub call: String,
    /// The effect's key.
    pub key: EffectKey,
    /// When it was first sent.
    pub since: Timestamp,
}

/// How the lap ended.
#[derive(Clone, Debug)]
pub struct Outcome<O> {
    /// How.
    pub kind: OutcomeKind,
    /// Why.
    pub reason: Reason,
    /// The class's result; there when completed or degraded.
    pub result: Option<O>,
    /// What the result lacks.
    pub notices: Vec<String>,
    /// The values that are there, by the path of their call: what a person goes on with. Items of a
    /// list that is not complete are there one by one, `ticket_write[0]`.
    pub package: BTreeMap<String, Payload>,
    /// What was learned after the outcome.
    pub addenda: Vec<Addendum>,
}

/// Something learned after the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addendum {
    /// The path of the call it is about.
    pub call: String,
    /// What became known.
    pub what: Reason,
}

impl<O> std::fmt::Debug for RunHandle<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunHandle")
            .field("id", &self.id)
            .field("reused", &self.reused)
            .finish()
    }
}

impl<O: DeserializeOwned> RunHandle<O> {
    pub(crate) fn new(shared: Arc<Shared>, found: Found) -> Self {
        let Found { id, reused, left } = found;
        Self {
            id,
            reused,
            shared,
            left,
            output: PhantomData,
        }
    }

    /// The run's id.
    #[must_use]
    pub const fn id(&self) -> RunId {
        self.id
    }

    /// Whether the start key had stood for this run before.
    #[must_use]
    pub const fn is_reused(&self) -> bool {
        self.reused
    }

    /// What the caller is told by answer_by. Once it was "later", it stays "later"; the outcome
    /// is asked for by [`Self::outcome`].
    ///
    /// Cancel safe: a dropped future cancels nothing of the run and keeps it in memory for a minute
    /// at most. `WAITING_FOR_CODE`, `RUN_QUARANTINED` or `RUN_NOT_LIVE` when the run is not driven
    /// here.
    pub async fn answer(&self) -> Result<Answer<O>, EngineError> {
        let run = wait_for(&self.shared, (self.id, &self.left), Question::Answer).await?;
        match later(&run) {
            Some(later) => Ok(Answer::Later(later)),
            None => outcome(&run).map(Answer::Ready),
        }
    }

    /// How the lap ended; waits for it, over restarts of nothing but this process's own tasks.
    ///
    /// Cancel safe. Errors as [`Self::answer`].
    pub async fn outcome(&self) -> Result<Outcome<O>, EngineError> {
        let run = wait_for(&self.shared, (self.id, &self.left), Question::Outcome).await?;
        outcome(&run)
    }

    /// Asks the run to stop: no new attempt starts, writes that are out are settled first.
    ///
    /// The request is durable once this returns. Cancel safe: a dropped future may have asked.
    /// `RUN_ENDED` when the lap has its outcome.
    pub async fn cancel(&self, by: &str, why: &str) -> Result<(), EngineError> {
        control::cancel(&self.shared, self.id, Asks::of(by, why)).await
    }

    /// The run as it stands, with its timeline.
    ///
    /// Cancel safe.
    pub async fn view(&self) -> Result<RunView, EngineError> {
        run_view(&self.shared, self.id).await
    }
}

/// Waits until the run can answer `question`.
pub(crate) async fn wait_for(
    shared: &Arc<Shared>,
    (id, left): (RunId, &Left),
    question: Question,
) -> Result<Arc<Run>, EngineError> {
    let wait = Millis::new(limits::RETRY_AFTER_MS_DEFAULT);
    let (mut failures, mut is_over) = (0, false);
    loop {
        if let Some(mailbox) = shared.mailbox(id) {
            if let Some(run) = mailbox.ask(question).await {
                return quarantined(run);
            }
            match shared.not_driven_run(id).map(|listed| listed.reason) {
                Some(NotDrivenReason::StoreIo) if failures < limits::RECOVERY_READS_MAX => {
                    failures += 1;
                    shared.ports.timers.sleep(wait).await;
                }
                Some(
                    NotDrivenReason::StoreIo
                    | NotDrivenReason::StoreFailed
                    | NotDrivenReason::StoreFull,
                ) => return Err(not_driven(shared, id)),
                Some(_) | None => {}
            }
        }
        let run = match as_left(shared, id, left).await {
            Some(run) => run,
            None => {
                let loaded = patiently(shared, || load::load(shared, id)).await?;
                Arc::new(known(id, loaded)?.run)
            }
        };
        if question.is_answered(&run) {
            return quarantined(run);
        }
        if is_over {
            return Err(not_driven(shared, id));
        }
        match patiently(shared, || take_up(shared, id)).await? {
            TakenUp::Live => {}
            // Its owner writes into the same ledger; what it writes is read from there.
            TakenUp::Elsewhere(_) => shared.ports.timers.sleep(wait).await,
            // Whoever brought it there may have done so since it was read.
            TakenUp::NotDriven | TakenUp::Idle | TakenUp::Stopping => is_over = true,
        }
    }
}

/// The run as this process left it, when nothing was recorded of it since.
async fn as_left(shared: &Shared, id: RunId, left: &Left) -> Option<Arc<Run>> {
    let run = left.run()?;
    let since = shared.ledger.history(id, run.seq()).await.ok()??;
    (since.rows.is_empty() && !since.more).then_some(run)
}

fn quarantined(run: Arc<Run>) -> Result<Arc<Run>, EngineError> {
    // An outcome that was there before the run was quarantined stands.
    let head = run.head().filter(|head| head.lap.outcome.is_none());
    match head.and_then(|head| head.quarantined.as_ref().map(|detail| (head.run, detail))) {
        Some((id, detail)) => Err(EngineError::NotDriven {
            run: id,
            code: Code::RunQuarantined,
            detail: detail.to_string(),
        }),
        None => Ok(run),
    }
}

/// Loads a run that has to exist.
pub(crate) async fn load_run(shared: &Shared, id: RunId) -> Result<LoadedRun, EngineError> {
    known(id, load::load(shared, id).await?)
}

fn known(id: RunId, loaded: Option<LoadedRun>) -> Result<LoadedRun, EngineError> {
    loaded.ok_or_else(|| Refusal::new(Code::RunUnknown).about(id.to_string()).into())
}

fn not_driven(shared: &Shared, id: RunId) -> EngineError {
    match shared.not_driven_run(id) {
        Some(entry) => EngineError::NotDriven {
            run: id,
            code: entry.reason.code(),
            detail: entry.detail,
        },
        None => EngineError::NotDriven {
            run: id,
            code: Code::RunNotLive,
            detail: "no live run of this engine has this id".to_owned(),
        },
    }
}

pub(crate) async fn run_view(shared: &Shared, id: RunId) -> Result<RunView, EngineError> {
    let loaded = load_run(shared, id).await?;
    let mut view = of_loaded(&*shared.ledger, &loaded).await?;
    view.forget_free_places(shared.now());
    let listed = shared.not_driven_run(id).filter(waits_for_code);
    Ok(match listed {
        Some(listed) => view.without_code(listed.reason.code(), &listed.detail),
        None => view,
    })
}

/// Why a run stands where it stands, now.
pub(crate) async fn run_why(shared: &Shared, id: RunId) -> Result<WhyView, EngineError> {
    let loaded = load_run(shared, id).await?;
    let why = why_of(&*shared.ledger, &loaded, shared.now()).await?;
    let listed = shared.not_driven_run(id).filter(waits_for_code);
    Ok(match listed {
        _ if !shared.drives => why.without_driver(),
        Some(listed) => why.without_code(listed.reason.code(), &listed.detail),
        None => why,
    })
}

fn path(run: &Run, id: CallId) -> String {
    run.path(id)
}

fn later(run: &Run) -> Option<Later> {
    let later = run.head()?.lap.later.as_ref()?;
    Some(Later {
        why: Reason::AnswerTimeReached,
        doubts: later
            .doubts
            .iter()
            .filter_map(|&id| doubtful(run, id))
            .collect(),
        expected_by: later.expected_by,
    })
}

fn doubtful(run: &Run, id: CallId) -> Option<Doubtful> {
    let effect = run.calls().get(id)?.effect.as_ref()?;
    Some(Doubtful {
        call: path(run, id),
        key: effect.key.clone(),
        since: effect.first_sent_at?,
    })
}

fn outcome<O: DeserializeOwned>(run: &Run) -> Result<Outcome<O>, EngineError> {
    let ended = run
        .head()
        .and_then(|head| Some((head, head.lap.outcome.as_ref()?)));
    let Some((head, ended)) = ended else {
        return Err(Refusal::new(Code::RunNotLive).into());
    };
    let result = ended.result.as_ref().map(decode).transpose()?;
    let package = match ended.kind {
        OutcomeKind::Completed | OutcomeKind::Degraded | OutcomeKind::Rejected => BTreeMap::new(),
        OutcomeKind::HandedOff
        | OutcomeKind::Failed
        | OutcomeKind::Canceled
        | OutcomeKind::Terminated => view::package(run),
    };
    let addenda = head.lap.addenda.iter();
    let addenda = addenda.map(|&(call, what)| Addendum {
        call: path(run, call),
        what,
    });
    Ok(Outcome {
        kind: ended.kind,
        reason: ended.reason,
        result,
        notices: view::notices(run),
        package,
        addenda: addenda.collect(),
    })
}

fn decode<O: DeserializeOwned>(value: &Payload) -> Result<O, EngineError> {
    serde_json::from_slice(value.as_bytes()).map_err(|error| EngineError::Value {
        detail: format!("the result: {error}"),
    })
}
