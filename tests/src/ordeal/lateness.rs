//! Answers that the clock gives: how late they are while the engine and its store have more to do
//! than they can.
//!
//! It measures and never judges. Lateness is counted from the moment at which the clock alone gives
//! the answer, on the engine's own clock, to the moment at which whoever asked has it. Answers that
//! providers give are not among it: they would hide the others.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mainstay::class::{Budget, Class, Problems, Reserve, TaskClass, hours, ms};
use mainstay::dispatch::{Promise, Resolution};
use mainstay::engine::system;
use mainstay::ledger::{Lag, Ledger, SledLedger};
use mainstay::types::{Clock, Code};
use mainstay::{
    Answer, AttemptContext, Engine, EngineBuilder, Failure, FailureKind, Found, Millis,
    OutcomeKind, Read, Reply, RunHandle, Sent, Timestamp, Write,
};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::house;

/// What a class keeps back for giving the answer, and so what an answer may be late by.
pub const DELIVERY: Millis = Millis::new(400);
/// When a caller stops waiting.
const ANSWER_BY: Millis = Millis::new(2_000);
/// When a provider answers that is in time.
const IN_TIME: Duration = Duration::from_millis(1_000);
/// From when a receiver can say what became of a write whose reply was lost.
const KNOWN: Duration = Duration::from_millis(2_500);
/// Whom the load asks; and, among so many who are answered, those that never are. A provider that
/// answers nobody would be known soon, and such runs refused.
const ECHO: &str = "echo";
/// From this number on it does not answer.
const SILENT: u64 = 1 << 40;
/// By how much less than usual the table may be behind.
const TIGHTER: usize = 16;
/// What authors expect of each call.
const ESTIMATE: Millis = Millis::new(100);
/// How often it is looked how far the table is behind.
const GLANCE: Duration = Duration::from_millis(100);
/// For what is still out when nothing is started any more.
const DRAIN: Millis = Millis::from_secs(30);

type Numbers = Class<u64, u64>;

/// How much goes on at once, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Runs that wait for an answer.
    pub askers: u64,
    /// Runs that do nothing and end, one after the other.
    pub loaders: u64,
    /// How long new ones are started.
    pub length: Duration,
}

/// How late answers were, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// How many answers.
    pub answers: usize,
    /// Half of them were no later.
    pub p50_ms: u64,
    /// 99 of 100.
    pub p99_ms: u64,
    /// 999 of 1000.
    pub p999_ms: u64,
    /// The latest.
    pub max_ms: u64,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// All answers of the clock.
    pub all: Lateness,
    /// Those that hand the run off, at `answer_by`.
    pub handed_off: Lateness,
    /// Those that say "later", at `answer_by`.
    pub later: Lateness,
    /// Those without a soft value, which are given as soon as no attempt may go on.
    pub degraded: Lateness,
    /// Answers of providers, in time.
    pub in_time: u64,
    /// Starts that were refused because such runs were seen to be too slow.
    pub refused: u64,
    /// Runs that ended a second, the load's included.
    pub runs_per_s: u64,
    /// Of a thousandth of all processors' time, how much this process used.
    pub busy_per_mille: u64,
    /// The table's part of that, in thousandths of one processor.
    pub applier_per_mille: u64,
    /// How far the table was behind, in thousandths of where ordinary commits wait: on average.
    pub lag_per_mille: u64,
    /// The same, at its worst.
    pub lag_per_mille_max: u64,
}

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
enum Kind {
    HandedOff,
    Later,
    Degraded,
    InTime,
}

const KINDS: [Kind; 4] = [Kind::HandedOff, Kind::Later, Kind::Degraded, Kind::InTime];

