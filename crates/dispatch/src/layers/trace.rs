//! Trace: one span per attempt, outermost.
//!
//! Why: when a dependency misbehaves, people look for the attempt in their own tracing system, by
//! run and call, and expect the client's spans below it. The ledger cannot serve that: it knows
//! decisions, not what a connection did inside an attempt. It stands outermost so that time spent
//! in every other layer belongs to the attempt.
//!
//! It must never record anything that may be sensitive: no request, reply, message or business id;
//! of an effect key only a digest.

use std::task::{Context, Poll};

use mainstay_types::{BoxFuture, Digest, Failure};
use tower::Service;
use tracing::field::Empty;
use tracing::{Instrument, Span, info_span};

use crate::context::AttemptContext;
use crate::provider::RawAnswer;
use crate::stack::{AttemptRequest, AttemptService};

/// See the module.
#[derive(Clone)]
pub(crate) struct Trace(AttemptService);

impl Trace {
    pub(crate) const fn new(inner: AttemptService) -> Self {
        Self(inner)
    }
}

impl Service<AttemptRequest> for Trace {
    type Response = RawAnswer;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<RawAnswer, Failure>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: AttemptRequest) -> Self::Future {
        let span = span_of(request.cx());
        let inner = span.in_scope(|| self.0.call(request));
        let told = span.clone();
        let future = async move {
            let end = inner.await;
            record(&told, &end);
            end
        };
        Box::pin(future.instrument(span))
    }
}

fn span_of(cx: &AttemptContext) -> Span {
    let span = info_span!(
        "attempt",
        run = %cx.run,
        call = %cx.call,
        attempt = %cx.attempt,
        rung = %cx.rung,
        control = cx.control,
        effect = Empty,
        end = Empty,
        sent = Empty,
    );
    if let Some(key) = &cx.effect_key {
        // 64 bits tell the effects of one trace apart and give nothing of the business id away.
        let digest = Digest::of(key.to_string().as_bytes()).to_string();
        span.record("effect", &digest[..16]);
    }
    span
}

fn record(span: &Span, end: &Result<RawAnswer, Failure>) {
    match end {
        Ok(_) => {
            span.record("end", "ANSWERED");
        }
        Err(failure) => {
            span.record("end", failure.kind.as_str());
            span.record("sent", failure.sent.as_str());
        }
    }
}
