//! A process dies with ten thousand writes out, and the next one asks about all of them: never more
//! at once than the pool has places for them, spread over time, and in nobody's way.
//!
//! The receiver counts for itself; what the engine says of it plays no part.

use std::collections::BTreeMap;
use std::future::{IntoFuture, pending};
use std::sync::Arc;

use mainstay_class::{Budget, Class, Extend, TaskClass, days, hours, mins};
use mainstay_dispatch::{Answer, AttemptContext, Found, Promise, Resolution, Write};
use mainstay_ledger::{Ledger, MemoryLedger};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::Engine;
use mainstay_runtime::engine::EngineBuilder;
use mainstay_sim::{Executor, VirtualTimers};
use mainstay_types::{Clock, Failure, FailureKind, Millis, RunId, Timers, limits};
use parking_lot::Mutex;

use crate::world::classes::NewTicket;
use crate::world::script::maybe_sent;
use crate::world::{Minutes, Ticket, World, minutes};

/// How many doubts there are, and how long a look-up takes.
#[derive(Clone, Copy)]
struct Crowd {
    doubts: usize,
    look_up_ms: u64,
}

/// An order that nothing is wrong with is answered after so long.
const ANSWER_MS: u64 = 10;
/// A new run starts every so often.
const NEW_RUN_EVERY_MS: u64 = 50;
/// More than come until the crowd is gone.
const NEW_RUNS_MAX: u64 = 4_000;
const WINDOW_MS: u64 = 100;
/// The burst, and what the line lets through in a window and a jitter.
const PER_WINDOW_MAX: usize = limits::LOOKUP_CROWD_BURST
    + ((WINDOW_MS + limits::LOOKUP_CROWD_JITTER_MS) / limits::LOOKUP_CROWD_SPACING_MS) as usize
    + 1;

/// What the title of an order begins with whose run was there before the crash; see `minutes`.
const OLD: &str = "action 0 of old";

/// What the receiver does with a new order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    /// It takes it, and the reply is lost; it cannot say what it took.
    Mute,
    /// It takes it and hangs; it cannot say what it took.
    Hangs,
    /// It takes it, and the reply is lost.
    Loses,
    /// It takes it and answers.
    Answers,
}

struct Books {
    mood: Mood,
    /// How often each key was done.
    done: BTreeMap<String, u32>,
    at_once: usize,
    most_at_once: usize,
    /// The same of look-ups for runs that were there before the crash.
    old_at_once: usize,
    most_old_at_once: usize,
    /// When look-ups began, by whether the run was there before the crash.
    asked: Vec<(u64, bool)>,
}

impl Books {
    /// A look-up begins; whether it gets no answer.
    fn begin(&mut self, at: u64, is_old: bool) -> bool {
        self.at_once += 1;
        self.old_at_once += usize::from(is_old);
        self.most_at_once = self.most_at_once.max(self.at_once);
        self.most_old_at_once = self.most_old_at_once.max(self.old_at_once);
        self.asked.push((at, is_old));
        matches!(self.mood, Mood::Mute | Mood::Hangs)
    }
}

/// A receiver of orders.
#[derive(Clone)]
struct Orders {
    timers: VirtualTimers,
    books: Arc<Mutex<Books>>,
    look_up_ms: u64,
}

impl Orders {
    fn new(world: &World, look_up_ms: u64) -> Self {
        let books = Books {
            mood: Mood::Mute,
            done: BTreeMap::new(),
            at_once: 0,
            most_at_once: 0,
            old_at_once: 0,
            most_old_at_once: 0,
            asked: Vec::new(),
        };
        Self {
            timers: world.timers.clone(),
            books: Arc::new(Mutex::new(books)),
            look_up_ms,
        }
    }

    fn is(&self, mood: Mood) {
        self.books.lock().mood = mood;
    }

    fn now(&self) -> u64 {
        self.timers.clock().monotonic().get()
    }
}

fn ticket(key: &str) -> Ticket {
    Ticket {
        id: format!("T of {key}"),
    }
}

impl Write for Orders {
    type Request = NewTicket;
    type Reply = Ticket;
    const RESOLUTION: Resolution = Resolution::ByStatus;

    fn name(&self) -> &str {
        "orders"
    }

