//! Starting a run: idempotent by key, durable once it returns, refused without a trace.
//!
//! The same key with the same input finds the same run, whatever became of it; with another input
//! it is refused. Refusals are never stored.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use mainstay_class::{Class, Value};
use mainstay_dispatch::TraceContext;
use mainstay_ledger::HeldKey;
use mainstay_machine::{
    Admission, AskStart, ClassRef, Command, OutcomeKind, RunStarted, Verdict, start,
};
use mainstay_types::{
    Code, LapNo, Millis, Payload, Refusal, RunId, StartKey, Tenant, Timestamp, json, limits,
};
use serde::Serialize;
use tokio::sync::oneshot;

use crate::answer::{Found, RunHandle};
use crate::control::{self, Asks};
use crate::error::EngineError;
use crate::keeping::Kept;
use crate::live::{Live, Stop, Subject};
use crate::mailbox::{Left, Mailbox};
use crate::observe;
use crate::poison::Poison;
use crate::registry::Registered;
use crate::shared::Shared;
use crate::turn::input_digest;

/// A start that is being put together; await it to start.
#[must_use = "a start does nothing until it is awaited"]
pub struct Start<I, O> {
    shared: Arc<Shared>,
    class: ClassRef,
    input: Result<Payload, EngineError>,
    tenant: Result<Tenant, EngineError>,
    key: Option<Result<StartKey, EngineError>>,
    traceparent: Option<String>,
    continues: bool,
    within: Option<Millis>,
    takes_later: bool,
    types: PhantomData<fn(I) -> O>,
}

impl<I: Value, O: Value> Start<I, O> {
    pub(crate) fn new(shared: Arc<Shared>, class: &Class<I, O>, input: &I) -> Self {
        let erased = class.erased();
        Self {
            shared,
            class: ClassRef {
                name: erased.data.name.clone(),
                version: erased.data.version,
                fingerprint: erased.fingerprint,
            },
            input: payload(input),
            tenant: tenant("default"),
            key: None,
            traceparent: None,
            continues: false,
            within: None,
            takes_later: false,
            types: PhantomData,
        }
    }

    /// Whose run it is; default `default`. Part of every effect key.
    pub fn tenant(mut self, name: &str) -> Self {
        self.tenant = tenant(name);
        self
    }

    /// The caller's key: the same key finds the same run. Without one, each start is a new run.
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(StartKey::new(key).map_err(|error| invalid(error.to_string())));
        self
    }

    /// Goes on in a next lap when the key stands for a run that ended handed_off, degraded or
    /// failed, or that was rejected: fresh times and budget of the class on the same keys and
    /// effects, whatever `answer_within` says. A rejected one only when it fits its time by now,
    /// else INSUFFICIENT_TIME_BUDGET. Any other run of the key is found as it is. Without a key it
    /// changes nothing.
    pub fn or_continue(mut self) -> Self {
        self.continues = true;
        self
    }

    /// How long this caller waits, when that is less than the class says. It is for the run that
    /// begins: one that its key finds keeps its times, and a next lap has the class's.
    ///
    /// A run whose needs do not fit is not begun: INSUFFICIENT_TIME_BUDGET, with the numbers.
    pub const fn answer_within(mut self, within: Millis) -> Self {
        self.within = Some(within);
        self
    }

    /// Takes a later answer: when what the run needs does not fit before its answer, and its class
    /// says how long it may work behind one (`later`), the run begins all the same and its answer
    /// is `Later` at once. The outcome comes when it is there.
    pub const fn or_later(mut self) -> Self {
        self.takes_later = true;
        self
    }

    /// The caller's W3C `traceparent`: the run's spans take their places in that trace, and every
    /// attempt passes it on with a span of its own and the caller's sampling flag. One that is none
    /// is ignored, as its standard asks for; a span event says so.
    pub fn traceparent(mut self, traceparent: &str) -> Self {
        let context = TraceContext::parse(traceparent);
        if context.is_none() {
            tracing::debug!("the caller's traceparent is none and is ignored");
        }
        self.traceparent = context.map(|context| context.to_string());
        self
    }
}

