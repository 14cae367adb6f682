//! Catches panics, so that one attempt or run fails and not the engine; and says, when the host
//! wants it, where such a panic was and not what it said.
//!
//! It must never swallow a panic: its text goes into the failure or the quarantine that follows.

use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::pin::Pin;
use std::sync::Once;
use std::task::{Context, Poll};

thread_local! {
    /// How many callers on this thread keep a panic's text and settle what follows from it.
    static CAUGHT: Cell<u32> = const { Cell::new(0) };
}

/// Runs `act`; `Err` is the text of its panic. What `act` was changing by then is not to be trusted
/// any more.
pub fn caught_now<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    let guard = Guard::new();
    let end = catch_unwind(AssertUnwindSafe(act)).map_err(|panic| message(&*panic));
    drop(guard);
    end
}

/// Keeps what caught panics say out of the process's error output.
///
/// An engine catches the panics of classes, dependencies and layers and keeps their texts with the
/// run, where a person can ask for them. Rust's panic hook prints them all the same, and they may
/// repeat what the code was given: a request, a reply, a token. After this call the place of such a
/// panic is told as a span event, and its text is not; every other panic goes to the hook that was
/// set before. For the whole process, which is why no engine does it by itself; calling it again
/// changes nothing.
pub fn hide_panic_texts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if 0 < CAUGHT.get() {
                tell_place(panic);
            } else {
                before(panic);
            }
        }));
    });
}

fn tell_place(panic: &PanicHookInfo<'_>) {
    match panic.location() {
        Some(at) => tracing::error!(file = at.file(), line = at.line(), "a panic was caught"),
        None => tracing::error!("a panic was caught"),
    }
}

/// A stretch in which a panic is caught.
struct Guard;

impl Guard {
    fn new() -> Self {
        CAUGHT.set(CAUGHT.get() + 1);
        Self
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        CAUGHT.set(CAUGHT.get() - 1);
    }
}

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
        let end = match caught_now(|| future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(message) => Err(message),
        };
        drop_quietly(self.0.take());
        Poll::Ready(end)
    }
}

/// A value whose poll panicked may panic again while it is dropped.
fn drop_quietly<T>(value: T) {
    let _ = caught_now(|| drop(value));
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a text").to_owned()
}
