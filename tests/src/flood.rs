//! Ten thousand callers at once at an engine that drives a few runs: who is refused, how fast, and
//! what it costs.
//!
//! The figures are taken inside the process that is flooded; it must never be the test's own.

use std::time::{Duration, Instant};

use mainstay::class::{Budget, Class, Problems, TaskClass, secs};
use mainstay::dispatch::{Answer, Promise};
use mainstay::engine::EngineError;
use mainstay::ledger::RunFilter;
use mainstay::{AttemptContext, Engine, Failure, Millis, Read};
use serde::{Deserialize, Serialize};

/// Callers that start a run at once.
pub const CALLERS: usize = 10_000;
/// Runs that the engine drives.
pub const RUNS_MAX: usize = 1_000;

/// What a flood came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flooded {
    /// Callers whose run was started.
    pub started: usize,
    /// Callers that were refused with a time to come back.
    pub refused: usize,
    /// Callers that met anything else.
    pub other: Vec<String>,
    /// Runs in the store afterwards.
    pub stored: usize,
    /// From asking to being refused, the middle one, in microseconds.
    pub refused_us_p50: u64,
    /// The same of which one in a hundred takes longer.
    pub refused_us_p99: u64,
    /// The longest.
    pub refused_us_max: u64,
    /// The most memory the process held, in MiB.
    pub peak_mib: u64,
    /// What it held before the flood, in MiB.
    pub before_mib: u64,
}

/// Nobody answers while the flood lasts.
#[derive(Clone)]
struct Silent;

impl Read for Silent {
    type Request = String;
    type Reply = String;

    fn name(&self) -> &str {
        "silent"
    }

    async fn call(&self, _: String, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        std::future::pending().await
    }

    fn promise(&self) -> Promise {
        Promise::new().timeout(Millis::from_secs(500))
    }
}

/// One read that is never answered.
///
/// # Errors
/// All problems of the class at once.
pub fn class() -> Result<Class<String, String>, Problems> {
    let mut g = TaskClass::<String>::define("flood", 1);
    g.budget(Budget::new().answer_by(secs(600)));
    let told = g.read("told", &Silent, (), |name, ()| name.clone()).add();
    g.finish(told, |_, told| told.clone())
}

/// Floods `engine` with callers whose keys begin with `prefix`.
pub async fn flood(engine: &Engine, class: &Class<String, String>, prefix: &str) -> Flooded {
    let before_mib = memory("VmRSS:");
    let callers: Vec<_> = (0..CALLERS)
        .map(|n| format!("{prefix}-{n}"))
        .map(|key| tokio::spawn(caller(engine.clone(), class.clone(), key)))
        .collect();
    let (mut started, mut waits, mut other) = (0, Vec::new(), Vec::new());
    for caller in callers {
        match caller.await {
            Ok(Asked::Started) => started += 1,
            Ok(Asked::Refused(wait)) => waits.push(wait),
            Ok(Asked::Other(what)) => other.push(what),
            Err(error) => other.push(error.to_string()),
        }
    }
    waits.sort();
    let at = |share: usize| waits.get(waits.len() * share / 100).copied();
    let us = |wait: Option<Duration>| wait.map_or(0, micros);
    Flooded {
        started,
        refused: waits.len(),
        other,
        stored: stored(engine).await,
        refused_us_p50: us(at(50)),
        refused_us_p99: us(at(99)),
        refused_us_max: us(waits.last().copied()),
        peak_mib: memory("VmHWM:"),
        before_mib,
    }
}

enum Asked {
    Started,
    Refused(Duration),
    Other(String),
}

async fn caller(engine: Engine, class: Class<String, String>, key: String) -> Asked {
    let since = Instant::now();
    let start = engine.start(&class, key.clone());
    match start.key(&key).await {
        Ok(_) => Asked::Started,
        Err(EngineError::Refused {
            retry_after: Some(_),
            ..
        }) => Asked::Refused(since.elapsed()),
        Err(error) => Asked::Other(error.to_string()),
    }
}

async fn stored(engine: &Engine) -> usize {
    let (mut count, mut cursor) = (0, None);
    loop {
        let Ok(page) = engine.runs(RunFilter::default(), cursor).await else {
            return count;
        };
        count += page.rows.len();
        cursor = page.rows.last().map(|row| row.run);
        if !page.more {
            return count;
        }
    }
}

fn micros(wait: Duration) -> u64 {
    u64::try_from(wait.as_micros()).unwrap_or(u64::MAX)
}

/// A line of what the system says of this process's memory, in MiB; 0 where it says nothing.
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|text| text.strip_prefix(line));
    let kib = found.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}
