//! A process of its own that makes a store and is then killed, as a power switch would.
//!
//! It is this program again with the same arguments; a variable of its environment says that it is
//! to make and where. It says `ready` on stdout and waits for its stdin to end: whoever it was made
//! for kills it before. It must never outlive that process.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mainstay_runtime::Engine;
use tokio::task::JoinSet;

use super::classes::{Echo, Numbers};
use super::load::joined;
use super::outside;
use super::store::{Opened, failed};
use crate::error::CliError;
use crate::progress::Progress;

/// Says where a maker makes its store.
const FOLDER: &str = "MAINSTAY_BENCH_MAKES";

const READY: &str = "ready";

/// How often a maker looks whether its runs have come where they stop.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Where this process is to make a store, when it is a maker.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Has a store made in `folder` by another process, and kills that process.
pub(crate) fn made_and_killed(folder: &Path) -> Result<(), CliError> {
    let broken = |error| outside("running this program again", error);
    let program = std::env::current_exe().map_err(broken)?;
    let mut command = Command::new(program);
    command
        .args(std::env::args_os().skip(1))
        .env(FOLDER, folder);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = Killed(child.map_err(broken)?);
    let out = child.0.stdout.take().expect("it is piped");
    let mut said = String::new();
    BufReader::new(out).read_line(&mut said).map_err(broken)?;
    if said.trim_end() == READY {
        return Ok(());
    }
    // It has said on stderr why it ended.
    Err(CliError::outside(
        format!(
            "the process that makes the store ended: {}",
            said.trim_end()
        ),
        "what it wrote above says why",
    ))
}

/// A process that is dead once this is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // SIGKILL; a process that has ended by itself is no error.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Says that everything is made, and waits to be killed.
pub(crate) fn ready() -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    let said = writeln!(out, "{READY}").and_then(|()| out.flush());
    said.map_err(|error| outside("telling that the store is made", error))?;
    // Ends with the process that waits for it, if not by its kill.
    let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
    Ok(())
}

/// Starts `runs` runs that come to a call which is never answered, and waits until all have.
pub(crate) fn start_waiting(
    opened: &Opened,
    (class, echo): (&Numbers, &Echo),
    (runs, input): (u32, u64),
    progress: &Progress,
) -> Result<(), CliError> {
    /// Starts under way at once.
    const CLIENTS: u32 = 64;
    opened.runtime.block_on(async {
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            let own = (runs + CLIENTS - 1 - client) / CLIENTS;
            clients.spawn(start(opened.engine.clone(), class.clone(), own, input));
        }
        joined(clients).await?;
        while echo.waiting() < runs as usize {
            progress.say(&format!("making runs: {} of {runs} wait", echo.waiting()));
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    })
}

async fn start(engine: Engine, class: Numbers, runs: u32, input: u64) -> Result<(), CliError> {
    for _ in 0..runs {
        engine.start(&class, input).await.map_err(failed)?;
    }
    Ok(())
}
