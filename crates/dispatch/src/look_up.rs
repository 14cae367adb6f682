//! Asking what became of a write: a control attempt.
//!
//! It passes none of the layers: it needs no permit, because it changes nothing, and a user's layer
//! that slows attempts down must not slow down finding out. It never fails: what cannot be found
//! out is `CannotTell`, and the core asks again.

use std::sync::Arc;

use mainstay_types::{BoxFuture, Failure, Millis, Payload, Timers};
use tracing::Instrument;

use crate::context::AttemptContext;
use crate::provider::Provider;
use crate::race::race;
use crate::spans;
use crate::traits::Found;

/// Asks `provider` within the context's time. Cancel safe: nothing is changed.
pub fn look_up(
    provider: &Arc<dyn Provider>,
    request: Payload,
    cx: AttemptContext,
    timers: &Arc<dyn Timers>,
) -> BoxFuture<'static, Found<Payload>> {
    let (provider, timers) = (Arc::clone(provider), Arc::clone(timers));
    let span = spans::reconcile(&cx, provider.name());
    let told = span.clone();
    let asked = async move {
        let (found, failure) = match ask(provider, request, cx, timers).await {
            Ok(found) => (found, None),
            Err(failure) => (Found::CannotTell, Some(failure)),
        };
        spans::reconciled(&told, &found, failure.as_ref());
        found
    };
    Box::pin(asked.instrument(span))
}

async fn ask(
    provider: Arc<dyn Provider>,
    request: Payload,
    cx: AttemptContext,
    timers: Arc<dyn Timers>,
) -> Result<Found<Payload>, Failure> {
    let left = cx.time_left_now();
    let cancel = cx.cancel().clone();
    let Some(finding) = provider.look_up(request, cx) else {
        return Ok(Found::CannotTell);
    };
    if left == Millis::ZERO {
        return Ok(Found::CannotTell);
    }
    let timed = race(finding, timers.sleep(left));
    match race(timed, cancel.cancelled()).await.flatten() {
        Some(end) => end,
        None => {
            cancel.cancel();
            Ok(Found::CannotTell)
        }
    }
}
