//! Runs futures on the calling thread, in an order that depends on nothing but themselves.
//!
//! Who is woken first is polled first. When nobody can go on, virtual time jumps to the next timer.
//! It must never wait for anything real: whoever is to be woken is woken by a strand or a timer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};

use mainstay_types::{BoxFuture, Clock, Millis, Spawner};

use crate::lock::lock;
use crate::timers::VirtualTimers;

/// Polls after which [`Executor::block_on`] gives up, unless told otherwise.
pub const POLLS_MAX_DEFAULT: u64 = 10_000_000;

/// The strand of the future that `block_on` was given.
const MAIN: u64 = 0;

/// Why a future cannot end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// Nobody can go on and nobody sleeps: it waits for something that no one will do.
    NothingLeft {
        /// Spawned futures that wait as well.
        strands: usize,
    },
    /// The bound on polls is used up: somebody spins.
    TooManyPolls {
        /// The bound.
        polls_max: u64,
    },
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingLeft { strands } => {
                write!(
                    f,
                    "nothing can go on and no timer runs; {strands} strands wait"
                )
            }
            Self::TooManyPolls { polls_max } => write!(f, "no end within {polls_max} polls"),
        }
    }
}

impl std::error::Error for Stuck {}

/// Owns what was spawned and polls it. Dropping it drops every future it holds.
#[derive(Debug)]
pub struct Executor {
    shared: Arc<Shared>,
    timers: VirtualTimers,
    polls_max: u64,
    polls: AtomicU64,
}

/// The port [`Spawner`] of an [`Executor`]. What is spawned after that is gone is dropped.
#[derive(Clone, Debug)]
pub struct LocalSpawner(Weak<Shared>);

/// A spawned future is a strand: what runs between its polls are the other strands.
struct Shared(Mutex<Strands>);

struct Strands {
    made: u64,
    /// `None` while the strand is being polled.
    all: BTreeMap<u64, Option<BoxFuture<'static, ()>>>,
    ready: VecDeque<u64>,
    /// The same as `ready`, to be asked.
    queued: BTreeSet<u64>,
}

impl Executor {
    /// Runs futures in the time of `timers`.
    #[must_use]
    pub fn new(timers: VirtualTimers) -> Self {
        let strands = Strands {
            made: MAIN,
            all: BTreeMap::new(),
            ready: VecDeque::new(),
            queued: BTreeSet::new(),
        };
        Self {
            shared: Arc::new(Shared(Mutex::new(strands))),
            timers,
            polls_max: POLLS_MAX_DEFAULT,
            polls: AtomicU64::new(0),
        }
    }

    /// Bounds the polls of one call of any method here.
    #[must_use]
    pub const fn polls_max(mut self, polls_max: u64) -> Self {
        self.polls_max = polls_max;
        self
    }

