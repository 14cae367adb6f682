//! Many runs, fast: what a store comes to when it has seen a million calls.
//!
//! It measures and never judges. Runs follow each other by the second of the store's own time, so
//! that they expire while more are written.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mainstay::ledger::{Ledger, SledLedger};
use mainstay::types::{Millis, limits};
use mainstay_ledger::{CommitRequest, Verdict};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::author::{micros, tell};
use super::content::{Happened, Key, at};
use super::deed::{Beside, Writing, request};
use super::fact::Fact;
use super::house;

/// Calls of one run.
pub const RUN_CALLS: u32 = 10;
/// Committers at once.
const LANES: u32 = 64;
/// Looks at the store while it grows.
const LOOKS: u32 = 10;
/// Several rounds of whoever keeps a store small.
const RESTED: Duration = Duration::from_secs(4);
const RESTED_MAX: Duration = Duration::from_secs(30);

/// How a store grows.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Calls in all.
    pub calls: u32,
    /// Of each one's result.
    pub result_bytes: usize,
    /// Calls whose runs are remembered; 0 for all.
    pub remembered: u32,
}

/// A look at a store that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Calls so far.
    pub calls: u32,
    /// All files.
    pub store_bytes: u64,
    /// Files of the log.
    pub log_bytes: u64,
    /// Memory of the process.
    pub memory_bytes: u64,
    /// Since the beginning.
    pub ms: u64,
}

/// Lets a store grow; a look at each tenth of it, and one after it had rested and was closed.
///
/// # Errors
/// The store's own, in words.
///
/// # Panics
/// A commit is refused.
pub async fn grow(store: &Path, growth: Growth) -> Result<Vec<Look>, String> {
    let mut options = house::options();
    if 0 < growth.remembered {
        let memory = Millis::from_secs(u64::from(growth.remembered / RUN_CALLS));
        options.settings.run_memory = memory;
        options.settings.start_key_memory = memory;
    }
    let begun = Instant::now();
    let ledger = SledLedger::open(store, options).map_err(|error| error.to_string())?;
    let ledger = Arc::new(ledger);
    let runs = growth.calls / RUN_CALLS;
    let mut looks = Vec::new();
    let next = Arc::new(AtomicU32::new(0));
    for part in 1..=LOOKS {
        let end = runs * part / LOOKS;
        let mut lanes = JoinSet::new();
        for _ in 0..LANES {
            lanes.spawn(lane(Arc::clone(&ledger), Arc::clone(&next), (end, growth)));
        }
        while let Some(ended) = lanes.join_next().await {
            ended.expect("a lane does not panic");
        }
        next.store(end, Ordering::SeqCst);
        looks.push(look(store, end * RUN_CALLS, begun));
    }
    rested(store).await;
    let ledger = Arc::into_inner(ledger).expect("all lanes are over");
    ledger.close().map_err(|error| error.to_string())?;
    looks.push(look(store, growth.calls, begun));
    Ok(looks)
}

/// Waits until nothing is taken away any more: a store is made small beside the writing, and
/// this one is written faster than any that works.
async fn rested(store: &Path) {
    let begun = Instant::now();
    let (mut bytes, mut since) = (bytes_of(store), begun);
    while begun.elapsed() < RESTED_MAX && since.elapsed() < RESTED {
        tokio::time::sleep(RESTED / 20).await;
        let now = bytes_of(store);
        if now != bytes {
            (bytes, since) = (now, Instant::now());
        }
    }
}

async fn lane(ledger: Arc<SledLedger>, next: Arc<AtomicU32>, (end, growth): (u32, Growth)) {
    loop {
        let n = next.fetch_add(1, Ordering::SeqCst);
        if end <= n {
            return;
        }
        for writing in run(n, growth.result_bytes) {
            let mut asked = request(&[writing]);
            later(&mut asked, n);
            let verdicts = ledger.commit(vec![asked]).await;
            let verdicts = verdicts.expect("the store takes it");
            assert!(
                matches!(verdicts.as_slice(), [Verdict::Committed(_)]),
                "{verdicts:?}"
            );
        }
    }
}

/// A run of some calls, commit by commit.
pub(super) fn run(n: u32, result_bytes: usize) -> impl Iterator<Item = Writing> {
    let key = Key { owner: n, item: 1 };
    (0..=RUN_CALLS).map(move |commit| {
        let is_last = commit == RUN_CALLS;
        let first = match commit {
            0 => Happened::Started(100),
            _ => Happened::Settled(result_bytes),
        };
        let second = if is_last {
            Happened::Closed
        } else {
            Happened::Attempted
        };
        let beside = match commit {
            0 => vec![Beside::Row(false), Beside::Driven, Beside::Start(key)],
            _ if is_last => vec![Beside::Row(true), Beside::Off],
            _ => Vec::new(),
        };
        Writing {
            run: n,
            after: u64::from(commit) * 2,
            epoch: 1,
            events: vec![first, second],
            beside,
        }
    })
}

