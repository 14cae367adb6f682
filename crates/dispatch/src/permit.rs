//! The one-shot permit of an attempt, and what is known of the send it allowed.
//!
//! A user's layer may try as often as it likes: one request leaves, and what became of *that*
//! request is what the attempt is settled by. A permit is never handed out twice.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use mainstay_types::{Code, Failure, FailureKind, Sent};

use crate::provider::RawAnswer;

/// Allows one send. Clones are the same permit.
#[derive(Clone, Default)]
pub struct Permit(Arc<State>);

#[derive(Default)]
struct State {
    used: AtomicBool,
    end: Mutex<Option<Result<(), Failure>>>,
}

/// What is known of the one send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    /// Nothing left.
    Never,
    /// The request was given to the adapter, and nothing came back.
    Open,
    /// The adapter returned a reply.
    Answered,
    /// The adapter returned a failure.
    Failed(Failure),
}

impl Permit {
    /// A permit that nobody has used.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses the permit.
    ///
    /// The second use fails with the provider code `ATTEMPT_ALREADY_SENT`: this send did not
    /// leave, while the first may have. Trying again never helps.
    pub fn take(&self) -> Result<(), Failure> {
        if !self.0.used.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        Err(Failure::new(FailureKind::PermanentProvider, Sent::NotSent)
            .provider_code(Code::AttemptAlreadySent.as_str())
            .message("a layer sent the attempt again; only the engine may retry"))
    }

    /// Whether a send was made under this permit.
    #[must_use]
    pub fn was_used(&self) -> bool {
        self.0.used.load(Ordering::SeqCst)
    }

    /// Keeps what the adapter returned for the one send.
    pub(crate) fn record(&self, end: &Result<RawAnswer, Failure>) {
        let end = end.as_ref().map(|_| ()).map_err(Clone::clone);
        *self.0.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    }

    pub(crate) fn departure(&self) -> Departure {
        if !self.was_used() {
            return Departure::Never;
        }
        match &*self.0.end.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Departure::Open,
            Some(Ok(())) => Departure::Answered,
            Some(Err(failure)) => Departure::Failed(failure.clone()),
        }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permit(used: {})", self.was_used())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_use_of_a_permit_or_its_clone_is_refused() {
        let permit = Permit::new();
        let clone = permit.clone();
        assert!(!permit.was_used());
        permit.take().expect("the first use");
        let refused = clone.take().expect_err("the second use");
        assert_eq!(
            refused.provider_code.as_deref(),
            Some("ATTEMPT_ALREADY_SENT")
        );
        assert_eq!(refused.sent, Sent::NotSent);
        assert!(clone.was_used());
    }
}
