//! What people ask of a run: cancel, terminate, continue.
//!
//! Each is a message in the run's inbox before anything is done about it, so it is taken whoever
//! drives the run, and survives whoever asked. None needs the class's code. A run that cannot even
//! be read by this code is ended by the bare fact.

use std::sync::Arc;

use mainstay_graph::Budget;
use mainstay_ledger::{
    CommitRequest, Drive, InboxCommand, LedgerError, Op, Part, Stamped, Verdict,
};
use mainstay_machine::{
    Alert, AlertKind, AskRaise, Command, Event, OutcomeKind, Quarantine, Run, RunState,
    StateReason, Summary,
};
use mainstay_types::{
    Code, Epoch, LapNo, MessageId, Millis, Refusal, RunId, Seq, Timestamp, limits,
};
use tokio::sync::oneshot;

use crate::answer::load_run;
use crate::error::EngineError;
use crate::load::{self, LoadedRun};
use crate::mailbox::Question;
use crate::marked::marked;
use crate::not_driven::NotDrivenReason;
use crate::outgoing::bounded;
use crate::poison::{Poison, caught};
use crate::shared::Shared;
use crate::take_up::{TakenUp, take_up};

/// Who asks, and why, within their bounds.
pub(crate) struct Asks {
    pub(crate) by: String,
    pub(crate) why: String,
}

impl Asks {
    pub(crate) fn of(by: &str, why: &str) -> Self {
        let (by, why) = (bounded(by.to_owned()), bounded(why.to_owned()));
        Self { by, why }
    }
}

/// Puts a cancel into the run's inbox; what follows is the run's own affair.
pub(crate) async fn cancel(
    shared: &Arc<Shared>,
    id: RunId,
    Asks { by, why }: Asks,
) -> Result<(), EngineError> {
    let loaded = load_run(shared, id).await?;
    let (core_by, core_why) = (by.clone(), why.clone());
    allowed(shared, &loaded.run, || Command::Cancel {
        by: core_by,
        why: core_why,
    })?;
    enqueue(shared, id, InboxCommand::Cancel { by, why }).await?;
    if !shared.drives {
        // Nobody else here takes it. What cannot be done now is done by who drives the run next.
        drop(take_up(shared, id).await);
    }
    Ok(())
}

/// Ends the run whatever its state; durable once this returns.
pub(crate) async fn terminate(
    shared: &Arc<Shared>,
    id: RunId,
    Asks { by, why }: Asks,
) -> Result<(), EngineError> {
    let loaded = match load_run(shared, id).await {
        Ok(loaded) => loaded,
        Err(EngineError::Ledger(error)) => {
            return terminate_bare(shared, id, (by, why), error).await;
        }
        Err(error) => return Err(error),
    };
    let command = || Command::Terminate {
        by: by.clone(),
        why: why.clone(),
    };
    match allowed(shared, &loaded.run, command) {
        Err(EngineError::NotDriven { detail, .. }) => {
            let unreadable = LedgerError::Io { detail };
            return terminate_bare(shared, id, (by, why), unreadable).await;
        }
        allowed => allowed?,
    }
    let message = InboxCommand::Terminate {
        by: by.clone(),
        why: why.clone(),
    };
    let run = taken(shared, id, message).await?;
    let head = run.head().ok_or_else(|| Refusal::new(Code::RunUnknown))?;
    // Even if what it still owes quarantined it again.
    match head.lap.outcome {
        Some(_) => Ok(()),
        None => Err(refused_after_all(shared, &run, command())),
    }
}

/// Opens the next lap, or lifts a quarantine; durable once this returns. The lap it goes on in.
pub(crate) async fn go_on(
    shared: &Arc<Shared>,
    id: RunId,
    Asks { by, why }: Asks,
) -> Result<LapNo, EngineError> {
    let loaded = load_run(shared, id).await?;
    let head = loaded
        .run
        .head()
        .ok_or_else(|| Refusal::new(Code::RunUnknown))?;
    let (from, lifts) = (head.lap.no, head.quarantined.is_some());
    let command = || Command::Continue {
        from,
        by: by.clone(),
        why: why.clone(),
    };
    allowed(shared, &loaded.run, command)?;
    let message = InboxCommand::Continue {
        from,
        by: by.clone(),
        why: why.clone(),
    };
    let run = taken(shared, id, message).await?;
    match run.head() {
        Some(head) if from < head.lap.no || lifts => Ok(head.lap.no),
        Some(_) | None => Err(refused_after_all(shared, &run, command())),
    }
}

