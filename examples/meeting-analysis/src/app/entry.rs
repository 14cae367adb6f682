//! What a binary of this program does first: be one of the two services, or the program itself.
//!
//! Every binary that runs the program begins here, because the program starts its services by
//! starting itself again. It must never print anything but the result on stdout.

use std::process::ExitCode;

use clap::Parser;

use crate::app::args::Args;
use crate::app::program::run;
use crate::app::seams::Seams;

/// Runs what this process's arguments ask for; services have no seams.
#[must_use]
pub fn main_with(seams: &dyn Seams) -> ExitCode {
    let first = std::env::args_os().nth(1);
    match first.as_deref().and_then(|first| first.to_str()) {
        Some(name) if name == ticket_service::NAME => {
            service(|| ticket_service::program::main_from(std::env::args_os().skip(1)))
        }
        Some(name) if name == specialist_service::NAME => {
            service(|| specialist_service::program::main_from(std::env::args_os().skip(1)))
        }
        Some(_) | None => run(Args::parse(), seams),
    }
}

fn service(serve: impl FnOnce() -> anyhow::Result<()>) -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
