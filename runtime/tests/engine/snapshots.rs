//! States that are kept: how little of a long run is read again, however it comes back; and that
//! one which cannot be used costs time and nothing else.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mainstay_class::{Budget, Class, TaskClass, days};
use mainstay_dispatch::{Answer, AttemptContext, Found, Read, Resolution, Write};
use mainstay_ledger::{Ledger, Snapshot, Stamped, codec, record};
use mainstay_machine::{Call, OutcomeKind, Phase};
use mainstay_types::{Digest, Failure, FailureKind, Millis, Payload, Rng, RunId, Seq, limits};

use crate::world::classes::{NewTicket, Ticket, chain};
use crate::world::ledger::Given;
use crate::world::script::{busy, maybe_sent};
use crate::world::{Does, Life, Minutes, World, minutes};

/// What a read of a run may give: what comes between two states, and once more as much for what one
/// append may write beyond it.
const READ_EVENTS_MAX: usize = 2_000;
const _: () = assert!(READ_EVENTS_MAX as u64 == 2 * limits::SNAPSHOT_EVENTS);

/// A receiver that loses every reply and cannot say what became of it, until it is told to.
#[derive(Clone, Default)]
struct Mute(Arc<AtomicBool>);

impl Write for Mute {
    type Request = NewTicket;
    type Reply = Ticket;
    const RESOLUTION: Resolution = Resolution::ByStatus;

    fn name(&self) -> &str {
        "mute"
    }

    async fn send(&self, _: NewTicket, _: &AttemptContext) -> Result<Answer<Ticket>, Failure> {
        Err(maybe_sent(FailureKind::TransientTransport))
    }

    async fn find(&self, ticket: NewTicket, _: &AttemptContext) -> Result<Found<Ticket>, Failure> {
        if !self.0.load(Ordering::SeqCst) {
            return Ok(Found::CannotTell);
        }
        Ok(Found::Applied(Ticket { id: ticket.title }))
    }
}

/// Draws the same each time, so that all doubts ask at once.
struct Always;

impl Rng for Always {
    fn next_u64(&self) -> u64 {
        0
    }
}

fn all_at_once(world: &World, class: &Class<Minutes, usize>) -> Life {
    let executor = world.executor();
    let mut ports = world.ports(&executor);
    ports.rng = Arc::new(Always);
    let engine = executor.block_on(world.builder_on(ports).register(class).start());
    Life {
        engine: engine.expect("the engine starts"),
        executor,
    }
}

/// One write per action.
fn writes<W>(write: &W, name: &str) -> Class<Minutes, usize>
where
    W: Write<Request = NewTicket, Reply = Ticket> + Clone + 'static,
{
    let mut g = TaskClass::<Minutes>::define(name, 1);
    let budget = Budget::new().answer_by(days(60)).concurrency(20);
    g.budget(budget.doubt_wait(days(60)).cost(10_000));
    let titles = |m: &Minutes, ()| {
        let titles = m.actions.iter().cloned();
        titles.map(|title| NewTicket { title }).collect()
    };
    let written = g.each("written", write, (), 1_000, titles).add();
    g.finish(written, |_, written: &Vec<Ticket>| written.len())
        .expect("a valid class")
}

/// F27: writes whose receiver cannot say for days what became of them.
#[test]
fn f27_a_run_of_200_000_events_comes_back_from_its_state_each_time() {
    const EVENTS: usize = 200_000;
    let world = World::new();
    let receiver = Mute::default();
    let class = writes(&receiver, "asks");
    let life = all_at_once(&world, &class);
    let id = life.start_keyed(&class, minutes("M", 64)).id();
    let day = Millis::from_days(1).get();
    assert!(life.until(30 * day, || EVENTS <= world.ledger.events_written()));

    let reads = world.ledger.reads();
    assert!(
        1_000 < reads.len(),
        "it left memory and came back: {}",
        reads.len()
    );
    let largest = reads.iter().max_by_key(|given| given.events);
    let largest = largest.expect("it was read").events;
    assert!(largest <= READ_EVENTS_MAX, "{largest} events at once");
    assert!(
        reads.iter().all(|given| given.snapshot.is_some()),
        "from its state"
    );

    life.crash();
    receiver.0.store(true, Ordering::SeqCst);
    let before = world.ledger.reads().len();
    let life = all_at_once(&world, &class);
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(outcome.result.expect("the tickets"), 64);
    let resumed = &world.ledger.reads()[before..];
    assert!(resumed[0].snapshot >= Some(Seq(EVENTS as u64 - limits::SNAPSHOT_EVENTS)));
    let events: usize = resumed.iter().map(|given| given.events).sum();
    assert!(events <= READ_EVENTS_MAX, "{resumed:?}");
    assert!(
        world.state(id).head().expect("it began").closed,
        "what all events say"
    );
}