    /// How often anything was polled so far.
    #[must_use]
    pub fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }

    /// The port by which others spawn here.
    #[must_use]
    pub fn spawner(&self) -> LocalSpawner {
        LocalSpawner(Arc::downgrade(&self.shared))
    }

    /// How many spawned futures have not ended.
    #[must_use]
    pub fn strands(&self) -> usize {
        lock(&self.shared.0).all.len()
    }

    /// Polls what can go on until nothing can; time stands still. Panics like
    /// [`Executor::block_on`] when the bound on polls is used up.
    pub fn run_until_stalled(&self) {
        self.try_run_for(Millis::ZERO)
            .unwrap_or_else(|stuck| panic!("{stuck}"));
    }

    /// Lets `length` of virtual time pass; every timer that is due in it fires at its own moment
    /// and what it wakes runs then.
    pub fn run_for(&self, length: Millis) {
        self.try_run_for(length)
            .unwrap_or_else(|stuck| panic!("{stuck}"));
    }

    /// [`Executor::run_for`] with an error instead of a panic.
    pub fn try_run_for(&self, length: Millis) -> Result<(), Stuck> {
        let end = self.timers.clock().monotonic() + length;
        let mut left = self.polls_max;
        loop {
            self.drain(&mut left, &mut |_| false)?;
            match self.timers.next_due() {
                Some(due) if due <= end && Millis::ZERO < length => self.timers.advance_to(due),
                Some(_) | None => break,
            }
        }
        self.timers.advance_to(end);
        Ok(())
    }

    /// Runs `future`, and with it everything spawned, until it ends; jumps to the next timer when
    /// nothing can go on. What was spawned and has not ended by then stays where it is. Not to be
    /// called from inside of a future that runs here.
    ///
    /// # Panics
    /// When the future cannot end: see [`Executor::try_block_on`], which says so instead.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.try_block_on(future)
            .unwrap_or_else(|stuck| panic!("{stuck}"))
    }

    /// [`Executor::block_on`] with an error instead of a panic.
    pub fn try_block_on<T>(&self, future: impl Future<Output = T>) -> Result<T, Stuck> {
        let mut future = pin!(future);
        let mut output = None;
        let mut left = self.polls_max;
        self.shared.wake(MAIN);
        loop {
            let mut main = |waker: &Waker| {
                if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                    output = Some(value);
                }
                output.is_some()
            };
            self.drain(&mut left, &mut main)?;
            if let Some(value) = output {
                return Ok(value);
            }
            if !self.timers.advance_to_next() {
                return Err(Stuck::NothingLeft {
                    strands: self.strands(),
                });
            }
        }
    }

    /// Drops every spawned future where it stands, in the order they were spawned, as a process
    /// that is killed does. What their drops spawn is dropped too.
    pub fn crash(&self) {
        loop {
            // Dropped outside of the lock: a drop may wake or spawn.
            let Some((_, strand)) = lock(&self.shared.0).all.pop_first() else {
                break;
            };
            drop(strand);
        }
        let mut strands = lock(&self.shared.0);
        strands.ready.clear();
        strands.queued.clear();
    }

    /// Polls strands in the order they were woken, until none is left, `main` is done or `left` is
    /// used up.
    fn drain(&self, left: &mut u64, main: &mut dyn FnMut(&Waker) -> bool) -> Result<(), Stuck> {
        while let Some(id) = self.shared.next_ready() {
            self.polls.fetch_add(1, Ordering::Relaxed);
            *left = left.checked_sub(1).ok_or(Stuck::TooManyPolls {
                polls_max: self.polls_max,
            })?;
            let waker = Waker::from(Arc::new(Call {
                id,
                shared: Arc::downgrade(&self.shared),
            }));
            if id == MAIN {
                if main(&waker) {
                    break;
                }
            } else if let Some(mut strand) = self.shared.take(id) {
                strand.poll(&mut Context::from_waker(&waker));
            }
        }
        Ok(())
    }
}

/// A strand that is being polled: back in its place afterwards, or gone when it ended or panicked.
struct Polled<'a> {
    id: u64,
    future: Option<BoxFuture<'static, ()>>,
    shared: &'a Shared,
}

impl Polled<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) {
        if let Some(mut future) = self.future.take()
            && future.as_mut().poll(cx).is_pending()
        {
            self.future = Some(future);
        }
    }
}

impl Drop for Polled<'_> {
    fn drop(&mut self) {
        let mut strands = lock(&self.shared.0);
        match (strands.all.get_mut(&self.id), self.future.take()) {
            (Some(place), Some(future)) => *place = Some(future),
            (Some(_), None) => drop(strands.all.remove(&self.id)),
            // A crash came while it was polled. Dropped outside of the lock, as every future.
            (None, future) => {
                drop(strands);
                drop(future);
            }
        }
    }
}

impl Shared {
    fn next_ready(&self) -> Option<u64> {
        let mut strands = lock(&self.0);
        let id = strands.ready.pop_front()?;
        strands.queued.remove(&id);
        Some(id)
    }

    fn take(&self, id: u64) -> Option<Polled<'_>> {
        let future = lock(&self.0).all.get_mut(&id)?.take();
        Some(Polled {
            id,
            future,
            shared: self,
        })
    }

    fn wake(&self, id: u64) {
        let mut strands = lock(&self.0);
        let known = id == MAIN || strands.all.contains_key(&id);
        if known && strands.queued.insert(id) {
            strands.ready.push_back(id);
        }
    }

    fn spawn(&self, future: BoxFuture<'static, ()>) {
        let mut strands = lock(&self.0);
        strands.made += 1;
        let id = strands.made;
        strands.all.insert(id, Some(future));
        strands.queued.insert(id);
        strands.ready.push_back(id);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strands = lock(&self.0);
        write!(
            f,
            "Strands({} alive, {} ready)",
            strands.all.len(),
            strands.ready.len()
        )
    }
}

impl Spawner for LocalSpawner {
    fn spawn(&self, future: BoxFuture<'static, ()>) {
        if let Some(shared) = self.0.upgrade() {
            shared.spawn(future);
        }
    }
}

impl Spawner for Executor {
    fn spawn(&self, future: BoxFuture<'static, ()>) {
        self.shared.spawn(future);
    }
}

/// Puts one strand back into the queue.
struct Call {
    id: u64,
    shared: Weak<Shared>,
}

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.shared.upgrade() {
            shared.wake(self.id);
        }
    }
}
