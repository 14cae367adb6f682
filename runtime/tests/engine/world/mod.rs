//! A world to run whole engines in: one clock, one ledger and one outside that survive every crash,
//! and lives of engines on top of them.
//!
//! All is virtual: no test here may sleep, and one seed gives one history.

pub(crate) mod classes;
pub(crate) mod history;
pub(crate) mod ledger;
pub(crate) mod outside;
pub(crate) mod script;
pub(crate) mod truth;
pub(crate) mod witness;

use std::future::{Future, IntoFuture};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use mainstay_class::{Class, ErasedClass, Value};
use mainstay_runtime::engine::EngineBuilder;
use mainstay_runtime::{Engine, Outcome, Ports, RunHandle};
use mainstay_sim::{Executor, START, SeededIds, SeededRng, Stuck, VirtualClock, VirtualTimers};
use mainstay_types::{Clock, Millis, RunId};

pub(crate) use classes::{Minutes, Report, Ticket, minutes};
pub(crate) use ledger::{Moment, TestLedger};
pub(crate) use outside::Outside;
pub(crate) use script::{Ask, Does, Find};

/// What no crash takes away.
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) timers: VirtualTimers,
    pub(crate) outside: Arc<Outside>,
    pub(crate) ledger: Arc<TestLedger>,
    rng: Arc<SeededRng>,
    ids: Arc<SeededIds>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::seeded(1)
    }

    pub(crate) fn seeded(seed: u64) -> Self {
        let timers = VirtualTimers::new(VirtualClock::new(START));
        let ticks = Arc::new(AtomicU64::new(0));
        Self {
            seed,
            outside: Outside::new(&timers, Arc::clone(&ticks)),
            ledger: Arc::new(TestLedger::new(&timers, ticks)),
            timers,
            rng: Arc::new(SeededRng::stream(seed, "engine")),
            ids: Arc::new(SeededIds::new(seed)),
        }
    }

    pub(crate) fn clock(&self) -> &VirtualClock {
        self.timers.clock()
    }

    /// Milliseconds since the world began.
    pub(crate) fn elapsed(&self) -> u64 {
        self.clock().monotonic().get()
    }

    pub(crate) fn executor(&self) -> Executor {
        Executor::new(self.timers.clone())
    }

    /// The ports of an engine that `executor` drives.
    pub(crate) fn ports(&self, executor: &Executor) -> Ports {
        let (rng, ids) = (Arc::clone(&self.rng), Arc::clone(&self.ids));
        Ports {
            clock: Arc::new(self.clock().clone()),
            timers: Arc::new(self.timers.clone()),
            spawner: Arc::new(executor.spawner()),
            rng,
            ids,
        }
    }

    /// An engine on this world's ledger and these ports.
    pub(crate) fn builder_on(&self, ports: Ports) -> EngineBuilder {
        let ledger = Arc::clone(&self.ledger);
        EngineBuilder::new(ledger, ports)
    }

    /// An engine on this world's ledger, to be driven by `executor`.
    pub(crate) fn builder(&self, executor: &Executor) -> EngineBuilder {
        self.builder_on(self.ports(executor))
    }

    /// An engine that knows `classes`, started.
    pub(crate) fn live(&self, classes: &[Arc<ErasedClass>]) -> Life {
        self.live_with(|builder| {
            classes.iter().fold(builder, |builder, class| {
                builder.register_erased(class.clone())
            })
        })
    }

    /// An engine as `build` makes it, started.
    pub(crate) fn live_with(&self, build: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Life {
        let executor = self.executor();
        let engine = executor.block_on(build(self.builder(&executor)).start());
        Life {
            engine: engine.expect("the engine starts"),
            executor,
        }
    }

    /// These processes go on side by side for so long; one that is left out stands still.
    pub(crate) fn side_by_side(&self, lives: &[&Life], ms: u64) {
        for _ in 0..ms.div_ceil(SLICE_MS) {
            for life in lives {
                life.executor.run_until_stalled();
            }
            self.timers.advance(Millis::new(SLICE_MS));
        }
        for life in lives {
            life.executor.run_until_stalled();
        }
    }

    /// One life, ended by a crash after `polls` polls unless `act` ends before; `None` when it
    /// crashed.
    pub(crate) fn live_for<T, F>(
        &self,
        polls: u64,
        classes: &[Arc<ErasedClass>],
        act: impl FnOnce(Engine) -> F,
    ) -> Option<T>
    where
        F: Future<Output = T>,
    {
        let executor = self.executor().polls_max(polls);
        let builder = classes.iter().fold(self.builder(&executor), |b, class| {
            b.register_erased(class.clone())
        });
        let end = executor.try_block_on(async move {
            act(builder.start().await.expect("the engine starts")).await
        });
        executor.crash();
        match end {
            Ok(value) => Some(value),
            Err(Stuck::TooManyPolls { .. }) => None,
            Err(stuck @ Stuck::NothingLeft { .. }) => panic!("seed {}: {stuck}", self.seed),
        }
    }
}

