//! What every request passes before its handler: it is read, logged, and struck by a fault if one
//! is armed for it; afterwards the end is logged.
//!
//! It must never let a request reach a handler unlogged, and never abandon one that it accepted: a
//! client that hangs up does not stop its request, as with any real server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{Extension, RawPathParams, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, request::Parts};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::body;
use crate::fault::FaultKind;
use crate::faults::Faults;
use crate::log::{Arrival, Conclusion, LogError, RequestLog, Status, Subject, now_ms};
use crate::problem::Problem;

/// Requests processed at once; the next is refused with 503.
pub(crate) const IN_FLIGHT_MAX: usize = 256;

/// Longest `X-Client`, in bytes.
const CLIENT_BYTES_MAX: usize = 64;

/// A request as a service's `describe` sees it.
pub struct Incoming<'a> {
    /// Path and query.
    pub uri: &'a Uri,
    /// All headers.
    pub headers: &'a HeaderMap,
    /// The named parts of the route's path, decoded.
    pub params: &'a [(String, String)],
    /// The whole body.
    pub body: &'a [u8],
}

/// What a service reads out of a request for the log and for matching faults.
#[derive(Debug, Default)]
pub struct Described {
    /// The idempotency key.
    pub key: Option<String>,
    /// From the body or the query.
    pub source: Option<String>,
    /// From the body or the query.
    pub position: Option<u32>,
}

/// What a handler gets to know about its request, as an `Extension`.
#[derive(Clone, Debug)]
pub struct RequestContext {
    /// What it is about.
    pub subject: Arc<Subject>,
    /// When it had been read.
    pub arrived: Instant,
    /// The armed faults.
    pub faults: Faults,
}

impl RequestContext {
    /// Waits as long as an armed `delay` says; otherwise returns at once.
    pub async fn delay(&self) {
        if let Some(fault) = self.faults.take(FaultKind::Delay, &self.subject) {
            let wait = Duration::from_millis(fault.delay_ms.unwrap_or(0));
            tokio::time::sleep(wait).await;
        }
    }
}

/// Middleware for routes whose handler does not call [`RequestContext::delay`] itself.
pub async fn delayed(
    Extension(context): Extension<RequestContext>,
    request: Request,
    next: Next,
) -> Response {
    context.delay().await;
    next.run(request).await
}

/// Marks a response that must not be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropConnection;

/// A response that the serve loop turns into a closed connection without a status line.
pub fn dropped() -> Response {
    let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
    response.extensions_mut().insert(DropConnection);
    response
}

/// Whether the serve loop will write nothing for it.
pub(crate) fn is_dropped(response: &Response) -> bool {
    response.extensions().get::<DropConnection>().is_some()
}

pub(crate) struct Front {
    pub(crate) faults: Faults,
    pub(crate) log: Arc<dyn RequestLog>,
    pub(crate) describe: fn(&Incoming<'_>) -> Described,
    pub(crate) body_bytes_max: usize,
    pub(crate) slots: Semaphore,
    pub(crate) tracker: TaskTracker,
}

type Params = Result<RawPathParams, RawPathParamsRejection>;

pub(crate) async fn handle(
    State(front): State<Arc<Front>>,
    params: Params,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let read = body::read(body, front.body_bytes_max).await;
    let (subject, refused) = front.subject(&parts, &params, &read);
    let (bytes, refused) = match read {
        Ok(bytes) => (bytes, refused),
        Err(problem) => (Bytes::new(), Some(problem)),
    };
    let subject = Arc::new(subject);
    let accepted = Accepted {
        subject,
        refused,
        next,
        parts,
        bytes,
        arrived: Instant::now(),
    };
    // Spawned, so that the client's hanging up cannot cut a commit short.
    let carried = front.tracker.spawn(Arc::clone(&front).carry(accepted));
    carried
        .await
        .unwrap_or_else(|e| Problem::internal(&e).into_response())
}

struct Accepted {
    subject: Arc<Subject>,
    refused: Option<Problem>,
    next: Next,
    parts: Parts,
    bytes: Bytes,
    arrived: Instant,
}

impl Front {
    async fn carry(self: Arc<Self>, accepted: Accepted) -> Response {
        let subject = (*accepted.subject).clone();
        let arrival = Arrival {
            at_ms: now_ms(),
            subject,
        };
        let seq = match self.blocking(move |log| log.arrived(&arrival)).await {
            Ok(seq) => seq,
            Err(e) => return Problem::internal(&e).into_response(),
        };
        let response = self.answer(accepted).await;
        let conclusion = conclusion(&response);
        match self
            .blocking(move |log| log.concluded(seq, conclusion))
            .await
        {
            Ok(()) => response,
            Err(e) => Problem::internal(&e).into_response(),
        }
    }