/// Durable once it returns `Ok`. Not cancel safe without a key: a dropped future may leave the run
/// started. With one it is: the next start finds that run.
///
/// Refused with nothing stored: INVALID_INPUT, PAYLOAD_TOO_LARGE, START_KEY_MISMATCH,
/// CLASS_UNKNOWN, CLASS_CHANGED, ENGINE_STOPPING, and INSUFFICIENT_TIME_BUDGET without a key;
/// ENGINE_FULL and STORE_FULL say when to come back. CLASS_PANICKED when the class's code panics
/// before the run is durable; nothing is stored then either.
impl<I: Value, O: Value> IntoFuture for Start<I, O> {
    type Output = Result<RunHandle<O>, EngineError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let (shared, class) = (self.shared, self.class);
        let (input, tenant, key) = (self.input, self.tenant, self.key);
        let (traceparent, continues) = (self.traceparent, self.continues);
        Box::pin(async move {
            let (input, tenant) = (input?, tenant?);
            let request = Request {
                class,
                input,
                tenant,
                key: key.transpose()?,
                traceparent,
                within: self.within,
                takes_later: self.takes_later,
            };
            let (class, stored) = (request.class.name.clone(), request.class.clone());
            let begun = begin(&shared, request).await;
            let found = begun.inspect_err(|error| observe::metrics::refused(&class, error))?;
            if found.reused && continues {
                let gone_on = Box::pin(go_on(&shared, found.id, &stored)).await;
                gone_on.inspect_err(|error| observe::metrics::refused(&class, error))?;
            }
            Ok(RunHandle::new(shared, found))
        })
    }
}

fn invalid(detail: String) -> EngineError {
    Refusal::new(Code::InvalidInput).about(detail).into()
}

fn tenant(name: &str) -> Result<Tenant, EngineError> {
    Tenant::new(name).map_err(|error| invalid(error.to_string()))
}

fn payload<I: Serialize>(input: &I) -> Result<Payload, EngineError> {
    let text = json::to_canonical(input).map_err(|error| invalid(error.to_string()))?;
    if limits::PAYLOAD_BYTES_MAX < text.len() {
        return Err(Refusal::new(Code::PayloadTooLarge)
            .with("bytes", text.len())
            .with("limit", limits::PAYLOAD_BYTES_MAX)
            .about("the run's input")
            .into());
    }
    Ok(Payload::from(text))
}

struct Request {
    class: ClassRef,
    input: Payload,
    tenant: Tenant,
    key: Option<StartKey>,
    traceparent: Option<String>,
    within: Option<Millis>,
    takes_later: bool,
}

async fn begin(shared: &Arc<Shared>, request: Request) -> Result<Found, EngineError> {
    let keyed = request.key.clone().map(|key| {
        let digest = input_digest(&request.class.name, &request.input);
        (key, digest)
    });
    if let Some((key, digest)) = &keyed {
        let held = shared
            .ledger
            .start_key(request.tenant.clone(), key.clone())
            .await?;
        if let Some((run, input)) = held {
            return found_again(key, run, input == *digest);
        }
    }
    let registered = startable(shared, &request.class)?;
    let now = shared.now();
    let id = shared.ports.ids.run_id(now);
    let forecast = registered.forecast(now, request.takes_later);
    let started = started((shared, &registered), id, request, now);
    let ask = Box::new(AskStart { started, forecast });
    match drive_new(shared, registered, ask).await {
        Ok(left) => Ok(Found {
            id,
            reused: false,
            left,
        }),
        Err(NotStarted::Held(HeldKey::Start { run, input })) => match keyed {
            Some((key, digest)) => found_again(&key, run, input == digest),
            None => Err(Refusal::new(Code::KeyHeld).into()),
        },
        Err(NotStarted::Held(HeldKey::Effect { entry, .. })) => Err(Refusal::new(Code::KeyHeld)
            .about(entry.key.to_string())
            .into()),
        Err(NotStarted::Error(error)) => Err(error),
    }
}