    async fn send(&self, _: NewTicket, cx: &AttemptContext) -> Result<Answer<Ticket>, Failure> {
        let key = cx.effect_key.as_ref().unwrap().to_string();
        let mood = {
            let mut books = self.books.lock();
            *books.done.entry(key.clone()).or_insert(0) += 1;
            books.mood
        };
        self.timers.sleep(Millis::new(ANSWER_MS)).await;
        match mood {
            Mood::Answers => Ok(ticket(&key).into()),
            Mood::Hangs => pending().await,
            Mood::Mute | Mood::Loses => Err(maybe_sent(FailureKind::TransientTransport)),
        }
    }

    async fn find(&self, made: NewTicket, cx: &AttemptContext) -> Result<Found<Ticket>, Failure> {
        let key = cx.effect_key.as_ref().unwrap().to_string();
        let is_old = made.title.starts_with(OLD);
        let is_mute = self.books.lock().begin(self.now(), is_old);
        let _at_it = AtIt(&self.books, is_old);
        self.timers.sleep(Millis::new(self.look_up_ms)).await;
        let done = self.books.lock().done.get(&key).copied();
        Ok(match done {
            _ if is_mute => Found::CannotTell,
            Some(_) => Found::Applied(ticket(&key)),
            None => Found::NotFound,
        })
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .timeout(Millis::from_secs(60))
            .estimate(Millis::new(50))
            .receiver_bound(Millis::from_secs(2))
    }
}

/// A look-up that the receiver is at.
struct AtIt<'a>(&'a Mutex<Books>, bool);

impl Drop for AtIt<'_> {
    fn drop(&mut self) {
        let mut books = self.0.lock();
        books.at_once -= 1;
        books.old_at_once -= usize::from(self.1);
    }
}

fn class(orders: &Orders) -> Class<Minutes, Ticket> {
    let mut g = TaskClass::<Minutes>::define("order", 1);
    g.budget(Budget::new().answer_by(mins(5)).doubt_wait(days(1)))
        .on_downtime(Extend(hours(1)));
    let made = |m: &Minutes, ()| NewTicket {
        title: m.actions.first().cloned().unwrap_or_default(),
    };
    let written = g
        .write("order", orders, (), made)
        .business_id(|m: &Minutes| &m.id)
        .add();
    g.finish(written, |_, ticket| ticket.clone())
        .expect("a valid class")
}

/// A process on the store, and who drives it.
struct Process {
    engine: Engine,
    executor: Executor,
}

/// The store is the one in memory itself: the one that tests can trap copies too much for this.
fn process(world: &World, store: &Arc<MemoryLedger>, class: &Class<Minutes, Ticket>) -> Process {
    let executor = world.executor();
    let ledger: Arc<dyn Ledger> = Arc::<MemoryLedger>::clone(store);
    let builder = EngineBuilder::new(ledger, world.ports(&executor)).register(class);
    let engine = executor.block_on(builder.start()).expect("it starts");
    Process { engine, executor }
}

/// So many orders are out or in doubt, half each, and their process dies.
fn dies_with_doubts(
    world: &World,
    store: &Arc<MemoryLedger>,
    (orders, class): (&Orders, &Class<Minutes, Ticket>),
    doubts: usize,
) -> Vec<RunId> {
    let process = process(world, store, class);
    let mut ids = Vec::new();
    for mood in [Mood::Mute, Mood::Hangs] {
        orders.is(mood);
        let from = ids.len();
        for nth in from..from + doubts / 2 {
            let start = process
                .engine
                .start(class, minutes(&format!("old {nth}"), 1));
            let run = process.executor.block_on(start.into_future());
            ids.push(run.expect("there is room").id());
        }
        process.executor.run_for(Millis::new(ANSWER_MS + 1));
    }
    process.executor.run_for(Millis::new(20));
    process.executor.crash();
    let mut books = orders.books.lock();
    assert_eq!(books.done.len(), doubts);
    (books.at_once, books.most_at_once) = (0, 0);
    (books.old_at_once, books.most_old_at_once) = (0, 0);
    books.asked.clear();
    ids
}

/// What was seen from the start of the second process on.
#[derive(Default)]
struct Seen {
    /// How long new runs took that had no doubt, and that had one.
    took: Vec<u64>,
    took_with_doubt: Vec<u64>,
    /// Until nothing was owed any more.
    all: u64,
}

