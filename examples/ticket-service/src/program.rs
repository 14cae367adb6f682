//! The program `ticket-service`: arguments, address, pid file, signals; the library does the rest.
//!
//! It must never print anything but the announcement on stdout: other programs read it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use service_kit::{Announcement, Fault, announce, stop_signal};
use tokio::net::TcpListener;

use crate::{NAME, Options, Service};

/// A small ticket system with idempotency keys, a request log and faults on demand.
#[derive(Debug, Parser)]
#[command(name = "ticket-service", version)]
struct Args {
    /// SQLite database; made when absent
    #[arg(long, value_name = "FILE")]
    db: PathBuf,
    /// Address to listen on; port 0 takes a free one, printed on stdout
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: String,
    /// Where to write pid and address once it can answer; removed on a clean exit
    #[arg(long, value_name = "FILE")]
    pid_file: Option<PathBuf>,
    /// How long a key is remembered after its first success
    #[arg(long, value_name = "SECONDS", default_value_t = 24 * 60 * 60)]
    key_ttl_secs: u64,
    /// How long after its arrival a request may still commit, at least 2000
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 2_000)]
    bound_ms: u64,
    /// Arms a fault: kind[:times][@position][,name=value..]; may be repeated
    #[arg(long = "fault", value_name = "FAULT")]
    faults: Vec<Fault>,
}

/// The program with these arguments, its name first; returns when a signal stopped it.
///
/// # Errors
/// The database, the address or a fault cannot be had. Bad arguments end the process, as usual.
#[tokio::main]
pub async fn main_from(args: impl IntoIterator<Item = OsString>) -> anyhow::Result<()> {
    let args = Args::parse_from(args);
    // First of all: a signal that comes early is a clean stop, too.
    let stop = stop_signal()?;
    let mut options = Options::new(&args.db);
    options.key_ttl = Duration::from_secs(args.key_ttl_secs);
    options.bound = Duration::from_millis(args.bound_ms);
    for fault in args.faults {
        options.faults.arm(fault)?;
    }
    let service = Service::open(options)?;
    let listener = TcpListener::bind(&args.listen)
        .await
        .with_context(|| format!("listen {}", args.listen))?;
    let mut announcement = Announcement::new(NAME, listener.local_addr()?);
    announcement.db = Some(std::path::absolute(&args.db)?);
    let _pid_file = announce(&announcement, args.pid_file.as_deref())?;
    service.serve(listener, stop).await?;
    Ok(())
}
