//! The program `meeting-analysis`, and the two services it starts as processes of their own.
//!
//! It must never print anything but its result on stdout.

use std::process::ExitCode;

use clap::Parser;
use meeting_analysis::app::{self, args::Args};

fn main() -> ExitCode {
    let first = std::env::args_os().nth(1);
    match first.as_deref().and_then(|first| first.to_str()) {
        Some(name) if name == ticket_service::NAME => {
            service(|| ticket_service::program::main_from(std::env::args_os().skip(1)))
        }
        Some(name) if name == specialist_service::NAME => {
            service(|| specialist_service::program::main_from(std::env::args_os().skip(1)))
        }
        Some(_) | None => app::run(Args::parse()),
    }
}

fn service(run: impl FnOnce() -> anyhow::Result<()>) -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
