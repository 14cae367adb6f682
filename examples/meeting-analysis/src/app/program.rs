//! The main job: input, store, services, run, output; in this order, and back.
//!
//! Bad input touches nothing. The store is opened before the services are, so that a second
//! process on the same store ends before it starts anything.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use mainstay::dispatch::Stack;
use mainstay::engine::{Answer, Engine, EngineBuilder, EngineError, Ports, system};
use mainstay::graph::OnDowntime;
use mainstay::ledger::{Ledger, OpenOptions, SledLedger};
use mainstay::socket::LocalSocket;
use mainstay::types::{Clock, StartKey, Tenant};
use mainstay::{Class, Millis, OutcomeKind, RunState, Summary};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::args::{Args, Downtime};
use crate::app::fault::Faults;
use crate::app::input;
use crate::app::model;
use crate::app::output::{self, Printed};
use crate::app::remote::{self, HttpDeps};
use crate::app::seams::Seams;
use crate::app::services::{Service, Wanted};
use crate::class::{self, Deps};
use crate::local::{LocalSpecialist, PolicySearch, PolicySnapshot, Summariser};
use crate::minutes::Meeting;
use crate::policy::PolicyIndex;
use crate::report::Report;

/// The documents that are searched.
const POLICIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/policies");
/// Exit code after Ctrl-C: 128 and the signal's number.
const EXIT_INTERRUPTED: u8 = 130;
/// Exit code after SIGTERM.
const EXIT_TERMINATED: u8 = 143;
/// Whose runs they are.
const TENANT: &str = "default";
/// An address where nobody answers.
const NOBODY: &str = "http://127.0.0.1:9";
/// How long a command for a run that was answered "later" waits for its outcome: longer than the
/// horizon of a ticket and a round of look-ups after it.
const PATIENCE: Millis = Millis::from_secs(12);
/// How long a stop waits for what is out.
const DRAIN: Millis = Millis::from_secs(5);

/// Runs the program, with `seams` between the engine and what it stands on.
#[must_use]
pub fn run(args: Args, seams: &dyn Seams) -> ExitCode {
    let json = args.json;
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return output::failure(json, &anyhow::Error::new(error)),
    };
    match runtime.block_on(whole(&args, seams)) {
        Ok(code) => code,
        Err(error) => output::failure(json, &error),
    }
}

async fn whole(args: &Args, seams: &dyn Seams) -> anyhow::Result<ExitCode> {
    let meeting = input::read(&args.file)?;
    let drafting = model::asked_for(args)?;
    std::fs::create_dir_all(&args.store)
        .with_context(|| format!("making the folder {}", args.store.display()))?;
    let ledger =
        SledLedger::open(&args.store, OpenOptions::creating()).map_err(EngineError::from)?;
    let settled = is_settled(args, &meeting, &ledger).await?;
    let services = if settled {
        Services::none(args)?
    } else {
        Services::ensure(args)?
    };
    let under = Under {
        drafting,
        ledger: seams.ledger(Arc::new(ledger)),
        ports: seams.ports(system::ports()),
    };
    let end = with_services(args, meeting, under, &services).await;
    services.stop();
    end
}

/// What the engine stands on.
struct Under {
    /// In the summariser's place, if there is one.
    drafting: Option<model::Drafting>,
    ledger: Arc<dyn Ledger>,
    ports: Ports,
}

async fn with_services(
    args: &Args,
    meeting: Meeting,
    Under {
        drafting,
        ledger,
        ports,
    }: Under,
    services: &Services,
) -> anyhow::Result<ExitCode> {
    let mut stop = StopSignals::new()?;
    if services.are_there {
        remote::check_promises(&services.tickets.url).await?;
    }
    let deps = deps(services, &ports.clock)?;
    let class = |rule| -> anyhow::Result<_> {
        Ok(model::behind(class::class(&deps, rule)?, drafting.as_ref()))
    };
    let (extend, absolute) = (
        class(class::extend_default())?,
        class(OnDowntime::Absolute)?,
    );
    let wanted = match args.on_downtime {
        Downtime::Extend => &extend,
        Downtime::Absolute => &absolute,
    };
    let stack = Stack::new(Arc::clone(&ports.timers)).layer(Faults::new(args.faults.clone()));
    let engine = EngineBuilder::new(ledger, ports)
        .stack(stack)
        .accompany(LocalSocket::of(&args.store))
        .register(&extend)
        .register(&absolute)
        .start()
        .await?;
    let end = tokio::select! {
        biased;
        end = one_run(args, &engine, wanted, (meeting, !services.are_there)) => end,
        code = stop.next() => {
            eprintln!("stopped; the same command goes on where the run was");
            Ok(ExitCode::from(code))
        }
    };
    engine.shutdown(DRAIN).await;
    end
}

/// Whether the run of this key is over and nothing in the store has to be driven: then nobody is
/// asked anything.
async fn is_settled(args: &Args, meeting: &Meeting, ledger: &SledLedger) -> anyhow::Result<bool> {
    let tenant = Tenant::new(TENANT).expect("a constant that keeps the rules");
    let held = ledger.start_key(tenant, start_key(args, meeting)).await;
    let Some((run, _)) = held.map_err(EngineError::from)? else {
        return Ok(false);
    };
    let driven = ledger.driven(None).await.map_err(EngineError::from)?;
    let parked = ledger.wakes(None).await.map_err(EngineError::from)?;
    let row = ledger.summary(run).await.map_err(EngineError::from)?;
    let is_idle = driven.rows.is_empty() && parked.rows.is_empty();
    Ok(is_idle && row.is_some_and(|row| is_over(args, &row)))
}

