//! Deterministic doubles of the ports: time, timers, concurrency, chance and ids from one seed.
//!
//! With them the production engine runs on one thread in virtual time, and one seed gives one log.
//! Nothing here may read a real clock, draw from the system, start a thread or iterate over a hash
//! map: a single such place makes every run of the simulator unrepeatable.
//!
//! ```
//! use mainstay_sim::Sim;
//! use mainstay_types::{Clock, Millis, Timers};
//!
//! let sim = Sim::new(7);
//! let (clock, timers) = (sim.clock(), sim.timers());
//! let before = clock.wall();
//! sim.block_on(timers.sleep(Millis::from_days(7)));
//! assert_eq!(clock.wall(), before + Millis::from_days(7));
//! ```

pub mod clock;
pub mod executor;
pub mod ids;
pub mod ledger;
pub mod provider;
pub mod rng;
pub mod timers;

mod lock;

use std::future::Future;
use std::sync::Arc;

use mainstay_types::{Millis, Timestamp};

pub use clock::VirtualClock;
pub use executor::{Executor, LocalSpawner, Stuck};
pub use ids::SeededIds;
pub use ledger::SimLedger;
pub use rng::SeededRng;
pub use timers::VirtualTimers;

/// Where the wall clock of a simulation begins: 2027-01-01T00:00:00Z.
pub const START: Timestamp = Timestamp::from_millis(1_798_761_600_000);

/// All doubles of one seed, which belong together: the timers move the clock, the executor waits
/// for the timers.
pub struct Sim {
    seed: u64,
    timers: VirtualTimers,
    executor: Executor,
    rng: Arc<SeededRng>,
    ids: Arc<SeededIds>,
}

impl Sim {
    /// A simulation that begins at [`START`].
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::at(seed, START)
    }

    /// A simulation whose wall clock begins at `start`.
    #[must_use]
    pub fn at(seed: u64, start: Timestamp) -> Self {
        let timers = VirtualTimers::new(VirtualClock::new(start));
        Self {
            seed,
            executor: Executor::new(timers.clone()),
            timers,
            rng: Arc::new(SeededRng::stream(seed, "rng")),
            ids: Arc::new(SeededIds::new(seed)),
        }
    }

    /// The seed, to be printed by whoever fails.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The clock; its clones are the same clock.
    #[must_use]
    pub fn clock(&self) -> VirtualClock {
        self.timers.clock().clone()
    }

    /// The timers; their clones are the same timers.
    #[must_use]
    pub fn timers(&self) -> VirtualTimers {
        self.timers.clone()
    }

    /// Who runs the futures.
    #[must_use]
    pub const fn executor(&self) -> &Executor {
        &self.executor
    }

    /// The port Spawner of [`Sim::executor`].
    #[must_use]
    pub fn spawner(&self) -> LocalSpawner {
        self.executor.spawner()
    }

    /// The random numbers, one stream for all who draw.
    #[must_use]
    pub fn rng(&self) -> Arc<SeededRng> {
        Arc::clone(&self.rng)
    }

    /// The ids.
    #[must_use]
    pub fn ids(&self) -> Arc<SeededIds> {
        Arc::clone(&self.ids)
    }

    /// Runs `future` and everything spawned until it ends; see [`Executor::block_on`].
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.executor.block_on(future)
    }

    /// Lets `length` of virtual time pass; see [`Executor::run_for`].
    pub fn run_for(&self, length: Millis) {
        self.executor.run_for(length);
    }
}
