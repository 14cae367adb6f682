//! The store on a disk that can be held up, fills or fails: what is acknowledged when.
//!
//! Nothing here waits for time: the disk stops where it is told to and says that it did.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};

use mainstay_ledger::conformance::block_on;
use mainstay_ledger::sample::{at, message, next_part, run, start_part};
use mainstay_ledger::{
    CommitRequest, Enqueued, InboxCommand, Ledger, LedgerError, Loaded, Verdict,
};
use mainstay_types::{BoxFuture, RunId, Seq, limits};
use parking_lot::Mutex;

use crate::disk::{DataFile, Disk};
use crate::{OpenOptions, SledLedger};

/// What the next syncs do; without an instruction they sync.
enum Sync {
    Fail,
    Panic,
    /// Say so, then wait for a word.
    Hold,
}

struct Held {
    data: DataFile,
    next: Arc<Mutex<Vec<Sync>>>,
    room: Arc<Mutex<u64>>,
    reached: Sender<()>,
    go_on: Receiver<()>,
}

impl Disk for Held {
    fn sync(&self) -> io::Result<()> {
        match self.next.lock().pop() {
            None => {}
            Some(Sync::Fail) => return Err(io::Error::other("the disk is gone")),
            Some(Sync::Panic) => panic!("the disk driver panicked"),
            Some(Sync::Hold) => {
                self.reached.send(()).unwrap();
                self.go_on.recv().unwrap();
            }
        }
        self.data.sync()
    }

    fn room(&self) -> io::Result<u64> {
        Ok(*self.room.lock())
    }
}

/// A store and the hands on its disk.
struct Bench {
    folder: tempfile::TempDir,
    ledger: SledLedger,
    next: Arc<Mutex<Vec<Sync>>>,
    room: Arc<Mutex<u64>>,
    reached: Receiver<()>,
    go_on: Sender<()>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let next = Arc::new(Mutex::new(Vec::new()));
        let room = Arc::new(Mutex::new(u64::MAX));
        let ((reached_tx, reached), (go_on, go_on_rx)) = (channel(), channel());
        let disk = |data| -> Box<dyn Disk> {
            let (next, room) = (Arc::clone(&next), Arc::clone(&room));
            Box::new(Held {
                data,
                next,
                room,
                reached: reached_tx,
                go_on: go_on_rx,
            })
        };
        let ledger = SledLedger::open_on(folder.path(), OpenOptions::creating(), disk);
        Self {
            ledger: ledger.unwrap(),
            folder,
            next,
            room,
            reached,
            go_on,
        }
    }

    fn next_sync(&self, sync: Sync) {
        self.next.lock().push(sync);
    }

    fn commit(&self, request: impl Into<CommitRequest>) -> Result<Verdict, LedgerError> {
        let verdicts = block_on(self.ledger.commit(vec![request.into()]))?;
        Ok(verdicts
            .into_iter()
            .next()
            .expect("one request has one verdict"))
    }

    /// Opens the store again, after its process is gone, on an honest disk.
    fn reopened(self) -> (tempfile::TempDir, SledLedger) {
        drop(self.ledger);
        let ledger = SledLedger::open_existing(self.folder.path()).unwrap();
        (self.folder, ledger)
    }
}

fn committed(verdict: &Result<Verdict, LedgerError>) -> bool {
    matches!(verdict, Ok(Verdict::Committed(_)))
}

fn poisoned<T>(answer: Result<T, LedgerError>) -> bool {
    matches!(answer, Err(LedgerError::Poisoned { .. }))
}

