//! A process with a bound on its life, what it printed, and how it ended.
//!
//! It must never outlive its handle, and only its own pid is ever signalled.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::wait::{PATIENCE, until, until_or};

/// A process that runs.
pub struct Running {
    command: String,
    child: Child,
    since: Instant,
    out: Option<JoinHandle<String>>,
    err: Option<JoinHandle<String>>,
}

/// A process that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What was called.
    pub command: String,
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// The rest of what it printed.
    pub stderr: String,
    /// From its start to its end.
    pub took: Duration,
}

impl Running {
    /// Starts it with nothing on stdin.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let text = format!("{command:?}");
        let started = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = started.unwrap_or_else(|error| panic!("{text}: {error}"));
        let (out, err) = (child.stdout.take(), child.stderr.take());
        Self {
            command: text,
            child,
            since: Instant::now(),
            out: out.map(read),
            err: err.map(read),
        }
    }

    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How long it has run.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Whether it has ended.
    ///
    /// # Panics
    /// The system does not say.
    pub fn has_ended(&mut self) -> bool {
        self.status().is_some()
    }

    /// Waits for `moment` of its life, or for its end if that comes first.
    pub fn until_age(&mut self, moment: Duration) {
        let end = self.since + moment;
        until_or(end, || self.status());
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        signal_pid(self.pid(), signal);
    }

    /// Kills it as `kill -9` does, and waits until it is gone.
    #[must_use]
    pub fn kill(mut self) -> Ended {
        // It may have ended by itself a moment before.
        let _ = self.child.kill();
        self.end()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// It does not end within [`PATIENCE`]; the message has what it printed.
    #[must_use]
    pub fn wait(self) -> Ended {
        self.wait_for(PATIENCE)
    }

    /// Waits for its end with another patience, for what takes longer.
    ///
    /// # Panics
    /// It does not end within it; the message has what it printed.
    #[must_use]
    pub fn wait_for(mut self, patience: Duration) -> Ended {
        let end = self.since + patience;
        if until_or(end, || self.status()).is_none() {
            let _ = self.child.kill();
            let ended = self.end();
            panic!("it did not end within {patience:?}\n{ended}");
        }
        self.end()
    }

    fn status(&mut self) -> Option<ExitStatus> {
        self.child
            .try_wait()
            .unwrap_or_else(|error| panic!("{}: {error}", self.command))
    }

    fn end(&mut self) -> Ended {
        let status = until("the end of a killed process", || self.status());
        let text = |reader: Option<JoinHandle<String>>| {
            reader
                .map(|reader| reader.join().expect("reading does not panic"))
                .unwrap_or_default()
        };
        Ended {
            command: self.command.clone(),
            code: status.code(),
            stdout: text(self.out.take()),
            stderr: text(self.err.take()),
            took: self.since.elapsed(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Runs it to its end.
    #[must_use]
    pub fn of(command: &mut Command) -> Self {
        Running::start(command).wait()
    }

    /// Itself, if it ended with this exit code.
    ///
    /// # Panics
    /// It did not.
    #[must_use]
    pub fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            command,
            code,
            stdout,
            stderr,
            took,
        } = self;
        let code = code.map_or_else(|| "none, a signal".to_owned(), |code| code.to_string());
        write!(
            f,
            "command: {command}\nexit code: {code}, after {took:?}\n--- stdout\n{stdout}\n\
             --- stderr\n{stderr}"
        )
    }
}

fn read(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was printed before a failure of the pipe is still worth showing.
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Sends a signal to one process; one that is gone gets none.
pub fn signal_pid(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Whether a process of this pid runs; one that has ended and was not waited for does not.
#[must_use]
pub fn runs(pid: u32) -> bool {
    let there = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let there = there.is_some_and(|pid| test_kill_process(pid).is_ok());
    there && std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

/// The pids of processes one of whose arguments begins with `folder` and one of which is `name`.
///
/// # Panics
/// The system has no `/proc`: tests with processes need it to see what is left behind.
#[must_use]
pub fn of_folder(folder: &Path, name: &str) -> Vec<u32> {
    let listed = std::fs::read_dir("/proc").expect("processes are listed there");
    let pids = listed
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let folder = folder.to_str().expect("test folders have plain names");
    let mut found: Vec<u32> = pids.filter(|&pid| is_of(pid, folder, name)).collect();
    found.sort_unstable();
    found
}

fn is_of(pid: u32, folder: &str, name: &str) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line
        .split(|&byte| byte == 0)
        .map(String::from_utf8_lossy)
        .collect();
    words.iter().any(|word| word == name) && words.iter().any(|word| word.starts_with(folder))
}

/// The process group of a process; `None` when it is gone.
#[must_use]
pub fn group_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may hold anything but ends with the last bracket.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(2)?.parse().ok()
}
