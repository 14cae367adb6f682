//! A served engine, and askers that write their bytes by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mainstay_ledger::MemoryLedger;
use mainstay_runtime::{Engine, EngineBuilder, system};
use mainstay_socket::{Bounds, Client, LocalSocket, place};
use mainstay_types::Millis;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// Longer than anything here takes; a test that waits for it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// An engine with its socket, in a folder of its own.
pub(crate) struct Served {
    pub(crate) engine: Engine,
    pub(crate) folder: TempDir,
}

impl Served {
    pub(crate) async fn new() -> Self {
        Self::with(Bounds::default()).await
    }

    pub(crate) async fn with(bounds: Bounds) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(LocalSocket::of(folder.path()).bounds(bounds)).await;
        Self { engine, folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        place::find(self.folder.path()).unwrap().expect("a socket")
    }

    pub(crate) async fn client(&self) -> Client {
        let connected = Client::connect(&self.path()).await;
        connected.unwrap().expect("somebody listens")
    }

    pub(crate) async fn stop(self) -> TempDir {
        self.engine.shutdown(Millis::from_secs(1)).await;
        self.folder
    }
}

/// An engine over an empty ledger with this socket.
pub(crate) async fn engine(socket: LocalSocket) -> Engine {
    let ledger = Arc::new(MemoryLedger::new());
    let builder = EngineBuilder::new(ledger, system::ports());
    builder.accompany(socket).start().await.unwrap()
}

/// Small bounds, so that a test of what lies beyond them is over soon.
pub(crate) fn small() -> Bounds {
    Bounds {
        connections_max: 3,
        read_within: Duration::from_millis(200),
        ..Bounds::default()
    }
}

/// Somebody who writes bytes.
pub(crate) struct Raw(pub(crate) UnixStream);

impl Raw {
    pub(crate) async fn connect(path: &Path) -> Self {
        Self(UnixStream::connect(path).await.unwrap())
    }

    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Everything until the other end closes, as far as it came.
    pub(crate) async fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        let read = self.0.read_to_end(&mut bytes);
        // A reset is an end as well: what came before it is what was said.
        let _ = tokio::time::timeout(PATIENCE, read)
            .await
            .expect("the other end closes");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Until `end` has been said.
    pub(crate) async fn until(&mut self, end: &str) -> String {
        let mut text = String::new();
        let reading = async {
            while !text.contains(end) {
                let mut bytes = [0; 4_096];
                let n = self.0.read(&mut bytes).await.unwrap();
                assert!(0 < n, "the other end closed after {text:?}");
                text.push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
        };
        tokio::time::timeout(PATIENCE, reading)
            .await
            .expect("it is said");
        text
    }
}

/// A whole request by hand.
pub(crate) fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nhost: engine\r\n\r\n")
}

/// Somebody who listens where an engine should, and answers each request on one connection with
/// the next of `answers`, byte for byte; then closes.
pub(crate) fn impostor(path: PathBuf, answers: Vec<String>) {
    let listener = UnixListener::bind(path).unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut raw = Raw(stream);
        for answer in answers {
            raw.until("\r\n\r\n").await;
            raw.say(answer).await;
        }
    });
}

/// An answer by hand.
pub(crate) fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n\
         {body}"
    )
}

/// How this version greets.
pub(crate) fn version() -> String {
    answer("200 OK", r#"{"protocol":1,"mainstay":"9.9.9","pid":1}"#)
}
