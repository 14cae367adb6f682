//! The world of one seed: one disk, one outside, and the processes that live and die in it.

use std::task::{Context, Poll, Waker};

use mainstay_types::BoxFuture;

mod blow;
pub(crate) mod book;
mod course;
pub(crate) mod disturbance;
pub(crate) mod injector;
mod life;
pub(crate) mod person;
pub(crate) mod stage;
pub(crate) mod witness;

pub(crate) use course::run;
pub(crate) use stage::{Setup, Stage};

/// Polls within which a world has to do what it is asked to: beyond, somebody spins.
pub(crate) const POLLS_MAX: u64 = 200_000;
/// Polls within which a process has to end all that it has to: the worlds of the built-in class
/// take some hundreds, at most 2,222 of 20,000.
pub(crate) const LIFE_POLLS_MAX: u64 = 400_000;
/// Groups of commits within which a world has to end: beyond, it writes without end.
pub(crate) const GROUPS_MAX: u64 = 20_000;
/// Events within which it has to.
pub(crate) const EVENTS_MAX: usize = 200_000;

/// The value of a future that waits for nothing.
pub(crate) fn ready<T>(mut future: BoxFuture<'_, T>) -> T {
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("memory does not wait"),
    }
}
