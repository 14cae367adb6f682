//! A ledger over the one in memory that is slow, full, broken or crashed at, as a test wants it,
//! and that remembers what each append wrote.

mod port;

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use mainstay_ledger::{
    CommitRequest, Drive, Driving, Enqueued, InboxCommand, Layer, Ledger, LedgerError, Loaded,
    MemoryLedger, Op, Page, Recorded, Snapshot, Stamped, Verdict, codec,
};
use mainstay_machine::{Event, Run, apply};
use mainstay_sim::VirtualTimers;
use mainstay_types::{BoxFuture, MessageId, Millis, RunId, Seq, Timers, Timestamp, WorkerId};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use super::outside::panicked;

/// Longest log that is folded to prove a snapshot; beyond it a test would take for ever.
const PROVEN_EVENTS_MAX: u64 = 4_000;

/// When a crash comes, seen from an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Nothing of it is durable.
    Before,
    /// It is durable, and nobody has been told.
    Durable,
    /// Its owner has been told, and nothing that it allows has left.
    Acknowledged,
}

/// What one append wrote.
#[derive(Clone, Debug)]
pub(crate) struct Append {
    /// How much had happened in the world before it.
    pub(crate) tick: u64,
    pub(crate) run: RunId,
    pub(crate) events: Vec<Stamped>,
}

#[derive(Default)]
struct State {
    appends: Vec<Append>,
    latency: (u64, u64),
    stops: u64,
    full: bool,
    poisoned: bool,
    /// Reads that still succeed, then reads that fail.
    unreadable: (u32, u32),
    tries: u64,
    /// Several workers share it, each with a lease.
    shared: bool,
    /// Runs that were being executed at aborts.
    aborted: Vec<(RunId, u32)>,
    trap: Option<(usize, Moment)>,
    parking_trap: Option<Moment>,
    /// Commits that still fail as one that may succeed later does.
    failing: u32,
    /// Commits that still panic.
    panicking: u32,
    /// How long a read of a run takes.
    reads_take: u64,
    /// How long the next read of a run is on its way back.
    read_returns_after: u64,
    /// Commits of one moment become one group.
    grouped: bool,
    group: Vec<Grouped>,
    /// How large the groups were.
    groups: Vec<usize>,
    /// How often a run was parked.
    parked: usize,
    /// What each read of a run gave.
    reads: Vec<Given>,
    /// A run that is not there any more.
    gone: Option<RunId>,
    /// What becomes of a snapshot on its way back.
    spoils: Option<fn(&mut Snapshot)>,
}

/// What a read of a run or of its history gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The event of the snapshot in it.
    pub(crate) snapshot: Option<Seq>,
    /// How many events.
    pub(crate) events: usize,
}

/// A request that waits for its group, and who hears its verdict.
type Grouped = (CommitRequest, oneshot::Sender<Result<Verdict, LedgerError>>);

/// See the module.
pub(crate) struct TestLedger {
    inner: MemoryLedger,
    timers: VirtualTimers,
    ticks: Arc<AtomicU64>,
    state: Mutex<State>,
    crashed: Notify,
}

impl TestLedger {
    pub(super) fn new(timers: &VirtualTimers, ticks: Arc<AtomicU64>) -> Self {
        Self {
            inner: MemoryLedger::new(),
            timers: timers.clone(),
            ticks,
            state: Mutex::default(),
            crashed: Notify::new(),
        }
    }

    /// The ledger without any of this.
    pub(crate) const fn inner(&self) -> &MemoryLedger {
        &self.inner
    }

    /// A run is not there any more; its entries are.
    pub(crate) fn forget(&self, run: RunId) {
        self.state.lock().gone = Some(run);
    }

    fn is_gone(&self, run: RunId) -> bool {
        self.state.lock().gone == Some(run)
    }

    /// All appends, in the order they became durable.
    pub(crate) fn log(&self) -> Vec<Append> {
        self.state.lock().appends.clone()
    }

