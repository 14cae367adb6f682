//! What an attempt knows about itself: for whom it is made, how long it may take, under which key.
//!
//! It never carries what the request does not need: no budget, no other call, no secrets.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use mainstay_types::{AttemptNo, Clock, EffectKey, Epoch, Millis, RunId, Rung, Tenant};
use tokio_util::sync::CancellationToken;

/// The facts of one attempt, fixed at dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptFacts {
    /// The run.
    pub run: RunId,
    /// Whose run.
    pub tenant: Tenant,
    /// The call's path, with an item's position: `ticket_write[3]`.
    pub call: String,
    /// The how-manieth attempt of the call.
    pub attempt: AttemptNo,
    /// Which provider: 0 is the primary.
    pub rung: Rung,
    /// Whether this is a control attempt (a look-up), which changes nothing.
    pub control: bool,
    /// How long the attempt may take, counted from its dispatch.
    pub time_left: Millis,
    /// The key under which the effect is made; `None` for a read.
    pub effect_key: Option<EffectKey>,
    /// The fence: the lease epoch of the run's owner. A receiver may refuse lower ones.
    pub fence: Epoch,
    /// The W3C `traceparent` of the attempt's own span, under the caller's trace and with the
    /// caller's sampling flag; `None` when the caller gave no trace. This goes on the wire.
    pub traceparent: Option<String>,
}

/// What an attempt is told. Cheap to clone; its facts are read as fields.
#[derive(Clone)]
pub struct AttemptContext {
    facts: Arc<AttemptFacts>,
    clock: Arc<dyn Clock>,
    deadline: Millis,
    cancel: CancellationToken,
}

impl AttemptContext {
    /// The context of an attempt that begins now.
    ///
    /// Its token is a child of `run_cancel`: canceling the run cancels the attempt, and canceling
    /// the attempt leaves the run alone.
    #[must_use]
    pub fn new(facts: AttemptFacts, clock: Arc<dyn Clock>, run_cancel: &CancellationToken) -> Self {
        let deadline = clock.monotonic() + facts.time_left;
        Self {
            facts: Arc::new(facts),
            clock,
            deadline,
            cancel: run_cancel.child_token(),
        }
    }

    /// Until when the attempt may run, on the process's monotonic clock.
    #[must_use]
    pub const fn deadline(&self) -> Millis {
        self.deadline
    }

    /// How long the attempt may still take; zero once its time is up. This is what goes on the
    /// wire: a length of time survives a clock that differs, a moment does not.
    #[must_use]
    pub fn time_left_now(&self) -> Millis {
        self.deadline.less(self.clock.monotonic())
    }

    /// Canceled when nobody waits for this attempt any more: stop, and say truly what was sent.
    #[must_use]
    pub const fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}

impl Deref for AttemptContext {
    type Target = AttemptFacts;

    fn deref(&self) -> &AttemptFacts {
        &self.facts
    }
}

impl fmt::Debug for AttemptContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttemptContext")
            .field("facts", &self.facts)
            .field("deadline", &self.deadline)
            .field("canceled", &self.cancel.is_cancelled())
            .finish_non_exhaustive()
    }
}
