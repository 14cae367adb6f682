//! Catches panics of users' futures, so that one attempt fails and not the engine.
//!
//! It must not be used around the engine's own code: there a panic is a bug that has to be seen.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs `future`; `Err` is the message of its panic, and the future is not polled again.
pub(crate) fn caught<F: Future>(future: F) -> Caught<F> {
    Caught(Some(Box::pin(future)))
}

/// See [`caught`].
pub(crate) struct Caught<F>(Option<Pin<Box<F>>>);

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.0.as_mut().expect("not polled after it ended");
        // Unwind safe: after a panic the future is dropped without another look at its state.
        let end = match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panic) => Err(message(&*panic)),
        };
        drop_quietly(self.0.take());
        Poll::Ready(end)
    }
}

/// A value whose poll panicked may panic again while it is dropped.
fn drop_quietly<T>(value: T) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}
