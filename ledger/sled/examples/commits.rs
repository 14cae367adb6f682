//! How many durable commits a second this machine's disk allows, alone and with many at once.
//!
//! `cargo run --release -p mainstay-ledger-sled --example commits [FOLDER]`. Each commit appends
//! three events and a row in listings to its own run; none is counted before it is durable. Then,
//! how long a command from outside takes beside callers who leave more behind than the table can
//! take.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mainstay_ledger::conformance::block_on;
use mainstay_ledger::sample::{
    effect, effect_key, entry, message as sample_message, run, stamped, start_part, summary,
};
use mainstay_ledger::{CommitRequest, Enqueued, InboxCommand, Ledger, Op, Part, Verdict};
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_machine::{EntryState, Event, RunState};
use mainstay_types::{CallId, Epoch, Payload, Rung, Seq};

/// Runs that commands go to, so many that no inbox fills up.
const COMMANDED: u32 = 2_000;
/// Keys that a run leaves behind, so many that the table is what they wait for.
const KEYS: u32 = 16;
const LENGTH: Duration = Duration::from_secs(3);

fn main() {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let own = tempfile::tempdir_in(".").expect("a folder to write to");
    let folder = given.unwrap_or_else(|| own.path().to_owned());
    println!(
        "{:>8} {:>10} {:>10} {:>10}",
        "waiters", "commits/s", "syncs/s", "mean ms"
    );
    let mut first = 0;
    for waiters in [1, 8, 64, 256] {
        let ledger = SledLedger::open(&folder, OpenOptions::creating()).expect("a store");
        let (commits, seconds) = measure(&ledger, first, waiters);
        first += waiters;
        let mean = f64::from(waiters) * seconds / commits * 1_000.0;
        let syncs = f64::from(u32::try_from(ledger.syncs()).expect("a few seconds' syncs"));
        println!(
            "{waiters:>8} {:>10.0} {:>10.0} {mean:>10.2}",
            commits / seconds,
            syncs / seconds
        );
    }
    let ledger = SledLedger::open(&folder, OpenOptions::creating()).expect("a store");
    let Beside { half, most, full } = commands_beside(&ledger, 100_000, 64);
    println!(
        "a command beside 64 callers: {half:.2} ms, 99 of 100 below {most:.2} ms; the table was \
         half as far behind as it may be, or further, at {full:.0} of 100"
    );
}

/// How long commands take, in ms: the median and the 99th of 100; and beside how many of 100 the
/// table lagged behind by half of its bound or more.
struct Beside {
    half: f64,
    most: f64,
    full: f64,
}

/// Sends commands while `waiters` threads begin runs that each leave keys behind.
fn commands_beside(ledger: &SledLedger, first: u32, waiters: u32) -> Beside {
    let done = AtomicBool::new(false);
    let mut took = Vec::new();
    let mut full = 0_u32;
    let commanded = first..first + COMMANDED;
    commanded.for_each(|n| must(ledger, start_part(n).into()));
    let first = first + COMMANDED;
    thread::scope(|scope| {
        for n in 0..waiters {
            let done = &done;
            scope.spawn(move || {
                let mut run = first + n;
                while !done.load(Ordering::Relaxed) {
                    let keys = (0..KEYS).map(|item| effect_key(&format!("{run}"), item));
                    let held = keys.map(|key| effect(entry(key, run, 1, EntryState::Open)));
                    must(ledger, held.fold(start_part(run), Part::with).into());
                    run += waiters;
                }
            });
        }
        let mut message = 0;
        let begun = Instant::now();
        while begun.elapsed() < 3 * LENGTH {
            message += 1;
            let command = InboxCommand::Cancel {
                by: "ann".to_owned(),
                why: "because".to_owned(),
            };
            let asked = Instant::now();
            let to = run(first - COMMANDED + message % COMMANDED);
            let enqueued = block_on(ledger.enqueue(to, sample_message(message), command));
            assert_eq!(enqueued, Ok(Enqueued::New));
            if LENGTH < begun.elapsed() {
                took.push(asked.elapsed().as_secs_f64() * 1_000.0);
                full += u32::from(lags(ledger));
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    took.sort_by(f64::total_cmp);
    Beside {
        half: took[took.len() / 2],
        most: took[took.len() * 99 / 100],
        full: f64::from(full) * 100.0 / took.len() as f64,
    }
}

fn lags(ledger: &SledLedger) -> bool {
    let lag = ledger.lag();
    lag.rows_bound <= 2 * lag.rows
        || lag.bytes_bound <= 2 * lag.bytes
        || lag.age_bound.get() <= 2 * lag.age.get()
}

/// Commits made and seconds taken by `waiters` threads that each wait for every commit.
fn measure(ledger: &SledLedger, first: u32, waiters: u32) -> (f64, f64) {
    let begun = Instant::now();
    let commits: u32 = thread::scope(|scope| {
        let threads: Vec<_> = (first..first + waiters)
            .map(|n| scope.spawn(move || write(ledger, n, begun)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"))
            .sum()
    });
    (f64::from(commits), begun.elapsed().as_secs_f64())
}

fn write(ledger: &SledLedger, n: u32, begun: Instant) -> u32 {
    let mut commits = 0;
    must(ledger, start_part(n).into());
    while begun.elapsed() < LENGTH {
        must(ledger, turn(n, 1 + 3 * u64::from(commits)));
        commits += 1;
    }
    commits
}

fn turn(n: u32, seq: u64) -> CommitRequest {
    let result = Payload::from(format!("\"{}\"", "x".repeat(200)));
    let settled = Event::CallSettled {
        call: CallId(1),
        rung: Rung(0),
        result,
    };
    let skipped = |call| Event::CallSkipped { call: CallId(call) };
    let part = Part {
        run: run(n),
        expected_seq: Seq(seq),
        epoch: Epoch(1),
        events: stamped(seq, [settled, skipped(2), skipped(3)]),
        ops: Vec::new(),
    };
    part.with(Op::Summary(summary(n, RunState::Running))).into()
}

fn must(ledger: &SledLedger, request: CommitRequest) {
    let verdicts = block_on(ledger.commit(vec![request])).expect("a store that commits");
    assert!(
        matches!(verdicts[..], [Verdict::Committed(_)]),
        "{verdicts:?}"
    );
}
