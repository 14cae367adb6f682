//! The real ports: the operating system's clocks and randomness, tokio's timers and tasks.
//!
//! The only place of the engine that names them. Whoever calls these from elsewhere takes the
//! simulator's control away.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the ports' real implementations are what the bans point to"
)]

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mainstay_types::{
    BoxFuture, Clock, IdSource, MessageId, Millis, Rng, RunId, Spawner, Timers, Timestamp, WorkerId,
};
use rand::Rng as _;
use uuid::Uuid;

use crate::ports::Ports;

/// The real ports. Must be used inside a tokio runtime.
#[must_use]
pub fn ports() -> Ports {
    Ports {
        clock: Arc::new(SystemClock::new()),
        timers: Arc::new(TokioTimers),
        spawner: Arc::new(TokioSpawner),
        rng: Arc::new(OsRng),
        ids: Arc::new(OsIds),
    }
}

/// The operating system's clocks.
#[derive(Debug)]
pub struct SystemClock {
    since: Instant,
}

impl SystemClock {
    /// A clock whose monotonic time begins now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            since: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn wall(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Millis {
        Millis::new(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// Tokio's timers.
#[derive(Debug)]
pub struct TokioTimers;

impl Timers for TokioTimers {
    fn sleep(&self, length: Millis) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(length.to_duration()))
    }
}

/// Tokio's tasks.
#[derive(Debug)]
pub struct TokioSpawner;

impl Spawner for TokioSpawner {
    fn spawn(&self, future: BoxFuture<'static, ()>) {
        drop(tokio::spawn(future));
    }
}

/// Randomness of the thread's generator, seeded by the operating system.
#[derive(Debug)]
pub struct OsRng;

impl Rng for OsRng {
    fn next_u64(&self) -> u64 {
        rand::rng().next_u64()
    }
}

/// UUIDs of version 7 from the given time and randomness.
#[derive(Debug)]
pub struct OsIds;

impl OsIds {
    fn uuid(now: Timestamp) -> Uuid {
        let mut random = [0u8; 10];
        rand::rng().fill_bytes(&mut random);
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }
}

impl IdSource for OsIds {
    fn run_id(&self, now: Timestamp) -> RunId {
        RunId::from_uuid(Self::uuid(now))
    }

    fn worker_id(&self, now: Timestamp) -> WorkerId {
        WorkerId::from_uuid(Self::uuid(now))
    }

    fn message_id(&self, now: Timestamp) -> MessageId {
        MessageId::from_uuid(Self::uuid(now))
    }
}
