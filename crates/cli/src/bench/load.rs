//! A steady load: so many clients, each starting its next run when the last one has its outcome.
//!
//! A run counts when its outcome reached its client between the end of the warm-up and the end of
//! the measurement. One that does not complete ends the measurement with an error.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mainstay_machine::OutcomeKind;
use mainstay_runtime::Engine;
use tokio::task::JoinSet;

use super::classes::Numbers;
use super::latency::Latencies;
use super::store::failed;
use crate::error::CliError;
use crate::progress::Progress;

/// How often the progress line changes.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// How often it is looked whether enough runs have ended to begin.
const GLANCE: Duration = Duration::from_millis(20);

/// How much is asked of an engine, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Runs under way at once.
    pub(crate) clients: u32,
    /// Runs that end before anything is measured.
    pub(crate) before: u64,
    /// How long is measured; a tenth of it goes before, uncounted.
    pub(crate) length: Duration,
}

/// What an engine did.
pub(crate) struct Done {
    pub(crate) times: Latencies,
    pub(crate) appends: u64,
    pub(crate) length: Duration,
}

impl Done {
    pub(crate) fn per_s(&self, count: u64) -> f64 {
        count as f64 / self.length.as_secs_f64()
    }
}

struct Shared {
    engine: Engine,
    class: Numbers,
    times: Latencies,
    counts: AtomicBool,
    ended: AtomicU64,
    is_over: AtomicBool,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Drives `engine` with this load.
pub(crate) async fn drive(
    engine: &Engine,
    class: &Numbers,
    load: Load,
    (progress, title): (&Progress, &str),
) -> Result<Done, CliError> {
    let shared = Arc::new(Shared {
        engine: engine.clone(),
        class: class.clone(),
        times: Latencies::new(),
        counts: AtomicBool::new(false),
        ended: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
    });
    let mut clients = JoinSet::new();
    for _ in 0..load.clients {
        clients.spawn(client(Arc::clone(&shared)));
    }
    while shared.ended.load(Ordering::Relaxed) < load.before && !shared.is_over() {
        tokio::time::sleep(GLANCE).await;
        let (so_far, of) = (shared.ended.load(Ordering::Relaxed), load.before);
        progress.say(&format!("{title}: {so_far} of {of} runs before"));
    }
    tokio::time::sleep(load.length / 10).await;
    let (began, before) = (Instant::now(), engine.appends());
    shared.counts.store(true, Ordering::Relaxed);
    while began.elapsed() < load.length {
        let left = load.length.saturating_sub(began.elapsed());
        tokio::time::sleep(left.min(TELL_EVERY)).await;
        let (at, of) = (began.elapsed().as_secs(), load.length.as_secs());
        let so_far = shared.times.count();
        progress.say(&format!("{title}: {at} of {of} s, {so_far} runs"));
    }
    shared.counts.store(false, Ordering::Relaxed);
    let (length, appends) = (began.elapsed(), engine.appends() - before);
    shared.is_over.store(true, Ordering::Relaxed);
    joined(clients).await?;
    let shared = Arc::into_inner(shared).expect("its clients have ended");
    Ok(Done {
        times: shared.times,
        appends,
        length,
    })
}

/// Waits until every one of these has ended; the first error of one is the end of all.
pub(crate) async fn joined(mut clients: JoinSet<Result<(), CliError>>) -> Result<(), CliError> {
    while let Some(ended) = clients.join_next().await {
        ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
    }
    Ok(())
}

async fn client(shared: Arc<Shared>) -> Result<(), CliError> {
    while !shared.is_over() {
        let began = Instant::now();
        let ended = one_run(&shared.engine, &shared.class).await;
        if let Err(error) = ended {
            shared.is_over.store(true, Ordering::Relaxed);
            return Err(error);
        }
        shared.ended.fetch_add(1, Ordering::Relaxed);
        if shared.counts.load(Ordering::Relaxed) {
            shared.times.add(began.elapsed());
        }
    }
    Ok(())
}

/// One run from its start to its outcome.
pub(crate) async fn one_run(engine: &Engine, class: &Numbers) -> Result<(), CliError> {
    let run = engine.start(class, 0).await.map_err(failed)?;
    let outcome = run.outcome().await.map_err(failed)?;
    if outcome.kind == OutcomeKind::Completed {
        return Ok(());
    }
    let (id, kind, reason) = (run.id(), outcome.kind.as_str(), outcome.reason.as_str());
    Err(CliError::outside(
        format!("run {id} ended {kind}: {reason}"),
        "a run of this measurement always completes: report this",
    ))
}