    async fn answer(&self, accepted: Accepted) -> Response {
        let Accepted {
            subject,
            refused,
            next,
            mut parts,
            bytes,
            arrived,
        } = accepted;
        let Ok(_slot) = self.slots.try_acquire() else {
            let detail = format!("{IN_FLIGHT_MAX} requests are being processed");
            return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "OVERLOADED", detail)
                .retry_after_s(Some(1))
                .into_response();
        };
        if let Some(struck) = self.strike(&subject) {
            return struck;
        }
        if let Some(problem) = refused {
            return problem.into_response();
        }
        let faults = self.faults.clone();
        let context = RequestContext {
            subject,
            arrived,
            faults,
        };
        parts.extensions.insert(context);
        let request = Request::from_parts(parts, Body::from(bytes));
        // A task of its own, so that a panic becomes a logged 500.
        let handled = tokio::spawn(next.run(request)).await;
        handled.unwrap_or_else(|e| Problem::internal(&e).into_response())
    }

    /// The faults that need no handler.
    fn strike(&self, subject: &Subject) -> Option<Response> {
        // A kept-alive connection is as dead as a new one while the service is down.
        if self.faults.take_down() || self.faults.take(FaultKind::Drop, subject).is_some() {
            return Some(dropped());
        }
        if let Some(fault) = self.faults.take(FaultKind::RateLimited, subject) {
            let detail = "too many requests (a fault asked for it)";
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED", detail);
            let seconds = fault.retry_after_s.unwrap_or(1);
            return Some(problem.retry_after_s(Some(seconds)).into_response());
        }
        let fault = self.faults.take(FaultKind::Unavailable, subject)?;
        let detail = "the service is unavailable (a fault asked for it)";
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", detail);
        Some(problem.retry_after_s(fault.retry_after_s).into_response())
    }

    /// What the request is about, and why it is refused if its headers are malformed.
    fn subject(
        &self,
        parts: &Parts,
        params: &Params,
        body: &Result<Bytes, Problem>,
    ) -> (Subject, Option<Problem>) {
        let params: Vec<(String, String)> = match params {
            Ok(params) => params
                .iter()
                .map(|(n, v)| (n.to_owned(), v.to_owned()))
                .collect(),
            // No route matched, or its parts are no text: the handler says so.
            Err(_) => Vec::new(),
        };
        let described = (self.describe)(&Incoming {
            uri: &parts.uri,
            headers: &parts.headers,
            params: &params,
            body: body.as_deref().unwrap_or_default(),
        });
        let (client, client_problem) = split(client(&parts.headers));
        let (time_left_ms, time_problem) = split(time_left(&parts.headers));
        let subject = Subject {
            method: parts.method.as_str().to_owned(),
            path: parts.uri.path().to_owned(),
            client: client.unwrap_or_default(),
            key: described.key,
            source: described.source,
            position: described.position,
            time_left_ms: time_left_ms.flatten(),
        };
        (subject, client_problem.or(time_problem))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn RequestLog) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let log = Arc::clone(&self.log);
        let done = tokio::task::spawn_blocking(move || work(&*log)).await;
        done.unwrap_or_else(|e| Err(LogError(e.to_string())))
    }
}

fn split<T>(result: Result<T, Problem>) -> (Option<T>, Option<Problem>) {
    match result {
        Ok(value) => (Some(value), None),
        Err(problem) => (None, Some(problem)),
    }
}

fn client(headers: &HeaderMap) -> Result<String, Problem> {
    let Some(value) = headers.get("x-client") else {
        return Ok("default".to_owned());
    };
    let text = value.to_str().unwrap_or_default().trim();
    if text.is_empty() || CLIENT_BYTES_MAX < text.len() {
        let detail = format!("X-Client is 1 to {CLIENT_BYTES_MAX} visible characters");
        return Err(Problem::bad("CLIENT_INVALID", detail));
    }
    Ok(text.to_owned())
}

fn time_left(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get("x-time-left-ms") else {
        return Ok(None);
    };
    let parsed = value
        .to_str()
        .ok()
        .and_then(|text| text.trim().parse().ok());
    parsed.map(Some).ok_or_else(|| {
        let detail = "X-Time-Left-Ms is a whole number of milliseconds, relative to now";
        Problem::bad("TIME_LEFT_INVALID", detail)
    })
}

fn conclusion(response: &Response) -> Conclusion {
    let replayed = response.headers().get("idempotency-replayed").is_some();
    let status = if is_dropped(response) {
        Status::DROPPED
    } else {
        Status::Code(response.status().as_u16())
    };
    Conclusion { status, replayed }
}
