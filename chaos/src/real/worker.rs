//! The program that is killed: the production engine on a real store, driven by lines of its
//! standard input.
//!
//! It must never decide what goes wrong, nor say what it was not told by the engine.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use mainstay_ledger::RunFilter;
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_machine::RunState;
use mainstay_runtime::{Engine, EngineBuilder, EngineError, Ports, system};
use mainstay_types::{BoxFuture, Clock, Code, EffectKey, Millis, Payload, RunId, Timestamp};
#[cfg(target_os = "linux")]
use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::far::{Far, Line};
use super::speech::{Ask, Errand, Say, order};
use crate::campaign::Plan;
use crate::offer::Offered;
use crate::world::book::{self, Callers, Desk, Hears, Order, Told};
use crate::world::person;
use crate::world::stage::replaced;

/// How often a worker that is to stop looks whether it may.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often people look where only they can.
const PEOPLE_LOOK_EVERY: u32 = 10;
/// How long it waits for what is out when it stops.
const STOPS_WITHIN: Millis = Millis::from_secs(10);

/// Does what `errand` says, a worker's one argument, until it is told to stop or dies.
///
/// `offered` are the campaigns of this program; its class has to be one of theirs.
///
/// Errors: in words, why it could not go on; its campaign was told.
pub fn work(offered: &[Offered], errand: &str) -> Result<(), String> {
    dies_with_its_campaign();
    let errand: Errand = match serde_json::from_str(errand) {
        Ok(errand) => errand,
        Err(error) => return failed("ERRAND_INVALID", &error),
    };
    let class = offered.iter().find(|offer| offer.name() == errand.class);
    let Some(class) = class else {
        return failed("CLASS_UNKNOWN", &errand.class);
    };
    let plan = match class.plan() {
        Ok(plan) => plan,
        Err(misuse) => return failed("CAMPAIGN_INVALID", &misuse),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(drive(&plan, &errand)),
        Err(error) => failed("NO_RUNTIME", &error),
    }
}

/// Also where it is stopped, and would never see that nobody asks any more.
fn dies_with_its_campaign() {
    #[cfg(target_os = "linux")]
    {
        // Where that is refused it still ends once its standard input does.
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    }
}

fn failed(code: &str, why: &dyn std::fmt::Display) -> Result<(), String> {
    say(&Say::Failed {
        code: code.to_owned(),
        message: why.to_string(),
    });
    Err(format!("a worker cannot go on: {code}: {why}"))
}

/// One line, whole, and out at once. A campaign that does not listen any more is gone.
fn say(say: &Say) {
    let mut line = serde_json::to_string(say).unwrap_or_default();
    line.push('\n');
    let mut out = std::io::stdout().lock();
    // Written by one call, so that no kill leaves it in a buffer.
    if out
        .write_all(line.as_bytes())
        .and_then(|()| out.flush())
        .is_err()
    {
        std::process::exit(1);
    }
}

async fn drive(plan: &Plan, errand: &Errand) -> Result<(), String> {
    let begun = Instant::now();
    let mut options = OpenOptions::creating();
    if let Some(bytes) = errand.segment_bytes {
        options.settings.log.segment_bytes = bytes;
    }
    let ledger = match SledLedger::open(&errand.store, options) {
        Ok(ledger) => ledger,
        Err(error) => return failed(error.code().as_str(), &error),
    };
    let line = match Line::to(&errand.outside) {
        Ok(line) => line,
        Err(error) => return failed("NO_LINE", &error),
    };
    let shift = Arc::new(AtomicI64::new(errand.clock_ms));
    let ports = Ports {
        clock: Arc::new(Shifted(system::SystemClock::new(), Arc::clone(&shift))),
        ..system::ports()
    };
    let class = replaced(&plan.setup, |target, own| {
        Some(Arc::new(Far::new(&target.name, own, &line)))
    });
    let timers = Arc::clone(&ports.timers);
    let builder = EngineBuilder::new(Arc::new(ledger), ports);
    let engine = match builder.register_erased(Arc::new(class)).start().await {
        Ok(engine) => engine,
        Err(error) => return failed(error.code().as_str(), &error),
    };
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    say(&Say::Open { ms });
    let worker = Worker {
        engine,
        callers: (plan.setup.callers)(errand.seed),
        desk: Desk {
            hears: Arc::new(Speaks),
            timers,
        },
        seed: errand.seed,
        line,
        shift,
    };
    worker.listen().await
}

