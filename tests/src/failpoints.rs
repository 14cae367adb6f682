//! Ends this process by SIGKILL at a chosen append: what the binary `meeting-killed` puts between
//! the engine and its ledger and clock.
//!
//! Nothing unwinds and no destructor runs: for the store it is the same as `kill -9` from outside,
//! at a moment that can be had again. It must never be linked into a product binary, and it never
//! changes what passes through it: either everything goes on, or the process is over.

use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ThreadId;

use mainstay::engine::Ports;
use mainstay::types::{Clock, Millis, Timestamp};
use mainstay_ledger::{CommitRequest, Ledger};
use meeting_analysis::app::seams::Seams;
use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Serialize};

mod ledger;

use ledger::WatchedLedger;

/// The variable that says where the process dies, as `APPEND:POINT`; without it, it lives.
pub const FAILPOINT: &str = "MAINSTAY_FAILPOINT";
/// The variable that says where its appends are written down.
pub const JOURNAL: &str = "MAINSTAY_FAILPOINT_JOURNAL";

/// A moment of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// The engine has asked for it, and nothing of it has reached the ledger.
    BeforeAppend,
    /// It is durable, and the engine has not heard so.
    BeforeAcknowledgement,
    /// The engine has heard so and reads its clock for the first time since: before that it
    /// starts nothing of what the append allows, and each send reads the clock once more.
    BeforeSend,
}

impl Point {
    /// All of them, in the order in which they come.
    pub const ALL: [Self; 3] = [
        Self::BeforeAppend,
        Self::BeforeAcknowledgement,
        Self::BeforeSend,
    ];

    /// Its name, on the command line and in failures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeforeAppend => "before-append",
            Self::BeforeAcknowledgement => "before-acknowledgement",
            Self::BeforeSend => "before-send",
        }
    }

    /// Whether the append is in the log of a process that died here.
    #[must_use]
    pub const fn is_durable(self) -> bool {
        match self {
            Self::BeforeAppend => false,
            Self::BeforeAcknowledgement | Self::BeforeSend => true,
        }
    }
}

/// Where a process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failpoint {
    /// At which of its appends, from 1.
    pub append: u64,
    /// At which moment of it.
    pub point: Point,
}

impl fmt::Display for Failpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.append, self.point.name())
    }
}

impl FromStr for Failpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("`{text}` is no failpoint: write APPEND:POINT, as 3:before-send");
        let (append, point) = text.split_once(':').ok_or_else(refused)?;
        let append = append.parse().map_err(|_| refused())?;
        let mut points = Point::ALL.into_iter();
        let point = points
            .find(|known| known.name() == point)
            .ok_or_else(refused)?;
        Ok(Self { append, point })
    }
}

/// One line of a journal: an append that the engine asked for, or the end of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Which append of the process, from 1.
    pub append: u64,
    /// The run's newest sequence number before it.
    pub seq: u64,
    /// How many events it has.
    pub events: u64,
    /// The point at which the process died; `None` while it goes on.
    pub died: Option<Point>,
}

impl Line {
    /// How many events the log of a process that died here holds.
    #[must_use]
    pub fn events_in_the_log(&self) -> u64 {
        let durable = self.died.is_some_and(Point::is_durable);
        self.seq + if durable { self.events } else { 0 }
    }
}

/// The lines of a journal; none when the process made no append.
#[must_use]
pub fn journal(file: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().map(serde_json::from_str);
    lines
        .map(|line| line.expect("a line is written at once"))
        .collect()
}

/// What the environment asks for.
pub struct Failpoints(Arc<Watch>);

struct Watch {
    at: Option<Failpoint>,
    journal: Option<Mutex<File>>,
    appends: AtomicU64,
    /// The append that was acknowledged last where the process is to die before its send, and the
    /// thread that the engine heard it on: no other thread knows of it yet.
    heard: Mutex<Option<(ThreadId, Line)>>,
}

impl Failpoints {
    /// From [`FAILPOINT`] and [`JOURNAL`].
    ///
    /// # Errors
    /// The first is no failpoint, or the file cannot be made.
    pub fn from_env() -> Result<Self, String> {
        let at = std::env::var(FAILPOINT).ok();
        let at = at.map(|text| text.parse()).transpose()?;
        let file = std::env::var_os(JOURNAL).map(PathBuf::from);
        let made = file.map(|file| File::create(&file).map_err(|e| format!("{file:?}: {e}")));
        Ok(Self(Arc::new(Watch {
            at,
            journal: made.transpose()?.map(Mutex::new),
            appends: AtomicU64::new(0),
            heard: Mutex::new(None),
        })))
    }
}

impl Seams for Failpoints {
    fn ledger(&self, store: Arc<dyn Ledger>) -> Arc<dyn Ledger> {
        Arc::new(WatchedLedger::new(store, Arc::clone(&self.0)))
    }

    fn ports(&self, system: Ports) -> Ports {
        let clock = WatchedClock {
            clock: Arc::clone(&system.clock),
            watch: Arc::clone(&self.0),
        };
        Ports {
            clock: Arc::new(clock),
            ..system
        }
    }
}

impl Watch {
    /// The append that these requests are; `None` when they carry no event.
    fn begin(&self, requests: &[CommitRequest]) -> Option<Line> {
        let mut parts = requests.iter().flat_map(|request| &request.parts);
        let part = parts.find(|part| !part.events.is_empty())?;
        let line = Line {
            append: self.appends.fetch_add(1, Ordering::SeqCst) + 1,
            seq: part.expected_seq.get(),
            events: u64::try_from(part.events.len()).expect("an append is small"),
            died: None,
        };
        self.note(line);
        Some(line)
    }

    /// Dies if this is the point; else the append goes on.
    fn reach(&self, line: Line, point: Point) {
        let append = line.append;
        if self.at != Some(Failpoint { append, point }) {
            return;
        }
        if point == Point::BeforeSend {
            let mut heard = self.heard.lock().expect("nobody panics with it");
            *heard = Some((std::thread::current().id(), line));
        } else {
            self.die(line, point);
        }
    }

    /// The engine reads its clock.
    fn clock_is_read(&self) {
        let heard = *self.heard.lock().expect("nobody panics with it");
        if let Some((thread, line)) = heard
            && thread == std::thread::current().id()
        {
            self.die(line, Point::BeforeSend);
        }
    }

    fn die(&self, line: Line, point: Point) -> ! {
        let died = Some(point);
        self.note(Line { died, ..line });
        kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
        loop {
            // The signal may be delivered to another thread first; this one does nothing more.
            std::thread::park();
        }
    }

    fn note(&self, line: Line) {
        let Some(journal) = &self.journal else { return };
        let mut text = serde_json::to_vec(&line).expect("a line is JSON");
        text.push(b'\n');
        let mut file = journal.lock().expect("nobody panics with it");
        file.write_all(&text).expect("the journal can be written");
    }
}

struct WatchedClock {
    clock: Arc<dyn Clock>,
    watch: Arc<Watch>,
}

impl Clock for WatchedClock {
    fn wall(&self) -> Timestamp {
        self.watch.clock_is_read();
        self.clock.wall()
    }

    fn monotonic(&self) -> Millis {
        self.watch.clock_is_read();
        self.clock.monotonic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failpoint_reads_back_as_it_is_shown_and_nothing_else_is_one() {
        for point in Point::ALL {
            let failpoint = Failpoint { append: 7, point };
            assert_eq!(failpoint.to_string().parse(), Ok(failpoint));
        }
        for text in ["", "3", "x:before-send", "3:later"] {
            assert!(text.parse::<Failpoint>().is_err(), "{text}");
        }
    }
}