/// Each run is a second after the one before.
pub(super) fn later(asked: &mut CommitRequest, n: u32) {
    let moment = at(u64::from(n) * 1_000);
    for part in &mut asked.parts {
        part.events
            .iter_mut()
            .for_each(|stamped| stamped.at = moment);
        for op in &mut part.ops {
            if let mainstay_ledger::Op::Summary(summary) = op {
                summary.started_at = moment;
                summary.ended_at = summary.ended_at.map(|_| moment);
            }
        }
    }
}

fn look(store: &Path, calls: u32, begun: Instant) -> Look {
    Look {
        calls,
        store_bytes: bytes_of(store),
        log_bytes: bytes_of(&store.join("log")),
        memory_bytes: memory(),
        ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

/// The lengths of all files below a folder; files that come and go meanwhile may count or not.
#[must_use]
pub fn bytes_of(folder: &Path) -> u64 {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    listed
        .map(|found| match found.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes_of(&found.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

/// What this process has in memory.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.trim().parse().ok()).unwrap_or(0) * 1_024
}

/// Writes so many runs that are closed and so many that are driven, says so, and closes the store
/// or waits to be killed.
///
/// # Errors
/// The store's own, in words.
///
/// # Panics
/// A commit is refused.
pub async fn populate(store: &Path, closed: u32, driven: u32, dies: bool) -> Result<(), String> {
    tell(&Fact::Opening);
    let ledger = SledLedger::open(store, house::options()).map_err(|error| error.to_string())?;
    tell(&Fact::Open(0));
    let ledger = Arc::new(ledger);
    let mut lanes = JoinSet::new();
    let next = Arc::new(AtomicU32::new(0));
    for _ in 0..8 {
        let (ledger, next) = (Arc::clone(&ledger), Arc::clone(&next));
        lanes.spawn(async move {
            let group = u32::try_from(limits::COMMIT_GROUP_MAX / 4).expect("small");
            loop {
                let from = next.fetch_add(group, Ordering::SeqCst);
                let to = (closed + driven).min(from + group);
                if to <= from {
                    return;
                }
                let all = (from..to)
                    .map(|n| request(&[whole(n, n < closed)]))
                    .collect();
                let verdicts = ledger.commit(all).await.expect("the store takes it");
                let is_done = |verdict: &Verdict| matches!(verdict, Verdict::Committed(_));
                assert!(verdicts.iter().all(is_done), "{verdicts:?}");
            }
        });
    }
    while let Some(ended) = lanes.join_next().await {
        ended.expect("a lane does not panic");
    }
    if dies {
        tell(&Fact::Done(0, Vec::new()));
        std::future::pending::<()>().await;
    }
    tell(&Fact::Closing);
    let ledger = Arc::into_inner(ledger).expect("all lanes are over");
    ledger.close().map_err(|error| error.to_string())?;
    tell(&Fact::Closed(0));
    Ok(())
}

fn whole(n: u32, closed: bool) -> Writing {
    let (second, drive) = match closed {
        true => (Happened::Closed, Beside::Off),
        false => (Happened::Attempted, Beside::Driven),
    };
    Writing {
        run: n,
        after: 0,
        epoch: 1,
        events: vec![Happened::Started(150), second],
        beside: vec![
            Beside::Row(closed),
            drive,
            Beside::Start(Key { owner: n, item: 1 }),
        ],
    }
}

/// How a store opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// How long it took.
    pub micros: u64,
    /// Runs that somebody drove.
    pub driven: usize,
    /// Of so many numbers in between, runs that are there.
    pub closed: usize,
}

/// Opens a store, and looks whether `closed` runs and those that are driven are there.
///
/// # Errors
/// The store's own, in words.
pub async fn open(store: &Path, closed: u32) -> Result<Opened, String> {
    let begun = Instant::now();
    let ledger = SledLedger::open(store, house::options()).map_err(|error| error.to_string())?;
    let mut opened = Opened {
        micros: micros(begun),
        driven: 0,
        closed: 0,
    };
    let told = |error: mainstay::ledger::LedgerError| error.to_string();
    let mut cursor = None;
    loop {
        let page = ledger.driven(cursor).await.map_err(told)?;
        opened.driven += page.rows.len();
        cursor = page.rows.last().map(|last| last.run);
        if !page.more {
            break;
        }
    }
    for n in (0..closed).step_by(closed.div_ceil(100).max(1) as usize) {
        let found = ledger
            .summary(super::content::run_id(n))
            .await
            .map_err(told)?;
        opened.closed += usize::from(found.is_some_and(|summary| summary.ended_at.is_some()));
    }
    ledger.close().map_err(told)?;
    Ok(opened)
}
