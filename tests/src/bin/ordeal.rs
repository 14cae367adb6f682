//! The programs of an ordeal: what writes a store until it dies, and what looks at it.
//!
//! It must never do anything by itself: its words say what, and its output is a line per fact.

use std::path::PathBuf;
use std::process::ExitCode;

use mainstay::ledger::LedgerError;
use mainstay_tests::ordeal::author::{self, Orders};
use mainstay_tests::ordeal::bulk::{self, Growth};
use mainstay_tests::ordeal::check::{Depth, Report, check};
use mainstay_tests::ordeal::fact::Fact;
use mainstay_tests::ordeal::lateness::{self, Load};
use mainstay_tests::ordeal::{flow, house, room};

/// As `mainstay` has it.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const USAGE: &str = "ordeal write STORE SEED ROUND LANES DEEDS LIMIT_PER_MILLE\n\
    ordeal check STORE FACTS once|twice\n\
    ordeal flow STORE FIRST COUNT\n\
    ordeal check-flow STORE FACTS\n\
    ordeal hold STORE\n\
    ordeal fill STORE VOLUME\n\
    ordeal grow STORE CALLS RESULT_BYTES REMEMBERED\n\
    ordeal populate STORE CLOSED DRIVEN dies|closes\n\
    ordeal open STORE CLOSED\n\
    ordeal answers STORE ASKERS LOADERS SECONDS";

#[tokio::main(worker_threads = 4)]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["write", store, seed, round, lanes, deeds, limit] => {
            let orders = Orders {
                store: PathBuf::from(store),
                seed: number(seed),
                round: number(round),
                lanes: number(lanes),
                deeds: number(deeds),
                limit_per_mille: number(limit),
            };
            written(author::write(orders).await)
        }
        ["flow", store, first, count] => {
            written(flow::write(store.as_ref(), number(first), number(count)).await)
        }
        ["check", store, told, depth] => {
            let depth = if *depth == "twice" {
                Depth::Twice
            } else {
                Depth::Once
            };
            reported(&check(store.as_ref(), &facts(told), depth).await)
        }
        ["check-flow", store, told] => reported(&flow::check(store.as_ref(), &facts(told)).await),
        ["hold", store] => hold(store),
        ["fill", store, volume] => ended(room::fill(store.as_ref(), volume.as_ref()).await),
        ["grow", store, calls, result_bytes, remembered] => {
            let growth = Growth {
                calls: number(calls),
                result_bytes: number(result_bytes),
                remembered: number(remembered),
            };
            ended(bulk::grow(store.as_ref(), growth).await)
        }
        ["populate", store, closed, driven, end] => {
            let (closed, driven) = (number(closed), number(driven));
            ended(bulk::populate(store.as_ref(), closed, driven, *end == "dies").await)
        }
        ["open", store, closed] => ended(bulk::open(store.as_ref(), number(closed)).await),
        ["answers", store, askers, loaders, seconds] => {
            let load = Load {
                askers: number(askers),
                loaders: number(loaders),
                length: std::time::Duration::from_secs(number(seconds)),
            };
            ended(lateness::measure(store.as_ref(), load).await)
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse()
        .unwrap_or_else(|_| panic!("{word} is no number"))
}

fn facts(path: &str) -> Vec<Fact> {
    Fact::all(&std::fs::read_to_string(path).expect("a file of facts"))
}

/// Says that it failed, as a fact.
fn failed(why: String) -> ExitCode {
    author::tell(&Fact::Failed(why));
    ExitCode::FAILURE
}

fn written(end: Result<(), LedgerError>) -> ExitCode {
    match end {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(error.to_string()),
    }
}

fn reported(report: &Report) -> ExitCode {
    println!("{}", serde_json::to_string(report).expect("a report"));
    ExitCode::SUCCESS
}

/// Says what came of it: on stderr, because facts are on stdout.
fn ended(end: Result<impl serde::Serialize, String>) -> ExitCode {
    match end {
        Ok(seen) => {
            eprintln!("{}", serde_json::to_string(&seen).expect("numbers"));
            ExitCode::SUCCESS
        }
        Err(why) => failed(why),
    }
}

/// Opens the store, says so, and keeps it until its input ends.
fn hold(store: &str) -> ExitCode {
    let begun = std::time::Instant::now();
    match mainstay::ledger::SledLedger::open(store, house::options()) {
        Ok(ledger) => {
            author::tell(&Fact::Open(author::micros(begun)));
            // The end of the input or an error of it: both let go of the store.
            let _ = std::io::Read::read(&mut std::io::stdin(), &mut [0]);
            drop(ledger);
            ExitCode::SUCCESS
        }
        Err(error) => failed(error.to_string()),
    }
}