    /// All appends of one run.
    pub(crate) fn log_of(&self, run: RunId) -> Vec<Append> {
        self.log()
            .into_iter()
            .filter(|append| append.run == run)
            .collect()
    }

    /// All events of one run.
    pub(crate) fn events_of(&self, run: RunId) -> Vec<Event> {
        let stamped = self
            .log_of(run)
            .into_iter()
            .flat_map(|append| append.events);
        stamped.map(|stamped| stamped.event).collect()
    }

    /// How many events with this name there are, over all runs.
    pub(crate) fn count(&self, name: &str) -> usize {
        let log = self.log();
        let events = log.iter().flat_map(|append| &append.events);
        events
            .filter(|stamped| stamped.event.name() == name)
            .count()
    }

    /// Each commit takes so long before and after it is durable.
    pub(crate) fn slow(&self, before: u64, after: u64) {
        self.state.lock().latency = (before, after);
    }

    /// The process stands still for so long once the next append is acknowledged.
    pub(crate) fn stop_after_next(&self, ms: u64) {
        self.state.lock().stops = ms;
    }

    /// There is no room for events, or again some.
    pub(crate) fn full(&self, full: bool) {
        self.state.lock().full = full;
    }

    /// Whether there is no room.
    pub(crate) fn is_full(&self) -> bool {
        self.state.lock().full
    }

    /// Writing fails from now on.
    pub(crate) fn poison(&self) {
        self.state.lock().poisoned = true;
    }

    /// After `good` more reads of runs and pages the next `bad` fail.
    pub(crate) fn unreadable_after(&self, good: u32, bad: u32) {
        self.state.lock().unreadable = (good, bad);
    }

    /// Each read of a run takes so long.
    pub(crate) fn slow_reads(&self, ms: u64) {
        self.state.lock().reads_take = ms;
    }

    /// What the next read of a run finds is told so much later.
    pub(crate) fn delay_next_read(&self, ms: u64) {
        self.state.lock().read_returns_after = ms;
    }

    /// The next `commits` fail and write nothing; later ones may succeed.
    pub(crate) fn fail_commits(&self, commits: u32) {
        self.state.lock().failing = commits;
    }

    /// The next `commits` panic and write nothing.
    pub(crate) fn panic_commits(&self, commits: u32) {
        self.state.lock().panicking = commits;
    }

    /// Commits of one moment are one group from now on.
    pub(crate) fn group(&self) {
        self.state.lock().grouped = true;
    }

    /// How often a run was parked.
    pub(crate) fn parked(&self) -> usize {
        self.state.lock().parked
    }

    /// What each read of a run or of a page of its history gave, in order.
    pub(crate) fn reads(&self) -> Vec<Given> {
        self.state.lock().reads.clone()
    }

    /// Snapshots come back changed from now on.
    pub(crate) fn spoil(&self, how: fn(&mut Snapshot)) {
        self.state.lock().spoils = Some(how);
    }

    /// How many events there are, over all runs.
    pub(crate) fn events_written(&self) -> usize {
        let state = self.state.lock();
        state.appends.iter().map(|append| append.events.len()).sum()
    }

    /// How large the groups were.
    pub(crate) fn groups(&self) -> Vec<usize> {
        self.state.lock().groups.clone()
    }

    /// Several workers share the ledger, each with a lease.
    pub(crate) fn share(&self) {
        self.state.lock().shared = true;
    }

    /// The next life hears that the run was being executed at so many aborts in a row.
    pub(crate) fn blame(&self, run: RunId, aborts: u32) {
        self.state.lock().aborted.push((run, aborts));
    }

    /// How many commits were tried, whatever became of them.
    pub(crate) fn tries(&self) -> u64 {
        self.state.lock().tries
    }

