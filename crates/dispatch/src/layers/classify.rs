//! Classify: every ending becomes one the core can trust.
//!
//! Why: the core decides by kind and by "may it have been sent" alone. Users' code ends in more
//! ways than that: bare errors, panics, a retry layer that was refused, a cache that answers a
//! write, a cancel half-way. It stands outside of the user's layers because what they report is
//! not evidence; the permit, which only the innermost service uses, is.
//!
//! It must never make a failure look better than proven, and never turn one into an answer.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

use mainstay_types::{BoxFuture, Failure, FailureKind, Sent};
use tower::{Service, ServiceExt};

use crate::context::AttemptContext;
use crate::ending::{Deed, panicked, settle, stopped};
use crate::panics::caught;
use crate::permit::Permit;
use crate::provider::RawAnswer;
use crate::race::race;
use crate::stack::{AttemptRequest, AttemptService};

/// See the module.
#[derive(Clone)]
pub(crate) struct Classify {
    inner: AttemptService,
    deed: Deed,
}

impl Classify {
    pub(crate) const fn new(inner: AttemptService, deed: Deed) -> Self {
        Self { inner, deed }
    }
}

impl Service<AttemptRequest> for Classify {
    type Response = RawAnswer;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<RawAnswer, Failure>>;

    /// Always ready: a user's layer that makes its callers wait does so inside the attempt's time.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: AttemptRequest) -> Self::Future {
        let (cx, permit) = (request.cx().clone(), request.permit().clone());
        let (inner, deed) = (self.inner.clone(), self.deed);
        Box::pin(async move {
            // Inside the future, so that a layer that panics while it is called is caught too.
            let attempt = caught(async move { inner.oneshot(request).await });
            match until_canceled(attempt, &cx, &permit, deed).await {
                Some(Ok(reported)) => settle(deed, &permit, reported),
                Some(Err(message)) => settle(deed, &permit, Err(panicked(message))),
                None => {
                    let canceled = Failure::new(FailureKind::Canceled, Sent::MaybeSent);
                    Err(stopped(deed, &permit, canceled))
                }
            }
        })
    }
}

/// The attempt's output, or `None` when it was canceled and may be dropped.
///
/// A write on its way is not dropped, that would only make a doubt of it: the token tells the
/// adapter, and it has until its time is up to say what it knows.
async fn until_canceled<T>(
    attempt: impl Future<Output = T>,
    cx: &AttemptContext,
    permit: &Permit,
    deed: Deed,
) -> Option<T> {
    if cx.cancel().is_cancelled() {
        return None;
    }
    let mut attempt = pin!(attempt);
    match race(attempt.as_mut(), cx.cancel().cancelled()).await {
        Some(output) => Some(output),
        None if deed == Deed::Writes && permit.was_used() => Some(attempt.await),
        None => None,
    }
}
