//! A ledger on a disk that is slow, full, failing, or loses its power: what is written and not
//! synced is gone then, from some point on.
//!
//! It adds to [`MemoryLedger`] the three moments at which a process can die around a commit
//! ([`Moment`]), and what each kind of death leaves ([`Death`]). Nothing that anybody was told of
//! may ever vanish, and no request may survive in part: the disk may be cruel, not broken.

mod flight;
mod journal;
mod lead;
mod port;
mod trouble;

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_ledger::MemoryLedger;
use mainstay_types::{Clock, Rng, RunId, Seq};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::rng::SeededRng;
use crate::timers::VirtualTimers;

use flight::{Answer, Disk, Wish};
pub use journal::Append;
use lead::Lead;
pub use trouble::{Latency, Trouble};

/// When a process dies, seen from a group of commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// Nothing of the group is on the disk.
    Before,
    /// It is written and not synced.
    Written,
    /// It is synced, and nobody has been told.
    Synced,
}

/// How a process died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Death {
    /// Killed: what was written is there, synced or not.
    Kill,
    /// The machine lost its power: what was written and not synced is there up to some request of
    /// the group, and not beyond.
    PowerLoss,
}

/// See the module. Clones are the same ledger.
#[derive(Clone)]
pub struct SimLedger(Arc<Shared>);

struct Shared {
    memory: MemoryLedger,
    timers: VirtualTimers,
    rng: SeededRng,
    disk: Mutex<Disk>,
    journal: Mutex<Journal>,
    /// Somebody was told, or gave up driving the disk.
    moved: Notify,
    /// The process is at the moment that was asked for.
    reached: Notify,
}

/// The appends, and how far each run has come by them.
#[derive(Default)]
struct Journal {
    appends: Vec<Append>,
    heads: BTreeMap<RunId, Seq>,
    events: usize,
}

impl Shared {
    /// Makes `wish` durable, and notes what it wrote.
    fn carry_out(&self, wish: Wish) -> Answer {
        let at = self.timers.clock().monotonic();
        let (answer, appends) = flight::carried_out(&self.memory, wish, at);
        let mut journal = self.journal.lock();
        for append in appends {
            journal.heads.insert(append.run, append.last);
            journal.events += append.events.len();
            journal.appends.push(append);
        }
        answer
    }
}

impl SimLedger {
    /// An empty ledger without any trouble, whose power losses cut as `seed` has it.
    #[must_use]
    pub fn new(seed: u64, timers: &VirtualTimers) -> Self {
        Self(Arc::new(Shared {
            memory: MemoryLedger::new(),
            timers: timers.clone(),
            rng: SeededRng::stream(seed, "disk"),
            disk: Mutex::new(Disk::new()),
            journal: Mutex::new(Journal::default()),
            moved: Notify::new(),
            reached: Notify::new(),
        }))
    }

    /// The disk is like this from now on.
    pub fn trouble(&self, trouble: Trouble) {
        self.0.disk.lock().trouble = trouble;
    }

    /// What is wrong with the disk now.
    #[must_use]
    pub fn troubles(&self) -> Trouble {
        self.0.disk.lock().trouble
    }

    /// Whether a sync has failed, so that nothing more is taken until the process dies.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.0.disk.lock().is_poisoned()
    }

    /// How many groups were begun since the ledger was made.
    #[must_use]
    pub fn groups(&self) -> u64 {
        self.0.disk.lock().groups
    }

    /// What is durable, without the disk's time.
    #[must_use]
    pub fn memory(&self) -> &MemoryLedger {
        &self.0.memory
    }

    /// Everything that was written, in the order of the commits.
    #[must_use]
    pub fn appends(&self) -> Vec<Append> {
        self.0.journal.lock().appends.clone()
    }

    /// What `read` makes of everything that was written so far, in the order of the commits.
    pub fn with_appends<T>(&self, read: impl FnOnce(&[Append]) -> T) -> T {
        read(&self.0.journal.lock().appends)
    }

    /// How many events there are, of all runs.
    #[must_use]
    pub fn events(&self) -> usize {
        self.0.journal.lock().events
    }

    /// How far the log of `run` has come on the disk; 0 for a run that is not there.
    #[must_use]
    pub fn durable(&self, run: RunId) -> Seq {
        let journal = self.0.journal.lock();
        journal.heads.get(&run).copied().unwrap_or_default()
    }

    /// Lets the disk stand still at `moment` of the `group`-th group, from 1 and counted as
    /// [`SimLedger::groups`] does, until the process dies; [`SimLedger::reached`] tells when.
    pub fn stop_at(&self, group: u64, moment: Moment) {
        self.0.disk.lock().stop = Some((group, moment));
    }

    /// Whether the disk stands still where [`SimLedger::stop_at`] said.
    #[must_use]
    pub fn stands_still(&self) -> bool {
        self.0.disk.lock().stands_still
    }

    /// Lets the disk stand still nowhere.
    pub fn disarm(&self) {
        self.0.disk.lock().stop = None;
    }

    /// Several workers stand on it from now on, each with a lease. Without it a worker that begins
    /// is the only one, as on a store that one process locks.
    pub fn share(&self) {
        self.0.disk.lock().is_shared = true;
    }

    /// Waits until the disk stands still where [`SimLedger::stop_at`] said.
    pub async fn reached(&self) {
        self.0.reached.notified().await;
    }

    /// Settles what is on the disk after its process died. Call it after everything that used the
    /// ledger is gone, and before anybody uses it again.
    pub fn die(&self, death: Death) {
        let (pieces, has_failed) = self.0.disk.lock().die();
        // After a failed sync a kernel may have dropped what it could not write.
        let survive = match death {
            Death::Kill if !has_failed => pieces.len(),
            Death::Kill | Death::PowerLoss => self.draw(pieces.len() + 1),
        };
        for wish in pieces.into_iter().take(survive) {
            // Nobody is left to be told.
            drop(self.0.carry_out(wish));
        }
    }

    fn draw(&self, below: usize) -> usize {
        let below = u64::try_from(below).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.0.rng.next_u64() % below).unwrap_or(0)
    }

    /// Asks the disk for `wish` and waits for what becomes of it.
    async fn ask(&self, wish: Wish) -> Answer {
        let ticket = self.0.disk.lock().queue(wish);
        loop {
            let moved = self.0.moved.notified();
            if let Some(answer) = self.0.disk.lock().answers.remove(&ticket) {
                return answer;
            }
            match Lead::take(&self.0) {
                Some(lead) => lead.group().await,
                None => moved.await,
            }
        }
    }
}
