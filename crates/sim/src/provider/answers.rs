//! Where a double's replies come from: a closure, or the dependency that it stands for.
//!
//! A dependency of the class is asked at once and has to answer at once: whatever waits for
//! something real would wait for ever in virtual time.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mainstay_dispatch::{AttemptContext, Provider, Value, codes, decode, encode};
use mainstay_types::{Failure, FailureKind, Payload, Sent};

type Reply = dyn Fn(&Payload) -> Result<Payload, Failure> + Send + Sync;

/// Makes a reply's bytes from a request's.
#[derive(Clone)]
pub(super) enum Answers {
    /// A closure makes it.
    With(Arc<Reply>),
    /// The class's own dependency makes it.
    Own,
}

impl Answers {
    /// Of a closure over the request's and the reply's types.
    pub(super) fn with<Q: Value, R: Value>(reply: impl Fn(Q) -> R + Send + Sync + 'static) -> Self {
        Self::With(Arc::new(move |request| {
            let request: Q = decode(request).map_err(|error| unreadable(&error))?;
            encode(&reply(request)).map_err(|error| unreadable(&error))
        }))
    }

    /// The reply to `request`; `own` is the dependency that the double stands for.
    pub(super) fn reply(
        &self,
        request: &Payload,
        (own, cx): (&Arc<dyn Provider>, &AttemptContext),
    ) -> Result<Payload, Failure> {
        match self {
            Self::With(reply) => reply(request),
            Self::Own => at_once(own, request, cx),
        }
    }
}

fn at_once(
    own: &Arc<dyn Provider>,
    request: &Payload,
    cx: &AttemptContext,
) -> Result<Payload, Failure> {
    let mut sent = own.send(request.clone(), cx.clone());
    match sent.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer.map(|answer| answer.value),
        Poll::Pending => Err(Failure::new(FailureKind::PermanentProvider, Sent::NotSent)
            .provider_code(WAITS)
            .message(format!(
                "the dependency behind `{}` waits for something real, which never comes in \
                 virtual time: give its double a reply with .answers_with(..)",
                own.name()
            ))),
    }
}

/// The code of a failure that says that a double has no reply of its own.
pub const WAITS: &str = "WAITS_FOR_SOMETHING_REAL";

fn unreadable(error: &impl ToString) -> Failure {
    Failure::new(FailureKind::InvalidInput, Sent::NotSent)
        .provider_code(codes::REQUEST_MISMATCH)
        .message(format!("answers_with: {}", error.to_string()))
}
