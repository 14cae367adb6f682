//! What `chaos` can be asked.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};
use mainstay_fault_proxy::{Rule, Upstream};

/// More worlds take longer than anybody waits: a day and more.
const SEEDS_MAX: u64 = 100_000_000;

const PROXY: &str = "Pass TCP connections on and break them on purpose.\n\nWhat connects to the \
    printed address is connected to HOST:PORT, whatever it speaks. Each connection may have one \
    fault: that of the first --fault that is for it, or else of the first rule of --plan. Where it \
    listens is the first line; then comes a line for each connection that has ended, with the \
    bytes each way, whether the fault hit, and how it ended; then, at SIGINT or SIGTERM, the \
    totals. With --json each line is one JSON value. No store is touched.\n\n\
    A fault is [CONNECTIONS=]NAME[:VALUE,..]. CONNECTIONS is 3, 2-5, 2- or every (the default), \
    counted from 1. The direction is the reply's where none is named, a hold 30000 ms:\n\n  \
    cut_after:bytes=20[,direction=request][,reset]  end both sides after 20 bytes of the reply (or\n    \
    of the request), by FIN or by RST\n  \
    delay:ms=100[,direction=both][,what=each_chunk]  let the first byte wait, or every chunk\n  \
    drop_reply[:hold_ms=100]  pass the request on, swallow the reply, close 100 ms after it began\n  \
    half_close:bytes=20[,direction=request]  end one direction, leave the other open\n  \
    throttle:bytes_per_second=1000[,direction=both]  pass on no more than that\n  \
    refuse  reset at once; the upstream is not connected to\n  \
    stall[:hold_ms=100]  take it and stay silent, then reset\n\n\
    A plan is a TOML file of the same:\n\n  \
    [[rules]]\n  \
    connections = \"2-5\"\n  \
    fault.cut_after = { bytes = 20, reset = true }";

const CAMPAIGN: &str = "Try a class under many fault schedules, in virtual time.\n\nEach seed is a \
    world of its own: the production engine, a disk, doubles of the class's dependencies, and \
    faults that are drawn from the seed. The guarantees are held against the log, the receivers' \
    own tables and what callers heard. When one does not hold, the seed, the shortest schedule of \
    faults that was found for it and the timeline are printed, and the exit code is 1. A program \
    that mounts these commands offers campaigns of its own; \
    `meeting-analysis-model` is always there. No store is touched, no time passes, and the same \
    seeds give the same log_hash.";

const PLAN: &str = "Try the faults of a plan, in virtual time.\n\nA plan is a TOML file:\n\n  \
    class = \"meeting-analysis-model\"\n  seeds = 20\n\n  [[fault]]\n  kind = \"reply_lost\"\n  \
    dependency = \"tickets\"\n  nth = 1\n  times = 2\n\n  [[fault]]\n  kind = \"killed\"\n  \
    nth = 6\n  moment = \"written\"\n  ms = 250\n\nEach of its faults has to change something, else \
    the exit code is 1, as when a guarantee does not hold. Everything else is as for campaign.";

const SELFTEST: &str = "Put bugs in on purpose and see whether the campaign sees them.\n\nEach bug is a \
    port that is bent: a ledger that acknowledges early, a core that believes \"not found\" at once, \
    and so on. Each has to be caught by the property that should, within --seeds worlds of the \
    built-in class; else the exit code is 1. Then the bug is looked for under 24 faults, and as many \
    as can be are left out.";

/// What is tried.
#[derive(Clone, Debug, Subcommand)]
pub enum ChaosVerb {
    /// Try a class under many fault schedules, in virtual time
    #[command(long_about = CAMPAIGN)]
    Campaign(CampaignArgs),
    /// Try the faults of a plan, in virtual time
    #[command(long_about = PLAN)]
    Run(RunPlanArgs),
    /// Put bugs in on purpose and see whether the campaign sees them
    #[command(long_about = SELFTEST)]
    Selftest(SelfTestArgs),
    /// Run an experiment with known figures
    #[cfg(feature = "experiment")]
    #[command(subcommand)]
    Experiment(super::ExperimentVerb),
    /// Kill real processes over and over, and see that nothing is lost
    #[cfg(feature = "real")]
    #[command(long_about = super::real::REAL)]
    Real(super::RealArgs),
    /// Be one of the processes that are killed
    #[cfg(feature = "real")]
    #[command(hide = true)]
    RealWorker(super::RealWorkerArgs),
    /// Pass TCP connections on and break them on purpose
    #[command(long_about = PROXY)]
    Proxy(ProxyArgs),
}

/// Which class, and how many worlds.
#[derive(Args, Clone, Debug)]
pub struct CampaignArgs {
    /// The class; this program's own first one when it is not said, else the built-in model
    #[arg(long, value_name = "NAME")]
    pub class: Option<String>,

    /// How many worlds: 1000 when it is not said
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=SEEDS_MAX))]
    pub seeds: Option<u64>,

    /// The first world's seed: 1 when it is not said
    #[arg(long, value_name = "S")]
    pub from: Option<u64>,

    /// Write the report as one HTML page too; a file that is there is replaced
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Which plan.
#[derive(Args, Clone, Debug)]
pub struct RunPlanArgs {
    /// The plan, a TOML file
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,

    /// Write the report as one HTML page too; a file that is there is replaced
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// How long each bug is looked for.
#[derive(Args, Clone, Debug)]
pub struct SelfTestArgs {
    /// In how many worlds at most
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    #[arg(value_parser = value_parser!(u64).range(1..=SEEDS_MAX))]
    pub seeds: u64,
}

/// Where from, where to, and what is done on the way.
#[derive(Args, Clone, Debug)]
pub struct ProxyArgs {
    /// Pass connections on to this host and port
    #[arg(long, value_name = "HOST:PORT", value_parser = |text: &str| text.parse::<Upstream>())]
    pub to: Upstream,

    /// Listen at this address of the loopback; at port 0 the system chooses one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = address)]
    pub listen: SocketAddr,

    /// Let --listen be any address: whoever reaches it reaches HOST:PORT through it
    #[arg(long)]
    pub any_address: bool,

    /// Do this to connections, for example 2-5=cut_after:bytes=20,reset; may be given again
    #[arg(long = "fault", value_name = "FAULT", value_parser = |text: &str| text.parse::<Rule>())]
    pub faults: Vec<Rule>,

    /// Rules from a TOML file, which come after those of --fault
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let hint = "write an IP address and a port, like 127.0.0.1:8080, [::1]:8080 or 127.0.0.1:0";
    text.parse().map_err(|_| hint.to_owned())
}