/// Lets the open lap spend more; durable once this returns. What it may spend then.
pub(crate) async fn raise(
    shared: &Arc<Shared>,
    id: RunId,
    Asks { by, why }: Asks,
    more: Budget,
) -> Result<Budget, EngineError> {
    let loaded = load_run(shared, id).await?;
    let head = loaded
        .run
        .head()
        .ok_or_else(|| Refusal::new(Code::RunUnknown))?;
    let after = head.lap.raises.len();
    let ask = AskRaise {
        lap: head.lap.no,
        after: u32::try_from(after).unwrap_or(u32::MAX),
        more,
        by,
        why,
    };
    allowed(shared, &loaded.run, || Command::Raise(ask.clone()))?;
    let run = taken(shared, id, InboxCommand::Raise(ask.clone())).await?;
    let lap = run.head().and_then(|head| head.lap_no(ask.lap));
    let made = lap.and_then(|lap| Some((lap, lap.raises.get(after)?)));
    match made {
        Some((lap, made)) if (&made.by, &made.why, made.more) == (&ask.by, &ask.why, more) => {
            Ok(lap.budget.limits)
        }
        Some(_) => {
            let about = format!("{id}: somebody else raised it meanwhile; look, and ask again");
            Err(Refusal::new(Code::RaiseRefused).about(about).into())
        }
        None => Err(refused_after_all(shared, &run, Command::Raise(ask))),
    }
}

/// Refuses at once what the run would refuse as it stands.
pub(crate) fn allowed(
    shared: &Shared,
    run: &Run,
    command: impl FnOnce() -> Command,
) -> Result<(), EngineError> {
    let id = run.head().map(|head| head.run);
    let id = id.ok_or_else(|| Refusal::new(Code::RunUnknown))?;
    let decide = || shared.core.decide(run, command(), shared.now());
    // A core that panics at the run takes down nobody who asks for it.
    match marked(shared, id, || caught(Code::TurnPanicked, decide)) {
        Ok(decided) => Ok(decided.map(drop)?),
        Err(Poison { code, detail }) => Err(EngineError::NotDriven {
            run: id,
            code,
            detail,
        }),
    }
}

/// The run was in another state by the time it took the message.
pub(crate) fn refused_after_all(shared: &Shared, run: &Run, command: Command) -> EngineError {
    match allowed(shared, run, || command) {
        Err(error) => error,
        Ok(()) => Refusal::new(Code::RunNotLive).into(),
    }
}

/// Puts a message into the run's inbox, in a task of its own: a caller who goes away does not leave
/// a message that nobody hears of.
async fn enqueue(
    shared: &Arc<Shared>,
    id: RunId,
    command: InboxCommand,
) -> Result<MessageId, EngineError> {
    let (tell, told) = oneshot::channel();
    let asked = Arc::clone(shared);
    shared.ports.spawner.spawn(Box::pin(async move {
        let message = asked.ports.ids.message_id(asked.now());
        let enqueued = asked.ledger.enqueue(id, message, command).await;
        // The caller may be gone.
        drop(tell.send(enqueued.map(|_| message)));
    }));
    match told.await {
        Ok(enqueued) => Ok(enqueued?),
        Err(_) => Err(Refusal::new(Code::EngineStopping).into()),
    }
}

/// The run once it has taken the message, whoever drives it.
pub(crate) async fn taken(
    shared: &Arc<Shared>,
    id: RunId,
    command: InboxCommand,
) -> Result<Arc<Run>, EngineError> {
    let message = enqueue(shared, id, command).await?;
    for _ in 0..limits::TAKE_TRIES_MAX {
        if let Some(mailbox) = shared.mailbox(id) {
            if let Some(run) = mailbox.ask(Question::Taken(message)).await {
                return Ok(run);
            }
            let listed = shared.not_driven_run(id);
            if listed.is_some_and(|listed| listed.reason == NotDrivenReason::StoreFull) {
                let about = format!("{id}: what was asked is stored, and taken once there is room");
                return Err(Refusal::new(Code::StoreFull).about(about).into());
            }
        }
        let LoadedRun { run, inbox, .. } = load_run(shared, id).await?;
        if inbox.iter().all(|waiting| waiting.id != message) {
            return Ok(Arc::new(run));
        }
        match take_up(shared, id).await? {
            TakenUp::Live | TakenUp::NotDriven | TakenUp::Idle => {}
            TakenUp::Elsewhere(_) => {
                let wait = Millis::new(limits::RETRY_AFTER_MS_DEFAULT);
                shared.ports.timers.sleep(wait).await;
            }
            TakenUp::Stopping => return Err(Refusal::new(Code::EngineStopping).into()),
        }
    }
    Err(Refusal::new(Code::RunNotLive).about(id.to_string()).into())
}

