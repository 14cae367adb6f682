//! Runs that were being driven when the last process ended: loaded, taken over, driven on.
//!
//! Not a mode: a recovered run is a live run whose first input is `TakeOver`. One that cannot be
//! driven is listed with its reason and holds up no other.

use std::future::Future;
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_machine::Command;
use mainstay_types::{Code, Millis, RunId, limits};

use crate::error::EngineError;
use crate::inbox;
use crate::live::{Live, Subject};
use crate::load::{self, LoadedRun};
use crate::mailbox::Mailbox;
use crate::shared::Shared;
use crate::shutdown;
use crate::turn::Input;

/// A run that has to be driven and is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotDriven {
    /// The run.
    pub run: RunId,
    /// Why.
    pub reason: NotDrivenReason,
    /// In words.
    pub detail: String,
}

/// Why a run is not driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotDrivenReason {
    /// Its class is not registered here.
    WaitingForCode,
    /// A class of its name and version is registered with other content.
    ClassChanged,
    /// Its stored events fail a check.
    Corrupt,
    /// Another owner drives it now.
    LeaseLost,
    /// The store failed while it was driven.
    StoreFailed,
}

impl NotDrivenReason {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::WaitingForCode => Code::WaitingForCode,
            Self::ClassChanged => Code::ClassChanged,
            Self::Corrupt => Code::CorruptRecord,
            Self::LeaseLost => Code::LeaseLost,
            Self::StoreFailed => Code::StorePoisoned,
        }
    }
}

/// Takes over every driven run. Returns once each is live or listed as not driven.
///
/// Reading that fails for a while is tried again; when it fails for good, what was taken over is
/// let go before the error is returned.
pub(crate) async fn recover(shared: &Arc<Shared>) -> Result<(), EngineError> {
    let scanned = scan(shared).await;
    if scanned.is_err() {
        shutdown::abandon(shared).await;
    }
    scanned
}

async fn scan(shared: &Arc<Shared>) -> Result<(), EngineError> {
    let mut cursor = None;
    loop {
        let page = patiently(shared, || shared.ledger.driven(cursor)).await?;
        for &id in &page.rows {
            recover_run(shared, id).await?;
        }
        cursor = page.rows.last().copied();
        if !page.more || cursor.is_none() {
            return Ok(());
        }
    }
}

/// Reads again while reading fails for a reason that may pass, at most
/// `limits::RECOVERY_READS_MAX` times.
async fn patiently<T, F>(shared: &Shared, mut read: impl FnMut() -> F) -> Result<T, LedgerError>
where
    F: Future<Output = Result<T, LedgerError>>,
{
    let mut reads = 1;
    loop {
        match read().await {
            Err(LedgerError::Io { detail }) if reads < limits::RECOVERY_READS_MAX => {
                tracing::warn!(%detail, reads, "the store cannot be read, trying again");
                let wait = Millis::new(limits::RETRY_AFTER_MS_DEFAULT);
                shared.ports.timers.sleep(wait).await;
                reads += 1;
            }
            end => return end,
        }
    }
}

async fn recover_run(shared: &Arc<Shared>, id: RunId) -> Result<(), EngineError> {
    let loaded = match patiently(shared, || load::load(shared, id)).await {
        Ok(Some(loaded)) => loaded,
        Ok(None) => return Ok(()),
        Err(
            error @ (LedgerError::CorruptRecord { .. }
            | LedgerError::CorruptChain { .. }
            | LedgerError::Damaged { .. }),
        ) => {
            tracing::error!(run = %id, %error, "a run cannot be loaded");
            let (reason, detail) = (NotDrivenReason::Corrupt, error.to_string());
            shared.note_not_driven(NotDriven {
                run: id,
                reason,
                detail,
            });
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    if loaded
        .run
        .head()
        .is_some_and(|head| head.closed || head.quarantined.is_some())
    {
        return Ok(());
    }
    match shared.registry.find(&loaded.class) {
        Some(registered) => {
            let inputs = inputs(shared, &loaded);
            let (mailbox, receiver) = Mailbox::new();
            shared.admit_recovered(id, mailbox.clone());
            let subject = Subject {
                registered,
                id,
                run: loaded.run,
            };
            let live = Live::new(Arc::clone(shared), subject, (mailbox, receiver));
            shared.ports.spawner.spawn(Box::pin(live.drive(inputs)));
        }
        None => shared.note_not_driven(without_code(shared, id, &loaded)),
    }
    Ok(())
}

fn inputs(shared: &Shared, loaded: &LoadedRun) -> Vec<Input> {
    let take_over = Command::TakeOver {
        worker: shared.worker,
        last_at: shared
            .last_time
            .map_or(loaded.last_at, |last| last.max(loaded.last_at)),
    };
    let mut inputs = vec![Input::from(take_over)];
    inputs.extend(loaded.inbox.iter().cloned().map(inbox::input));
    inputs
}

fn without_code(shared: &Shared, run: RunId, loaded: &LoadedRun) -> NotDriven {
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
    tracing::warn!(%run, %detail, code = %reason.code(), "a run is not driven");
    NotDriven {
        run,
        reason,
        detail,
    }
}