    /// The how-manieth append from now, from 1, does not get past `moment`; see
    /// [`TestLedger::crash`].
    pub(crate) fn trap(&self, append: usize, moment: Moment) {
        self.state.lock().trap = Some((append, moment));
    }

    /// The next append by which a run is parked does not get past `moment`.
    pub(crate) fn trap_parking(&self, moment: Moment) {
        self.state.lock().parking_trap = Some(moment);
    }

    /// No trap any more.
    pub(crate) fn disarm(&self) {
        let mut state = self.state.lock();
        (state.trap, state.parking_trap) = (None, None);
    }

    /// The aborts are forgotten, as a life that ends in order makes them.
    pub(crate) fn blame_nobody(&self) {
        self.state.lock().aborted.clear();
    }

    /// Completes when the trap has sprung.
    pub(crate) async fn crash(&self) {
        self.crashed.notified().await;
    }

    /// Counts an append towards the trap; the moment when it is this one's turn.
    fn is_trapped(&self) -> Option<Moment> {
        let mut state = self.state.lock();
        let (left, moment) = state.trap.as_mut()?;
        *left -= 1;
        let moment = (*left == 0).then_some(*moment)?;
        state.trap = None;
        Some(moment)
    }

    /// Springs the trap if it is the moment for it.
    async fn spring(&self, trapped: Option<Moment>, at: Moment) {
        if trapped == Some(at) {
            self.crashed.notify_one();
            match at {
                Moment::Before | Moment::Durable => pending().await,
                Moment::Acknowledged => {}
            }
        }
    }

    /// Notes what a read gives, and spoils it when it has to.
    fn gives(&self, loaded: &mut Loaded) {
        let mut state = self.state.lock();
        if let (Some(spoil), Some(snapshot)) = (state.spoils, &mut loaded.snapshot) {
            spoil(snapshot);
        }
        state.reads.push(Given {
            snapshot: loaded.snapshot.as_ref().map(|snapshot| snapshot.seq),
            events: loaded.events.len(),
        });
    }

    /// A state that is given to be kept is what the events make that were durable, and nothing
    /// that a turn left behind.
    fn prove(&self, run: RunId, snapshot: &Snapshot) {
        if PROVEN_EVENTS_MAX < snapshot.seq.get() {
            return;
        }
        let kept = codec::decode_snapshot(snapshot).expect("a state that can be read");
        let class = kept.parts.head.class.clone();
        let class = ready(self.inner.class(class.name, class.version));
        let class = class.expect("readable").expect("stored").class;
        let mut durable = Run::unborn(Arc::clone(&class));
        let mut newest = Timestamp::from_millis(i64::MIN);
        let log = self.log_of(run);
        // Somebody else may have written more since, who took the run over.
        let written = usize::try_from(snapshot.seq.get()).expect("few events");
        for stamped in log.iter().flat_map(|append| &append.events).take(written) {
            apply(&mut durable, &stamped.event).expect("the log is in order");
            newest = newest.max(stamped.at);
        }
        assert_eq!(kept.last_at, newest, "the newest time of run {run}");
        let kept = Run::from_parts(class, kept.parts).expect("parts of a run");
        assert!(
            kept == durable,
            "what is kept of run {run} is not what is durable"
        );
    }

    async fn pass(&self, ms: u64) {
        if ms == 0 {
            yield_once().await;
        } else {
            self.timers.sleep(Millis::new(ms)).await;
        }
    }

    fn note(&self, requests: &[CommitRequest], verdicts: &[Verdict]) {
        let committed = |verdict: &Verdict| matches!(verdict, Verdict::Committed(_));
        let written = requests
            .iter()
            .zip(verdicts)
            .filter(|(_, verdict)| committed(verdict));
        for part in written.flat_map(|(request, _)| &request.parts) {
            self.state.lock().parked += usize::from(part.ops.iter().any(parks));
            if !part.events.is_empty() {
                let tick = self.ticks.fetch_add(1, Ordering::SeqCst);
                let append = Append {
                    tick,
                    run: part.run,
                    events: part.events.clone(),
                };
                self.state.lock().appends.push(append);
            }
        }
    }

