//! One connection: bounded requests in, bounded answers out, and an end whatever the peer does.
//!
//! It must never hold the engine while it waits for the peer, and never read a body that it knows
//! to be too large.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use mainstay_runtime::WeakEngine;
use mainstay_types::{Code, Family, limits};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use crate::answer::{Asker, Reply, answer};
use crate::ask::Ask;
use crate::bounds::Bounds;
use crate::failure::Failure;
use crate::protocol::{self, HEADER, PROTOCOL, VERSION_PATH, Version};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Time for one that is only told why it is not served.
const REFUSAL_WITHIN: Duration = Duration::from_secs(2);

/// An accepted connection.
pub(crate) struct Connection {
    pub(crate) stream: UnixStream,
    pub(crate) greeting: Greeting,
    pub(crate) bounds: Bounds,
    pub(crate) stop: CancellationToken,
}

/// What the other end gets.
pub(crate) enum Greeting {
    /// Answers, as this user.
    Served {
        /// Whom to ask.
        engine: WeakEngine,
        /// Who asks.
        uid: u32,
    },
    /// The reason why not.
    Refused(Failure),
}

/// Serves one connection until it ends, its time is over or the engine is.
pub(crate) async fn converse(connection: Connection) {
    let Connection {
        stream,
        greeting,
        bounds,
        stop,
    } = connection;
    let (read, life) = match &greeting {
        Greeting::Served { .. } => (bounds.read_within, bounds.connection_within),
        Greeting::Refused(_) => (REFUSAL_WITHIN, REFUSAL_WITHIN),
    };
    let asked = Arc::new(Asked::of(greeting, bounds, &stop));
    let service = service_fn(move |request| {
        let asked = Arc::clone(&asked);
        async move { Ok::<_, Infallible>(asked.respond(request).await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(read)
        .max_buf_size(limits::SOCKET_HEAD_BYTES_MAX)
        // One that has said all it wants to say may still hear the answer.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    let mut serving = pin!(serving);
    let whole = async {
        tokio::select! {
            biased;
            ended = serving.as_mut() => return ended,
            () = stop.cancelled() => {}
        }
        serving.as_mut().graceful_shutdown();
        serving.await
    };
    // An error is the peer's hanging up or talking nonsense: nobody is left to tell.
    drop(tokio::time::timeout(life, whole).await);
}

struct Asked {
    greeting: Greeting,
    bounds: Bounds,
    stop: CancellationToken,
}

impl Asked {
    fn of(greeting: Greeting, bounds: Bounds, stop: &CancellationToken) -> Self {
        Self {
            greeting,
            bounds,
            stop: stop.clone(),
        }
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        match self.reply(request).await {
            Ok(reply) => response(StatusCode::OK, reply),
            Err(failure) => {
                let closes = matches!(
                    failure.code,
                    Code::SocketBusy | Code::SocketForbidden | Code::PayloadTooLarge
                );
                let mut told = response(status(failure.code), Reply::json(failure.to_json()));
                if closes {
                    let close = HeaderValue::from_static("close");
                    told.headers_mut().insert(CONNECTION, close);
                }
                told
            }
        }
    }

    async fn reply(&self, request: Request<Incoming>) -> Result<Reply, Failure> {
        let (engine, uid) = match &self.greeting {
            Greeting::Served { engine, uid } => (engine, *uid),
            Greeting::Refused(failure) => return Err(failure.clone()),
        };
        let (head, body) = request.into_parts();
        if (head.method == Method::GET) && head.uri.path() == VERSION_PATH {
            let version = serde_json::to_string(&Version::own()).expect("two numbers and a text");
            return Ok(Reply::json(version));
        }
        let number = head.headers.get(HEADER);
        protocol::check_asker(number.map(|number| number.to_str().unwrap_or("unknown")))?;
        let body = read(body, self.bounds.read_within).await?;
        let ask = Ask::of_http(&head.method, &head.uri, &body)?;
        self.bounded(engine, &ask, Asker { uid }).await
    }

    async fn bounded(&self, engine: &WeakEngine, ask: &Ask, who: Asker) -> Result<Reply, Failure> {
        let Some(engine) = engine.upgrade() else {
            return Err(stopping());
        };
        let answered = tokio::select! {
            biased;
            answered = answer(&engine, ask, who) => answered?,
            () = self.over(ask) => return Err(stopping()),
            () = tokio::time::sleep(self.bounds.answer_within) => {
                let within = self.bounds.answer_within.as_millis();
                let message = format!("the engine did not answer within {within} ms");
                return Err(Failure::new(Code::SocketFailed, message));
            }
        };
        if limits::SOCKET_REPLY_BYTES_MAX < answered.body.len() {
            return Err(too_large("the answer", limits::SOCKET_REPLY_BYTES_MAX)
                .hint("ask for a smaller page, or without payloads"));
        }
        Ok(answered)
    }

    /// Who only waits for an alert is sent away at once; everything else may end.
    async fn over(&self, ask: &Ask) {
        match ask {
            Ask::Alerts(_) => self.stop.cancelled().await,
            Ask::Status
            | Ask::Runs(_)
            | Ask::Run(_)
            | Ask::Why(_)
            | Ask::Command(_)
            | Ask::Effects(_)
            | Ask::Effect(_)
            | Ask::Settle(_)
            | Ask::Orphans(_)
            | Ask::Orphan(_)
            | Ask::Classes
            | Ask::Class(_) => std::future::pending().await,
        }
    }
}

async fn read(body: Incoming, within: Duration) -> Result<Bytes, Failure> {
    let bytes_max = limits::SOCKET_BODY_BYTES_MAX;
    let said = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if bytes_max < said {
        return Err(too_large("the body", bytes_max));
    }
    match tokio::time::timeout(within, Limited::new(body, bytes_max).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            Err(too_large("the body", bytes_max))
        }
        Ok(Err(error)) => Err(invalid(format!("the body cannot be read: {error}"))),
        Err(_) => {
            let within = within.as_millis();
            Err(invalid(format!("the body did not come within {within} ms")))
        }
    }
}

fn response(status: StatusCode, reply: Reply) -> Response<Full<Bytes>> {
    let form = if reply.is_json { JSON } else { TEXT };
    let mut response = Response::new(Full::new(Bytes::from(reply.body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, form);
    headers.insert(HEADER, HeaderValue::from(PROTOCOL));
    response
}

/// For those who look at the status first; the code in the body says more.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a status stands for a whole family of codes"
)]
fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidInput => StatusCode::BAD_REQUEST,
        Code::RunUnknown | Code::ClassUnknown => StatusCode::NOT_FOUND,
        Code::SocketForbidden => StatusCode::FORBIDDEN,
        Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::SocketBusy | Code::EngineStopping => StatusCode::SERVICE_UNAVAILABLE,
        Code::SocketProtocol => StatusCode::UPGRADE_REQUIRED,
        other => match other.family() {
            Family::Refusal | Family::Problem => StatusCode::CONFLICT,
            Family::Fault => StatusCode::SERVICE_UNAVAILABLE,
            Family::Corrupt => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}

fn stopping() -> Failure {
    Failure::new(Code::EngineStopping, "the engine is over")
}

fn too_large(what: &str, bytes_max: usize) -> Failure {
    let message = format!("{what} has more than {bytes_max} bytes");
    Failure::new(Code::PayloadTooLarge, message)
}

fn invalid(message: String) -> Failure {
    Failure::new(Code::InvalidInput, message)
}
