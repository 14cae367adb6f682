//! The engine: classes registered before recovery begins, runs started, found, watched, stopped.
//!
//! The code of a class is known before any of its runs is taken over; there is no other order.

use std::sync::Arc;

use mainstay_class::{Class, ErasedClass, Value};
use mainstay_dispatch::Stack;
use mainstay_ledger::{Ledger, Page, RunFilter};
use mainstay_machine::{Core, Machine, Summary};
use mainstay_types::{Millis, RunId, limits};

use crate::answer::{self, RunHandle};
use crate::error::EngineError;
use crate::ports::Ports;
use crate::recovery::{self, NotDriven};
use crate::registry::Registry;
use crate::shared::{Parts, Shared};
use crate::shutdown::{self, ShutdownReport};
use crate::start::Start;
use crate::view::RunView;

/// An engine before it starts.
pub struct EngineBuilder {
    ledger: Arc<dyn Ledger>,
    ports: Ports,
    core: Arc<dyn Core>,
    stack: Stack,
    classes: Vec<Arc<ErasedClass>>,
    runs_max: usize,
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
            runs_max: limits::LIVE_RUNS_MAX,
        }
    }

    /// Registers a class: its runs can be started, and those in the store are driven on.
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

    /// Keeps at most `runs` live; further starts are refused with ENGINE_FULL. Recovered runs are
    /// driven regardless. At most `limits::LIVE_RUNS_MAX`.
    #[must_use]
    pub fn runs_max(mut self, runs: usize) -> Self {
        self.runs_max = runs.min(limits::LIVE_RUNS_MAX);
        self
    }

    /// Starts: every driven run of a registered class is taken over before this returns.
    ///
    /// Not cancel safe: a dropped future may leave runs driven. Ledger errors; a run that cannot
    /// be loaded is listed by [`Engine::not_driven`] and is no error.
    pub async fn start(self) -> Result<Engine, EngineError> {
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
        });
        recovery::recover(&shared).await?;
        Ok(Engine { shared })
    }
}

/// A running engine. Clones are the same engine; dropping the last one stops nothing.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

impl Engine {
    /// Starts a run of `class`; await the returned value. See [`Start`].
    pub fn start<I: Value, O: Value>(&self, class: &Class<I, O>, input: I) -> Start<I, O> {
        Start::new(Arc::clone(&self.shared), class, &input)
    }

    /// A handle to a run that exists.
    ///
    /// Cancel safe. `RUN_UNKNOWN` when there is no such run.
    pub async fn run<I: Value, O: Value>(
        &self,
        _class: &Class<I, O>,
        id: RunId,
    ) -> Result<RunHandle<O>, EngineError> {
        answer::load_run(&self.shared, id).await?;
        Ok(RunHandle::new(Arc::clone(&self.shared), id, true))
    }

    /// Asks a run to stop; durable once this returns. See [`RunHandle::cancel`].
    pub async fn cancel(&self, run: RunId, by: &str, why: &str) -> Result<(), EngineError> {
        answer::cancel(&self.shared, run, by, why).await
    }

    /// A run as it stands, with its timeline. Cancel safe.
    pub async fn view(&self, run: RunId) -> Result<RunView, EngineError> {
        answer::run_view(&self.shared, run).await
    }

    /// Runs of the store, newest first, before `cursor`. Cancel safe.
    pub async fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> Result<Page<Summary>, EngineError> {
        Ok(self.shared.ledger.runs(filter, cursor).await?)
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
    /// Not cancel safe: a dropped future leaves the engine refusing starts.
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
