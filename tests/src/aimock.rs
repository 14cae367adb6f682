//! A real OpenAI-compatible server that answers from fixtures: aimock, in a fixed version.
//!
//! It must never outlive the test that started it, not even a test that was killed, and a missing
//! server is never a test that passes in CI.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http;

/// Says how a peer is started, and installs what is missing.
const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/peers");
/// How long it may take to listen.
const START: Duration = Duration::from_secs(60);
/// Ends the server when its stdin ends: with the test, however that ends.
const END_WITH_STDIN: &str =
    "data:text/javascript,process.stdin.on('close',()=>process.exit(0)).resume()";
/// On the loopback, on a free port; what no fixture is for is an error.
const FLAGS: [&str; 6] = [
    "--host",
    "127.0.0.1",
    "--port",
    "0",
    "--strict",
    "--validate-on-load",
];
/// The variable with the keys that it takes.
const KEYS: &str = "AIMOCK_API_KEYS";
/// What it prints before its address.
const LISTENING: &str = "listening on ";

/// A running server.
pub struct Aimock {
    child: Child,
    url: String,
    _folder: TempDir,
}

impl Aimock {
    /// A server with these fixtures, which takes any key; see [`fixture`]. `None`, and a word on
    /// stderr, where it cannot be had and this is not CI.
    #[must_use]
    pub fn serving(fixtures: &[Value]) -> Option<Self> {
        Self::start(fixtures, None)
    }

    /// The same for a server that wants this key.
    #[must_use]
    pub fn wanting_key(key: &str, fixtures: &[Value]) -> Option<Self> {
        Self::start(fixtures, Some(key))
    }

    fn start(fixtures: &[Value], key: Option<&str>) -> Option<Self> {
        let (node, script) = installed()?;
        let folder = tempfile::tempdir().expect("a folder for the fixtures");
        let file = folder.path().join("fixtures.json");
        std::fs::write(&file, json!({ "fixtures": fixtures }).to_string()).expect("written");
        let mut command = Command::new(node);
        command.args(["--import", END_WITH_STDIN]).arg(script);
        command.args(FLAGS).arg("--fixtures").arg(&file);
        match key {
            Some(key) => command.env(KEYS, key),
            None => command.env_remove(KEYS),
        };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let out = child.stdout.take().expect("its stdout is a pipe");
        let mut server = Self {
            child,
            url: String::new(),
            _folder: folder,
        };
        server.url = listening(out)
            .recv_timeout(START)
            .unwrap_or_else(|_| panic!("{command:?} did not listen within {START:?}"));
        Some(server)
    }

    /// Its address, without a version.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The requests it has had, oldest first.
    ///
    /// # Panics
    /// It does not answer.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        let url = format!("{}/__aimock/journal", self.url);
        let found = http::get(&url).unwrap_or_else(|error| panic!("{url}: {error}"));
        found.as_array().cloned().unwrap_or_default()
    }
}

impl Drop for Aimock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A fixture: what is answered when a user's message has `words` in it.
#[must_use]
pub fn fixture(words: &str, response: &Value) -> Value {
    json!({"match": {"userMessage": words}, "response": response})
}

/// The address, once it is printed. Reads on to the end, so that the server never waits for a full
/// pipe.
fn listening(out: ChildStdout) -> mpsc::Receiver<String> {
    let (say, hear) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if let Some((_, url)) = line.split_once(LISTENING) {
                let _ = say.send(url.trim().to_owned());
            }
        }
    });
    hear
}

/// The Node.js program and the server's script.
fn installed() -> Option<(PathBuf, PathBuf)> {
    let found = Command::new("bash").arg(PEERS).arg("aimock").output();
    let found = found.unwrap_or_else(|error| panic!("{PEERS}: {error}"));
    let said = String::from_utf8_lossy(&found.stdout).into_owned();
    let mut lines = said.lines().map(PathBuf::from);
    if let (true, Some(node), Some(script)) = (found.status.success(), lines.next(), lines.next()) {
        return Some((node, script));
    }
    let why = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(
        std::env::var_os("CI").is_none(),
        "aimock cannot be had, and CI must not go without it:\n{why}"
    );
    eprintln!("SKIPPED, NOTHING WAS TESTED: aimock cannot be had here:\n{why}");
    None
}