#[test]
fn a_run_that_never_leaves_memory_is_kept_as_it_grows() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(10));
    let class = writes(&world.outside.write("tickets"), "writes");
    let life = world.live(&[class.erased()]);
    let run = life.start_keyed(&class, minutes("M", 1_000));
    let kept = || {
        let stored = life.block_on(world.ledger.inner().load(run.id()));
        let stored = stored.expect("readable").expect("it is there");
        let tail = stored.events.len();
        (stored.snapshot.map(|snapshot| snapshot.seq), tail)
    };
    let states = RefCell::new(BTreeSet::new());
    let grown = life.until(60_000, || {
        let (seq, tail) = kept();
        assert!(tail <= READ_EVENTS_MAX, "{tail} events after {seq:?}");
        states.borrow_mut().extend(seq);
        3_000 <= world.ledger.events_written()
    });
    assert!(grown);
    assert!(2 <= states.borrow().len(), "{states:?}");
    life.crash();
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome_of(&class, run.id());
    assert_eq!(outcome.result.expect("the tickets"), 1_000);
    world.must_be_sound();
}

/// A run of a few reads that has been parked, so that its state is kept.
fn parked(world: &World) -> (Class<Minutes, String>, RunId) {
    world.outside.script(|ask| match ask.nth {
        1 if ask.call == "link_3" => Does::Fail(10, busy(30_000)),
        _ => Does::Answer(10),
    });
    let class = chain(&world.outside, 4);
    let life = world.live(&[class.erased()]);
    let id = life.start_keyed(&class, minutes("M", 2)).id();
    life.run_for(100);
    assert_eq!(life.in_memory(), 0, "{}", world.describe(id));
    life.crash();
    (class, id)
}

type Spoil = fn(&mut Snapshot);

/// What can become of a state in a store.
const SPOILED: &[(&str, Spoil)] = &[
    ("a schema of a newer version", |snapshot| {
        snapshot.schema += 1
    }),
    ("a schema nobody reads any more", |snapshot| {
        snapshot.schema = 0
    }),
    ("bytes that are cut short", |snapshot| {
        snapshot.state.truncate(snapshot.state.len() - 1)
    }),
    ("no bytes", |snapshot| snapshot.state.clear()),
    ("bytes of something else", |snapshot| {
        snapshot.state.fill(0xff)
    }),
    ("a payload under another's digest", |snapshot| {
        let payload = Payload::from("\"another\"");
        snapshot.payloads.push((Digest::of(b"one"), payload));
    }),
    ("another event than it says", |snapshot| {
        snapshot.seq = snapshot.seq.next();
    }),
];

#[test]
fn a_state_that_cannot_be_used_is_passed_over_and_all_events_are_folded() {
    let world = World::new();
    let (class, id) = parked(&world);
    let good = world.live(&[class.erased()]).outcome_of(&class, id);
    for (what, spoil) in SPOILED {
        let world = World::new();
        let (class, id) = parked(&world);
        world.ledger.spoil(*spoil);
        let before = world.ledger.reads().len();
        let written = world.ledger.events_written();
        let life = world.live(&[class.erased()]);
        let outcome = life.outcome_of(&class, id);
        assert_eq!(outcome.kind, good.kind, "{what}: {}", world.describe(id));
        assert_eq!(
            outcome.result.expect(what),
            good.result.clone().expect("a result")
        );
        let reads = &world.ledger.reads()[before..];
        let whole = Given {
            snapshot: None,
            events: written,
        };
        assert!(reads.contains(&whole), "{what}: {reads:?}");
        world.must_be_sound();
    }
}

#[test]
fn the_state_of_another_run_is_passed_over() {
    let world = World::new();
    world.outside.script(|ask| match ask.nth {
        1 => Does::Fail(10, busy(30_000)),
        _ => Does::Answer(10),
    });
    let class = chain(&world.outside, 1);
    let life = world.live(&[class.erased()]);
    let [one, other] = ["one", "other"].map(|id| life.start(&class, minutes(id, 1)).id());
    life.run_for(100);
    assert_eq!(life.in_memory(), 0);
    life.crash();
    let store = world.ledger.inner();
    let kept = world.executor().block_on(store.load(other));
    let kept = kept.expect("readable").expect("it is there").snapshot;
    store.keep(one, kept.expect("it was parked"));
    let life = world.live(&[class.erased()]);
    for run in [one, other] {
        let outcome = life.outcome_of(&class, run);
        assert_eq!(outcome.kind, OutcomeKind::Completed);
    }
    let asked = |run: RunId| {
        let asks = world.outside.requests("link").into_iter();
        let own = asks.filter(|ask| ask.run == run.to_string());
        own.map(|ask| ask.body.contains("other"))
            .collect::<Vec<_>>()
    };
    assert_eq!(asked(one), [false, false], "its own request, both times");
    assert_eq!(asked(other), [true, true]);
    world.must_be_sound();
}

/// Answers with as much as a payload may hold.
#[derive(Clone)]
struct Large;

