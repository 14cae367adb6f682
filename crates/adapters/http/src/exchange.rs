//! One request and its reply. It must never send twice, hold more of a reply than the bound, or
//! put a body, a query or a secret into a message.

use std::error::Error as _;
use std::future::Future;
use std::pin::pin;

use bytes::Bytes;
use mainstay_dispatch::{AttemptContext, Failure, decode};
use mainstay_types::{Millis, Payload, limits};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Body, Method, Request, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::bounds::{REFUSAL_BYTES_MAX, SHOWN_URL_CHARS_MAX, TELLING_MARGIN, TRAVEL_MARGIN};
use crate::classify::{Cause, Deed, Ending, failure};
use crate::client::HttpClient;
use crate::gate::{Gate, GatedBody};
use crate::parts::RequestParts;
use crate::retry_after::retry_after;

/// The names of our headers.
pub(crate) mod wire {
    /// How long the receiver has, in milliseconds.
    pub(crate) const TIME_LEFT: &str = "x-time-left-ms";
    /// The effect key of a write.
    pub(crate) const KEY: &str = "idempotency-key";
    /// The lease epoch of the run's owner.
    pub(crate) const FENCE: &str = "x-fence-token";
    /// The caller's trace.
    pub(crate) const TRACE: &str = "traceparent";

    pub(crate) const ALL: [&str; 4] = [TIME_LEFT, KEY, FENCE, TRACE];
}

/// A request that is about to leave.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) parts: RequestParts,
    pub(crate) headers: HeaderMap,
    pub(crate) deed: Deed,
    pub(crate) refusals: Refusals,
}

/// What becomes of the body of a reply that is not 2xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusals {
    /// It is not read: the status says everything.
    Unread,
    /// It is read, as far as it comes whole and within `bounds::REFUSAL_BYTES_MAX`.
    Read,
}

/// What came back, and to what.
pub(crate) struct Reply {
    heard: Heard,
    deed: Deed,
    place: String,
}

/// What came back. The body of what is not 2xx is empty unless it was to be read.
struct Heard {
    status: StatusCode,
    retry_after: Option<Millis>,
    body: Vec<u8>,
}

impl Reply {
    pub(crate) const fn status(&self) -> StatusCode {
        self.heard.status
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.heard.body
    }

    /// What a reply of this status means, with the wait that this reply asked for.
    pub(crate) fn refused(&self, status: StatusCode) -> Failure {
        let why = status.canonical_reason().unwrap_or("unknown status");
        Failure {
            retry_after: self.heard.retry_after,
            ..self.told(Ending::Status(status), why)
        }
    }

    /// This reply as the failure that `ending` is.
    pub(crate) fn told(&self, ending: Ending, why: &str) -> Failure {
        told(ending, self.deed, &self.place, why)
    }

    /// The reply of a 2xx, or what another status means. An empty body is `null`.
    pub(crate) fn json<R: DeserializeOwned>(&self) -> Result<R, Failure> {
        let status = self.heard.status;
        if !status.is_success() {
            return Err(self.refused(status));
        }
        let body: &[u8] = if self.heard.body.is_empty() {
            b"null"
        } else {
            &self.heard.body
        };
        decode(&Payload::new(body)).map_err(|error| {
            let why = format!(
                "the reply (HTTP {}) cannot be read: {error}",
                status.as_u16()
            );
            self.told(Ending::ReplyInvalid, &why)
        })
    }
}

/// Sends `out` once, within the attempt's time.
pub(crate) async fn exchange(
    client: &HttpClient,
    out: Outgoing,
    cx: &AttemptContext,
) -> Result<Reply, Failure> {
    let (deed, refusals) = (out.deed, out.refusals);
    let (url, body) = match out.parts.resolve(client.base()) {
        Ok(resolved) => resolved,
        Err(why) => return Err(told(Ending::Unsendable, deed, out.method.as_str(), &why)),
    };
    let place = place(&out.method, &url);
    let fail = |(ending, why): Mishap| told(ending, deed, &place, &why);
    let left = time_left(cx).map_err(fail)?;
    let mut request = Request::new(out.method, url);
    *request.headers_mut() = out.headers;
    let gate = equip(&mut request, body, left, cx);
    let talk = talk(client, request, &gate, refusals);
    let heard = unless_canceled(talk, &gate, deed, cx.cancel()).await;
    let heard = heard.map_err(fail)?;
    Ok(Reply { heard, deed, place })
}

/// How long there is to talk; nothing has left before this is known.
fn time_left(cx: &AttemptContext) -> Result<Millis, Mishap> {
    let left = cx.time_left_now();
    if left == Millis::ZERO {
        let why = "the attempt has no time left".to_owned();
        return Err((Ending::NoTimeLeft, why));
    }
    if cx.cancel().is_cancelled() {
        return Err(canceled(Ending::NotLeft(Cause::Canceled)));
    }
    Ok(left)
}

