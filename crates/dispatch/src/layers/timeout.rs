//! Timeout: the attempt's time, kept by us and not by the adapter.
//!
//! Why: the core gave the attempt a length of time that leaves later stages their reserves. An
//! adapter that forgets its timeout, or a user's layer that waits, would take that time from the
//! answer. It stands outside of classify and the user's layers so that nothing inside can outlive
//! it, and inside of trace so that the span shows the end.
//!
//! It must never claim that remote work stopped: time running out says that we stopped waiting.

use std::sync::Arc;
use std::task::{Context, Poll};

use mainstay_types::{BoxFuture, Failure, FailureKind, Millis, Sent, Timers};
use tower::Service;

use crate::ending::{Deed, codes, stopped};
use crate::provider::RawAnswer;
use crate::race::race;
use crate::stack::{AttemptRequest, AttemptService};

/// See the module.
#[derive(Clone)]
pub(crate) struct Timeout {
    inner: AttemptService,
    timers: Arc<dyn Timers>,
    deed: Deed,
}

impl Timeout {
    pub(crate) const fn new(inner: AttemptService, timers: Arc<dyn Timers>, deed: Deed) -> Self {
        Self {
            inner,
            timers,
            deed,
        }
    }
}

impl Service<AttemptRequest> for Timeout {
    type Response = RawAnswer;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<RawAnswer, Failure>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: AttemptRequest) -> Self::Future {
        let (cx, permit) = (request.cx().clone(), request.permit().clone());
        let (timers, deed) = (Arc::clone(&self.timers), self.deed);
        let inner = self.inner.call(request);
        Box::pin(async move {
            let left = cx.time_left_now();
            if Millis::ZERO < left
                && let Some(end) = race(inner, timers.sleep(left)).await
            {
                return end;
            }
            cx.cancel().cancel();
            let failure = Failure::new(FailureKind::TransientTransport, Sent::MaybeSent)
                .provider_code(codes::ATTEMPT_TIMEOUT)
                .message(format!("no end within {}", cx.time_left));
            Err(stopped(deed, &permit, failure))
        })
    }
}
