//! What a caller gets: a handle, one answer, one outcome, and what was learned later.
//!
//! Everything is read from the run's durable state; a notification is only a hint. Dropping a
//! future here cancels nothing.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use mainstay_ledger::{InboxCommand, LedgerError};
use mainstay_machine::{OutcomeKind, Run, view};
use mainstay_types::{CallId, Code, Payload, Reason, Refusal, RunId, Timestamp};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use crate::error::EngineError;
use crate::load::{self, LoadedRun};
use crate::mailbox::{Message, Question};
use crate::outgoing::bounded;
use crate::shared::Shared;
use crate::view::RunView;

/// A run that was started, or found again by its key.
pub struct RunHandle<O> {
    id: RunId,
    reused: bool,
    shared: Arc<Shared>,
    output: PhantomData<fn() -> O>,
}

/// What the caller is told, once, by answer_by.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer<O> {
    /// The lap has its outcome.
    Ready(Outcome<O>),
    /// An effect is in doubt; the outcome comes later.
    Later(Later),
}

/// Why there is no outcome yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Later {
    /// Why.
    pub why: Reason,
    /// The paths of the calls whose effects are in doubt.
    pub doubts: Vec<String>,
    /// When the outcome will be there at the latest.
    pub expected_by: Timestamp,
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
    pub(crate) fn new(shared: Arc<Shared>, id: RunId, reused: bool) -> Self {
        Self {
            id,
            reused,
            shared,
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
    /// Cancel safe. `WAITING_FOR_CODE`, `RUN_QUARANTINED` or `RUN_NOT_LIVE` when the run is not
    /// driven here.
    pub async fn answer(&self) -> Result<Answer<O>, EngineError> {
        let run = wait_for(&self.shared, self.id, Question::Answer).await?;
        match later(&run) {
            Some(later) => Ok(Answer::Later(later)),
            None => outcome(&run).map(Answer::Ready),
        }
    }

    /// How the lap ended; waits for it, over restarts of nothing but this process's own tasks.
    ///
    /// Cancel safe. Errors as [`Self::answer`].
    pub async fn outcome(&self) -> Result<Outcome<O>, EngineError> {
        let run = wait_for(&self.shared, self.id, Question::Outcome).await?;
        outcome(&run)
    }

    /// Asks the run to stop: no new attempt starts, writes that are out are settled first.
    ///
    /// The request is durable once this returns. Cancel safe: a dropped future may have asked.
    /// `RUN_ENDED` when the lap has its outcome.
    pub async fn cancel(&self, by: &str, why: &str) -> Result<(), EngineError> {
        cancel(&self.shared, self.id, by, why).await
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
    shared: &Shared,
    id: RunId,
    question: Question,
) -> Result<Arc<Run>, EngineError> {
    loop {
        if let Some(mailbox) = shared.mailbox(id)
            && let Some(run) = mailbox.ask(question).await
        {
            return quarantined(run);
        }
        let run = Arc::new(load_run(shared, id).await?.run);
        if question.is_answered(&run) {
            return quarantined(run);
        }
        if shared.mailbox(id).is_none() {
            return Err(not_driven(shared, id));
        }
    }
}

fn quarantined(run: Arc<Run>) -> Result<Arc<Run>, EngineError> {
    // An outcome that was there before the run was quarantined stands.
    let head = run.head().filter(|head| head.lap.outcome.is_none());
    match head.and_then(|head| head.quarantined.as_ref().map(|detail| (head.run, detail))) {
        Some((id, detail)) => Err(EngineError::NotDriven {
            run: id,
            code: Code::RunQuarantined,
            detail: detail.clone(),
        }),
        None => Ok(run),
    }
}

/// Loads a run that has to exist.
pub(crate) async fn load_run(shared: &Shared, id: RunId) -> Result<LoadedRun, EngineError> {
    let loaded = load::load(shared, id).await?;
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

/// Puts a cancel into the run's inbox and wakes the run if it is live here. Both happen in a task
/// of their own, so that a caller who goes away does not leave a request that nobody takes.
pub(crate) async fn cancel(
    shared: &Arc<Shared>,
    id: RunId,
    by: &str,
    why: &str,
) -> Result<(), EngineError> {
    let run = quarantined(Arc::new(load_run(shared, id).await?.run))?;
    if run.head().is_some_and(|head| head.lap.outcome.is_some()) {
        return Err(Refusal::new(Code::RunEnded).about(id.to_string()).into());
    }
    let command = InboxCommand::Cancel {
        by: bounded(by.to_owned()),
        why: bounded(why.to_owned()),
    };
    let (tell, told) = oneshot::channel();
    let asked = Arc::clone(shared);
    shared.ports.spawner.spawn(Box::pin(async move {
        // The caller may be gone.
        drop(tell.send(enqueue(&asked, id, command).await));
    }));
    match told.await {
        Ok(enqueued) => Ok(enqueued?),
        Err(_) => Err(Refusal::new(Code::EngineStopping).into()),
    }
}

async fn enqueue(shared: &Shared, id: RunId, command: InboxCommand) -> Result<(), LedgerError> {
    let message = shared.ports.ids.message_id(shared.now());
    shared.ledger.enqueue(id, message, command.clone()).await?;
    if let Some(mailbox) = shared.mailbox(id) {
        mailbox.deliver(Message::Inbox(message, command)).await;
    }
    Ok(())
}

pub(crate) async fn run_view(shared: &Shared, id: RunId) -> Result<RunView, EngineError> {
    let loaded = load_run(shared, id).await?;
    Ok(RunView::of(&loaded.run, &loaded.events))
}

fn path(run: &Run, id: CallId) -> String {
    run.path(id)
}

fn later(run: &Run) -> Option<Later> {
    let later = run.head()?.lap.later.as_ref()?;
    Some(Later {
        why: Reason::AnswerTimeReached,
        doubts: later.doubts.iter().map(|&id| path(run, id)).collect(),
        expected_by: later.expected_by,
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
        OutcomeKind::Completed | OutcomeKind::Degraded => BTreeMap::new(),
        OutcomeKind::HandedOff | OutcomeKind::Failed | OutcomeKind::Canceled => view::package(run),
    };
    let addenda = head.addenda.iter();
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