/// Quarantines a run that was being executed each time a process aborted, before it is folded.
/// `false` when there is nothing to quarantine.
pub(crate) async fn blame(shared: &Shared, id: RunId) -> Result<bool, LedgerError> {
    let summary = shared.ledger.summary(id).await?;
    let is_over = summary.is_none_or(|summary| match summary.state {
        RunState::Closed | RunState::Quarantined => true,
        RunState::Running
        | RunState::Waiting
        | RunState::Paused
        | RunState::WaitingForCode
        | RunState::Ended => false,
    });
    if is_over {
        return Ok(false);
    }
    let aborts = limits::ABORTS_IN_A_ROW_MAX;
    let why = Quarantine {
        code: Code::ProcessAborted,
        message: format!("{aborts} processes in a row ended while this run was being executed"),
    };
    commit_bare(shared, id, Bare::Quarantined(why)).await?;
    tracing::error!(run = %id, code = %Code::ProcessAborted, "the run is quarantined");
    Ok(true)
}

/// Ends a run that cannot be folded.
async fn terminate_bare(
    shared: &Shared,
    id: RunId,
    (by, why): (String, String),
    unreadable: LedgerError,
) -> Result<(), EngineError> {
    // What fails its checksums has no end to append to.
    if shared.ledger.load(id).await.is_err() {
        return Err(unreadable.into());
    }
    let summary = shared.ledger.summary(id).await?;
    if summary.is_some_and(|summary| summary.state == RunState::Closed) {
        return Err(Refusal::new(Code::RunEnded).about(id.to_string()).into());
    }
    commit_bare(shared, id, Bare::Terminated { by, why }).await?;
    shared.forget_not_driven(id);
    Ok(())
}

async fn commit_bare(shared: &Shared, id: RunId, fact: Bare) -> Result<(), LedgerError> {
    let Some(stored) = shared.ledger.load(id).await? else {
        return Err(LedgerError::RunUnknown { run: id });
    };
    let end = load::end_of(&*shared.ledger, id, &stored).await?;
    let part = bare(shared, id, end, fact).await?;
    let request = CommitRequest { parts: vec![part] };
    match shared.ledger.commit(vec![request]).await?.pop() {
        Some(Verdict::Committed(_)) => Ok(()),
        Some(Verdict::Stale { .. } | Verdict::KeyHeld(_) | Verdict::Full) | None => {
            Err(LedgerError::Io {
                detail: "the end of the run could not be appended".to_owned(),
            })
        }
    }
}

/// What can be said of a run that nobody can fold.
pub(crate) enum Bare {
    /// It is not driven any more.
    Quarantined(Quarantine),
    /// It is over.
    Terminated {
        /// Who.
        by: String,
        /// Why.
        why: String,
    },
}

/// The part that says one thing about a run nobody can fold: the event, its row and its alert.
pub(crate) async fn bare(
    shared: &Shared,
    run: RunId,
    (expected_seq, epoch): (Seq, Epoch),
    fact: Bare,
) -> Result<Part, LedgerError> {
    let at = shared.now();
    let mut ops = vec![Op::Drive(Drive::Off)];
    if let Some(summary) = shared.ledger.summary(run).await? {
        ops.extend(fact.alert(&summary, at).map(Op::Alert));
        ops.push(Op::Summary(fact.row(summary, at)));
    }
    let event = fact.event();
    Ok(Part {
        run,
        expected_seq,
        epoch,
        events: vec![Stamped { at, event }],
        ops,
    })
}

impl Bare {
    fn row(&self, summary: Summary, at: Timestamp) -> Summary {
        match self {
            Self::Quarantined(why) => Summary {
                state: RunState::Quarantined,
                reason: Some(StateReason::Code(why.code)),
                ..summary
            },
            Self::Terminated { .. } => Summary {
                state: RunState::Closed,
                outcome: Some(summary.outcome.unwrap_or(OutcomeKind::Terminated)),
                ended_at: summary.ended_at.or(Some(at)),
                reason: None,
                ..summary
            },
        }
    }

    fn alert(&self, summary: &Summary, at: Timestamp) -> Option<Alert> {
        let Self::Quarantined(why) = self else {
            return None;
        };
        Some(Alert {
            at,
            run: summary.run,
            tenant: summary.tenant.clone(),
            class: summary.class.clone(),
            lap: summary.lap,
            kind: AlertKind::Quarantined,
            call: None,
            key: None,
            reason: why.code.as_str().to_owned(),
        })
    }

    fn event(self) -> Event {
        match self {
            Self::Quarantined(why) => Event::RunQuarantined(why),
            Self::Terminated { by, why } => Event::RunTerminated { by, why },
        }
    }
}
