//! Experiment "idempotency": who should make the key of a write that is retried.
//!
//! A purchase tool on the loopback executes some orders and answers too late, and loses others. Two
//! layers retry: the HTTP client sends the same again, the model calls again under a new call id
//! and perhaps with another memo. Sessions are run through each strategy, and what models were told
//! is held against the tool's own table. `EXPERIMENT.md` beside the crate has the figures.
//!
//! A time-out means "nobody knows". Nothing here must ever read it as "it failed".

mod awake;
mod draw;
mod faults;
mod look_up;
mod picture;
mod receiver;
mod score;
mod session;
pub mod strategies;
mod strategy;
mod tool;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Serialize;
use tokio::task::JoinSet;

pub use draw::{Ask, Draws, Fate, Intent, Seed};
pub use faults::{Client, Faults, FaultsError, Load, Model, Spell, Times, Way};
pub use look_up::{LookUpError, Standing};
pub use picture::svg;
pub use receiver::{Applied, Keys, OrderRequest, Placed, Receiver, Truth};
pub use score::Score;
pub use strategy::{OpenError, OrdersPerRun, Retries, RunContext, Strategy, Wrapper};
pub use tool::{Arguments, Line, SendError, ToolAnswer, ToolCall, ToolClient};

use score::score;
use session::{Stage, Told};

/// The seed of the source.
pub const SEED_DEFAULT: u64 = 20_261_005;

/// The sessions of the source.
pub const SESSIONS_DEFAULT: u32 = 2_000;

/// Hears how many sessions of a strategy are over: its name, done, and all.
pub type Hears = Arc<dyn Fn(&'static str, u32, u32) + Send + Sync>;

/// What is run.
#[derive(Clone)]
pub struct Options {
    /// How many sessions each strategy has.
    pub sessions: u32,
    /// What all draws come from.
    pub seed: Seed,
    /// What goes wrong.
    pub faults: Faults,
}

/// What came out. The keys are relied upon.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// How many sessions each strategy had.
    pub sessions: u32,
    /// What all draws came from.
    pub seed: u64,
    /// Sends of all strategies that were drawn to be in time and had no reply in time
    /// nevertheless, or came to their turn behind the receiver's bound: the machine was busy. They
    /// are real faults that the seed does not know.
    pub late_by_load: u64,
    /// A row per strategy.
    pub rows: Vec<Score>,
}

/// Why the experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// No port of the loopback.
    #[error("the purchase tool cannot listen on the loopback")]
    Listen(#[source] std::io::Error),
    /// No HTTP client.
    #[error("the HTTP client cannot be made")]
    Client(#[source] reqwest::Error),
    /// A strategy without what its runs share, for example its store.
    #[error("strategy {strategy} cannot be tried")]
    Strategy {
        /// Its letter.
        strategy: &'static str,
        /// Why.
        #[source]
        source: OpenError,
    },
}

/// Runs every one of `strategies`, one after the other, each on a receiver of its own. Needs a
/// tokio runtime; one thread is the steadiest where other programs want the cores, too.
///
/// Cancel safe: nothing outlives the future but requests that are already under way.
pub async fn run(
    options: &Options,
    strategies: &[Arc<dyn Strategy>],
    hears: &Hears,
) -> Result<Report, ExperimentError> {
    let mut report = Report {
        sessions: options.sessions,
        seed: options.seed.0,
        late_by_load: 0,
        rows: Vec::new(),
    };
    for strategy in strategies {
        let (score, late_by_load) = try_one(options, strategy, hears).await?;
        report.late_by_load += late_by_load;
        report.rows.push(score);
    }
    Ok(report)
}

/// One strategy's score, and how many of its sends the machine's load made late.
async fn try_one(
    options: &Options,
    strategy: &Arc<dyn Strategy>,
    hears: &Hears,
) -> Result<(Score, u64), ExperimentError> {
    let stage = Arc::new(stage(options, strategy).await?);
    let failed = |source| ExperimentError::Strategy {
        strategy: strategy.name(),
        source,
    };
    strategy.open(&options.faults).await.map_err(failed)?;
    let told = all_sessions(&stage, options, hears).await;
    strategy.close().await.map_err(failed)?;
    let truth = stage.receiver.settled().await;
    let unanswered = stage.client.unanswered();
    // A reply that was drawn late and came in time all the same would be a fault less.
    let late_by_load = unanswered.abs_diff(truth.sends_struck) + truth.sends_expired;
    Ok((score(strategy.name(), &told, &truth), late_by_load))
}

async fn stage(options: &Options, strategy: &Arc<dyn Strategy>) -> Result<Stage, ExperimentError> {
    let faults = options.faults;
    let draws = Draws::new(options.seed, faults);
    let receiver = Receiver::start(faults, draws, strategy.receiver())
        .await
        .map_err(ExperimentError::Listen)?;
    let resends_max = match strategy.retries() {
        Retries::BothLayers => faults.client.resends_max,
        Retries::Neither => 0,
    };
    let client = ToolClient::new(faults.timeout(), resends_max).map_err(ExperimentError::Client)?;
    Ok(Stage {
        strategy: Arc::clone(strategy),
        receiver,
        client: Arc::new(client),
        draws,
        model: faults.model,
    })
}

/// So many at once, each taking the next session that nobody has.
async fn all_sessions(stage: &Arc<Stage>, options: &Options, hears: &Hears) -> Vec<Vec<Told>> {
    let (next, ended) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let total = options.sessions;
    let mut clients = JoinSet::new();
    let at_once = options.faults.load.sessions_at_once.min(total);
    for at in 0..at_once {
        let (stage, hears) = (Arc::clone(stage), Arc::clone(hears));
        let (next, ended) = (Arc::clone(&next), Arc::clone(&ended));
        // All connections at one moment would make the first sends late by themselves.
        let begins = options.faults.bound() * at / at_once;
        clients.spawn(async move {
            tokio::time::sleep(begins).await;
            let mut told = Vec::new();
            loop {
                let session = next.fetch_add(1, Ordering::Relaxed);
                if total <= session {
                    return told;
                }
                told.push(stage.session(session).await);
                let done = ended.fetch_add(1, Ordering::Relaxed) + 1;
                hears(stage.strategy.name(), done, total);
            }
        });
    }
    clients.join_all().await.into_iter().flatten().collect()
}
