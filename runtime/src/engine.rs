//! The engine: classes registered before recovery begins, runs started, found, watched, stopped.
//!
//! The code of a class is known before any of its runs is taken over; there is no other order.

use std::sync::Arc;

use mainstay_class::{Class, ErasedClass, Value};
use mainstay_dispatch::Stack;
use mainstay_graph::Budget;
use mainstay_ledger::{Ledger, Page, RunFilter, StoredAlert, StoredClass};
use mainstay_machine::{Core, EffectStatus, Machine, Ruling, Summary};
use mainstay_types::{AlertSeq, Code, EffectKey, LapNo, Millis, Payload, Refusal, RunId, limits};

use crate::alerts;
use crate::answer::{self, Found, RunHandle};
use crate::by_hand;
use crate::companion::{self, Companion};
use crate::control::{self, Asks};
use crate::error::EngineError;
use crate::keeper::Keeper;
use crate::listing::{self, EffectFilter, EffectPage, Status};
use crate::not_driven::NotDriven;
use crate::observe;
use crate::ports::Ports;
use crate::registry::Registry;
use crate::shared::{Parts, Shared};
use crate::shutdown::{self, ShutdownReport};
use crate::start::Start;
use crate::view::why::WhyView;
use crate::view::{OneEffect, RunView};

/// An engine before it starts.
pub struct EngineBuilder {
    ledger: Arc<dyn Ledger>,
    ports: Ports,
    core: Arc<dyn Core>,
    stack: Stack,
    classes: Vec<Arc<ErasedClass>>,
    companions: Vec<Box<dyn Companion>>,
    runs_max: usize,
    recovery_max: usize,
    drives: bool,
}

impl EngineBuilder {
    /// An engine over this ledger and these ports.
    #[must_use]
    pub fn new(ledger: Arc<dyn Ledger>, ports: Ports) -> Self {
        let stack = Stack::new(Arc::clone(&ports.timers));
        Self {
            ledger,
            ports,
            core: Arc::new(Machine),
            stack,
            classes: Vec::new(),
            companions: Vec::new(),
            runs_max: limits::LIVE_RUNS_MAX,
            recovery_max: limits::RECOVERED_RUNS_MAX,
            drives: true,
        }
    }

    /// Registers a class: its runs can be started, and those in the store are driven on.
    ///
    /// Code of the class that panics quarantines the run it panicked for, with its message; no
    /// other run notices. A dependency that panics fails its attempt: a read for good
    /// (`CODE_PANICKED`), a write into a doubt, because it may have been sent.
    #[must_use]
    pub fn register<I: Value, O: Value>(mut self, class: &Class<I, O>) -> Self {
        self.classes.push(class.erased());
        self
    }

    /// Registers a class without its types.
    #[must_use]
    pub fn register_erased(mut self, class: Arc<ErasedClass>) -> Self {
        self.classes.push(class);
        self
    }

    /// Uses this stack of layers for every attempt.
    ///
    /// A layer that panics fails its attempt, as a dependency that panics does; before the send it
    /// fails one that was not sent.
    #[must_use]
    pub fn stack(mut self, stack: Stack) -> Self {
        self.stack = stack;
        self
    }

    /// Stands between the engine and the core; for simulators.
    #[must_use]
    pub fn core(mut self, core: Arc<dyn Core>) -> Self {
        self.core = core;
        self
    }

    /// Lets `companion` run beside the engine, from the end of its start to the end of its
    /// shutdown.
    #[must_use]
    pub fn accompany(mut self, companion: impl Companion + 'static) -> Self {
        self.companions.push(Box::new(companion));
        self
    }

