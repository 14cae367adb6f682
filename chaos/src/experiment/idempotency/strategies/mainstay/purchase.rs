//! The purchase system as a dependency of a class: one send, and how to find out what became of it.
//!
//! It must never send twice for one attempt.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mainstay_dispatch::{
    Answer, AttemptContext, Failure, FailureKind, Found, Millis, Promise, Resolution, Sent, Write,
};
use mainstay_types::{EffectKey, Position, RunId};
use parking_lot::Mutex;

use super::super::super::faults::Faults;
use super::super::super::look_up::{LookUpError, Standing};
use super::super::super::receiver::{OrderRequest, Placed};
use super::super::super::tool::{Line, SendError};

/// Where the requests of each run go: the harness decides their fate by it.
#[derive(Default)]
pub(super) struct Lines(Mutex<HashMap<RunId, Line>>);

impl Lines {
    pub(super) fn set(&self, run: RunId, line: &Line) {
        self.0.lock().insert(run, line.clone());
    }

    fn of(&self, run: RunId) -> Result<Line, Failure> {
        let line = self.0.lock().get(&run).cloned();
        line.ok_or_else(|| {
            Failure::new(FailureKind::TransientTransport, Sent::NotSent)
                .message("nobody said where this run's requests go")
        })
    }
}

/// A purchase system that knows keys.
#[derive(Clone)]
pub(super) struct Keyed(pub(super) Arc<Desk>);

/// One that ignores them, and can be searched for a request's number and slot.
#[derive(Clone)]
pub(super) struct Searched(pub(super) Arc<Desk>);

/// What both know.
pub(super) struct Desk {
    pub(super) lines: Arc<Lines>,
    pub(super) times: Times,
}

/// What the class is told about the tool's times, and how long a look-up waits.
#[derive(Clone, Copy)]
pub(super) struct Times {
    attempt: Millis,
    bound: Millis,
    look_up: Duration,
}

impl Times {
    /// A send ends after the client's timeout by itself, counted as for every strategy; an attempt
    /// has room for a look-up, which waits as long as a late one may take to be answered.
    pub(super) fn of(faults: &Faults) -> Self {
        let millis = |time: Duration| Millis::new(u64::try_from(time.as_millis()).unwrap_or(0));
        let look_up = faults.bound() + faults.timeout();
        Self {
            attempt: millis(2 * look_up),
            bound: millis(faults.bound()),
            look_up,
        }
    }
}

impl Desk {
    fn promise(&self) -> Promise {
        Promise::new()
            .timeout(self.times.attempt)
            .receiver_bound(self.times.bound)
    }

    async fn send(
        &self,
        order: &OrderRequest,
        key: Option<&EffectKey>,
        cx: &AttemptContext,
    ) -> Result<Answer<Placed>, Failure> {
        let line = self.lines.of(cx.run)?;
        let key = key.map(ToString::to_string);
        let sent = line.send_once(order, key.as_deref()).await;
        sent.map(Answer::new).map_err(failure)
    }
}

fn key(cx: &AttemptContext) -> Result<&EffectKey, Failure> {
    // The engine gives every write its key; without one nothing may leave.
    let missing = || Failure::new(FailureKind::InvalidInput, Sent::NotSent);
    cx.effect_key.as_ref().ok_or_else(missing)
}

/// A reply that did not come leaves a doubt; a refusal is the receiver's word.
fn failure(error: SendError) -> Failure {
    match error {
        SendError::NoReply => {
            Failure::new(FailureKind::TransientTransport, Sent::MaybeSent).message("no reply")
        }
        SendError::Refused { status, code } => {
            let kind = match status {
                503 => FailureKind::Overloaded,
                _ => FailureKind::InvalidInput,
            };
            Failure::new(kind, Sent::Answered).provider_code(code)
        }
    }
}

fn not_asked(error: LookUpError) -> Failure {
    Failure::new(FailureKind::TransientTransport, Sent::MaybeSent).message(error.to_string())
}

impl Write for Keyed {
    type Request = OrderRequest;
    type Reply = Placed;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "purchase-system"
    }

    async fn send(
        &self,
        order: OrderRequest,
        cx: &AttemptContext,
    ) -> Result<Answer<Placed>, Failure> {
        self.0.send(&order, Some(key(cx)?), cx).await
    }

    async fn find(
        &self,
        _order: OrderRequest,
        cx: &AttemptContext,
    ) -> Result<Found<Placed>, Failure> {
        let line = self.0.lines.of(cx.run)?;
        let key = key(cx)?.to_string();
        let standing = line.standing(&key, self.0.times.look_up).await;
        Ok(match standing.map_err(not_asked)? {
            Standing::Applied(placed) => Found::Applied(placed),
            Standing::InProgress => Found::InProgress,
            Standing::NotFound => Found::NotFound,
        })
    }

    fn promise(&self) -> Promise {
        self.0.promise().honours_keys(None)
    }
}

impl Write for Searched {
    type Request = OrderRequest;
    type Reply = Placed;
    const RESOLUTION: Resolution = Resolution::ByBusinessKey;

    fn name(&self) -> &str {
        "purchase-system"
    }

    async fn send(
        &self,
        order: OrderRequest,
        cx: &AttemptContext,
    ) -> Result<Answer<Placed>, Failure> {
        self.0.send(&named(order, cx)?, None, cx).await
    }

    async fn find(
        &self,
        order: OrderRequest,
        cx: &AttemptContext,
    ) -> Result<Found<Placed>, Failure> {
        let order = named(order, cx)?;
        let line = self.0.lines.of(cx.run)?;
        let found = line.search(&order, self.0.times.look_up).await;
        Ok(match found.map_err(not_asked)?.as_slice() {
            [] => Found::NotFound,
            [placed] => Found::Applied(placed.clone()),
            // More than one order of one intent is for a person to sort out.
            [..] => Found::Partly,
        })
    }

    fn promise(&self) -> Promise {
        self.0.promise()
    }
}

/// The order with the slot of its key: what makes two orders of one purchase request two.
fn named(order: OrderRequest, cx: &AttemptContext) -> Result<OrderRequest, Failure> {
    let (Position::Slot(slot) | Position::Item(slot)) = key(cx)?.position;
    Ok(OrderRequest {
        slot: Some(slot),
        ..order
    })
}