    async fn write(&self, requests: Vec<CommitRequest>) -> Result<Vec<Verdict>, LedgerError> {
        let latency = {
            let mut state = self.state.lock();
            state.tries += 1;
            state.latency
        };
        self.may_fail()?;
        let has_events = requests
            .iter()
            .any(|r| r.parts.iter().any(|p| !p.events.is_empty()));
        let trapped = match has_events {
            true => self.is_trapped(),
            false if requests.iter().any(parks_a_run) => self.state.lock().parking_trap.take(),
            false => None,
        };
        self.pass(latency.0).await;
        self.spring(trapped, Moment::Before).await;
        if self.state.lock().poisoned {
            return Err(LedgerError::Poisoned {
                detail: "the disk is gone".to_owned(),
            });
        }
        if has_events && self.state.lock().full {
            return Ok(requests.iter().map(|_| Verdict::Full).collect());
        }
        let verdicts = self.committed(requests.clone()).await?;
        self.note(&requests, &verdicts);
        self.spring(trapped, Moment::Durable).await;
        self.pass(latency.1).await;
        let stops = std::mem::take(&mut self.state.lock().stops);
        if 0 < stops {
            self.timers.advance(Millis::new(stops));
        }
        self.spring(trapped, Moment::Acknowledged).await;
        Ok(verdicts)
    }

    fn may_fail(&self) -> Result<(), LedgerError> {
        let mut state = self.state.lock();
        if 0 < state.panicking {
            state.panicking -= 1;
            drop(state);
            panicked("the ledger panicked".to_owned());
        }
        if 0 < state.failing {
            state.failing -= 1;
            return Err(LedgerError::Io {
                detail: "the disk does not take it".to_owned(),
            });
        }
        Ok(())
    }

    /// Commits at once, or with everything else of this moment.
    async fn committed(&self, requests: Vec<CommitRequest>) -> Result<Vec<Verdict>, LedgerError> {
        if !self.state.lock().grouped {
            return self.inner.commit(requests).await;
        }
        let mut waiting = Vec::new();
        for request in requests {
            let (tell, told) = oneshot::channel();
            self.state.lock().group.push((request, tell));
            waiting.push(told);
        }
        self.timers.sleep(Millis::new(1)).await;
        let group = std::mem::take(&mut self.state.lock().group);
        if !group.is_empty() {
            self.state.lock().groups.push(group.len());
            let (requests, tells): (Vec<_>, Vec<_>) = group.into_iter().unzip();
            let verdicts = self.inner.commit(requests).await?;
            for (tell, verdict) in tells.into_iter().zip(verdicts) {
                // Whoever asked may be gone.
                drop(tell.send(Ok(verdict)));
            }
        }
        let mut verdicts = Vec::new();
        for told in waiting {
            verdicts.push(told.await.expect("its group was committed")?);
        }
        Ok(verdicts)
    }

    fn readable(&self) -> Result<(), LedgerError> {
        let mut state = self.state.lock();
        match &mut state.unreadable {
            (_, 0) => Ok(()),
            (0, bad) => {
                *bad -= 1;
                Err(LedgerError::Io {
                    detail: "the disk does not answer".to_owned(),
                })
            }
            (good, _) => {
                *good -= 1;
                Ok(())
            }
        }
    }
}

/// The value of a future that waits for nothing.
fn ready<T>(mut future: BoxFuture<'_, T>) -> T {
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("memory does not wait"),
    }
}

fn parks(op: &Op) -> bool {
    matches!(op, Op::Drive(Drive::Parked { .. }))
}

fn parks_a_run(request: &CommitRequest) -> bool {
    let mut ops = request.parts.iter().flat_map(|part| &part.ops);
    ops.any(parks)
}

async fn yield_once() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
