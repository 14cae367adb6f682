//! A worker as its campaign has it: its lines, and the signals it is sent.
//!
//! It must never outlive its handle, and only its own pid is ever signalled.

use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Options;
use super::speech::{Ask, Errand, Say};

/// Lines that wait to be heard; beyond, the worker waits.
const LINES_MAX: usize = 256;
/// How much of what a worker says to people is kept, in bytes.
const STDERR_BYTES_MAX: u64 = 16 << 10;
/// How long a process that was killed may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(30);

/// A running worker.
pub(super) struct Process {
    child: Child,
    asks: ChildStdin,
    pub(super) says: mpsc::Receiver<Say>,
    complains: JoinHandle<String>,
}

/// A worker that is gone.
pub(super) struct Gone {
    /// What it had said and nobody had heard yet.
    pub(super) said: Vec<Say>,
    /// `None`: it does not go.
    pub(super) status: Option<ExitStatus>,
    /// What it said to people.
    pub(super) stderr: String,
}

impl Process {
    /// Starts one, with this in its environment.
    pub(super) fn start(
        options: &Options,
        errand: &Errand,
        environment: Vec<(&'static str, PathBuf)>,
    ) -> io::Result<Self> {
        let mut child = Command::new(&options.program)
            .args(&options.arguments)
            .arg(serde_json::to_string(errand)?)
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let gone = || io::Error::other("a worker has no pipes");
        let out = child.stdout.take().ok_or_else(gone)?;
        let err = child.stderr.take().ok_or_else(gone)?;
        let asks = child.stdin.take().ok_or_else(gone)?;
        let (to, says) = mpsc::channel(LINES_MAX);
        tokio::spawn(hear(out, to));
        let complains = tokio::spawn(complaints(err));
        Ok(Self {
            child,
            asks,
            says,
            complains,
        })
    }

    /// Asks it for something. One that is gone hears nothing.
    pub(super) async fn ask(&mut self, ask: &Ask) -> io::Result<()> {
        let mut line = serde_json::to_vec(ask)?;
        line.push(b'\n');
        match self.asks.write_all(&line).await {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// Stops it where it is.
    pub(super) fn stop(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub(super) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = self.child.id().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            // It may be gone by itself.
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills it as `kill -9` does, and waits until it is gone.
    pub(super) async fn kill(mut self) -> Gone {
        // It may be gone by itself.
        let _ = self.child.start_kill();
        self.gone().await
    }

    /// Waits until it is gone by itself.
    pub(super) async fn gone(mut self) -> Gone {
        let ended = tokio::time::timeout(GONE_WITHIN, self.child.wait()).await;
        let status = ended.ok().and_then(Result::ok);
        let mut said = Vec::new();
        if status.is_some() {
            while let Some(say) = self.says.recv().await {
                said.push(say);
            }
        }
        let stderr = match status {
            Some(_) => self.complains.await.unwrap_or_default(),
            None => String::new(),
        };
        Gone {
            said,
            status,
            stderr,
        }
    }
}

/// Every whole line, until there is none any more.
async fn hear(out: impl AsyncRead + Unpin, to: mpsc::Sender<Say>) {
    let mut out = BufReader::new(out);
    let mut line = Vec::new();
    while let Ok(1..) = out.read_until(b'\n', &mut line).await {
        // What a kill cut, nobody was told.
        if let Ok(say) = serde_json::from_slice(&line)
            && line.ends_with(b"\n")
            && to.send(say).await.is_err()
        {
            return;
        }
        line.clear();
    }
}

/// The beginning of what it says to people; the rest is read and dropped, so that it never waits.
async fn complaints(err: impl AsyncRead + Unpin) -> String {
    let mut kept = Vec::new();
    let mut err = err.take(STDERR_BYTES_MAX);
    // What was said before a failure of the pipe is still worth showing.
    let _ = err.read_to_end(&mut kept).await;
    let _ = tokio::io::copy(err.get_mut(), &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&kept).into_owned()
}
