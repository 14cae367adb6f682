//! A service that drives runs of small classes: `worker STORE WRITTEN [KEY..]`.
//!
//! It waits for a store that another process is about to leave, starts a run per key (`chain/A`,
//! `aborting/abort`, `mute/A`: the class, and the input that is the key as well), waits for their
//! answers, prints one line of JSON per run, and drains on SIGTERM.

use mainstay::engine::{Answer, EngineBuilder, system};
use mainstay::ledger::{OpenOptions, SledLedger};
use mainstay::{Class, Engine, EngineError, Millis, RunHandle};
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
    };
    let options = OpenOptions::creating().wait(OPEN_WAIT);
    let ledger = SledLedger::open(std::path::Path::new(&store), options)?;
    let engine = EngineBuilder::new(std::sync::Arc::new(ledger), system::ports())
        .register(&classes.chain)
        .register(&classes.aborting)
        .register(&classes.mute)
        .start()
        .await?;
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
            Ok(run) => one(&run, &key).await,
            Err(error) => Err(error),
        };
        let told = told.unwrap_or_else(|error| json!({"key": key, "error": error.code().as_str()}));
        println!("{told}");
    }
}

async fn start(
    engine: &Engine,
    classes: &Classes,
    key: &str,
) -> Result<RunHandle<String>, EngineError> {
    let (name, input) = key.split_once('/').unwrap_or(("chain", key));
    let class = match name {
        "aborting" => &classes.aborting,
        "mute" => &classes.mute,
        _ => &classes.chain,
    };
    engine.start(class, input.to_owned()).key(key).await
}

async fn one(run: &RunHandle<String>, key: &str) -> Result<serde_json::Value, EngineError> {
    let kind = if let Answer::Ready(outcome) = run.answer().await? {
        outcome.kind.as_str()
    } else {
        "later"
    };
    let view = run.view().await?;
    Ok(json!({"key": key, "reused": run.is_reused(), "answer": kind, "run": view}))
}