/// The system's clock, at another time.
struct Shifted(system::SystemClock, Arc<AtomicI64>);

impl Clock for Shifted {
    fn wall(&self) -> Timestamp {
        let now = self.0.wall().as_millis();
        Timestamp::from_millis(now.saturating_add(self.1.load(Ordering::SeqCst)))
    }

    fn monotonic(&self) -> Millis {
        self.0.monotonic()
    }
}

/// Says what callers hear.
struct Speaks;

impl Hears for Speaks {
    fn hears(&self, order: &Order, told: Told) {
        say(&Say::Told {
            order: order.no,
            told: told.into(),
        });
    }

    fn is_refused(&self, error: &EngineError) {
        say(&Say::Refused {
            code: error.code().as_str().to_owned(),
        });
    }
}

struct Worker {
    engine: Engine,
    callers: Arc<dyn Callers>,
    desk: Desk,
    seed: u64,
    line: Line,
    shift: Arc<AtomicI64>,
}

impl Worker {
    async fn listen(self) -> Result<(), String> {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        loop {
            let Ok(Some(line)) = lines.next_line().await else {
                // The campaign is gone, and nobody else will end this process.
                return failed("NOBODY_ASKS", &"the campaign is gone");
            };
            match serde_json::from_str(&line) {
                Ok(Ask::Finish) => return self.finish().await,
                Ok(ask) => self.does(ask),
                Err(error) => return failed("ASK_INVALID", &error),
            }
        }
    }

    fn does(&self, ask: Ask) {
        let (engine, desk) = (self.engine.clone(), self.desk.clone());
        match ask {
            Ask::Call { order: no } => {
                let call = self.callers.call(engine, order(self.seed, no), desk);
                drop(tokio::spawn(call));
            }
            Ask::Cancel { order: no, run } => {
                if let Ok(run) = run.parse::<RunId>() {
                    let order = order(self.seed, no);
                    drop(tokio::spawn(book::cancel(engine, (order, run), desk)));
                }
            }
            Ask::Jump { ms } => drop(self.shift.fetch_add(ms, Ordering::SeqCst)),
            Ask::Finish => {}
        }
    }

    /// Waits until no run owes anything, and stops in order.
    async fn finish(self) -> Result<(), String> {
        let mut looks = 0;
        while self.owes().await {
            looks += 1;
            if looks % PEOPLE_LOOK_EVERY == 0 {
                let line = self.line.clone();
                let truth = move |key: &EffectKey| -> BoxFuture<'static, Option<Payload>> {
                    let (line, key) = (line.clone(), key.clone());
                    Box::pin(async move { line.truth(&key).await })
                };
                person::looks_up(self.engine.clone(), truth).await;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        self.engine.shutdown(STOPS_WITHIN).await;
        say(&Say::Finished);
        Ok(())
    }

    async fn owes(&self) -> bool {
        let states = RunState::ALL.into_iter();
        for state in states.filter(|state| *state != RunState::Closed) {
            let filter = RunFilter {
                state: Some(state),
                ..RunFilter::default()
            };
            match self.engine.runs(filter, None).await {
                Ok(page) if page.rows.is_empty() => {}
                Ok(_) => return true,
                Err(error) => {
                    self.desk.hears.is_refused(&error);
                    return !matches!(error.code(), Code::StorePoisoned);
                }
            }
        }
        false
    }
}
