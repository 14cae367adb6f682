//! Taking a run up: from the ledger into memory, because it has to be driven or is asked something.
//!
//! Not a mode: a run that is taken up is a live run whose first input is `TakeOver`. One that
//! cannot be driven is listed with its reason and holds up no other; what is asked of it is still
//! done, in one turn without the class's code.

use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_machine::{Asked, Command, Run, Settle};
use mainstay_types::{Code, Millis, RunId, Timestamp, limits};
use tokio::sync::mpsc;

use crate::control;
use crate::inbox;
use crate::keeping::Kept;
use crate::live::{Live, Stop, Subject};
use crate::load::{self, LoadedRun};
use crate::mailbox::{Mailbox, Message};
use crate::not_driven::{NotDriven, NotDrivenReason};
use crate::outgoing;
use crate::registry::Registered;
use crate::shared::Shared;
use crate::turn::Input;

/// What became of a run that was to be taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TakenUp {
    /// It is live here.
    Live,
    /// Another worker, which lives until then, drives it.
    Elsewhere(Timestamp),
    /// It is listed as not driven; what was asked of it has been done.
    NotDriven,
    /// Nothing has to be done for it.
    Idle,
    /// This engine is stopping.
    Stopping,
}

/// Takes `id` up if there is something to do for it.
///
/// `Err` when the ledger could not be read; a run that fails its checks is listed and is no error.
pub(crate) async fn take_up(shared: &Arc<Shared>, id: RunId) -> Result<TakenUp, LedgerError> {
    let driving = shared.ledger.driving(id).await?;
    if let Some(other) = driving.filter(|driving| driving.worker != shared.worker) {
        match other.lease_until {
            Some(until) if shared.now() < until => return Ok(TakenUp::Elsewhere(until)),
            // It was taken from this engine by one that says nothing of how long it lives: taking
            // it back would go on for ever.
            None if has_lost(shared, id) => return Ok(TakenUp::NotDriven),
            Some(_) | None => {}
        }
    }
    let (mailbox, receiver) = Mailbox::new();
    match shared.claim(id, mailbox.clone()) {
        Err(_) => return Ok(TakenUp::Stopping),
        Ok(false) => return Ok(TakenUp::Live),
        Ok(true) => {}
    }
    let place = Place {
        shared,
        id,
        kept: false,
    };
    Box::pin(place.fill((mailbox, receiver))).await
}

fn has_lost(shared: &Shared, id: RunId) -> bool {
    let known = shared.not_driven_run(id);
    known.is_some_and(|known| known.reason == NotDrivenReason::LeaseLost)
}

/// A place among the live runs, given back unless the run comes to fill it.
struct Place<'a> {
    shared: &'a Arc<Shared>,
    id: RunId,
    kept: bool,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.shared.retire(self.id, false);
        }
    }
}

impl Place<'_> {
    async fn fill(
        mut self,
        mail: (Mailbox, mpsc::Receiver<Message>),
    ) -> Result<TakenUp, LedgerError> {
        let (shared, id) = (self.shared, self.id);
        if limits::ABORTS_IN_A_ROW_MAX <= shared.aborts(id) {
            // Forgotten only once it is durable: whatever fails here, the run is not folded.
            let is_blamed = control::blame(shared, id).await?;
            shared.forget_aborts(id);
            if is_blamed {
                return Ok(TakenUp::Idle);
            }
        }
        let loaded = match load::load(shared, id).await {
            Ok(Some(loaded)) => loaded,
            Ok(None) => return Ok(TakenUp::Idle),
            Err(error) if is_corrupt(&error) => {
                note(shared, id, NotDrivenReason::Corrupt, error.to_string());
                return Ok(TakenUp::NotDriven);
            }
            Err(error) => return Err(error),
        };
        let head = loaded.run.head();
        let is_idle = head.is_none_or(|head| head.closed || head.quarantined.is_some());
        if is_idle && loaded.inbox.is_empty() {
            shared.forget_not_driven(id);
            return Ok(TakenUp::Idle);
        }
        let code = shared
            .registry
            .find(&loaded.class)
            .filter(|_| shared.drives);
        if code.is_none() && !is_idle && shared.drives {
            let (reason, detail) = without_code(shared, &loaded);
            note(shared, id, reason, detail);
        }
        self.kept = true;
        match code {
            Some(code) => {
                shared.forget_not_driven(id);
                go_live(shared, (loaded, Some(code)), mail);
                Ok(TakenUp::Live)
            }
            None if loaded.inbox.is_empty() => {
                self.kept = false;
                Ok(TakenUp::NotDriven)
            }
            None => visit(shared, loaded, mail).await,
        }
    }
}

/// The run's own task begins.
fn go_live(
    shared: &Arc<Shared>,
    (loaded, code): (LoadedRun, Option<Arc<Registered>>),
    mail: (Mailbox, mpsc::Receiver<Message>),
) {
    let (live, inputs) = live(shared, (loaded, code), mail);
    shared.ports.spawner.spawn(Box::pin(live.drive(inputs)));
}