    /// Lets nothing run beside the engine: one of the facade's `open` then serves no local socket.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.companions.clear();
        self
    }

    /// Keeps at most `runs` live; further starts are refused with ENGINE_FULL. Runs that were
    /// started before are driven regardless, see [`Self::recovery_max`]. At most
    /// `limits::LIVE_RUNS_MAX`.
    #[must_use]
    pub fn runs_max(mut self, runs: usize) -> Self {
        self.runs_max = runs.min(limits::LIVE_RUNS_MAX);
        self
    }

    /// Takes up at most `runs` that were driven when their process ended; the others follow as
    /// these end or are parked, and at once when somebody asks for them. At most
    /// `limits::LIVE_RUNS_MAX`; `limits::RECOVERED_RUNS_MAX` when it is not said, so that there is
    /// room for new runs.
    #[must_use]
    pub fn recovery_max(mut self, runs: usize) -> Self {
        self.recovery_max = runs.clamp(1, limits::LIVE_RUNS_MAX);
        self
    }

    /// An engine for operators: it drives nothing and needs no class. What is asked of a run is
    /// done in one step, without the class's code; everything else waits for an engine that drives.
    #[must_use]
    pub fn operator(mut self) -> Self {
        self.drives = false;
        self
    }

    /// Starts: every driven run of a registered class is taken over before this returns, as far as
    /// `recovery_max` goes.
    ///
    /// Not cancel safe: a dropped future may leave runs driven. Ledger errors; a run that cannot
    /// be loaded is listed by [`Engine::not_driven`] and is no error.
    pub async fn start(self) -> Result<Engine, EngineError> {
        observe::describe();
        let mut registry = Registry::default();
        for class in self.classes {
            let (name, version) = (class.data.name.clone(), class.data.version);
            let stored = self.ledger.class(name, version).await?;
            registry.add(class, &self.stack, stored.map(|stored| stored.fingerprint));
        }
        let last_time = self.ledger.last_time().await?;
        let shared = Shared::new(Parts {
            core: self.core,
            ledger: self.ledger,
            ports: self.ports,
            registry,
            last_time,
            runs_max: self.runs_max,
            recovery_max: self.recovery_max,
            drives: self.drives,
        });
        if self.drives {
            keep(&shared).await?;
        }
        companion::begin(&shared, self.companions).await;
        Ok(Engine { shared })
    }
}

/// The first pass of the keeper, and then the keeper beside the engine. When the pass fails for
/// good, what was taken over is let go before the error is returned.
async fn keep(shared: &Arc<Shared>) -> Result<(), EngineError> {
    let mut keeper = Keeper::new(shared);
    if let Err(error) = keeper.first(shared).await {
        shutdown::abandon(shared).await;
        return Err(error.into());
    }
    shared.ports.spawner.spawn(Box::pin(keeper.keep()));
    Ok(())
}

/// A running engine. Clones are the same engine.
///
/// Dropping the last one without [`Self::shutdown`] loses nothing and cancels nothing: runs in
/// memory go on until they end or are parked, and the engine is gone once none is left and no
/// [`RunHandle`] either. Parked runs, and those nobody has taken up yet, wait for the next engine
/// on the store; so do commands that come by the ledger.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

