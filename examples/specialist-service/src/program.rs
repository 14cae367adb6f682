//! The program `specialist-service`: arguments, address, pid file; the library does the rest.
//!
//! It must never print anything but the announcement on stdout: other programs read it.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use service_kit::{Announcement, Fault, announce, stop_signal};
use tokio::net::TcpListener;

use crate::{NAME, Options, Service};

/// Summarises minutes by extractive TextRank, with faults on demand.
#[derive(Debug, Parser)]
#[command(name = "specialist-service", version)]
struct Args {
    /// Address to listen on; port 0 takes a free one, printed on stdout
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: String,
    /// Where to write pid and address once it can answer; removed on a clean exit
    #[arg(long, value_name = "FILE")]
    pid_file: Option<PathBuf>,
    /// Keeps the request log in this file, as JSON lines, over restarts
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Arms a fault: kind[:times][,name=value..]; may be repeated
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
    let options = Options {
        log: args.log,
        ..Options::default()
    };
    for fault in args.faults {
        options.faults.arm(fault)?;
    }
    let service = Service::open(options)?;
    let listener = TcpListener::bind(&args.listen)
        .await
        .with_context(|| format!("listen {}", args.listen))?;
    let announcement = Announcement::new(NAME, listener.local_addr()?);
    let _pid_file = announce(&announcement, args.pid_file.as_deref())?;
    service.serve(listener, stop).await?;
    Ok(())
}
