//! Real processes: the production engine on a real store, in a program that is killed, stopped,
//! loses its power, its disk or its clock, over and over, while the services it talks to do things
//! and lose the reply.
//!
//! [`run`] is the campaign. It lives in one process with everything outside and with
//! what callers were told, and starts a worker ([`work`]) again and again. When the faults are over
//! everything has to end; then the stores are read, and the same guarantees are held against them
//! as against worlds in virtual time. Nothing here is the same twice: a seed fixes what is done,
//! real processes when it strikes.

mod far;
mod judge;
mod letter;
mod life;
mod pace;
mod plan;
mod process;
mod report;
mod series;
mod service;
mod speech;
mod weather;
mod worker;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

pub use plan::Trouble;
pub use report::{Breached, Figures, Opened, Report, Skipped};
pub use worker::work;

use crate::campaign::{Misuse, Plan};
use crate::offer::Offered;
use series::Series;

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program of a worker.
    pub program: PathBuf,
    /// Its words before the errand, which it has to hand to [`work`].
    pub arguments: Vec<OsString>,
    /// Where the stores are made; each is taken away again unless something did not hold in it.
    pub folder: PathBuf,
    /// How many times a worker dies, all in all.
    pub kills: u32,
    /// What is drawn comes from it.
    pub seed: u64,
    /// What is left out.
    pub without: Vec<Trouble>,
    /// Lets syncs of the log do nothing under losses of power, so that something is lost and has
    /// to be seen.
    pub without_syncs: bool,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum RealError {
    /// The class cannot be tried at all.
    #[error("{0}")]
    Misuse(#[from] Misuse),
    /// The system does not give what a campaign needs.
    #[error("a campaign of real processes cannot go on: {0}")]
    System(#[from] io::Error),
    /// Somebody ended it: workers are killed, stores are taken away.
    #[error("the campaign was interrupted")]
    Interrupted,
}

/// How far a campaign has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Deaths so far.
    pub kills: u32,
    /// Of so many.
    pub of: u32,
}

/// How many stores are tried at once: one process waits for its disk while another one works.
const AT_ONCE: usize = 2;

/// Tries `class` with real processes; `tell` hears how far it has come.
///
/// Errors: it cannot begin, or this machine does not let it go on. What did not hold is in the
/// report.
///
/// # Panics
/// Not by itself: only when what the shim of a disk wrote cannot be read again.
pub fn run(
    class: &Offered,
    options: &Options,
    tell: impl Fn(Progress) + Send + Sync + 'static,
) -> Result<Report, RealError> {
    let plan = Arc::new(class.plan()?);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async move {
        tokio::select! {
            report = all_stores(&plan, (class.name(), options), tell) => report,
            // A campaign that died of it would leave volumes mounted.
            ended = is_interrupted() => Err(ended.err().map_or(RealError::Interrupted, Into::into)),
        }
    })
}

async fn all_stores(
    plan: &Arc<Plan>,
    (class, options): (&str, &Options),
    tell: impl Fn(Progress) + Send + Sync + 'static,
) -> Result<Report, RealError> {
    let mut report = Report::new(class, options);
    let (series, skipped) = plan::series(options);
    report.skipped = skipped;
    let told = Arc::new(report::Meter::new(options.kills, tell));
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut all = JoinSet::new();
    for one in series {
        let (plan, options) = (Arc::clone(plan), options.clone());
        let (permits, told) = (Arc::clone(&permits), Arc::clone(&told));
        all.spawn(async move {
            let _permit = permits.acquire_owned().await;
            Series::run(&plan, (&options, one), &told).await
        });
    }
    while let Some(ended) = all.join_next().await {
        report.add(ended.map_err(io::Error::other)??);
    }
    report.conclude();
    Ok(report)
}

async fn is_interrupted() -> io::Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended,
        _ = terminated.recv() => Ok(()),
    }
}
