//! Answers that the clock gives: how late they are while the engine and its store have more to do
//! than they can.
//!
//! It measures and never judges. Lateness is counted from the moment at which the clock alone gives
//! the answer, on the engine's own clock, to the moment at which whoever asked has it. Answers that
//! providers give are not among it: they would hide the others.

mod kinds;
mod told;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use mainstay::engine::system;
use mainstay::ledger::{Ledger, SledLedger};
use mainstay::types::{Clock, Code};
use mainstay::{Engine, EngineBuilder, Millis, OutcomeKind, RunHandle, Timestamp};
use tokio::task::JoinSet;

pub use kinds::DELIVERY;
pub use told::{Lateness, Told};

use super::house;
use kinds::{ANSWER_BY, KINDS, Kind, Numbers, load_class};
use told::{Answered, Busy, lateness, share};

/// How often it is looked how far the table is behind.
const GLANCE: Duration = Duration::from_millis(100);
/// For what is still out when nothing is started any more.
const DRAIN: Millis = Millis::from_secs(30);
/// By how much less than usual the table may be behind.
const TIGHTER: usize = 16;

/// How much goes on at once, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Runs that wait for an answer.
    pub askers: u64,
    /// Runs that do nothing and end, one after the other.
    pub loaders: u64,
    /// How long new ones are started.
    pub length: Duration,
}