impl World {
    /// Drives a run under the key `K` until its outcome or until the ledger's trap springs, and
    /// then takes everything in memory away. Whether the trap sprang; it is disarmed.
    pub(crate) fn springs<I: Value, O: Value>(
        &self,
        life: Life,
        class: &Class<I, O>,
        input: I,
    ) -> bool {
        let crashed = life.block_on(async {
            let run = async {
                let start = life.engine.start(class, input).key("K");
                let run = start.await.expect("it is not refused");
                run.outcome().await.expect("an outcome");
            };
            tokio::select! {
                biased;
                () = self.ledger.crash() => true,
                () = run => false,
            }
        });
        life.crash();
        self.ledger.disarm();
        crashed
    }
}

/// One process: an engine and everything it has in memory.
pub(crate) struct Life {
    pub(crate) engine: Engine,
    pub(crate) executor: Executor,
}

impl Life {
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.executor.block_on(future)
    }

    /// Starts a run without a key.
    pub(crate) fn start<I: Value, O: Value>(&self, class: &Class<I, O>, input: I) -> RunHandle<O> {
        let started = self.block_on(self.engine.start(class, input).into_future());
        started.expect("it is not refused")
    }

    /// Starts a run under the key `K`, or finds it.
    pub(crate) fn start_keyed<I: Value, O: Value>(
        &self,
        class: &Class<I, O>,
        input: I,
    ) -> RunHandle<O> {
        let start = self.engine.start(class, input).key("K");
        let started = self.block_on(start.into_future());
        started.expect("it is not refused")
    }

    /// Waits for a run's outcome.
    pub(crate) fn outcome<O: Value>(&self, run: &RunHandle<O>) -> Outcome<O> {
        self.block_on(run.outcome()).expect("an outcome")
    }

    /// Waits for the outcome of a run that was started in another life.
    pub(crate) fn outcome_of<I: Value, O: Value>(
        &self,
        class: &Class<I, O>,
        id: RunId,
    ) -> Outcome<O> {
        let run = self.block_on(self.engine.run(class, id));
        self.outcome(&run.expect("it can be read"))
    }

    pub(crate) fn run_for(&self, ms: u64) {
        self.executor.run_for(Millis::new(ms));
    }

    /// How many runs are in memory.
    pub(crate) fn in_memory(&self) -> usize {
        self.engine.status().live
    }

    /// Goes on until `is_there`, at most for `ms`; says whether it came to be.
    pub(crate) fn until(&self, ms: u64, is_there: impl Fn() -> bool) -> bool {
        let slice = SLICE_MS.max(ms / 1_000);
        for _ in 0..ms.div_ceil(slice) {
            if is_there() {
                return true;
            }
            self.run_for(slice);
        }
        is_there()
    }

    /// Everything in memory is gone.
    pub(crate) fn crash(self) {
        self.executor.crash();
    }
}

/// How fine processes that go on side by side are cut into turns.
const SLICE_MS: u64 = 5;
