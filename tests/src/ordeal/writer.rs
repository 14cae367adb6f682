//! A writer as its parent sees it: started, listened to, and killed at its moment.
//!
//! What it told before it died is all that its parent may believe. It must never outlive the call.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::check::Report;
use super::fact::Fact;
use super::house;
use super::moment::Moment;
use crate::process::{Ended, signal_pid};
use crate::wait::PATIENCE;

/// The program of the ordeal, and how it sets up its stores.
#[derive(Clone, Debug)]
pub struct Programs {
    /// `ordeal` itself.
    pub ordeal: PathBuf,
    /// Size of a log segment; `None` for what is usual.
    pub segment_bytes: Option<u32>,
}

/// What a writer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Committers at once.
    pub lanes: u32,
    /// Deeds of each.
    pub deeds: u32,
    /// How often, of a thousand, a payload has the largest size there may be.
    pub limit_per_mille: u64,
}

impl Programs {
    /// The command of these words.
    #[must_use]
    pub fn command<'a>(&self, words: impl IntoIterator<Item = &'a dyn fmt::Display>) -> Command {
        let mut command = Command::new(&self.ordeal);
        command.args(words.into_iter().map(ToString::to_string));
        if let Some(bytes) = self.segment_bytes {
            command.env(house::SEGMENT_BYTES, bytes.to_string());
        }
        command
    }

    /// A writer's.
    #[must_use]
    pub fn writer(&self, store: &Path, seed: u64, round: u32, load: Load) -> Command {
        let Load {
            lanes,
            deeds,
            limit_per_mille,
        } = load;
        let store = store.display();
        self.command([
            &"write" as &dyn fmt::Display,
            &store,
            &seed,
            &round,
            &lanes,
            &deeds,
            &limit_per_mille,
        ])
    }

    /// Checks a store, in a process of its own, and says what the process said beside its report.
    ///
    /// # Errors
    /// The checker does not end well, in its words: no store may do that to a process.
    ///
    /// # Panics
    /// There is no room for the facts.
    pub fn check(
        &self,
        store: &Path,
        facts: &[Fact],
        twice: bool,
    ) -> Result<(Report, String), String> {
        let depth = if twice { "twice" } else { "once" };
        self.checked("check", store, facts, &[depth])
    }

    /// Checks a store of runs that expire, in a process of its own.
    ///
    /// # Errors
    /// The checker does not end well, in its words.
    ///
    /// # Panics
    /// There is no room for the facts.
    pub fn check_flow(&self, store: &Path, facts: &[Fact]) -> Result<(Report, String), String> {
        self.checked("check-flow", store, facts, &[])
    }

    fn checked(
        &self,
        checker: &str,
        store: &Path,
        facts: &[Fact],
        more: &[&str],
    ) -> Result<(Report, String), String> {
        let told = store.with_extension("facts");
        let text: String = facts.iter().map(Fact::line).collect();
        std::fs::write(&told, text).expect("the test's folder has room");
        let mut command = self.command([]);
        command.arg(checker).args([store, &told]).args(more);
        let ended = Ended::of(&mut command);
        match serde_json::from_str(&ended.stdout) {
            Ok(report) if ended.code == Some(0) => Ok((report, ended.stderr)),
            Ok(_) | Err(_) => Err(format!("the checker fell\n{ended}")),
        }
    }
}

/// Runs a writer until its moment, and says what it told.
///
/// # Panics
/// It is not dead after [`PATIENCE`], or ends otherwise than it should.
#[must_use]
pub fn run(command: &mut Command, moment: Moment) -> Vec<Fact> {
    run_within(command, moment, PATIENCE)
}

/// The same with a longer patience.
///
/// # Panics
/// It is not dead after that, or ends otherwise than it should.
#[must_use]
pub fn run_within(command: &mut Command, moment: Moment, patience: Duration) -> Vec<Fact> {
    let shown = format!("{command:?}");
    let started = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = started.unwrap_or_else(|error| panic!("{shown}: {error}"));
    let pid = child.id();
    let (alive, watched) = channel();
    let watch = std::thread::spawn(move || watch(pid, &watched, patience));
    let text = listen(&mut child, moment);
    let mut said = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        // What was said before a failure of the pipe is still worth showing.
        let _ = stderr.read_to_string(&mut said);
    }
    let status = child.wait().expect("a child can be waited for");
    drop::<Sender<()>>(alive);
    let is_late = watch.join().expect("watching does not panic");
    assert!(
        !is_late,
        "it was not dead after {patience:?}: {shown}\n{said}"
    );
    // A writer that was not killed says so itself when it failed, as a fact.
    assert!(
        status.code().is_none_or(|code| code < 2),
        "{shown}: {status}\n{said}"
    );
    Fact::all(&text)
}

/// Reads what it tells, to its end, and kills it at its moment.
fn listen(child: &mut Child, moment: Moment) -> String {
    let pid = child.id();
    let mut lines = BufReader::new(child.stdout.take().expect("it was asked for"));
    let (mut text, mut answers) = (String::new(), 0);
    let mut is_killed = false;
    loop {
        let begin = text.len();
        match lines.read_line(&mut text) {
            Ok(0) | Err(_) => return text,
            Ok(_) => {}
        }
        if is_killed {
            continue;
        }
        let line = &text[begin..];
        answers += u64::from(line.starts_with("{\"Done\""));
        let after = match moment {
            Moment::Opening(after) if line.starts_with("\"Opening\"") => after,
            Moment::Closing(after) if line.starts_with("\"Closing\"") => after,
            Moment::Answered(count, after) if count < answers => after,
            Moment::Opening(_) | Moment::Answered(..) | Moment::Closing(_) | Moment::Never => {
                continue;
            }
        };
        spin(after);
        signal_pid(pid, Signal::KILL);
        is_killed = true;
    }
}

/// Lets a moment pass, to the microsecond.
fn spin(moment: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < moment {
        std::thread::yield_now();
    }
}

/// Kills a process that lives too long, and says whether it had to.
fn watch(pid: u32, watched: &Receiver<()>, patience: Duration) -> bool {
    let ended = watched.recv_timeout(patience);
    let is_late = ended == Err(RecvTimeoutError::Timeout);
    if is_late {
        signal_pid(pid, Signal::KILL);
    }
    is_late
}