/// New runs come, one after another, until nothing is left of the crowd.
fn serves(
    world: &World,
    process: &Process,
    (orders, class): (&Orders, &Class<Minutes, Ticket>),
) -> Seen {
    let from = world.elapsed();
    let mut seen = Seen::default();
    for nth in 0..NEW_RUNS_MAX {
        // Every eighth has a doubt of its own.
        let is_lost = nth % 8 == 7;
        orders.is(if is_lost { Mood::Loses } else { Mood::Answers });
        let at = world.elapsed();
        let start = process
            .engine
            .start(class, minutes(&format!("new {nth}"), 1));
        let run = process.executor.block_on(start.into_future());
        let run = run.expect("there is room for new runs");
        let outcome = process
            .executor
            .block_on(run.outcome())
            .expect("an outcome");
        assert_eq!(outcome.kind, OutcomeKind::Completed);
        let took = match is_lost {
            true => &mut seen.took_with_doubt,
            false => &mut seen.took,
        };
        took.push(world.elapsed() - at);
        process.executor.run_for(Millis::new(NEW_RUN_EVERY_MS));
        if process.engine.status().live == 0 {
            seen.all = world.elapsed() - from;
            return seen;
        }
    }
    panic!("{} runs never end", process.engine.status().live);
}

/// Most old look-ups that began within [`WINDOW_MS`].
fn most_within(asked: &[(u64, bool)]) -> usize {
    let old = asked.iter().filter(|(_, is_old)| *is_old);
    let old: Vec<u64> = old.map(|(at, _)| *at).collect();
    let within = old
        .iter()
        .enumerate()
        .map(|(nth, at)| old[nth..].partition_point(|other| *other < at + WINDOW_MS));
    within.max().unwrap_or(0)
}

/// A process dies with this crowd, and the next one asks about it.
fn check(crowd: Crowd) {
    let world = World::new();
    let store = Arc::new(MemoryLedger::new());
    let orders = Orders::new(&world, crowd.look_up_ms);
    let class = class(&orders);
    let ids = dies_with_doubts(&world, &store, (&orders, &class), crowd.doubts);
    // The dead process is not known to be dead before its lease is over.
    world.timers.advance(Millis::new(2 * limits::LEASE_MS));

    orders.is(Mood::Answers);
    let process = process(&world, &store, &class);
    let seen = serves(&world, &process, (&orders, &class));
    no_storm(crowd, &seen, &orders.books.lock());
    for id in ids {
        let run = process.executor.block_on(process.engine.run(&class, id));
        let outcome = process
            .executor
            .block_on(run.expect("it is there").outcome());
        assert_eq!(outcome.expect("an outcome").kind, OutcomeKind::Completed);
    }
}

fn no_storm(crowd: Crowd, seen: &Seen, books: &Books) {
    let (most, slowest) = (most_within(&books.asked), seen.took_with_doubt.iter().max());
    println!(
        "{} look-ups in {} ms, {} at once, {most} per {WINDOW_MS} ms; {} new runs, with a doubt \
         in {slowest:?} ms",
        books.asked.len(),
        seen.all,
        books.most_at_once,
        seen.took.len() + seen.took_with_doubt.len()
    );
    assert!(crowd.doubts <= books.asked.len());
    assert!(books.most_at_once <= limits::CONTROL_IN_FLIGHT_MAX);
    assert!(books.most_old_at_once <= limits::LOOKUP_CROWD_IN_FLIGHT_MAX);
    assert!(most <= PER_WINDOW_MAX, "{most} per {WINDOW_MS} ms");
    // The whole line, or what a slow receiver makes of it, and some.
    let line = crowd.doubts as u64 * limits::LOOKUP_CROWD_SPACING_MS;
    let rounds = (crowd.doubts / limits::LOOKUP_CROWD_IN_FLIGHT_MAX) as u64;
    let all = line.max(rounds * crowd.look_up_ms) + 2_000;
    assert!(seen.all <= all, "{} ms, not {all}", seen.all);
    // As if nothing else were there: neither refused, nor behind the crowd.
    assert!(
        seen.took.iter().all(|took| *took == ANSWER_MS),
        "{:?}",
        seen.took
    );
    let with_doubt = ANSWER_MS + crowd.look_up_ms;
    assert_eq!(slowest, Some(&with_doubt), "{:?}", seen.took_with_doubt);
    assert!(
        books.done.values().all(|times| *times == 1),
        "each is done once"
    );
}

#[test]
fn ten_thousand_doubts_at_a_start_are_asked_about_without_a_storm_while_new_runs_are_served() {
    check(Crowd {
        doubts: 10_000,
        // So fast that the pool alone would let hundreds leave within a window.
        look_up_ms: 5,
    });
}

#[test]
fn a_receiver_that_looks_up_slowly_holds_up_its_crowd_and_no_new_doubt() {
    check(Crowd {
        doubts: 600,
        look_up_ms: 800,
    });
}