impl Engine {
    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) const fn of(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Starts a run of `class`; await the returned value. See [`Start`].
    pub fn start<I: Value, O: Value>(&self, class: &Class<I, O>, input: I) -> Start<I, O> {
        Start::new(Arc::clone(&self.shared), class, &input)
    }

    /// A handle to a run of this class, of whatever version.
    ///
    /// Cancel safe. `RUN_UNKNOWN` when there is no such run, or it is one of another class.
    pub async fn run<I: Value, O: Value>(
        &self,
        class: &Class<I, O>,
        id: RunId,
    ) -> Result<RunHandle<O>, EngineError> {
        let loaded = answer::load_run(&self.shared, id).await?;
        if loaded.class.name != class.erased().data.name {
            let about = format!("{id} is a run of the class {}", loaded.class.name);
            return Err(Refusal::new(Code::RunUnknown).about(about).into());
        }
        Ok(RunHandle::new(Arc::clone(&self.shared), Found::reused(id)))
    }

    /// Asks a run to stop; durable once this returns. Cancel safe: a dropped future may have asked.
    /// See [`RunHandle::cancel`].
    pub async fn cancel(&self, run: RunId, by: &str, why: &str) -> Result<(), EngineError> {
        control::cancel(&self.shared, run, Asks::of(by, why)).await
    }

    /// Ends a run whatever its state: running, waiting, without its code, quarantined. Writes that
    /// are out or in doubt are still asked about, and told as addenda.
    ///
    /// Durable once this returns. Cancel safe: a dropped future may have asked. `RUN_ENDED` when
    /// the lap has its outcome and the run is not quarantined.
    pub async fn terminate(&self, run: RunId, by: &str, why: &str) -> Result<(), EngineError> {
        control::terminate(&self.shared, run, Asks::of(by, why)).await
    }

    /// Opens the next lap of a run that ended handed_off, degraded, failed or rejected: fresh times
    /// and budget on the same requests, keys and effects. A quarantined run is driven again, in the
    /// lap it was in when that is open. The lap it goes on in.
    ///
    /// Durable once this returns. Cancel safe: a dropped future may have asked.
    /// `CONTINUE_REFUSED` for any other run.
    pub async fn continue_run(
        &self,
        run: RunId,
        by: &str,
        why: &str,
    ) -> Result<LapNo, EngineError> {
        control::go_on(&self.shared, run, Asks::of(by, why)).await
    }

    /// Lets the open lap of a run spend more: retry tokens, concurrency tokens, cost units. What it
    /// may spend from then on. A run that waits at one of these limits goes on.
    ///
    /// Durable once this returns. Cancel safe: a dropped future may have asked. `RAISE_REFUSED`
    /// beyond what any class may have, or when nothing is raised; `RUN_ENDED` without an open lap.
    pub async fn raise(
        &self,
        run: RunId,
        more: Budget,
        (by, why): (&str, &str),
    ) -> Result<Budget, EngineError> {
        control::raise(&self.shared, run, Asks::of(by, why), more).await
    }

    /// Says what became of an effect that no machine can tell: in doubt, or applied in part. Its
    /// run goes on by itself. `result` is what the receiver of an applied effect answered, or would
    /// have. How the effect stands by that.
    ///
    /// Durable once this returns. Cancel safe: a dropped future may have asked. `EFFECT_NOT_THERE`
    /// for a key that nobody has, `SETTLE_REFUSED` for an effect that is known, or while a request
    /// may still land; `INVALID_INPUT` for a result that the class cannot read, `WAITING_FOR_CODE`
    /// when its code is not here to say.
    pub async fn settle_effect(
        &self,
        key: &EffectKey,
        (ruling, result): (Ruling, Option<Payload>),
        (by, why): (&str, &str),
    ) -> Result<EffectStatus, EngineError> {
        by_hand::settle(&self.shared, key, (ruling, result), Asks::of(by, why)).await
    }

    /// One effect: how it stands, what was tried, what its receiver promises, and who settled it.
    ///
    /// Cancel safe. `EFFECT_NOT_THERE` for a key that nobody has.
    pub async fn effect(&self, key: &EffectKey) -> Result<OneEffect, EngineError> {
        by_hand::view(&self.shared, key).await
    }

    /// A run as it stands, with its timeline. Cancel safe.
    pub async fn view(&self, run: RunId) -> Result<RunView, EngineError> {
        answer::run_view(&self.shared, run).await
    }

    /// Why a run stands where it stands: what is in the way, what it spent on what, what comes
    /// next, what nobody knows, and which number would have to change. Cancel safe.
    pub async fn why(&self, run: RunId) -> Result<WhyView, EngineError> {
        answer::run_why(&self.shared, run).await
    }

    /// Runs of the store, newest first, before `cursor`. Cancel safe.
    pub async fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> Result<Page<Summary>, EngineError> {
        listing::runs(&self.shared, filter, cursor).await
    }

    /// Effects of the store's runs, newest run first, before `cursor`. Cancel safe.
    pub async fn effects(
        &self,
        filter: EffectFilter,
        cursor: Option<RunId>,
    ) -> Result<EffectPage, EngineError> {
        listing::effects(&self.shared, filter, cursor).await
    }

    /// Alerts after `after`, in order: hand-offs, doubts, late ends, quarantines, addenda, late
    /// results to review, orphans of which nothing was heard. Durable
    /// and at least once: keep the number of the last one that was handled; `AlertSeq(0)` begins.
    ///
    /// Cancel safe.
    pub async fn alerts(&self, after: AlertSeq) -> Result<Page<StoredAlert>, EngineError> {
        alerts::read(&self.shared, after).await
    }

    /// The same, waiting until there is at least one.
    ///
    /// Cancel safe: a dropped future has taken no alert from anybody, the next one finds it.
    pub async fn alerted(&self, after: AlertSeq) -> Result<Page<StoredAlert>, EngineError> {
        alerts::wait(&self.shared, after).await
    }

    /// The engine as its operator sees it.
    #[must_use]
    pub fn status(&self) -> Status {
        listing::status(&self.shared)
    }

    /// The task classes of the store, by name and version. Cancel safe.
    pub async fn classes(&self) -> Result<Vec<StoredClass>, EngineError> {
        Ok(self.shared.ledger.classes().await?)
    }

    /// Runs that have to be driven and are not, with their reasons.
    #[must_use]
    pub fn not_driven(&self) -> Vec<NotDriven> {
        self.shared.not_driven()
    }

    /// How many appends the ledger made since it was opened.
    #[must_use]
    pub fn appends(&self) -> u64 {
        self.shared.ledger.appends()
    }

    /// Stops in order: no new start, no new attempt; waits for what is out, at most `bound`.
    ///
    /// Not cancel safe: a dropped future leaves the engine refusing starts and draining; calling it
    /// again ends it.
    pub async fn shutdown(self, bound: Millis) -> ShutdownReport {
        shutdown::drain(&self.shared, bound).await
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("live", &self.shared.live_count())
            .finish_non_exhaustive()
    }
}
