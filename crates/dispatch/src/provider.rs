//! Providers as the engine sees them: bytes in, bytes out, with the user's types erased.
//!
//! A provider turns every mishap of the user's code (a wrong type, a panic, a reply that is no
//! JSON) into a failure. It never retries, waits or decides what follows.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mainstay_types::{BoxFuture, CostUnits, Failure, FailureKind, Payload, Sent};

use crate::context::AttemptContext;
use crate::ending::{codes, panicked};
use crate::panics::caught;
use crate::traits::{Answer, Found, Read, Write};
use crate::value::{Value, ValueError, decode, encode};

/// A reply as the engine keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawAnswer {
    /// The reply in canonical JSON, at most `limits::PAYLOAD_BYTES_MAX`.
    pub value: Payload,
    /// What the attempt cost; `None`: what its contract expects.
    pub cost: Option<CostUnits>,
    /// Retries that a client library made inside this attempt.
    pub client_retries: u32,
}

/// Who answers, without its types. Tests and simulators may implement it themselves.
pub trait Provider: Send + Sync {
    /// The dependency's name.
    fn name(&self) -> &str;

    /// Whether it changes the outside world.
    fn is_write(&self) -> bool;

    /// Sends once. The future must not panic. It is not cancel safe for a write: dropped, it leaves
    /// the write in doubt.
    fn send(
        &self,
        request: Payload,
        cx: AttemptContext,
    ) -> BoxFuture<'static, Result<RawAnswer, Failure>>;

    /// Asks what became of an earlier send of `request`; `None` for what changes nothing. The
    /// future must not panic, and is cancel safe: it changes nothing.
    fn look_up(
        &self,
        request: Payload,
        cx: AttemptContext,
    ) -> Option<BoxFuture<'static, Result<Found<Payload>, Failure>>>;

    /// Whether `reply` is one that could have come from it; said by a person in its place. Errors:
    /// RESULT_INVALID, in words.
    fn check_reply(&self, reply: &Payload) -> Result<(), Failure>;
}

impl fmt::Debug for dyn Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deed = if self.is_write() { "write" } else { "read" };
        write!(f, "Provider({} {deed})", self.name())
    }
}

/// A [`Read`] as a provider.
pub struct ReadProvider<R>(Arc<R>);

impl<R: Read> ReadProvider<R> {
    /// Wraps `dependency`.
    #[must_use]
    pub fn new(dependency: R) -> Self {
        Self(Arc::new(dependency))
    }
}

impl<R: Read> Provider for ReadProvider<R> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn is_write(&self) -> bool {
        false
    }

    fn send(
        &self,
        request: Payload,
        cx: AttemptContext,
    ) -> BoxFuture<'static, Result<RawAnswer, Failure>> {
        let read = Arc::clone(&self.0);
        guarded(async move {
            let request = request_of::<R::Request>(&request)?;
            raw(read.call(request, &cx).await?)
        })
    }

    fn look_up(
        &self,
        _: Payload,
        _: AttemptContext,
    ) -> Option<BoxFuture<'static, Result<Found<Payload>, Failure>>> {
        None
    }

    fn check_reply(&self, reply: &Payload) -> Result<(), Failure> {
        reply_of::<R::Reply>(reply)
    }
}

/// A [`Write`] as a provider.
pub struct WriteProvider<W>(Arc<W>);

impl<W: Write> WriteProvider<W> {
    /// Wraps `dependency`.
    #[must_use]
    pub fn new(dependency: W) -> Self {
        Self(Arc::new(dependency))
    }
}

impl<W: Write> Provider for WriteProvider<W> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn is_write(&self) -> bool {
        true
    }

    fn send(
        &self,
        request: Payload,
        cx: AttemptContext,
    ) -> BoxFuture<'static, Result<RawAnswer, Failure>> {
        let write = Arc::clone(&self.0);
        guarded(async move {
            let request = request_of::<W::Request>(&request)?;
            raw(write.send(request, &cx).await?)
        })
    }

    fn look_up(
        &self,
        request: Payload,
        cx: AttemptContext,
    ) -> Option<BoxFuture<'static, Result<Found<Payload>, Failure>>> {
        let write = Arc::clone(&self.0);
        Some(guarded(async move {
            let request = request_of::<W::Request>(&request)?;
            let found = write.find(request, &cx).await?;
            found
                .map(|reply| encode(&reply))
                .transpose()
                .map_err(unspeakable)
        }))
    }

    fn check_reply(&self, reply: &Payload) -> Result<(), Failure> {
        reply_of::<W::Reply>(reply)
    }
}

fn reply_of<T: Value>(reply: &Payload) -> Result<(), Failure> {
    decode::<T>(reply).map(drop).map_err(|error| {
        Failure::new(FailureKind::ResultInvalid, Sent::NotSent).message(error.to_string())
    })
}

/// The user's future with its panics as failures. Whether the request had left by then is not
/// known, so a panic says `MaybeSent`.
fn guarded<T>(
    future: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> BoxFuture<'static, Result<T, Failure>> {
    Box::pin(async move {
        caught(future)
            .await
            .unwrap_or_else(|message| Err(panicked(message)))
    })
}

fn request_of<T: Value>(request: &Payload) -> Result<T, Failure> {
    decode(request).map_err(|error| {
        Failure::new(FailureKind::InvalidInput, Sent::NotSent)
            .provider_code(codes::REQUEST_MISMATCH)
            .message(format!("the request does not fit the provider: {error}"))
    })
}

fn raw<T: Value>(answer: Answer<T>) -> Result<RawAnswer, Failure> {
    let Answer {
        value,
        cost,
        client_retries,
    } = answer;
    match encode(&value) {
        Ok(value) => Ok(RawAnswer {
            value,
            cost,
            client_retries,
        }),
        Err(error) => Err(Failure {
            cost,
            client_retries,
            ..unspeakable(error)
        }),
    }
}

fn unspeakable(error: ValueError) -> Failure {
    Failure::new(FailureKind::ResultInvalid, Sent::Answered)
        .provider_code(codes::REPLY_NOT_REPRESENTABLE)
        .message(format!("the reply cannot be kept: {error}"))
}