impl Kind {
    fn class(self) -> Result<Numbers, Problems> {
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
    const fn due_after(self) -> Millis {
        match self {
            Self::HandedOff | Self::Later | Self::InTime => ANSWER_BY,
            Self::Degraded => ANSWER_BY.less(DELIVERY),
        }
    }

    /// Whether it is the answer that a run of this kind gets.
    fn is_met(self, answer: &Answer<u64>) -> bool {
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
fn load_class() -> Result<Numbers, Problems> {
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

/// What all askers and loaders share.
struct Shared {
    engine: Engine,
    ledger: Arc<SledLedger>,
    clock: Arc<dyn Clock>,
    classes: Vec<(Kind, Numbers)>,
    load: Numbers,
    is_over: AtomicBool,
    ended: AtomicU64,
    refused: AtomicU64,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// One kind of answer, and how late it was.
type Answered = (Kind, u64);

/// Drives the load, and says how late the clock's answers were.
///
/// # Errors
/// The engine's or the store's own in words, and an answer of a kind that its run cannot get.
pub async fn measure(store: &Path, load: Load) -> Result<Told, String> {
    let mut options = house::options();
    // A machine's disk lets no more in than one table takes: it is behind as far as it may be when
    // it may be behind by less.
    let standing = &mut options.settings.standing;
    standing.rows.high /= TIGHTER;
    standing.freeze_rows /= TIGHTER;
    let ledger = SledLedger::open(store, options).map_err(|error| error.to_string())?;
    let ledger = Arc::new(ledger);
    let ports = system::ports();
    let clock = Arc::clone(&ports.clock);
    let mut builder = EngineBuilder::new(Arc::clone(&ledger) as Arc<dyn Ledger>, ports);
    let mut classes = Vec::new();
    for kind in KINDS {
        let class = kind.class().map_err(|problems| problems.to_string())?;
        builder = builder.register(&class);
        classes.push((kind, class));
    }
    let idle = load_class().map_err(|problems| problems.to_string())?;
    let engine = builder.register(&idle).start().await.map_err(words)?;
    let shared = Arc::new(Shared {
        engine: engine.clone(),
        ledger: Arc::clone(&ledger),
        clock,
        classes,
        load: idle,
        is_over: AtomicBool::new(false),
        ended: AtomicU64::new(0),
        refused: AtomicU64::new(0),
    });
    let told = driven(&shared, load).await;
    drop(shared);
    engine.shutdown(DRAIN).await;
    let told = told?;
    drop(Arc::into_inner(ledger).map(SledLedger::close));
    Ok(told)
}

async fn driven(shared: &Arc<Shared>, load: Load) -> Result<Told, String> {
    let (mut askers, mut loaders) = (JoinSet::new(), JoinSet::new());
    for place in 0..load.askers {
        askers.spawn(ask(Arc::clone(shared), place, load.askers));
    }
    for place in 0..load.loaders {
        loaders.spawn(begin_and_end(Arc::clone(shared), place));
    }
    let (begun, busy) = (tokio::time::Instant::now(), Busy::now());
    let mut lags = Vec::new();
    while begun.elapsed() < load.length {
        tokio::time::sleep(GLANCE).await;
        lags.push(share(shared.ledger.lag()));
    }
    let (length, used) = (begun.elapsed(), Busy::now().since(busy));
    let ended = shared.ended.load(Ordering::Relaxed);
    shared.is_over.store(true, Ordering::Relaxed);
    let mut answers = Vec::new();
    while let Some(asked) = askers.join_next().await {
        answers.extend(asked.map_err(words)??);
    }
    while let Some(loaded) = loaders.join_next().await {
        loaded.map_err(words)??;
    }
    let millis = u64::try_from(length.as_millis()).unwrap_or(u64::MAX).max(1);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let of = |is_meant: fn(Kind) -> bool| lateness(&answers, is_meant);
    Ok(Told {
        all: of(|kind| kind != Kind::InTime),
        handed_off: of(|kind| kind == Kind::HandedOff),
        later: of(|kind| kind == Kind::Later),
        degraded: of(|kind| kind == Kind::Degraded),
        refused: shared.refused.load(Ordering::Relaxed),
        in_time: of(|kind| kind == Kind::InTime).answers as u64,
        runs_per_s: ended * 1_000 / millis,
        busy_per_mille: used.all_ms * 1_000 / (millis * cores),
        applier_per_mille: used.applier_ms * 1_000 / millis,
        lag_per_mille: lags.iter().sum::<u64>() / (lags.len() as u64).max(1),
        lag_per_mille_max: lags.iter().copied().max().unwrap_or(0),
    })
}

/// How far the table is behind, in thousandths of what comes first of rows, bytes and age.
fn share(lag: Lag) -> u64 {
    let of = |is: usize, bound: usize| u64::try_from(is * 1_000 / bound.max(1)).unwrap_or(u64::MAX);
    let age = lag.age.get() * 1_000 / lag.age_bound.get().max(1);
    of(lag.rows, lag.rows_bound)
        .max(of(lag.bytes, lag.bytes_bound))
        .max(age)
}

/// Asks for one run after the other, of each kind in turn. Those of all begin one by one, so that
/// their moments are spread as callers' are.
async fn ask(shared: Arc<Shared>, place: u64, askers: u64) -> Result<Vec<Answered>, String> {
    let before = ANSWER_BY.to_duration() * u32::try_from(place).unwrap_or(0);
    tokio::time::sleep(before / u32::try_from(askers).unwrap_or(1)).await;
    let mut answers = Vec::new();
    let kinds = shared.classes.iter().cycle();
    for (kind, class) in kinds.skip(usize::try_from(place).unwrap_or(0)) {
        if shared.is_over() {
            break;
        }
        let run = match shared.engine.start(class, place).await {
            Ok(run) => run,
            // The silent ones came in a swarm and are known for a moment: no answer is due.
            Err(error) if error.code() == Code::InsufficientTimeBudget => {
                shared.refused.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            Err(error) => return Err(words(error)),
        };
        let answer = run.answer().await.map_err(words)?;
        let now = shared.clock.wall();
        let due = started_at(&shared, &run).await? + kind.due_after();
        let late = if now < due {
            Millis::ZERO
        } else {
            due.until(now)
        };
        // What could not be answered within its reserve is answered as at its end.
        let is_excused = *kind == Kind::Degraded && DELIVERY <= late;
        if !kind.is_met(&answer) && !is_excused {
            return Err(format!("a run of kind {kind:?} got {answer:?}"));
        }
        shared.ended.fetch_add(1, Ordering::Relaxed);
        answers.push((*kind, late.get()));
    }
    Ok(answers)
}

async fn started_at(shared: &Shared, run: &RunHandle<u64>) -> Result<Timestamp, String> {
    let summary = shared.ledger.summary(run.id()).await.map_err(words)?;
    let summary = summary.ok_or_else(|| format!("run {} is gone", run.id()))?;
    Ok(summary.started_at)
}

/// Starts one run of the load after the other, each with a key, so that the table has rows to keep.
async fn begin_and_end(shared: Arc<Shared>, place: u64) -> Result<(), String> {
    for n in 0_u64.. {
        if shared.is_over() {
            break;
        }
        let run = shared.engine.start(&shared.load, place);
        let run = run.key(&format!("{place}-{n}"));
        let outcome = run.await.map_err(words)?.outcome().await.map_err(words)?;
        if outcome.kind != OutcomeKind::Completed {
            return Err(format!("a run of the load ended {outcome:?}"));
        }
        shared.ended.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn lateness(answers: &[Answered], is_meant: impl Fn(Kind) -> bool) -> Lateness {
    let meant = answers.iter().filter(|(kind, _)| is_meant(*kind));
    let mut late: Vec<u64> = meant.map(|&(_, late)| late).collect();
    late.sort_unstable();
    // The first that so many of a thousand are no later than.
    let at = |per_mille: usize| {
        let place = (late.len() * per_mille).div_ceil(1_000).saturating_sub(1);
        late.get(place).copied().unwrap_or(0)
    };
    Lateness {
        answers: late.len(),
        p50_ms: at(500),
        p99_ms: at(990),
        p999_ms: at(999),
        max_ms: at(1_000),
    }
}

/// What this process has used of its processors.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    all_ms: u64,
    applier_ms: u64,
}

impl Busy {
    /// As the system tells it; nothing where it does not.
    fn now() -> Self {
        let threads = std::fs::read_dir("/proc/self/task");
        let threads = threads.into_iter().flatten().flatten();
        let applier = threads.map(|thread| thread.path().join("stat"));
        let applier = applier.filter_map(|stat| used_ms(&stat, "mainstay-apply"));
        Self {
            all_ms: used_ms(Path::new("/proc/self/stat"), "").unwrap_or(0),
            applier_ms: applier.sum(),
        }
    }

    const fn since(self, before: Self) -> Self {
        Self {
            all_ms: self.all_ms.saturating_sub(before.all_ms),
            applier_ms: self.applier_ms.saturating_sub(before.applier_ms),
        }
    }
}

/// What a thread or process used for itself and in the system, when its name begins so. A tick of
/// these files is 10 ms on every Linux.
fn used_ms(stat: &Path, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(stat).ok()?;
    let (before, after) = text.rsplit_once(") ")?;
    let (_, own) = before.split_once('(')?;
    let ticks = after.split(' ').skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    own.starts_with(name).then_some(ticks * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_answers_that_are_meant_and_never_below_their_share() {
        let mut answers: Vec<Answered> = (1..=1_000).map(|late| (Kind::Later, late)).collect();
        answers.push((Kind::InTime, 7_000));
        let all = lateness(&answers, |kind| kind != Kind::InTime);
        let expected = Lateness {
            answers: 1_000,
            p50_ms: 500,
            p99_ms: 990,
            p999_ms: 999,
            max_ms: 1_000,
        };
        assert_eq!(all, expected);
        assert_eq!(
            lateness(&answers, |kind| kind == Kind::Degraded),
            Lateness::default()
        );
    }
}