/// Opens the next lap of a run that can be gone on from; any other is left as it is. One that was
/// rejected is asked about its time again: a caller who tries once more makes nothing fit.
async fn go_on(shared: &Arc<Shared>, id: RunId, class: &ClassRef) -> Result<(), EngineError> {
    let summary = shared.ledger.summary(id).await?;
    if summary.is_some_and(|row| row.outcome == Some(OutcomeKind::Rejected)) {
        fits_now(shared, class)?;
    }
    let asks = Asks::of("the caller of start", "or_continue");
    match control::go_on(shared, id, asks).await {
        Ok(_) => Ok(()),
        Err(EngineError::Refused { refusal, .. }) if refusal.code == Code::ContinueRefused => {
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Whether a lap with the class's own times fits them.
fn fits_now(shared: &Arc<Shared>, class: &ClassRef) -> Result<(), Refusal> {
    let (registered, now) = (startable(shared, class)?, shared.now());
    let data = &registered.class.data;
    let times = start::lap_times(data, now, None);
    let admission = Admission::of(data, &registered.forecast(now, false), (now, &times));
    match admission.verdict {
        Verdict::Admitted => Ok(()),
        Verdict::Later | Verdict::Rejected => Err(admission.refusal(data)),
    }
}

/// The class's code, if runs of it may begin here.
fn startable(shared: &Shared, class: &ClassRef) -> Result<Arc<Registered>, Refusal> {
    let refused = |code| Refusal::new(code).about(format!("{} v{}", class.name, class.version));
    match shared.registry.find(class) {
        Some(registered) if registered.is_stored_differently => Err(refused(Code::ClassChanged)),
        Some(registered) => Ok(registered),
        None if shared.registry.differs(class) => Err(refused(Code::ClassChanged)),
        None => Err(refused(Code::ClassUnknown)),
    }
}

fn found_again(key: &StartKey, run: RunId, same_input: bool) -> Result<Found, EngineError> {
    if same_input {
        return Ok(Found::reused(run));
    }
    let about = format!("key {key} stands for run {run}");
    Err(Refusal::new(Code::StartKeyMismatch).about(about).into())
}

fn started(
    (shared, registered): (&Shared, &Registered),
    run: RunId,
    request: Request,
    at: Timestamp,
) -> RunStarted {
    let data = &registered.class.data;
    RunStarted {
        run,
        class: request.class,
        tenant: request.tenant,
        start_key: request.key,
        input: request.input,
        at,
        lap: LapNo(1),
        times: start::lap_times(data, at, request.within),
        budget: data.budget,
        on_failure: data.on_failure,
        worker: shared.worker,
        traceparent: request.traceparent,
    }
}

enum NotStarted {
    Held(HeldKey),
    Error(EngineError),
}

/// Starts the run's own task; the first append happens in it, so that a caller that goes away
/// does not leave a durable run that nobody drives.
async fn drive_new(
    shared: &Arc<Shared>,
    registered: Arc<Registered>,
    ask: Box<AskStart>,
) -> Result<Left, NotStarted> {
    let id = ask.started.run;
    let held = shared.hold_lease().await;
    held.map_err(|error| NotStarted::Error(error.into()))?;
    let (mailbox, receiver) = Mailbox::new();
    let left = mailbox.left();
    shared
        .admit(id, mailbox.clone())
        .map_err(NotStarted::Error)?;
    let run = registered.unborn();
    let subject = Subject {
        registered: Some(registered),
        id,
        run,
        parked: false,
        kept: Kept::nothing(),
    };
    let mut live = Live::new(Arc::clone(shared), subject, (mailbox, receiver));
    let (tell, told) = oneshot::channel::<Result<(), Stop>>();
    shared.ports.spawner.spawn(Box::pin(async move {
        let begun = live.begin(Command::Start(ask)).await;
        if begun.is_ok() {
            drop(tell.send(begun));
            live.drive(Vec::new()).await;
        } else {
            // Its place is free before its caller hears of it.
            drop(live);
            drop(tell.send(begun));
        }
    }));
    match told.await {
        Ok(Ok(())) => Ok(left),
        Ok(Err(Stop::StartKeyHeld(held))) => Err(NotStarted::Held(held)),
        Ok(Err(stop)) => Err(NotStarted::Error(error_of(id, stop))),
        Err(_) => Err(NotStarted::Error(Refusal::new(Code::EngineStopping).into())),
    }
}

fn error_of(run: RunId, stop: Stop) -> EngineError {
    match stop {
        Stop::Ledger(error) => EngineError::Ledger(error),
        Stop::Refused(refusal) => refusal.into(),
        Stop::Full => EngineError::Refused {
            refusal: Refusal::new(Code::StoreFull),
            retry_after: Some(Millis::new(limits::RETRY_AFTER_MS_DEFAULT)),
        },
        Stop::Quarantined(Poison { code, detail }) => EngineError::NotDriven { run, code, detail },
        Stop::LeaseLost | Stop::StartKeyHeld(_) => EngineError::NotDriven {
            run,
            code: Code::LeaseLost,
            detail: "another owner drives it".to_owned(),
        },
    }
}
