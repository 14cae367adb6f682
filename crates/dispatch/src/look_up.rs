//! Asking what became of a write: a control attempt.
//!
//! It passes none of the layers: it needs no permit, because it changes nothing, and a user's layer
//! that slows attempts down must not slow down finding out. It never fails: what cannot be found
//! out is `CannotTell`, and the core asks again.

use std::sync::Arc;

use mainstay_types::{BoxFuture, Millis, Payload, Timers};
use tracing::{Instrument, debug, info_span};

use crate::context::AttemptContext;
use crate::provider::Provider;
use crate::race::race;
use crate::traits::Found;

/// Asks `provider` within the context's time. Dropping the future is safe: nothing is changed.
pub fn look_up(
    provider: &Arc<dyn Provider>,
    request: Payload,
    cx: AttemptContext,
    timers: &Arc<dyn Timers>,
) -> BoxFuture<'static, Found<Payload>> {
    let (provider, timers) = (Arc::clone(provider), Arc::clone(timers));
    let span = info_span!("look_up", run = %cx.run, call = %cx.call, rung = %cx.rung);
    let asked = async move {
        let left = cx.time_left_now();
        let cancel = cx.cancel().clone();
        let Some(finding) = provider.look_up(request, cx) else {
            return Found::CannotTell;
        };
        if left == Millis::ZERO {
            return Found::CannotTell;
        }
        match race(race(finding, timers.sleep(left)), cancel.cancelled())
            .await
            .flatten()
        {
            Some(Ok(found)) => found,
            Some(Err(failure)) => {
                debug!(kind = %failure.kind, "the look-up failed");
                Found::CannotTell
            }
            None => {
                cancel.cancel();
                Found::CannotTell
            }
        }
    };
    Box::pin(asked.instrument(span))
}
