//! The asker's end: one connection, the handshake, then questions one after the other.
//!
//! It must never believe an answer of another protocol, and never ask a command twice: whoever
//! asked does not know whether the first one was taken.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use mainstay_types::{Code, limits};
use tokio::net::UnixStream;

use crate::answer::Reply;
use crate::ask::Ask;
use crate::failure::Failure;
use crate::place::own_uid;
use crate::protocol::{HEADER, PROTOCOL, VERSION_PATH, Version};

/// Longer than the other end allows itself, so that its own words arrive.
const WITHIN: Duration =
    Duration::from_millis(limits::SOCKET_ANSWER_MS_MAX + limits::SOCKET_READ_MS_MAX);

/// A process that is well says its version at once.
const HANDSHAKE_WITHIN: Duration = Duration::from_millis(limits::SOCKET_READ_MS_MAX);

/// A connection to the engine that holds a store.
#[derive(Debug)]
pub struct Client {
    sender: SendRequest<Full<Bytes>>,
    version: Version,
}

impl Client {
    /// Connects to the socket at `path` and shakes hands; `None` when nobody listens there.
    ///
    /// Cancel safe. Must be called inside a tokio runtime. `SOCKET_PROTOCOL` when the process
    /// speaks another protocol; `SOCKET_BUSY`, `SOCKET_FORBIDDEN` or `SOCKET_FAILED` as it answers.
    pub async fn connect(path: &Path) -> Result<Option<Self>, Failure> {
        let stream = match UnixStream::connect(path).await {
            Ok(stream) => stream,
            Err(error) => return nobody(error.kind(), &error),
        };
        let server = stream.peer_cred().map_err(|error| failed(&error))?.uid();
        trust(path, server)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| failed(&error))?;
        // Its errors reach the question that meets them.
        drop(tokio::spawn(async { drop(connection.await) }));
        let mut client = Self {
            sender,
            version: Version::own(),
        };
        client.version = client.shake_hands().await?;
        client.version.check()?;
        Ok(Some(client))
    }

    /// The process at the other end.
    #[must_use]
    pub const fn version(&self) -> &Version {
        &self.version
    }

    /// Asks one question.
    ///
    /// Not cancel safe: a command may have been taken, and the connection is of no more use.
    /// Failures of the engine as it says them; `SOCKET_FAILED` when it does not answer, and then a
    /// command may have been taken.
    pub async fn ask(&mut self, ask: &Ask) -> Result<Reply, Failure> {
        let sent = ask.to_http();
        let request = Request::builder()
            .method(sent.method)
            .uri(sent.target)
            .header(HOST, "engine")
            .header(HEADER, PROTOCOL)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(sent.body)))
            .expect("a method, an encoded target and our own headers are a request");
        let failed = |error: &hyper::Error| no_answer(&error.to_string());
        self.exchange(request, WITHIN, failed).await
    }

    async fn shake_hands(&mut self) -> Result<Version, Failure> {
        let request = Request::builder()
            .method(Method::GET)
            .uri(VERSION_PATH)
            .header(HOST, "engine")
            .body(Full::new(Bytes::new()))
            .expect("a constant request");
        let reply = self.exchange(request, HANDSHAKE_WITHIN, hung_up).await?;
        serde_json::from_str(&reply.body).map_err(|_| no_answer("it does not say its version"))
    }

    async fn exchange(
        &mut self,
        request: Request<Full<Bytes>>,
        within: Duration,
        failed: fn(&hyper::Error) -> Failure,
    ) -> Result<Reply, Failure> {
        let exchanged = async {
            self.sender.ready().await.map_err(|error| failed(&error))?;
            let response = self.sender.send_request(request).await;
            reply(response.map_err(|error| failed(&error))?).await
        };
        match tokio::time::timeout(within, exchanged).await {
            Ok(reply) => reply,
            Err(_) => Err(no_answer(&format!(
                "nothing within {} ms",
                within.as_millis()
            ))),
        }
    }
}

async fn reply(response: Response<Incoming>) -> Result<Reply, Failure> {
    let (head, body) = response.into_parts();
    let whole = Limited::new(body, limits::SOCKET_REPLY_BYTES_MAX).collect();
    let whole = whole.await.map_err(|error| no_answer(&error.to_string()))?;
    let bytes = whole.to_bytes();
    if !head.status.is_success() {
        let failure = Failure::from_json(&bytes);
        let status = head.status;
        return Err(failure.unwrap_or_else(|| no_answer(&format!("HTTP status {status}"))));
    }
    let kind = head.headers.get(CONTENT_TYPE);
    let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    match String::from_utf8(bytes.into()) {
        Ok(body) => Ok(Reply { is_json, body }),
        Err(_) => Err(no_answer("it is no text")),
    }
}

/// Nobody listens: no file, or one that a dead process left.
fn nobody(kind: ErrorKind, error: &std::io::Error) -> Result<Option<Client>, Failure> {
    if [ErrorKind::NotFound, ErrorKind::ConnectionRefused].contains(&kind) {
        return Ok(None);
    }
    if kind == ErrorKind::PermissionDenied {
        let message = format!("the socket may not be opened: {error}");
        return Err(Failure::new(Code::SocketForbidden, message));
    }
    // A full backlog: many others are about to be told that it is busy.
    if kind == ErrorKind::WouldBlock {
        return Err(Failure::new(Code::SocketBusy, "more callers wait than may"));
    }
    Err(failed(error))
}

/// Who answers must be who owns the socket, us or root: nobody else could have been meant.
fn trust(path: &Path, server: u32) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::symlink_metadata(path).map(|found| found.uid());
    if [own_uid(), 0].contains(&server) || owner.is_ok_and(|owner| owner == server) {
        return Ok(());
    }
    let message = format!("uid {server} listens there, and the socket is not theirs");
    Err(Failure::new(Code::SocketForbidden, message))
}

fn failed(error: &dyn std::error::Error) -> Failure {
    no_answer(&error.to_string())
}

/// Somebody listens and hangs up before anything was asked: so many call at once that not even
/// "busy" is said any more, or the process is about to end. Asking again tells.
fn hung_up(error: &hyper::Error) -> Failure {
    let is_gone = error.is_closed() || error.is_canceled() || error.is_incomplete_message();
    if !is_gone {
        return no_answer(&error.to_string());
    }
    let message = format!("the process that holds the store hangs up: {error}");
    Failure::new(Code::SocketBusy, message)
}

fn no_answer(why: &str) -> Failure {
    let message = format!("the process that holds the store did not answer: {why}");
    Failure::new(Code::SocketFailed, message)
}
