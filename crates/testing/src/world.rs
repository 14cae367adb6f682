//! The world of one test: an engine, its memory and its time, and the fakes outside of it.
//!
//! What a process loses when it is killed is lost by [`World::restart`] too; the ledger, the fakes
//! and the time go on. Time passes only while somebody waits in it, and never by itself.

use std::future::IntoFuture;
use std::sync::Arc;

use mainstay_class::{Class, ErasedClass, Value};
use mainstay_ledger::{Ledger, MemoryLedger, RunFilter};
use mainstay_machine::{RunState, Summary};
use mainstay_runtime::view::RunView;
use mainstay_runtime::view::text::render;
use mainstay_runtime::{Answer, Engine, EngineBuilder, Outcome, Ports, RunHandle};
use mainstay_sim::Sim;
use mainstay_types::{Clock, Millis, RunId, Timestamp};

use crate::fake::Fake;
use crate::provider::{FakeProvider, Time};

/// How long [`World::run_to_the_end`] waits for open runs: beyond the default doubt_wait, and short
/// enough for look-ups that go on hourly.
const END_AFTER_MAX: Millis = Millis::from_days(7);

type Configure = Box<dyn Fn(EngineBuilder, &Ports) -> EngineBuilder>;

/// A world that is being put together.
#[must_use = "a world begins with `start`"]
pub struct Builder {
    seed: u64,
    starts_at: Timestamp,
    fakes: Vec<Fake>,
    classes: Vec<Arc<ErasedClass>>,
    configure: Configure,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            seed: 1,
            starts_at: mainstay_sim::START,
            fakes: Vec::new(),
            classes: Vec::new(),
            configure: Box::new(|builder, _| builder),
        }
    }

    /// Draws ids and jitter from this seed; default 1. A world that is dropped by a panic prints
    /// its seed.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the wall clock's beginning; default 2027-01-01T00:00:00Z.
    pub const fn starts_at(mut self, time: Timestamp) -> Self {
        self.starts_at = time;
        self
    }

    /// Puts a fake behind the dependency of its name, in every class that has one.
    pub fn with(mut self, fake: &Fake) -> Self {
        self.fakes.push(fake.clone());
        self
    }

    /// Registers a class. Dependencies without a fake stay what they are: code that needs nothing
    /// real may stay, everything else waits for ever in virtual time.
    pub fn register<I: Value, O: Value>(mut self, class: &Class<I, O>) -> Self {
        self.classes.push(class.erased());
        self
    }

    /// Changes the engine's own settings, at the start and at each restart.
    pub fn configure(
        mut self,
        change: impl Fn(EngineBuilder, &Ports) -> EngineBuilder + 'static,
    ) -> Self {
        self.configure = Box::new(change);
        self
    }

    /// Begins.
    ///
    /// # Panics
    /// When no class asks the dependency of a fake, with the names there are; when the engine does
    /// not start.
    #[track_caller]
    #[must_use]
    pub fn start(self) -> World {
        let sim = Sim::at(self.seed, self.starts_at);
        let time = Time {
            clock: Arc::new(sim.clock()),
            timers: Arc::new(sim.timers()),
        };
        let mut classes = self.classes;
        for fake in &self.fakes {
            place(fake, &mut classes, &time);
        }
        let ledger = Arc::new(MemoryLedger::new());
        let setup = Setup {
            ledger,
            classes,
            configure: self.configure,
        };
        let engine = setup.engine(&sim);
        World { sim, setup, engine }
    }
}

/// Puts `fake` into every class that asks its dependency.
#[track_caller]
fn place(fake: &Fake, classes: &mut [Arc<ErasedClass>], time: &Time) {
    let name = &fake.0.name;
    let mut unknown = Vec::new();
    let mut is_placed = false;
    for class in classes {
        for is_write in [false, true] {
            match class.replace(name, &FakeProvider::shared(fake, is_write, time)) {
                Ok(replaced) => {
                    *class = Arc::new(replaced);
                    is_placed = true;
                }
                Err(error) => unknown.push(format!("{} {error}", class.data.name)),
            }
        }
    }
    assert!(
        is_placed,
        "no class asks the dependency `{name}` of a fake\n{}",
        unknown.join("\n")
    );
}

/// What every engine of a world is made from.
struct Setup {
    ledger: Arc<MemoryLedger>,
    classes: Vec<Arc<ErasedClass>>,
    configure: Configure,
}

impl Setup {
    #[track_caller]
    fn engine(&self, sim: &Sim) -> Engine {
        let ports = Ports {
            clock: Arc::new(sim.clock()),
            timers: Arc::new(sim.timers()),
            spawner: Arc::new(sim.spawner()),
            rng: sim.rng(),
            ids: sim.ids(),
        };
        let ledger: Arc<dyn Ledger> = Arc::clone(&self.ledger) as _;
        let builder = (self.configure)(EngineBuilder::new(ledger, ports.clone()), &ports);
        let builder = self.classes.iter().fold(builder, |builder, class| {
            builder.register_erased(Arc::clone(class))
        });
        let started = sim.block_on(builder.start());
        started.unwrap_or_else(|error| panic!("the engine does not start: {error}"))
    }
}

/// An engine in memory and virtual time, and everything that no crash takes away.
pub struct World {
    sim: Sim,
    setup: Setup,
    engine: Engine,
}