/// What all askers and loaders share.
struct Shared {
    engine: Engine,
    ledger: Arc<SledLedger>,
    clock: Arc<dyn Clock>,
    classes: Vec<(Kind, Numbers)>,
    load: Numbers,
    is_over: AtomicBool,
    ended: AtomicU64,
    refused: AtomicU64,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Drives the load, and says how late the clock's answers were.
///
/// # Errors
/// The engine's or the store's own in words, and an answer of a kind that its run cannot get.
pub async fn measure(store: &Path, load: Load) -> Result<Told, String> {
    let mut options = house::options();
    // A machine's disk lets no more in than one table takes: it is behind as far as it may be when
    // it may be behind by less.
    let standing = &mut options.settings.standing;
    standing.rows.high /= TIGHTER;
    standing.freeze_rows /= TIGHTER;
    let ledger = SledLedger::open(store, options).map_err(|error| error.to_string())?;
    let ledger = Arc::new(ledger);
    let ports = system::ports();
    let clock = Arc::clone(&ports.clock);
    let mut builder = EngineBuilder::new(Arc::clone(&ledger) as Arc<dyn Ledger>, ports);
    let mut classes = Vec::new();
    for kind in KINDS {
        let class = kind.class().map_err(|problems| problems.to_string())?;
        builder = builder.register(&class);
        classes.push((kind, class));
    }
    let idle = load_class().map_err(|problems| problems.to_string())?;
    let engine = builder.register(&idle).start().await.map_err(words)?;
    let shared = Arc::new(Shared {
        engine: engine.clone(),
        ledger: Arc::clone(&ledger),
        clock,
        classes,
        load: idle,
        is_over: AtomicBool::new(false),
        ended: AtomicU64::new(0),
        refused: AtomicU64::new(0),
    });
    let told = driven(&shared, load).await;
    drop(shared);
    engine.shutdown(DRAIN).await;
    let told = told?;
    drop(Arc::into_inner(ledger).map(SledLedger::close));
    Ok(told)
}

async fn driven(shared: &Arc<Shared>, load: Load) -> Result<Told, String> {
    let (mut askers, mut loaders) = (JoinSet::new(), JoinSet::new());
    for place in 0..load.askers {
        askers.spawn(ask(Arc::clone(shared), place, load.askers));
    }
    for place in 0..load.loaders {
        loaders.spawn(begin_and_end(Arc::clone(shared), place));
    }
    let (begun, busy) = (tokio::time::Instant::now(), Busy::now());
    let mut lags = Vec::new();
    while begun.elapsed() < load.length {
        tokio::time::sleep(GLANCE).await;
        lags.push(share(shared.ledger.lag()));
    }
    let (length, used) = (begun.elapsed(), Busy::now().since(busy));
    let ended = shared.ended.load(Ordering::Relaxed);
    shared.is_over.store(true, Ordering::Relaxed);
    let mut answers = Vec::new();
    while let Some(asked) = askers.join_next().await {
        answers.extend(asked.map_err(words)??);
    }
    while let Some(loaded) = loaders.join_next().await {
        loaded.map_err(words)??;
    }
    let millis = u64::try_from(length.as_millis()).unwrap_or(u64::MAX).max(1);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let of = |is_meant: fn(Kind) -> bool| lateness(&answers, is_meant);
    Ok(Told {
        all: of(|kind| kind != Kind::InTime),
        handed_off: of(|kind| kind == Kind::HandedOff),
        later: of(|kind| kind == Kind::Later),
        degraded: of(|kind| kind == Kind::Degraded),
        refused: shared.refused.load(Ordering::Relaxed),
        in_time: of(|kind| kind == Kind::InTime).answers as u64,
        runs_per_s: ended * 1_000 / millis,
        busy_per_mille: used.all_ms * 1_000 / (millis * cores),
        applier_per_mille: used.applier_ms * 1_000 / millis,
        lag_per_mille: lags.iter().sum::<u64>() / (lags.len() as u64).max(1),
        lag_per_mille_max: lags.iter().copied().max().unwrap_or(0),
    })
}

/// Asks for one run after the other, of each kind in turn. Those of all begin one by one, so that
/// their moments are spread as callers' are.
async fn ask(shared: Arc<Shared>, place: u64, askers: u64) -> Result<Vec<Answered>, String> {
    let before = ANSWER_BY.to_duration() * u32::try_from(place).unwrap_or(0);
    tokio::time::sleep(before / u32::try_from(askers).unwrap_or(1)).await;
    let mut answers = Vec::new();
    let kinds = shared.classes.iter().cycle();
    for (kind, class) in kinds.skip(usize::try_from(place).unwrap_or(0)) {
        if shared.is_over() {
            break;
        }
        let run = match shared.engine.start(class, place).await {
            Ok(run) => run,
            // The silent ones came in a swarm and are known for a moment: no answer is due.
            Err(error) if error.code() == Code::InsufficientTimeBudget => {
                shared.refused.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            Err(error) => return Err(words(error)),
        };
        let answer = run.answer().await.map_err(words)?;
        let now = shared.clock.wall();
        let due = started_at(&shared, &run).await? + kind.due_after();
        let late = if now < due {
            Millis::ZERO
        } else {
            due.until(now)
        };
        // What could not be answered within its reserve is answered as at its end.
        let is_excused = *kind == Kind::Degraded && DELIVERY <= late;
        if !kind.is_met(&answer) && !is_excused {
            return Err(format!("a run of kind {kind:?} got {answer:?}"));
        }
        shared.ended.fetch_add(1, Ordering::Relaxed);
        answers.push((*kind, late.get()));
    }
    Ok(answers)
}

async fn started_at(shared: &Shared, run: &RunHandle<u64>) -> Result<Timestamp, String> {
    let summary = shared.ledger.summary(run.id()).await.map_err(words)?;
    let summary = summary.ok_or_else(|| format!("run {} is gone", run.id()))?;
    Ok(summary.started_at)
}

/// Starts one run of the load after the other, each with a key, so that the table has rows to keep.
async fn begin_and_end(shared: Arc<Shared>, place: u64) -> Result<(), String> {
    for n in 0_u64.. {
        if shared.is_over() {
            break;
        }
        let run = shared.engine.start(&shared.load, place);
        let run = run.key(&format!("{place}-{n}"));
        let outcome = run.await.map_err(words)?.outcome().await.map_err(words)?;
        if outcome.kind != OutcomeKind::Completed {
            return Err(format!("a run of the load ended {outcome:?}"));
        }
        shared.ended.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