/// The end of `talk`, or "canceled": for what has not left, and for a read.
async fn unless_canceled(
    talk: impl Future<Output = Result<Heard, Mishap>>,
    gate: &Gate,
    deed: Deed,
    cancel: &CancellationToken,
) -> Result<Heard, Mishap> {
    let mut talk = pin!(talk);
    if let Some(ended) = cancel.run_until_cancelled(talk.as_mut()).await {
        return ended;
    }
    if gate.shut() {
        return Err(canceled(Ending::NotLeft(Cause::Canceled)));
    }
    match deed {
        Deed::Reads => Err(canceled(Ending::Left(Cause::Canceled))),
        // It is on its way: what it did is worth more than the time saved.
        Deed::Writes(_) => talk.await,
    }
}

/// How it ended, and a word about it for people.
type Mishap = (Ending, String);

fn canceled(ending: Ending) -> Mishap {
    (ending, "canceled".to_owned())
}

async fn talk(
    client: &HttpClient,
    request: Request,
    gate: &Gate,
    refusals: Refusals,
) -> Result<Heard, Mishap> {
    let sent = client.requests().execute(request).await;
    let response = sent.map_err(|error| {
        let ending = if error.is_connect() {
            Ending::NotConnected
        } else if gate.shut() {
            Ending::NotLeft(cause(&error))
        } else {
            Ending::Left(cause(&error))
        };
        (ending, root(&error))
    })?;
    let status = response.status();
    let retry_after = retry_after(response.headers(), || client.wall());
    let body = if status.is_success() {
        read(response, client.reply_bytes_max()).await?
    } else {
        match refusals {
            // The status is what counts: a body that does not come whole is no failure of its own.
            Refusals::Read => read(response, REFUSAL_BYTES_MAX).await.unwrap_or_default(),
            Refusals::Unread => Vec::new(),
        }
    };
    Ok(Heard {
        status,
        retry_after,
        body,
    })
}

async fn read(mut response: Response, max: usize) -> Result<Vec<u8>, Mishap> {
    let too_large = || {
        (
            Ending::ReplyTooLarge,
            format!("the reply has more than {max} bytes"),
        )
    };
    let announced = response.content_length().unwrap_or(0);
    if usize::try_from(announced).map_or(true, |announced| max < announced) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    // The receiver has answered, so whatever happens now, it may have acted.
    let lost = |error: reqwest::Error| (Ending::Left(cause(&error)), root(&error));
    while let Some(piece) = response.chunk().await.map_err(lost)? {
        if max - body.len() < piece.len() {
            return Err(too_large());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

fn cause(error: &reqwest::Error) -> Cause {
    if error.is_timeout() {
        Cause::TimeUp
    } else {
        Cause::Lost
    }
}

/// Gives the request its time, its trace and its body behind a gate.
fn equip(request: &mut Request, body: Option<Bytes>, left: Millis, cx: &AttemptContext) -> Gate {
    *request.timeout_mut() = Some(at_least_one(left.less(TELLING_MARGIN)).to_duration());
    let told = at_least_one(left.less(TRAVEL_MARGIN));
    let headers = request.headers_mut();
    headers.insert(wire::TIME_LEFT, HeaderValue::from(told.get()));
    // A trace that cannot be a header is left out: it must not cost the attempt.
    let trace = cx
        .traceparent
        .as_deref()
        .and_then(|text| HeaderValue::from_str(text).ok());
    if let Some(trace) = trace {
        headers.insert(wire::TRACE, trace);
    }
    let gate = Gate::of(body.as_ref());
    if let Some(body) = body {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(Body::wrap(GatedBody::new(body, gate.clone())));
    }
    gate
}

fn at_least_one(time: Millis) -> Millis {
    time.max(Millis::new(1))
}

/// Where the request goes, for people: never its query, which may hold what it asks for.
fn place(method: &Method, url: &Url) -> String {
    let shown = url.as_str().split(['?', '#']).next().unwrap_or_default();
    let cut = shown
        .char_indices()
        .nth(SHOWN_URL_CHARS_MAX)
        .map(|(at, _)| &shown[..at]);
    match cut {
        Some(cut) => format!("{method} {cut}…"),
        None => format!("{method} {shown}"),
    }
}

/// The innermost error: the outer ones repeat the URL.
fn root(error: &reqwest::Error) -> String {
    let mut inner = error.source();
    while let Some(deeper) = inner.and_then(std::error::Error::source) {
        inner = Some(deeper);
    }
    inner.map_or_else(|| "the request failed".to_owned(), ToString::to_string)
}

fn told(ending: Ending, deed: Deed, place: &str, why: &str) -> Failure {
    let mut message = format!("{place}: {why}");
    if limits::TEXT_BYTES_MAX < message.len() {
        let bound = limits::TEXT_BYTES_MAX - "…".len();
        let end = (0..=bound)
            .rev()
            .find(|&at| message.is_char_boundary(at))
            .unwrap_or(0);
        message.truncate(end);
        message.push('…');
    }
    failure(ending, deed).message(message)
}