/// Runs.
impl World {
    /// The engine. What its futures wait for passes inside of [`World::block_on`] only.
    #[must_use]
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Waits for `future` in virtual time; everything else in the world goes on meanwhile.
    ///
    /// # Panics
    /// When it cannot end: nobody can go on, and no timer runs.
    #[track_caller]
    pub fn block_on<F: IntoFuture>(&self, future: F) -> F::Output {
        self.sim.block_on(future.into_future())
    }

    /// Starts a run without a key.
    ///
    /// # Panics
    /// When the start is refused.
    #[track_caller]
    pub fn start<I: Value, O: Value>(&self, class: &Class<I, O>, input: I) -> RunHandle<O> {
        let started = self.block_on(self.engine.start(class, input));
        started.unwrap_or_else(|error| panic!("the start is refused: {error}"))
    }

    /// Starts a run without a key and waits for its outcome.
    ///
    /// # Panics
    /// When the start is refused, or no outcome comes.
    #[track_caller]
    pub fn run<I: Value, O: Value>(&self, class: &Class<I, O>, input: I) -> Outcome<O> {
        self.outcome(&self.start(class, input))
    }

    /// Waits for what the caller is told by answer_by.
    ///
    /// # Panics
    /// When the run is not driven.
    #[track_caller]
    pub fn answer<O: Value>(&self, run: &RunHandle<O>) -> Answer<O> {
        let answer = self.block_on(run.answer());
        answer.unwrap_or_else(|error| panic!("run {} has no answer: {error}", run.id()))
    }

    /// Waits for how the lap ends.
    ///
    /// # Panics
    /// When the run is not driven.
    #[track_caller]
    pub fn outcome<O: Value>(&self, run: &RunHandle<O>) -> Outcome<O> {
        let outcome = self.block_on(run.outcome());
        outcome.unwrap_or_else(|error| panic!("run {} has no outcome: {error}", run.id()))
    }

    /// A run found again after a restart, by its id.
    ///
    /// # Panics
    /// When there is no such run.
    #[track_caller]
    pub fn find<I: Value, O: Value>(&self, class: &Class<I, O>, run: RunId) -> RunHandle<O> {
        let found = self.block_on(self.engine.run(class, run));
        found.unwrap_or_else(|error| panic!("run {run} is not found: {error}"))
    }

    /// A run as it stands, with its timeline.
    ///
    /// # Panics
    /// When there is no such run.
    #[track_caller]
    pub fn view(&self, run: RunId) -> RunView {
        let view = self.block_on(self.engine.view(run));
        view.unwrap_or_else(|error| panic!("run {run} cannot be viewed: {error}"))
    }

    /// A run's whole story as text: calls, attempts, effects, timeline. The same seed and the same
    /// deeds give the same text.
    ///
    /// # Panics
    /// When there is no such run.
    #[track_caller]
    #[must_use]
    pub fn story(&self, run: RunId) -> String {
        render(&self.view(run))
    }
}

/// Time, and the engine's life in it.
impl World {
    /// The seed.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.sim.seed()
    }

    /// What the wall clock shows.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.sim.clock().wall()
    }

    /// How long the world has existed.
    #[must_use]
    pub fn elapsed(&self) -> Millis {
        self.sim.clock().monotonic()
    }

    /// Lets so much time pass; everything that is due in it happens at its own moment.
    pub fn advance(&self, by: Millis) {
        self.sim.run_for(by);
    }

    /// Lets time pass until every run is closed: ended, and owing nothing.
    ///
    /// # Panics
    /// When runs are still open and nothing can happen any more, or after 7 days; with the runs.
    #[track_caller]
    pub fn run_to_the_end(&self) {
        let until = self.elapsed() + END_AFTER_MAX;
        let executor = self.sim.executor();
        executor.run_until_stalled();
        let mut open = self.open_runs();
        let mut seen = self.engine.appends();
        while !open.is_empty() {
            let is_over = until < self.elapsed() || !self.sim.timers().advance_to_next();
            assert!(!is_over, "runs are still open:\n{}", listed(&open));
            executor.run_until_stalled();
            // Only an append closes a run; most timers are nothing but a lease that is renewed.
            if seen < self.engine.appends() {
                seen = self.engine.appends();
                open = self.open_runs();
            }
        }
    }

    /// Kills the engine where it stands and starts another one on the same ledger: everything that
    /// was in memory is gone, what had reached a fake goes on.
    ///
    /// # Panics
    /// When the new engine does not start.
    #[track_caller]
    pub fn restart(&mut self) {
        self.sim.executor().crash();
        self.engine = self.setup.engine(&self.sim);
    }

    /// Every run that is not closed.
    fn open_runs(&self) -> Vec<Summary> {
        let mut open = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.block_on(self.engine.runs(RunFilter::default(), cursor));
            let page = page.expect("the memory ledger answers");
            cursor = page.rows.last().map(|row| row.run);
            open.extend(page.rows.into_iter().filter(is_open));
            if !page.more {
                return open;
            }
        }
    }
}

fn is_open(row: &Summary) -> bool {
    row.state != RunState::Closed
}

fn listed(runs: &[Summary]) -> String {
    let line = |row: &Summary| format!("{} {}\n", row.run, row.state.as_str());
    runs.iter().map(line).collect()
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the world's seed: {}", self.seed());
        }
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World")
            .field("seed", &self.seed())
            .field("elapsed", &self.elapsed())
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}
