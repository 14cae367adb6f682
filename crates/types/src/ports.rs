//! Ports: the only ways by which the engine sees time, chance and concurrency.
//!
//! Production and the simulator each implement them once; whoever bypasses a port cannot be
//! replayed from a seed.

use std::future::Future;
use std::pin::Pin;

use crate::ids::{MessageId, RunId, WorkerId};
use crate::units::{Millis, Timestamp};

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Reads time.
pub trait Clock: Send + Sync {
    /// The wall clock; may jump either way.
    fn wall(&self) -> Timestamp;

    /// Time since some fixed moment of this process; never goes back.
    fn monotonic(&self) -> Millis;
}

/// Waits for time to pass.
pub trait Timers: Send + Sync {
    /// Completes once at least `length` has passed. Cancel safe: dropping it cancels the wait.
    fn sleep(&self, length: Millis) -> BoxFuture<'static, ()>;
}

/// Starts concurrent work.
pub trait Spawner: Send + Sync {
    /// Runs `future` to its end, independently of the caller.
    fn spawn(&self, future: BoxFuture<'static, ()>);
}

/// Draws random numbers.
pub trait Rng: Send + Sync {
    /// 64 uniformly distributed bits.
    fn next_u64(&self) -> u64;
}

/// Makes ids.
pub trait IdSource: Send + Sync {
    /// A new run id: UUID version 7 whose time is `now`.
    fn run_id(&self, now: Timestamp) -> RunId;

    /// A new worker incarnation id.
    fn worker_id(&self, now: Timestamp) -> WorkerId;

    /// A new inbox message id.
    fn message_id(&self, now: Timestamp) -> MessageId;
}
