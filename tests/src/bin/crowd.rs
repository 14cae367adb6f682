//! Drives 64 runs at once to their ends, in one process over one store: `crowd STORE WRITTEN`.
//!
//! Prints a line of JSON: how many appends it made, and every run's view.

use mainstay::engine::RunView;
use mainstay_tests::crowd::{RUNS, class};
use serde::Serialize;

#[derive(Serialize)]
struct Said {
    appends: u64,
    reused: usize,
    runs: Vec<RunView>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [store, written] = words.as_slice() else {
        return Err("crowd STORE WRITTEN".into());
    };
    let class = class(written.as_ref())?;
    let engine = mainstay::open(store)?.register(&class).start().await?;
    let mut runs = Vec::with_capacity(RUNS);
    for n in 0..RUNS {
        let key = format!("K{n}");
        runs.push(engine.start(&class, key.clone()).key(&key).await?);
    }
    let reused = runs.iter().filter(|run| run.is_reused()).count();
    for run in &runs {
        run.outcome().await?;
    }
    let mut views = Vec::with_capacity(RUNS);
    for run in &runs {
        views.push(run.view().await?);
    }
    let said = Said {
        appends: engine.appends(),
        reused,
        runs: views,
    };
    println!("{}", serde_json::to_string(&said)?);
    Ok(())
}
