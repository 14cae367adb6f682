//! A service that drives runs of small classes: `worker STORE WRITTEN [KEY..]`.
//!
//! It waits for a store that another process is about to leave, starts a run per key (`chain/A`,
//! `aborting/abort`, `mute/A`: the class, and the input that is the key as well), waits for their
//! answers, prints one line of JSON per run, and drains on SIGTERM. With a receiver's address in
//! `MAINSTAY_RECEIVER` it also knows the classes of `receivers`, as `by_key/A`. Its store is served
//! on the local socket, so that a person can say something meanwhile.

use std::path::Path;

use mainstay::class::Problems;
use mainstay::dispatch::Value;
use mainstay::engine::{Answer, EngineBuilder, system};
use mainstay::ledger::{OpenOptions, SledLedger};
use mainstay::socket::LocalSocket;
use mainstay::{Class, Engine, EngineError, Millis, RunHandle};
use mainstay_tests::receivers::{Kind, Order, RECEIVER, Receipt, class};
use mainstay_tests::worker::{aborting, chain, mute};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

/// How long it waits for the store, and then for what is out when it stops.
const OPEN_WAIT: Millis = Millis::from_secs(20);
const DRAIN: Millis = Millis::from_secs(10);

struct Classes {
    chain: Class<String, String>,
    aborting: Class<String, String>,
    mute: Class<String, String>,
    received: Vec<Received>,
}

/// The class of a receiver's kind.
struct Received(Kind, Class<Order, Receipt>);

/// The classes of the six kinds, if a receiver is there.
fn received(table: &Path) -> Result<Vec<Received>, Problems> {
    let Ok(url) = std::env::var(RECEIVER) else {
        return Ok(Vec::new());
    };
    let kinds = Kind::ALL.into_iter();
    kinds
        .map(|kind| Ok(Received(kind, class(kind, &url, table)?)))
        .collect()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let usage = "worker STORE WRITTEN [CLASS/INPUT..]";
    let (store, written) = (words.next().ok_or(usage)?, words.next().ok_or(usage)?);
    let classes = Classes {
        chain: chain(written.as_ref())?,
        aborting: aborting()?,
        mute: mute(written.as_ref())?,
        received: received(written.as_ref())?,
    };
    let options = OpenOptions::creating().wait(OPEN_WAIT);
    let store = Path::new(&store);
    let ledger = SledLedger::open(store, options)?;
    let mut builder = EngineBuilder::new(std::sync::Arc::new(ledger), system::ports())
        .accompany(LocalSocket::of(store))
        .register(&classes.chain)
        .register(&classes.aborting)
        .register(&classes.mute);
    for Received(_, class) in &classes.received {
        builder = builder.register(class);
    }
    let engine = builder.start().await?;
    println!("{}", json!({"ready": true}));
    let mut stop = signal(SignalKind::terminate())?;
    tokio::select! {
        biased;
        _ = stop.recv() => {}
        () = all(&engine, &classes, words.collect()) => {}
    }
    let left = engine.shutdown(DRAIN).await;
    println!("{}", json!({"left": left.open_runs}));
    Ok(())
}

/// Starts all of them, then waits for each.
async fn all(engine: &Engine, classes: &Classes, keys: Vec<String>) {
    let mut runs = Vec::new();
    for key in keys {
        runs.push((start(engine, classes, &key).await, key));
    }
    println!("{}", json!({"started": runs.len()}));
    for (run, key) in runs {
        let told = match run {
            Ok(Started::Word(run)) => one(&run, &key).await,
            Ok(Started::Order(run)) => one(&run, &key).await,
            Err(error) => Err(error),
        };
        let told = told.unwrap_or_else(|error| json!({"key": key, "error": error.code().as_str()}));
        println!("{told}");
    }
}

enum Started {
    Word(RunHandle<String>),
    Order(RunHandle<Receipt>),
}

async fn start(engine: &Engine, classes: &Classes, key: &str) -> Result<Started, EngineError> {
    let (name, input) = key.split_once('/').unwrap_or(("chain", key));
    let known = Kind::named(name);
    let received = classes
        .received
        .iter()
        .find(|Received(kind, _)| Some(*kind) == known);
    if let Some(Received(_, class)) = received {
        let (id, item) = (input.to_owned(), "paper".to_owned());
        let run = engine.start(class, Order { id, item }).key(key).await?;
        return Ok(Started::Order(run));
    }
    let class = match name {
        "aborting" => &classes.aborting,
        "mute" => &classes.mute,
        _ => &classes.chain,
    };
    let run = engine.start(class, input.to_owned()).key(key).await?;
    Ok(Started::Word(run))
}

async fn one<T: Value>(run: &RunHandle<T>, key: &str) -> Result<serde_json::Value, EngineError> {
    let kind = if let Answer::Ready(outcome) = run.answer().await? {
        outcome.kind.as_str()
    } else {
        "later"
    };
    let view = run.view().await?;
    Ok(json!({"key": key, "reused": run.is_reused(), "answer": kind, "run": view}))
}
