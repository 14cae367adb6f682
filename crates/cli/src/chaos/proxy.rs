//! `chaos proxy`: a fault proxy in the foreground, until somebody ends it.
//!
//! It must never listen beyond the loopback unless it was told to in so many words: whoever reaches
//! it reaches what is behind it.

use std::fs::File;
use std::future::Future;
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;

use mainstay_fault_proxy::{End, Plan, Proxy, Record, Side, Totals};
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};

use super::args::ProxyArgs;
use crate::error::CliError;
use crate::output::{Output, Reader};

/// The longest plan that is read, in bytes; a longer file is none.
const PLAN_BYTES_MAX: u64 = 1 << 20;

/// Connections are carried by one thread; another one prints, so that a slow reader of stdout slows
/// nobody's connection down.
const THREADS: usize = 1;

/// One line of `--json`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    Listening { address: SocketAddr, to: String },
    Connection(&'a Record),
    Totals(Totals),
}

/// Listens and passes on, until SIGINT or SIGTERM, or until nobody reads what it prints.
pub(crate) fn run(args: &ProxyArgs, output: &Output) -> Result<(), CliError> {
    if !args.any_address && !args.listen.ip().is_loopback() {
        let (listen, to) = (args.listen, &args.to);
        return Err(CliError {
            hint: "listen at 127.0.0.1 or [::1], or add --any-address if that is meant".to_owned(),
            ..CliError::usage(&format!(
                "{listen} is not of the loopback: other machines may reach {to} through it"
            ))
        });
    }
    let plan = plan(args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| {
        CliError::outside(
            format!("starting threads: {error}"),
            "check how many threads and files this user may have",
        )
    })?;
    runtime.block_on(serve(args, plan, output))
}

/// The rules of the arguments, then those of the file.
fn plan(args: &ProxyArgs) -> Result<Plan, CliError> {
    let rest = match &args.plan {
        Some(file) => read(file)?,
        None => Plan::default(),
    };
    let rules = args.faults.iter().chain(rest.rules()).copied();
    Plan::new(rules).map_err(|error| CliError::usage(&error.to_string()))
}

fn read(file: &Path) -> Result<Plan, CliError> {
    let name = file.display();
    let mut text = String::new();
    let opened = File::open(file);
    let read = opened.and_then(|file| file.take(PLAN_BYTES_MAX + 1).read_to_string(&mut text));
    read.map_err(|error| {
        CliError::outside(
            format!("{name} cannot be read: {error}"),
            "check the file, given by --plan",
        )
    })?;
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if PLAN_BYTES_MAX < bytes {
        let message = format!("{name} is longer than {PLAN_BYTES_MAX} bytes: it is no plan");
        return Err(CliError::usage(&message));
    }
    toml::from_str(&text).map_err(|error| CliError {
        hint: "`chaos proxy --help` shows a plan".to_owned(),
        ..CliError::usage(&format!(
            "{name} is no plan: {}",
            error.to_string().trim_end()
        ))
    })
}

async fn serve(args: &ProxyArgs, plan: Plan, output: &Output) -> Result<(), CliError> {
    // Before anybody is told that it listens: who reads that may end it at once.
    let mut stop = pin!(stop()?);
    let starting = Proxy::to(args.to.clone()).listen(args.listen).plan(plan);
    let mut proxy = starting.start().await.map_err(|error| {
        CliError::outside(
            format!("{error}: {}", error.source),
            "choose another address with --listen; port 0 is one that is free",
        )
    })?;
    let listening = Line::Listening {
        address: proxy.addr(),
        to: args.to.to_string(),
    };
    let mut reader = say(output, &listening)?;
    let mut seen = 0;
    while reader == Reader::There {
        tokio::select! {
            biased;
            () = &mut stop => break,
            () = proxy.until_ended(seen + 1) => {}
        }
        reader = tell(&proxy, &mut seen, output)?;
    }
    proxy.shutdown().await;
    tell(&proxy, &mut seen, output)?;
    say(output, &Line::Totals(proxy.totals())).map(drop)
}

/// Resolves once somebody ends this program.
fn stop() -> Result<impl Future<Output = ()>, CliError> {
    let refused = |error| {
        CliError::outside(
            format!("signals cannot be listened to: {error}"),
            "check how many files this user may open",
        )
    };
    let mut term = signal(SignalKind::terminate()).map_err(refused)?;
    let mut int = signal(SignalKind::interrupt()).map_err(refused)?;
    Ok(async move {
        tokio::select! {
            biased;
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    })
}

/// What has ended since the last look.
fn tell(proxy: &Proxy, seen: &mut u64, output: &Output) -> Result<Reader, CliError> {
    let mut reader = Reader::There;
    for record in proxy.log_after(*seen) {
        *seen = record.ended;
        reader = say(output, &Line::Connection(&record))?;
    }
    Ok(reader)
}

fn say(output: &Output, line: &Line<'_>) -> Result<Reader, CliError> {
    if output.json {
        let text = serde_json::to_string(line).map_err(|error| {
            CliError::outside(format!("the answer is no JSON: {error}"), "report this")
        })?;
        return output.offer(&text);
    }
    output.offer(&match line {
        Line::Listening { address, .. } => address.to_string(),
        Line::Connection(record) => connection(record),
        Line::Totals(totals) => sums(totals),
    })
}

fn connection(record: &Record) -> String {
    let fault = match (&record.fault, record.hit) {
        (None, _) => "no fault".to_owned(),
        (Some(fault), true) => format!("{fault}, hit"),
        (Some(fault), false) => format!("{fault}, not hit"),
    };
    let (request, reply) = (record.request, record.reply);
    format!(
        "connection {}: {fault}; request {} of {} bytes, reply {} of {} bytes passed on; {}",
        record.connection,
        request.passed,
        request.read,
        reply.passed,
        reply.read,
        how(&record.end)
    )
}

fn how(end: &End) -> String {
    match end {
        End::Closed => "closed by both sides".to_owned(),
        End::Fault => "ended by the fault".to_owned(),
        End::UpstreamDown { why } => format!("no connection to the upstream: {why}"),
        End::Lost { side, why } => {
            let side = match side {
                Side::Client => "client",
                Side::Upstream => "upstream",
            };
            format!("lost by the {side}: {why}")
        }
        End::TimeUp => "it lasted too long".to_owned(),
        End::Full => "too many connections at once".to_owned(),
        End::Stopped => "stopped with the proxy".to_owned(),
    }
}

fn sums(totals: &Totals) -> String {
    format!(
        "total: {} connections, {} of {} faults hit, {} bytes of requests, {} bytes of replies",
        totals.connections, totals.hit, totals.with_fault, totals.request_bytes, totals.reply_bytes
    )
}