fn live(
    shared: &Arc<Shared>,
    (loaded, registered): (LoadedRun, Option<Arc<Registered>>),
    mail: (Mailbox, mpsc::Receiver<Message>),
) -> (Box<Live>, Vec<Input>) {
    let inputs = inputs(shared, &loaded);
    let subject = Subject {
        registered,
        id: loaded.id,
        run: loaded.run,
        parked: true,
        kept: Kept {
            at: loaded.kept_at,
            last_at: loaded.last_at,
        },
    };
    (Live::new(Arc::clone(shared), subject, mail), inputs)
}

/// One turn for what was asked of a run whose code is not here; nothing of it is started.
async fn visit(
    shared: &Arc<Shared>,
    loaded: LoadedRun,
    mail: (Mailbox, mpsc::Receiver<Message>),
) -> Result<TakenUp, LedgerError> {
    let (reason, detail) = without_code(shared, &loaded);
    let (mut live, inputs) = live(shared, (loaded, None), mail);
    let turned = live.turn(inputs).await;
    let head = live.run.head();
    let is_open = head.is_some_and(|head| !head.closed && head.quarantined.is_none());
    live.has_left = true;
    live.tell();
    match turned {
        Ok(()) if live.no_room => Err(LedgerError::Io {
            detail: "there is no room to append".to_owned(),
        }),
        Err(Stop::Ledger(error)) => Err(error),
        Ok(()) | Err(_) if is_open => {
            // It may have been over until now, and go on since.
            if shared.drives {
                note(shared, live.id, reason, detail);
            }
            Ok(TakenUp::NotDriven)
        }
        Ok(()) | Err(_) => {
            shared.forget_not_driven(live.id);
            Ok(TakenUp::Idle)
        }
    }
}

fn inputs(shared: &Shared, loaded: &LoadedRun) -> Vec<Input> {
    let take_over = Command::TakeOver {
        worker: shared.worker,
        downtime: shared.downtime(loaded.last_at),
    };
    let mut inputs = vec![Input::from(take_over)];
    inputs.extend(ended_before(&loaded.run).map(Input::from));
    let messages = loaded.inbox.iter().cloned();
    inputs.extend(messages.map(|message| inbox::input(message, shared.evidence())));
    inputs.extend(
        left_behind(shared, &loaded.run)
            .into_iter()
            .map(Input::from),
    );
    inputs
}

/// A run that was ended by the bare fact, when nobody could fold it, ends as the core ends it now
/// that somebody can; it must never be driven on.
fn ended_before(run: &Run) -> Option<Command> {
    let head = run.head()?;
    let Asked { by, why } = head.terminated.clone()?;
    let is_open = head.lap.outcome.is_none();
    is_open.then_some(Command::Terminate { by, why })
}

/// A take-over ends what another worker had out. What this one had out, when the run's task ended
/// though it must not, is ended here: it was sent, and the same attempt is never sent again. What
/// is known of it all the same came by the inbox, and goes before.
fn left_behind(shared: &Shared, run: &Run) -> Vec<Command> {
    if run.head().is_none_or(|head| head.worker != shared.worker) {
        return Vec::new();
    }
    let out = run.calls().in_flight();
    let lost = out.filter_map(|(call, out)| {
        Some(Command::Settle(Settle {
            call,
            attempt: out.in_flight()?.no,
            end: outgoing::lost(),
            evidence: shared.evidence(),
        }))
    });
    lost.collect()
}

/// Whether a run fails its own checks, so that reading it again changes nothing.
pub(crate) const fn is_corrupt(error: &LedgerError) -> bool {
    matches!(
        error,
        LedgerError::CorruptRecord { .. }
            | LedgerError::CorruptChain { .. }
            | LedgerError::Damaged { .. }
    )
}

fn note(shared: &Shared, run: RunId, reason: NotDrivenReason, detail: String) {
    let code = reason.code();
    if shared
        .not_driven_run(run)
        .is_none_or(|known| known.reason != reason)
    {
        tracing::warn!(%run, %code, "a run is not driven");
    }
    shared.note_not_driven(NotDriven {
        run,
        reason,
        detail,
    });
}

fn without_code(shared: &Shared, loaded: &LoadedRun) -> (NotDrivenReason, String) {
    let class = &loaded.class;
    let reason = if shared.registry.differs(class) {
        NotDrivenReason::ClassChanged
    } else {
        NotDrivenReason::WaitingForCode
    };
    let detail = format!(
        "its class is {} v{} with fingerprint {}",
        class.name, class.version, class.fingerprint
    );
    (reason, detail)
}

/// Reads again while reading fails for a reason that may pass, at most
/// `limits::RECOVERY_READS_MAX` times.
pub(crate) async fn patiently<T, F>(
    shared: &Shared,
    mut read: impl FnMut() -> F,
) -> Result<T, LedgerError>
where
    F: Future<Output = Result<T, LedgerError>>,
{
    let mut reads = 1;
    loop {
        match read().await {
            Err(LedgerError::Io { .. }) if reads < limits::RECOVERY_READS_MAX => {
                let code = Code::StoreIo;
                tracing::warn!(%code, reads, "the store cannot be read, trying again");
                let wait = Millis::new(limits::RETRY_AFTER_MS_DEFAULT);
                shared.ports.timers.sleep(wait).await;
                reads += 1;
            }
            end => return end,
        }
    }
}
