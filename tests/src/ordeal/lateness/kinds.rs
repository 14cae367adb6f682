//! What runs are answered by: the clock, or a provider that is in time; and who is asked for it.
//!
//! Providers measure nothing; they answer, or do not.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mainstay::class::{Budget, Class, Problems, Reserve, TaskClass, hours, ms};
use mainstay::dispatch::{Promise, Resolution};
use mainstay::{
    Answer, AttemptContext, Failure, FailureKind, Found, Millis, OutcomeKind, Read, Reply, Sent,
    Write,
};

/// What a class keeps back for giving the answer, and so what an answer may be late by.
pub const DELIVERY: Millis = Millis::new(400);
/// When a caller stops waiting.
pub(super) const ANSWER_BY: Millis = Millis::new(2_000);
/// When a provider answers that is in time.
const IN_TIME: Duration = Duration::from_millis(1_000);
/// From when a receiver can say what became of a write whose reply was lost.
const KNOWN: Duration = Duration::from_millis(2_500);
/// Whom the load asks; and, among so many who are answered, those that never are. A provider that
/// answers nobody would be known soon, and such runs refused.
const ECHO: &str = "echo";
/// From this number on it does not answer.
const SILENT: u64 = 1 << 40;
/// What authors expect of each call.
const ESTIMATE: Millis = Millis::new(100);

/// Asked with a number, answered with it.
pub(super) type Numbers = Class<u64, u64>;

/// Answers with what it is asked, after a while or never.
#[derive(Clone)]
struct Provider {
    name: &'static str,
    after: Option<Duration>,
}

impl Provider {
    async fn answer(&self, number: u64) -> Result<Reply<u64>, Failure> {
        match self.after.filter(|_| number < SILENT) {
            Some(Duration::ZERO) => {}
            Some(after) => tokio::time::sleep(after).await,
            None => std::future::pending().await,
        }
        Ok(number.into())
    }
}

impl Read for Provider {
    type Request = u64;
    type Reply = u64;

    fn name(&self) -> &str {
        self.name
    }

    async fn call(&self, number: u64, _: &AttemptContext) -> Result<Reply<u64>, Failure> {
        self.answer(number).await
    }

    fn promise(&self) -> Promise {
        Promise::new().timeout(Millis::from_mins(1))
    }
}

const UNPOISONED: &str = "nobody panics while it is locked";

fn key(context: &AttemptContext) -> String {
    let key = context.effect_key.as_ref();
    key.map(ToString::to_string).unwrap_or_default()
}

/// Loses every reply, and knows of each write only a while after it was sent.
#[derive(Clone, Default)]
struct Forgetful {
    sent: Arc<Mutex<BTreeMap<String, tokio::time::Instant>>>,
}

impl Write for Forgetful {
    type Request = u64;
    type Reply = u64;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "forgetful"
    }

    async fn send(&self, _: u64, context: &AttemptContext) -> Result<Reply<u64>, Failure> {
        let now = tokio::time::Instant::now();
        self.sent
            .lock()
            .expect(UNPOISONED)
            .insert(key(context), now);
        Err(Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent))
    }

    async fn find(&self, number: u64, context: &AttemptContext) -> Result<Found<u64>, Failure> {
        let key = key(context);
        let mut sent = self.sent.lock().expect(UNPOISONED);
        let is_known = sent.get(&key).is_none_or(|sent| KNOWN <= sent.elapsed());
        if !is_known {
            return Ok(Found::InProgress);
        }
        sent.remove(&key);
        Ok(Found::Applied(number))
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .timeout(Millis::from_mins(1))
            .honours_keys(Some(Millis::from_hours(24)))
            .receiver_bound(Millis::new(100))
    }
}

/// What a run is to be answered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    HandedOff,
    Later,
    Degraded,
    InTime,
}

pub(super) const KINDS: [Kind; 4] = [Kind::HandedOff, Kind::Later, Kind::Degraded, Kind::InTime];

impl Kind {
    pub(super) fn class(self) -> Result<Numbers, Problems> {
        let budget = Budget::new().answer_by(ANSWER_BY);
        let provider = |name, after| Provider { name, after };
        match self {
            Self::HandedOff => {
                let mut g = TaskClass::<u64>::define("late-handed-off", 1);
                g.budget(budget);
                let echo = provider(ECHO, Some(Duration::ZERO));
                let told = g.read("told", &echo, (), |input, ()| SILENT + *input);
                let told = told.operation(ECHO).estimate(ESTIMATE).add();
                g.finish(told, |_, told| *told)
            }
            Self::Later => {
                let mut g = TaskClass::<u64>::define("late-later", 1);
                g.budget(budget.work_by(ANSWER_BY + ANSWER_BY));
                let forgetful = Forgetful::default();
                let done = g.write("done", &forgetful, (), |input, ()| *input);
                let done = done.estimate(ESTIMATE).add();
                g.finish(done, |_, done| *done)
            }
            Self::Degraded => {
                let mut g = TaskClass::<u64>::define("late-degraded", 1);
                g.budget(budget).reserve(Reserve::new().deliver(DELIVERY));
                let echo = provider(ECHO, Some(Duration::ZERO));
                let told = g.read("told", &echo, (), |input, ()| *input);
                let told = told.operation("told").estimate(ESTIMATE).add();
                let silent = provider("silent", None);
                let more = g.read("more", &silent, (), |input, ()| *input);
                let more = more.soft("no more").estimate(ESTIMATE).add();
                g.finish((told, more), |_, (told, _)| *told)
            }
            Self::InTime => {
                let mut g = TaskClass::<u64>::define("late-in-time", 1);
                g.budget(budget);
                let timely = provider("timely", Some(IN_TIME));
                let told = g.read("told", &timely, (), |input, ()| *input);
                let told = told.estimate(ESTIMATE).add();
                g.finish(told, |_, told| *told)
            }
        }
    }

    /// When the clock alone gives the answer, from the start.
    pub(super) const fn due_after(self) -> Millis {
        match self {
            Self::HandedOff | Self::Later | Self::InTime => ANSWER_BY,
            Self::Degraded => ANSWER_BY.less(DELIVERY),
        }
    }

    /// Whether it is the answer that a run of this kind gets.
    pub(super) fn is_met(self, answer: &Answer<u64>) -> bool {
        match (self, answer) {
            (Self::HandedOff, Answer::Ready(ready)) => ready.kind == OutcomeKind::HandedOff,
            (Self::Degraded, Answer::Ready(ready)) => ready.kind == OutcomeKind::Degraded,
            (Self::InTime, Answer::Ready(ready)) => ready.kind == OutcomeKind::Completed,
            (Self::Later, answer) => matches!(answer, Answer::Later(_)),
            (Self::HandedOff | Self::Degraded | Self::InTime, _) => false,
        }
    }
}

/// A run of the load: two calls that are answered at once, one after the other.
pub(super) fn load_class() -> Result<Numbers, Problems> {
    let echo = Provider {
        name: ECHO,
        after: Some(Duration::ZERO),
    };
    let mut g = TaskClass::<u64>::define("late-load", 1);
    g.budget(Budget::new().answer_by(hours(1)));
    let first = g.read("first", &echo, (), |input, ()| *input);
    let first = first
        .operation(ECHO)
        .timeout(hours(1))
        .estimate(ms(1))
        .add();
    let second = g.read("second", &echo, first, |_, first| *first);
    let second = second
        .operation(ECHO)
        .timeout(hours(1))
        .estimate(ms(1))
        .add();
    g.finish(second, |_, second| *second)
}
