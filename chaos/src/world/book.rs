//! What callers asked for and were told, by the clock of the world.

use std::future::Future;
use std::sync::Arc;

use mainstay_class::{Class, Value};
use mainstay_dispatch::encode;
use mainstay_machine::OutcomeKind;
use mainstay_runtime::{Answer, Engine, EngineError, RunHandle};
use mainstay_types::{BoxFuture, Clock, Millis, Payload, RunId, Timers};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// How long a caller waits before it asks again after an error.
const AGAIN_AFTER: Millis = Millis::new(250);

/// A run that a caller wants.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Its number in the world, from 0.
    pub(crate) no: usize,
    /// Its start key.
    pub(crate) key: String,
    /// Its tenant.
    pub(crate) tenant: String,
}

/// Something that a caller heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// The run is durable.
    Started(RunId),
    /// The answer is there: how its lap ended.
    Ready(OutcomeKind, Option<Payload>),
    /// The outcome will come later.
    Later,
    /// The outcome.
    Outcome(OutcomeKind, Option<Payload>),
    /// The wish to cancel is durable.
    Canceled,
}

impl Told {
    /// The run that was started.
    pub(crate) const fn run(&self) -> Option<RunId> {
        if let Self::Started(run) = self {
            return Some(*run);
        }
        None
    }

    /// How the run ended.
    pub(crate) const fn outcome(&self) -> Option<OutcomeKind> {
        if let Self::Outcome(kind, _) = self {
            return Some(*kind);
        }
        None
    }
}

/// One line of the book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Which order.
    pub(crate) order: usize,
    /// When, since the world began.
    pub(crate) at: Millis,
    /// What.
    pub(crate) told: Told,
}

/// What was told to whom. No crash takes it away.
#[derive(Default)]
pub(crate) struct Book(Mutex<Vec<Line>>);

impl Book {
    pub(crate) fn lines(&self) -> Vec<Line> {
        self.0.lock().clone()
    }

    pub(crate) fn write(&self, order: usize, at: Millis, told: Told) {
        self.0.lock().push(Line { order, at, told });
    }

    /// Which run an order stands for, as its caller heard first.
    pub(crate) fn run_of(&self, order: usize) -> Option<RunId> {
        let lines = self.0.lock();
        let mut of_it = lines.iter().filter(|line| line.order == order);
        of_it.find_map(|line| line.told.run())
    }

    /// How the run of `order` ended, as its caller heard.
    pub(crate) fn outcome_of(&self, order: usize) -> Option<OutcomeKind> {
        let lines = self.0.lock();
        let mut of_it = lines.iter().filter(|line| line.order == order);
        of_it.find_map(|line| line.told.outcome())
    }

    /// Whether the caller of `order` has its outcome.
    pub(crate) fn is_over(&self, order: usize) -> bool {
        let lines = self.0.lock();
        let mut of_it = lines.iter().filter(|line| line.order == order);
        of_it.any(|line| matches!(line.told, Told::Outcome(..)))
    }
}

/// Who hears what callers are told.
pub(crate) trait Hears: Send + Sync {
    /// The caller of `order` was told this.
    fn hears(&self, order: &Order, told: Told);

    /// Somebody was refused, and asks again later.
    fn is_refused(&self, _: &EngineError) {}
}

/// Writes it into a book, with the time of a clock.
pub(crate) struct Scribe {
    pub(crate) book: Arc<Book>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Hears for Scribe {
    fn hears(&self, order: &Order, told: Told) {
        self.book.write(order.no, self.clock.monotonic(), told);
    }
}

/// What a caller needs in one life of the engine.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) hears: Arc<dyn Hears>,
    pub(crate) timers: Arc<dyn Timers>,
}

impl Desk {
    /// Does `ask` until it is not refused.
    async fn insist<T, F>(&self, mut ask: impl FnMut() -> F) -> T
    where
        F: Future<Output = Result<T, EngineError>>,
    {
        loop {
            match ask().await {
                Ok(value) => return value,
                Err(error) => {
                    self.hears.is_refused(&error);
                    self.timers.sleep(AGAIN_AFTER).await;
                }
            }
        }
    }
}

/// Who starts the runs of a class, whatever its types are.
pub(crate) trait Callers: Send + Sync {
    /// Starts or finds the run of `order`, and waits for what its caller wants to hear.
    fn call(&self, engine: Engine, order: Order, desk: Desk) -> BoxFuture<'static, ()>;

    /// Starts the run of `order` again; whoever asks does not wait for it.
    fn start(&self, engine: Engine, order: Order, desk: Desk) -> BoxFuture<'static, ()>;
}

/// The callers of a class: what they want is made from their number.
pub(crate) struct Typed<I, O> {
    pub(crate) class: Class<I, O>,
    pub(crate) input: Arc<dyn Fn(usize) -> I + Send + Sync>,
}

impl<I: Value, O: Value> Typed<I, O> {
    async fn begin(
        class: &Class<I, O>,
        (engine, order, desk): (&Engine, &Order, &Desk),
        input: &(dyn Fn(usize) -> I + Send + Sync),
    ) -> RunHandle<O> {
        desk.insist(|| {
            let start = engine.start(class, input(order.no));
            start.key(&order.key).tenant(&order.tenant).into_future()
        })
        .await
    }
}

impl<I: Value, O: Value> Callers for Typed<I, O> {
    fn call(&self, engine: Engine, order: Order, desk: Desk) -> BoxFuture<'static, ()> {
        let (class, input) = (self.class.clone(), Arc::clone(&self.input));
        Box::pin(async move {
            let run = Self::begin(&class, (&engine, &order, &desk), &*input).await;
            desk.hears.hears(&order, Told::Started(run.id()));
            let answer = desk.insist(|| run.answer()).await;
            let told = if let Answer::Ready(outcome) = &answer {
                Told::Ready(outcome.kind, bytes(&outcome.result))
            } else {
                Told::Later
            };
            desk.hears.hears(&order, told);
            let outcome = desk.insist(|| run.outcome()).await;
            desk.hears
                .hears(&order, Told::Outcome(outcome.kind, bytes(&outcome.result)));
        })
    }

    fn start(&self, engine: Engine, order: Order, desk: Desk) -> BoxFuture<'static, ()> {
        let (class, input) = (self.class.clone(), Arc::clone(&self.input));
        Box::pin(async move {
            let run = Self::begin(&class, (&engine, &order, &desk), &*input).await;
            desk.hears.hears(&order, Told::Started(run.id()));
        })
    }
}

/// Somebody cancels the run of `order`.
pub(crate) async fn cancel(engine: Engine, (order, run): (Order, RunId), desk: Desk) {
    match engine.cancel(run, "somebody", "they want it no more").await {
        Ok(()) => desk.hears.hears(&order, Told::Canceled),
        Err(error) => desk.hears.is_refused(&error),
    }
}

fn bytes<O: Value>(result: &Option<O>) -> Option<Payload> {
    result.as_ref().and_then(|result| encode(result).ok())
}
