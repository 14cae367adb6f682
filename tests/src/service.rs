//! A service that the test starts itself: to arm faults before a run, and to read its log after.
//!
//! It must never share a database or a port with another test's.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use service_kit::{Announcement, Entry};

use crate::binaries::program;
use crate::http;
use crate::process::signal_pid;
use crate::wait::{until, until_or};

/// Most entries of a log that are read at once: all that a test's requests make.
const LOG_MAX: usize = 10_000;

/// How long a service is down at most, where a test lets it be.
const DOWN_FOR_MAX: Duration = Duration::from_secs(3);

/// A running service.
pub struct Service {
    child: Child,
    announced: Announcement,
}

impl Service {
    /// A ticket service over this database, with faults in the form of its `--fault`.
    #[must_use]
    pub fn tickets(db: &Path, faults: &[&str]) -> Self {
        let mut command = Command::new(program("ticket-service"));
        command.arg("--db").arg(db).args(["--bound-ms", "2000"]);
        Self::start(command, faults)
    }

    /// A specialist that a store's next run finds by its pid file, and stops at its end.
    ///
    /// # Panics
    /// The store's folder cannot be made.
    #[must_use]
    pub fn specialist(store: &Path, faults: &[&str]) -> Self {
        std::fs::create_dir_all(store).expect("the store's folder");
        let mut command = Command::new(program("specialist-service"));
        command
            .arg("--pid-file")
            .arg(store.join("specialist-service.pid"));
        command.arg("--log").arg(specialist_log(store));
        Self::start(command, faults)
    }

    fn start(mut command: Command, faults: &[&str]) -> Self {
        command
            .args(["--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        for fault in faults {
            command.args(["--fault", fault]);
        }
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let out = child.stdout.take().expect("its stdout is a pipe");
        let mut line = String::new();
        BufReader::new(out)
            .read_line(&mut line)
            .expect("its stdout can be read");
        let announced = serde_json::from_str(&line);
        let announced = announced.unwrap_or_else(|_| panic!("{command:?} said {line:?}"));
        Self { child, announced }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.announced.listening)
    }

    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.announced.pid
    }

    /// Its tickets of one source, in the order of their making.
    ///
    /// # Panics
    /// It does not answer, here and below: a fault may be armed that strikes everybody.
    #[must_use]
    pub fn tickets_of(&self, source: &str) -> Vec<Value> {
        let found = self.get(&format!("/tickets?source={source}&limit=500"));
        found
            .as_array()
            .unwrap_or_else(|| panic!("no array: {found}"))
            .clone()
    }

    /// Its request log, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<Entry> {
        requests_at(&self.url())
    }

    /// Arms a fault in its JSON form.
    pub fn arm(&self, fault: &Value) {
        let url = format!("{}/faults", self.url());
        http::post(&url, fault).unwrap_or_else(|error| panic!("{url} {fault}: {error}"));
    }

    /// Disarms all faults.
    pub fn clear(&self) {
        let url = format!("{}/faults", self.url());
        http::delete(&url).unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    /// Stops it and waits until it is gone.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        signal_pid(self.child.id(), Signal::TERM);
        until("the end of a service", || {
            self.child.try_wait().ok().flatten()
        });
    }

    fn get(&self, path: &str) -> Value {
        ask(&format!("{}{path}", self.url()))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // A killed one commits nothing more; a test that has failed must not wait for it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The request log of the service at this address, oldest first.
///
/// # Panics
/// It does not answer.
#[must_use]
pub fn requests_at(url: &str) -> Vec<Entry> {
    let url = format!("{url}/requests?limit={LOG_MAX}");
    let page = ask(&url);
    let requests = page.get("requests").cloned().unwrap_or_default();
    serde_json::from_value(requests).unwrap_or_else(|error| panic!("{url}: {error}"))
}

/// What is at this address, once it answers: a service may be down for a while.
fn ask(url: &str) -> Value {
    let end = Instant::now() + DOWN_FOR_MAX;
    let mut answer = http::get(url);
    until_or(end, || {
        if answer.is_err() {
            answer = http::get(url);
        }
        answer.is_ok().then_some(())
    });
    answer.unwrap_or_else(|error| panic!("{url}: {error}"))
}

/// A fault that makes writes of tickets wait, in its JSON form.
#[must_use]
pub fn slow_writes(delay_ms: u64) -> Value {
    let only = json!({"method": "POST", "path_prefix": "/tickets"});
    json!({"kind": "delay", "match": only, "delay_ms": delay_ms})
}

/// Where a store's specialist keeps its log.
#[must_use]
pub fn specialist_log(store: &Path) -> PathBuf {
    store.join("specialist-requests.jsonl")
}

/// What a specialist's log file holds, the newest word on each request; nothing when there is none.
#[must_use]
pub fn specialist_requests(store: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(specialist_log(store)).unwrap_or_default();
    let entries = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Entry>(line).ok());
    let newest: std::collections::BTreeMap<u64, Entry> =
        entries.map(|entry| (entry.seq, entry)).collect();
    newest.into_values().collect()
}