const LARGE: usize = limits::PAYLOAD_BYTES_MAX - 2;

impl Read for Large {
    type Request = u32;
    type Reply = String;

    fn name(&self) -> &str {
        "large"
    }

    async fn call(&self, n: u32, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        let letter = char::from(b'a' + u8::try_from(n).expect("few"));
        Ok(String::from(letter).repeat(LARGE).into())
    }
}

/// How many answers of the largest size make 64 MB.
const LARGE_READS: u32 = 16;
const _: () = assert!(LARGE_READS as usize * limits::PAYLOAD_BYTES_MAX == 64 << 20);

/// Reads of 64 MB together, then one that its provider puts off.
fn heavy(world: &World, then: Does) -> Class<Minutes, String> {
    world.outside.script(move |_| then.clone());
    let mut g = TaskClass::<Minutes>::define("heavy", 1);
    g.budget(Budget::new().answer_by(days(1)).cost(1_000));
    for n in 0..LARGE_READS {
        let read = g.read(&format!("large_{n}"), &Large, (), move |_, ()| n);
        read.add();
    }
    let last = world.outside.read("last");
    let last = g
        .read("last", &last, (), |m: &Minutes, ()| m.question())
        .add();
    g.finish(last, |_, told| told.by.clone())
        .expect("a valid class")
}

/// Bytes of the largest record after the first `known` appends of a run.
fn largest_record(world: &World, id: RunId, known: usize) -> usize {
    let bytes = |stamped: &Stamped| {
        let mut payload = Vec::new();
        codec::encode_event(&stamped.event, &mut payload);
        record::HEADER_BYTES + payload.len()
    };
    let new = &world.ledger.log_of(id)[known..];
    assert!(!new.is_empty(), "nothing was written");
    let events = new.iter().flat_map(|append| &append.events);
    events.map(bytes).max().expect("an append has events")
}

/// Everything that a control command makes a run write fits into so many bytes.
const CONTROL_RECORD_BYTES_MAX: usize = 2 * limits::TEXT_BYTES_MAX + 256;

/// A run with 64 MB of state, and how many appends made it.
fn grown(world: &World, then: Does) -> (Class<Minutes, String>, Life, RunId, usize) {
    let class = heavy(world, then);
    let life = world.live(&[class.erased()]);
    let id = life.start_keyed(&class, minutes("M", 1)).id();
    life.run_for(1_000);
    let held = |call: &Call| match &call.phase {
        Phase::Settled { result, .. } => result.len(),
        Phase::Waiting
        | Phase::Preparing
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items
        | Phase::Omitted { .. }
        | Phase::Skipped
        | Phase::Failed { .. } => 0,
    };
    let state = world.state(id);
    let bytes: usize = state.calls().iter().map(|(_, call)| held(call)).sum();
    assert!(64_000_000 < bytes, "{bytes} bytes");
    let appends = world.ledger.log_of(id).len();
    (class, life, id, appends)
}

/// F16, live: canceled while a call is out.
#[test]
fn f16_a_live_run_with_64_mb_of_state_is_canceled_by_a_bounded_record() {
    let world = World::new();
    let (class, life, id, appends) = grown(&world, Does::Hang);
    let why = "it takes too long ".repeat(10_000);
    life.block_on(life.engine.cancel(id, "me", &why))
        .expect("it is open");
    let outcome = life.outcome_of(&class, id);
    assert_eq!(outcome.kind, OutcomeKind::Canceled);
    let largest = largest_record(&world, id, appends);
    assert!(largest <= CONTROL_RECORD_BYTES_MAX, "{largest} bytes");
}

/// F16, parked: loaded from its state, and terminated; then again without its code.
#[test]
fn f16_a_parked_run_with_64_mb_of_state_is_terminated_by_a_bounded_record() {
    for with_code in [true, false] {
        let world = World::new();
        let put_off = Does::Fail(10, busy(Millis::from_hours(1).get()));
        let (class, life, id, appends) = grown(&world, put_off);
        assert_eq!(life.in_memory(), 0, "{}", world.describe(id));
        life.crash();
        let before = world.ledger.reads().len();
        let classes = [class.erased()];
        let life = world.live(if with_code { &classes } else { &[] });
        let why = "it takes too long ".repeat(10_000);
        life.block_on(life.engine.terminate(id, "me", &why))
            .expect("whatever its state");
        let head = world.state(id).head().expect("it began").clone();
        let outcome = head.lap.outcome.expect("it is over");
        assert_eq!(outcome.kind, OutcomeKind::Terminated);
        let largest = largest_record(&world, id, appends);
        assert!(
            largest <= CONTROL_RECORD_BYTES_MAX,
            "{largest} bytes, {with_code}"
        );
        let reads = &world.ledger.reads()[before..];
        let first = reads.first().expect("it was loaded");
        assert!(first.snapshot.is_some() && first.events == 0, "{reads:?}");
    }
}
