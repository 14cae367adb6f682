//! Trace: one span per attempt, outermost.
//!
//! Why: when a dependency misbehaves, people look for the attempt in their own tracing system, by
//! run and call, and expect the client's spans below it. The ledger cannot serve that: it knows
//! decisions, not what a connection did inside an attempt. It stands outermost so that time spent
//! in every other layer belongs to the attempt.
//!
//! It must never record anything that may be sensitive: no request, reply, message or business id;
//! of an effect key only a digest.

use std::sync::Arc;
use std::task::{Context, Poll};

use mainstay_types::{BoxFuture, Failure};
use tower::Service;
use tracing::Instrument;

use crate::provider::{Provider, RawAnswer};
use crate::spans;
use crate::stack::{AttemptRequest, AttemptService};

/// See the module.
#[derive(Clone)]
pub(crate) struct Trace {
    inner: AttemptService,
    provider: Arc<dyn Provider>,
}

impl Trace {
    pub(crate) fn new(inner: AttemptService, provider: Arc<dyn Provider>) -> Self {
        Self { inner, provider }
    }
}

impl Service<AttemptRequest> for Trace {
    type Response = RawAnswer;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<RawAnswer, Failure>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: AttemptRequest) -> Self::Future {
        let span = spans::attempt(request.cx(), self.provider.name());
        let inner = span.in_scope(|| self.inner.call(request));
        let told = span.clone();
        let future = async move {
            let end = inner.await;
            spans::attempt_ended(&told, &end);
            end
        };
        Box::pin(future.instrument(span))
    }
}