/// Whether this command changes nothing of the run.
fn is_over(args: &Args, row: &Summary) -> bool {
    let is_whole = row.outcome == Some(OutcomeKind::Completed);
    let stays = match row.state {
        RunState::Closed | RunState::Quarantined => true,
        RunState::Running
        | RunState::Waiting
        | RunState::Paused
        | RunState::WaitingForCode
        | RunState::Ended => false,
    };
    stays && (is_whole || !args.go_on)
}

/// The key that was given; else the digest of the minutes.
fn start_key(args: &Args, meeting: &Meeting) -> StartKey {
    let digest = || StartKey::new(class::digest(meeting)).expect("64 hexadecimal digits are a key");
    args.key.clone().unwrap_or_else(digest)
}

async fn one_run(
    args: &Args,
    engine: &Engine,
    class: &Class<Meeting, Report>,
    (meeting, settled): (Meeting, bool),
) -> anyhow::Result<ExitCode> {
    let key = start_key(args, &meeting);
    let start = engine.start(class, meeting);
    let start = start.tenant(TENANT).key(key.as_str());
    let run = if args.go_on {
        start.or_continue().await?
    } else {
        start.await?
    };
    if run.is_reused() && !args.faults.is_empty() {
        eprintln!("note: this run was started before; --fault is no part of its input");
    }
    if let Answer::Later(_) = run.answer().await?
        && run.is_reused()
    {
        // What the first command was told still stands; this one waits a little for the rest.
        let outcome = tokio::time::timeout(PATIENCE.to_duration(), run.outcome());
        if let Ok(outcome) = outcome.await {
            outcome?;
        }
    }
    let view = run.view().await?;
    let printed = Printed {
        view: &view,
        reused: run.is_reused(),
        settled,
        store: &args.store,
    };
    Ok(output::print(args.json, &printed))
}

fn deps(services: &Services, clock: &Arc<dyn Clock>) -> anyhow::Result<HttpDeps> {
    let tickets = remote::client(&services.tickets.url)?;
    let specialist = remote::client(&services.specialist.url)?;
    let snapshot = services.store.join("policy-snapshot.json");
    let index = PolicyIndex::open(Path::new(POLICIES)).context("indexing the policies")?;
    Ok(Deps {
        policy: Arc::new(PolicySearch::new(index, &snapshot, Arc::clone(clock))),
        snapshot: Arc::new(PolicySnapshot::new(&snapshot, Arc::clone(clock))),
        related: remote::related(&tickets),
        specialist: remote::specialist(&specialist),
        local: Arc::new(LocalSpecialist),
        draft: Arc::new(Summariser),
        tickets: remote::tickets(&tickets),
    })
}

/// Ctrl-C and a polite kill.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    fn new() -> anyhow::Result<Self> {
        let installed = |kind| signal(kind).context("installing a signal handler");
        Ok(Self {
            interrupt: installed(SignalKind::interrupt())?,
            terminate: installed(SignalKind::terminate())?,
        })
    }

    /// Waits for one; the exit code it stands for.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => EXIT_INTERRUPTED,
            _ = self.terminate.recv() => EXIT_TERMINATED,
        }
    }
}

/// The two services of a store.
struct Services {
    store: std::path::PathBuf,
    are_there: bool,
    tickets: Service,
    specialist: Service,
}

impl Services {
    fn ensure(args: &Args) -> anyhow::Result<Self> {
        let store = std::path::absolute(&args.store)?;
        let tickets = match &args.tickets {
            Some(url) => Service::external(url),
            None => Service::ensure(&tickets_of(&store))?,
        };
        let specialist = match Service::ensure(&specialist_of(&store)) {
            Ok(specialist) => specialist,
            Err(error) => {
                tickets.stop();
                return Err(error);
            }
        };
        Ok(Self {
            store,
            are_there: true,
            tickets,
            specialist,
        })
    }

    /// None, for a store in which nothing is left to do. Those that a killed run left behind are
    /// stopped with these.
    fn none(args: &Args) -> anyhow::Result<Self> {
        let store = std::path::absolute(&args.store)?;
        let left = |wanted: &Wanted<'_>| {
            Service::left_behind(wanted).unwrap_or_else(|| Service::external(NOBODY))
        };
        Ok(Self {
            are_there: false,
            tickets: left(&tickets_of(&store)),
            specialist: left(&specialist_of(&store)),
            store,
        })
    }

    fn stop(self) {
        self.tickets.stop();
        self.specialist.stop();
    }
}

fn tickets_of(store: &Path) -> Wanted<'_> {
    let db = store.join("tickets.db").display().to_string();
    let bound = remote::TICKET_BOUND.get().to_string();
    let args = vec!["--db".to_owned(), db, "--bound-ms".to_owned(), bound];
    Wanted {
        name: ticket_service::NAME,
        store,
        args,
    }
}

fn specialist_of(store: &Path) -> Wanted<'_> {
    let log = store
        .join("specialist-requests.jsonl")
        .display()
        .to_string();
    Wanted {
        name: specialist_service::NAME,
        store,
        args: vec!["--log".to_owned(), log],
    }
}