fn poll<T>(future: &mut Pin<Box<dyn Future<Output = T> + Send + '_>>) -> Poll<T> {
    future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

fn length(loaded: Result<Option<Loaded>, LedgerError>) -> usize {
    loaded.unwrap().map_or(0, |loaded| loaded.events.len())
}

fn cancel() -> InboxCommand {
    InboxCommand::Cancel {
        by: "a person".to_owned(),
        why: "a reason".to_owned(),
    }
}

#[test]
fn after_a_failed_sync_everything_is_refused_and_a_reopened_store_has_all_it_acknowledged() {
    for how in [Sync::Fail, Sync::Panic] {
        let bench = Bench::new();
        assert!(committed(&bench.commit(start_part(1))));
        assert!(committed(&bench.commit(next_part(1, 1))));
        bench.next_sync(how);
        assert!(poisoned(bench.commit(next_part(1, 2))));
        // The disk would work again; nobody tries.
        assert!(poisoned(bench.commit(next_part(1, 2))));
        assert!(poisoned(bench.commit(start_part(2))));
        assert!(poisoned(block_on(bench.ledger.enqueue(
            run(1),
            message(1),
            cancel()
        ))));
        assert!(poisoned(block_on(bench.ledger.load(run(1)))));
        assert!(poisoned(block_on(bench.ledger.driven(None))));
        assert_eq!(bench.ledger.syncs(), 2);
        let (_folder, ledger) = bench.reopened();
        let length = length(block_on(ledger.load(run(1))));
        assert!(
            (2..=3).contains(&length),
            "{length} events, 2 were acknowledged"
        );
        assert!(block_on(ledger.load(run(2))).unwrap().is_none());
    }
}

#[test]
fn a_failed_store_says_so_when_it_is_closed() {
    let bench = Bench::new();
    bench.next_sync(Sync::Fail);
    assert!(poisoned(bench.commit(start_part(1))));
    let told = bench.ledger.close().unwrap_err().to_string();
    assert!(
        told.contains("STORE_POISONED") && told.contains("the disk is gone"),
        "{told}"
    );
}

#[test]
fn a_failure_reaches_those_who_wait_behind_it() {
    let bench = Bench::new();
    bench.next_sync(Sync::Fail);
    bench.next_sync(Sync::Hold);
    let mut first = bench.ledger.commit(vec![start_part(1).into()]);
    assert!(poll(&mut first).is_pending());
    bench.reached.recv().unwrap();
    let mut behind: Vec<_> = (2..40)
        .map(|n| bench.ledger.commit(vec![start_part(n).into()]))
        .collect();
    assert!(behind.iter_mut().all(|waiting| poll(waiting).is_pending()));
    bench.go_on.send(()).unwrap();
    assert!(block_on(first).is_ok());
    for waiting in behind {
        assert!(poisoned(block_on(waiting)));
    }
}

#[test]
fn what_gathers_during_a_sync_shares_the_next_one() {
    let bench = Bench::new();
    bench.next_sync(Sync::Hold);
    let mut first = bench.ledger.commit(vec![start_part(1).into()]);
    assert!(poll(&mut first).is_pending());
    bench.reached.recv().unwrap();
    let mut gathered: Vec<_> = (2..130)
        .map(|n| bench.ledger.commit(vec![start_part(n).into()]))
        .collect();
    assert!(
        gathered
            .iter_mut()
            .all(|waiting| poll(waiting).is_pending())
    );
    bench.go_on.send(()).unwrap();
    block_on(first).unwrap();
    for waiting in gathered {
        assert!(matches!(
            block_on(waiting).unwrap()[..],
            [Verdict::Committed(_)]
        ));
    }
    assert_eq!(bench.ledger.syncs(), 2);
    assert_eq!(bench.ledger.appends(), 129);
}

#[test]
fn no_verdict_leaves_before_the_sync_not_even_a_refusal() {
    let bench = Bench::new();
    bench.next_sync(Sync::Hold);
    let requests = vec![start_part(1).into(), start_part(1).into()];
    let mut both = bench.ledger.commit(requests);
    assert!(poll(&mut both).is_pending());
    bench.reached.recv().unwrap();
    assert!(poll(&mut both).is_pending());
    bench.go_on.send(()).unwrap();
    let verdicts = block_on(both).unwrap();
    assert!(matches!(
        verdicts[..],
        [Verdict::Committed(_), Verdict::Stale { .. }]
    ));
}

#[test]
fn a_read_shows_nothing_that_is_not_durable_yet() {
    let bench = Bench::new();
    assert!(committed(&bench.commit(start_part(1))));
    bench.next_sync(Sync::Hold);
    let mut second = bench.ledger.commit(vec![next_part(1, 1).into()]);
    assert!(poll(&mut second).is_pending());
    bench.reached.recv().unwrap();
    let mut read = bench.ledger.load(run(1));
    let mut time = bench.ledger.last_time();
    assert!(poll(&mut read).is_pending() && poll(&mut time).is_pending());
    bench.go_on.send(()).unwrap();
    assert_eq!(length(block_on(read)), 2);
    assert_eq!(block_on(time), Ok(Some(at(101))));
    block_on(second).unwrap();
}

#[test]
fn a_read_that_saw_what_then_failed_to_become_durable_is_refused() {
    let bench = Bench::new();
    bench.next_sync(Sync::Fail);
    bench.next_sync(Sync::Hold);
    let mut first = bench.ledger.commit(vec![start_part(1).into()]);
    assert!(poll(&mut first).is_pending());
    bench.reached.recv().unwrap();
    let mut second = bench.ledger.commit(vec![next_part(1, 1).into()]);
    assert!(poll(&mut second).is_pending());
    bench.go_on.send(()).unwrap();
    assert!(poisoned(block_on(second)));
    assert!(poisoned(block_on(bench.ledger.load(run(1)))));
}

#[test]
fn a_filling_disk_refuses_new_runs_first_and_goes_on_when_there_is_room() {
    let bench = Bench::new();
    let take = |n| bench.commit(start_part(n));
    let set = |bytes| *bench.room.lock() = bytes;
    assert!(committed(&take(1)));
    set(limits::START_ROOM_BYTES_MIN - 1);
    assert_eq!(take(2), Ok(Verdict::Full));
    assert!(committed(&bench.commit(next_part(1, 1))));
    set(limits::COMMIT_ROOM_BYTES_MIN - 1);
    assert_eq!(bench.commit(next_part(1, 2)), Ok(Verdict::Full));
    // Whoever lost its run learns that, not that the disk is full.
    assert!(matches!(
        bench.commit(next_part(1, 1)),
        Ok(Verdict::Stale { seq: Seq(2), .. })
    ));
    let word = bench.ledger.enqueue(run(1), message(1), cancel());
    assert_eq!(block_on(word), Ok(Enqueued::New));
    set(u64::MAX);
    assert!(committed(&bench.commit(next_part(1, 2))));
    assert!(committed(&take(2)));
}

#[test]
fn a_caller_that_leaves_does_not_take_its_commit_with_it() {
    let bench = Bench::new();
    bench.next_sync(Sync::Hold);
    let mut leaves = bench.ledger.commit(vec![start_part(1).into()]);
    assert!(poll(&mut leaves).is_pending());
    bench.reached.recv().unwrap();
    drop(leaves);
    bench.go_on.send(()).unwrap();
    assert!(committed(&bench.commit(next_part(1, 1))));
}

#[test]
fn dropping_the_ledger_commits_what_has_a_place() {
    let bench = Bench::new();
    let mut left: Vec<BoxFuture<'_, _>> = (1..9)
        .map(|n| bench.ledger.commit(vec![start_part(n).into()]))
        .collect();
    for waiting in &mut left {
        let _ = poll(waiting);
    }
    drop(left);
    let (_folder, ledger) = bench.reopened();
    let there = |run: RunId| block_on(ledger.load(run)).unwrap().is_some();
    assert!((1..9).all(|n| there(run(n))));
}
