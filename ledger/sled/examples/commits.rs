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
    message as sample_message, run, stamped, start_part, summary, take_start_key,
};
use mainstay_ledger::{CommitRequest, InboxCommand, Ledger, Op, Part, Verdict};
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_machine::{Event, RunState};
use mainstay_types::{CallId, Epoch, Payload, Rung, Seq};

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
    let (half, most, behind) = commands_beside(&ledger, 100_000, 64);
    println!(
        "a command beside 64 callers: {half:.2} ms, 99 of 100 below {most:.2} ms, with up to \
         {behind} rows on their way to the table"
    );
}

/// How long commands take, in ms, while `waiters` threads begin runs that each leave a key behind:
/// the median and the 99th of 100. Says too how many rows waited for the table at most.
fn commands_beside(ledger: &SledLedger, first: u32, waiters: u32) -> (f64, f64, usize) {
    let begun = Instant::now();
    let done = AtomicBool::new(false);
    let mut took = Vec::new();
    let mut behind = 0;
    must(ledger, start_part(first).into());
    thread::scope(|scope| {
        for n in 1..=waiters {
            let done = &done;
            scope.spawn(move || {
                let mut run = first + n;
                while !done.load(Ordering::Relaxed) {
                    must(
                        ledger,
                        start_part(run)
                            .with(take_start_key(&format!("{run}"), "x"))
                            .into(),
                    );
                    run += waiters;
                }
            });
        }
        let mut message = 0;
        while begun.elapsed() < 3 * LENGTH {
            message += 1;
            let command = InboxCommand::Cancel {
                by: "ann".to_owned(),
                why: "because".to_owned(),
            };
            let asked = Instant::now();
            let enqueued = ledger.enqueue(run(first), sample_message(message), command);
            // A full inbox is an answer too, and as durable.
            drop(block_on(enqueued));
            if LENGTH < begun.elapsed() {
                took.push(asked.elapsed().as_secs_f64() * 1_000.0);
            }
            behind = behind.max(ledger.lag().rows);
        }
        done.store(true, Ordering::Relaxed);
    });
    took.sort_by(f64::total_cmp);
    (took[took.len() / 2], took[took.len() * 99 / 100], behind)
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
