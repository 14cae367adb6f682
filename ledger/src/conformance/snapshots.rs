//! Checks of what is kept of a run's state, and of its history whatever is kept.
//!
//! A snapshot is a hint, but where nothing fails a ledger that keeps some gives the newest it took:
//! else no check here would have seen one. One that keeps none says so and gives all events.

use std::sync::Arc;

use mainstay_machine::{Event, Prepared, Run, RunState, apply};
use mainstay_types::{CallId, Digest, Payload, Rung, Seq, Timestamp, limits};

use super::{Bench, block_on};
use crate::codec::{decode_snapshot, encode_snapshot};
use crate::commit::{CommitRequest, Op, Part, Stamped, Verdict};
use crate::drive::Drive;
use crate::query::{Loaded, Page, Recorded};
use crate::sample;
use crate::snapshot::Snapshot;

impl Bench<'_> {
    fn keep(&self, n: u32, snapshot: &Snapshot) {
        self.ledger().keep(sample::run(n), snapshot.clone());
    }

    /// What is kept of a run; `None` also of a ledger that keeps nothing.
    fn kept(&self, n: u32) -> Option<Snapshot> {
        self.load(n).expect("a run of this id").snapshot
    }

    /// What a ledger that keeps states has to give.
    fn if_kept<T>(&self, given: T) -> Option<T> {
        self.subject.kept_bytes().map(|_| given)
    }

    fn history(&self, n: u32, after: Seq) -> Option<Page<Recorded>> {
        let page = self.ledger().history(sample::run(n), after);
        block_on(page).expect("a history that can be read")
    }
}

/// A state of no shape that anybody knows: a ledger must not ask.
fn opaque(seq: u64, state: &[u8], payloads: impl IntoIterator<Item = Payload>) -> Snapshot {
    let mut payloads: Vec<_> = payloads
        .into_iter()
        .map(|payload| (payload.digest(), payload))
        .collect();
    payloads.sort_by_key(|(digest, _)| *digest);
    Snapshot {
        seq: Seq(seq),
        schema: u32::MAX,
        state: state.to_vec(),
        payloads,
    }
}

/// Starts the `n`-th run and drives it.
fn start(bench: &Bench<'_>, n: u32) {
    let row = Op::Summary(sample::summary(n, RunState::Running));
    bench.must(sample::start_part(n).with(sample::driven_by(1)).with(row));
}

/// Appends those events of a log that follow the first `done`. A take-over begins a part.
fn append(bench: &Bench<'_>, n: u32, (log, done): (&[Stamped], usize)) {
    let mut requests: Vec<CommitRequest> = Vec::new();
    let mut epoch = sample::start_part(n).epoch;
    for (at, stamped) in log.iter().enumerate() {
        let mut takes = false;
        if let Event::LeaseTaken(taken) = &stamped.event {
            (takes, epoch) = (true, taken.epoch);
        }
        if at < done {
            continue;
        }
        match requests.last_mut() {
            Some(request) if !takes => request.parts[0].events.push(stamped.clone()),
            Some(_) | None => requests.push(CommitRequest::from(Part {
                run: sample::run(n),
                expected_seq: Seq(at as u64),
                epoch,
                events: vec![stamped.clone()],
                ops: vec![sample::driven_by(1)],
            })),
        }
    }
    let verdicts = bench.group(requests);
    let is_done = |verdict: &Verdict| matches!(verdict, Verdict::Committed(_));
    assert!(verdicts.iter().all(is_done), "{verdicts:?}");
}

/// The states that a log makes, each with the newest time in it.
fn states(log: &[Stamped]) -> Vec<(Run, Timestamp)> {
    let mut run = Run::unborn(Arc::new(sample::class("meeting-analysis", 3)));
    let mut newest = Timestamp::from_millis(i64::MIN);
    let after = log.iter().map(|stamped| {
        apply(&mut run, &stamped.event).expect("the events of the story follow each other");
        newest = newest.max(stamped.at);
        (run.clone(), newest)
    });
    after.collect()
}

/// The state that what was loaded makes.
fn made(loaded: &Loaded) -> Run {
    let class = Arc::new(sample::class("meeting-analysis", 3));
    let mut run = match &loaded.snapshot {
        Some(snapshot) => {
            let kept = decode_snapshot(snapshot).expect("the state that was given");
            Run::from_parts(class, kept.parts).expect("parts of this class")
        }
        None => Run::unborn(class),
    };
    for recorded in &loaded.events {
        assert_eq!(recorded.seq, run.seq().next(), "dense after the snapshot");
        apply(&mut run, &recorded.event).expect("it was applied before");
    }
    run
}

pub(super) fn a_snapshot_and_the_events_after_it_make_what_all_events_make(bench: &mut Bench<'_>) {
    let log = sample::story(1);
    let states = states(&log);
    let last = &states.last().expect("the story has events").0;
    let runs: Vec<u32> = (1..).take(states.len()).collect();
    for (&n, (done, (state, newest))) in runs.iter().zip((1..).zip(&states)) {
        append(bench, n, (&log[..done], 0));
        let snapshot = encode_snapshot(state, *newest).expect("it has started");
        bench.keep(n, &snapshot);
        append(bench, n, (&log, done));
        assert_eq!(bench.kept(n), bench.if_kept(snapshot), "at event {done}");
    }
    let whole = |bench: &Bench<'_>| {
        for &n in &runs {
            let loaded = bench.load(n).expect("it was written");
            assert_eq!(loaded.seq(), last.seq());
            assert!(made(&loaded) == *last, "kept at event {n}");
        }
    };
    whole(bench);
    bench.reopen();
    whole(bench);
}

pub(super) fn a_snapshot_of_another_event_than_the_newest_is_dropped(bench: &mut Bench<'_>) {
    start(bench, 1);
    bench.must(sample::next_part(1, 1));
    bench.must(sample::next_part(1, 2));
    for (n, seq) in [(1, 0), (1, 2), (1, 4), (2, 0), (2, 3)] {
        bench.keep(n, &opaque(seq, b"not the newest", []));
    }
    assert_eq!(bench.kept(1), None);
    assert!(bench.load(2).is_none(), "a snapshot makes no run");
    let newest = opaque(3, b"the newest", []);
    bench.keep(1, &newest);
    bench.must(sample::next_part(1, 3));
    bench.keep(1, &opaque(3, b"not the newest any more", []));
    assert_eq!(bench.kept(1), bench.if_kept(newest));
    bench.must(sample::next_part(1, 4));
    let all: Vec<u64> = match bench.if_kept(()) {
        Some(()) => vec![4, 5],
        None => vec![1, 2, 3, 4, 5],
    };
    let events = bench.load(1).expect("it was written").events;
    let seqs: Vec<u64> = events.iter().map(|recorded| recorded.seq.get()).collect();
    assert_eq!(seqs, all);
}

pub(super) fn the_newest_snapshot_is_the_one_that_is_given(bench: &mut Bench<'_>) {
    for n in [1, 2] {
        start(bench, n);
    }
    let payload = |n: u32, seq: u64| Payload::from(format!("[{n},{seq}]").repeat(300));
    let state = |n, seq| opaque(seq, format!("{n} at {seq}").as_bytes(), [payload(n, seq)]);
    for seq in 1..=3 {
        for n in [1, 2] {
            bench.keep(n, &state(n, seq));
            // The same again is no news.
            bench.keep(n, &state(n, seq));
            assert_eq!(bench.kept(n), bench.if_kept(state(n, seq)));
            bench.must(sample::next_part(n, seq));
        }
    }
    bench.reopen();
    for n in [1, 2] {
        let loaded = bench.load(n).expect("it was written");
        assert_eq!(loaded.seq(), Seq(4));
        if let Some(kept) = loaded.snapshot {
            assert_eq!(kept, state(n, kept.seq.get()), "as it was given, if at all");
        }
    }
}

pub(super) fn nothing_is_kept_of_a_closed_run_until_it_goes_on(bench: &mut Bench<'_>) {
    let row = |state| Op::Summary(sample::summary(1, state));
    start(bench, 1);
    bench.keep(1, &opaque(1, b"running", []));
    let closing = sample::next_part(1, 1).with(row(RunState::Closed));
    bench.must(closing.with(Op::Drive(Drive::Off)));
    assert_eq!(bench.kept(1), None);
    bench.keep(1, &opaque(2, b"closed", []));
    assert_eq!(bench.kept(1), None);
    assert_eq!(bench.events(1).len(), 2, "all of them");
    let lap = sample::next_part(1, 2).with(row(RunState::Running));
    bench.must(lap.with(sample::driven_by(1)));
    assert_eq!(bench.kept(1), None, "what was kept before is gone");
    let again = opaque(3, b"running again", []);
    bench.keep(1, &again);
    assert_eq!(bench.kept(1), bench.if_kept(again));
}

pub(super) fn a_large_state_and_its_payloads_come_back_whole(bench: &mut Bench<'_>) {
    start(bench, 1);
    let large = |letter: u8| Payload::new(vec![letter; limits::PAYLOAD_BYTES_MAX]);
    let many = (0..300u32).map(|n| Payload::from(format!("\"{n}\"").repeat(300)));
    let state: Vec<u8> = (0..3u32 << 20).map(|n| n.to_le_bytes()[1]).collect();
    let snapshot = opaque(
        1,
        &state,
        [large(b'1'), large(b'2')].into_iter().chain(many),
    );
    bench.keep(1, &snapshot);
    assert!(bench.kept(1) == bench.if_kept(snapshot.clone()));
    bench.must(sample::next_part(1, 1));
    bench.reopen();
    let loaded = bench.load(1).expect("it was written");
    assert!(loaded.snapshot.is_none_or(|kept| kept == snapshot));
    // Nothing at all is a state too.
    let nothing = opaque(2, b"", []);
    bench.keep(1, &nothing);
    assert_eq!(bench.kept(1), bench.if_kept(nothing));
}

pub(super) fn a_payload_is_stored_once_however_many_snapshots_have_it(bench: &mut Bench<'_>) {
    const ROUNDS: u64 = 24;
    let large = Payload::new(vec![b'1'; 1 << 20]);
    start(bench, 1);
    bench.keep(1, &opaque(1, b"0", [large.clone()]));
    let before = bench.subject.kept_bytes();
    for seq in 1..=ROUNDS {
        bench.must(sample::next_part(1, seq));
        bench.keep(1, &opaque(seq + 1, b"1", [large.clone()]));
    }
    let last = opaque(ROUNDS + 1, b"1", [large.clone()]);
    assert_eq!(bench.kept(1), bench.if_kept(last));
    if let (Some(before), Some(after)) = (before, bench.subject.kept_bytes()) {
        let grown = after.saturating_sub(before);
        let large = large.len() as u64;
        assert!(large <= before, "{before} bytes with the payload in them");
        assert!(
            grown < 2 * large,
            "{grown} bytes more, {ROUNDS} snapshots later"
        );
    }
}

/// Payloads in one event, an event after the other.
fn answers(bench: &Bench<'_>, seq: u64, bytes: impl IntoIterator<Item = usize>) -> Vec<Event> {
    let events = bytes.into_iter().map(|bytes| Event::CallSettled {
        call: CallId(0),
        rung: Rung(0),
        result: Payload::new(vec![b'1'; bytes]),
    });
    let events: Vec<Event> = events.collect();
    bench.must(Part {
        events: sample::stamped(200, events.iter().cloned()),
        ..sample::next_part(1, seq)
    });
    events
}

/// The pages of a run's history after an event, each with its bounds proven.
fn pages(bench: &Bench<'_>, n: u32, mut after: Seq) -> Vec<Vec<Recorded>> {
    let mut pages = Vec::new();
    loop {
        let page = bench.history(n, after).expect("a run of this id");
        assert!(page.rows.len() <= limits::PAGE_EVENTS_MAX);
        for recorded in &page.rows {
            assert_eq!(recorded.seq, after.next(), "dense after the cursor");
            after = recorded.seq;
        }
        let is_last = !page.more;
        assert!(
            is_last || !page.rows.is_empty(),
            "a page that leads nowhere"
        );
        pages.push(page.rows);
        if is_last {
            return pages;
        }
    }
}

pub(super) fn a_history_is_whole_whatever_is_kept(bench: &mut Bench<'_>) {
    assert_eq!(bench.history(1, Seq(0)), None, "there is no such run");
    start(bench, 1);
    let small = answers(bench, 1, (0..limits::PAGE_EVENTS_MAX + 400).map(|n| n % 7));
    let seq = small.len() as u64 + 1;
    bench.keep(1, &opaque(seq, b"in the middle", []));
    let tail = answers(bench, seq, [1, 2, 3]);
    let read = |bench: &Bench<'_>, after| {
        let pages = pages(bench, 1, Seq(after));
        let events = pages.iter().flatten().map(|recorded| &recorded.event);
        (pages.len(), events.cloned().collect::<Vec<_>>())
    };
    let whole: Vec<Event> = small.into_iter().chain(tail).collect();
    for _ in 0..2 {
        let (pages, events) = read(bench, 1);
        assert!(2 <= pages, "{pages} pages");
        assert!(events == whole, "all that was written");
        for after in [0, seq - 1, seq, seq + 1, seq + 3] {
            let (_, events) = read(bench, after);
            let rest = usize::try_from((seq + 3) - after).expect("small");
            assert_eq!(events.len(), rest, "after {after}");
        }
        let beyond = bench.history(1, Seq(seq + 99)).expect("there is the run");
        assert!(beyond.rows.is_empty() && !beyond.more);
        bench.reopen();
    }
}

pub(super) fn a_page_of_a_history_is_bounded_in_bytes(bench: &mut Bench<'_>) {
    start(bench, 1);
    let third = limits::PAGE_EVENT_BYTES_MAX / 3;
    answers(bench, 1, [third; 5]);
    // One that is larger than a page by itself.
    let item = |letter| Prepared {
        request: Payload::new(vec![letter; limits::PAYLOAD_BYTES_MAX]),
        fingerprint: Digest::of(&[letter]),
        business_id: None,
    };
    let list = Event::ListRecorded {
        call: CallId(1),
        items: vec![item(b'1'), item(b'2'), item(b'3')],
    };
    bench.must(Part {
        events: sample::stamped(300, [list.clone()]),
        ..sample::next_part(1, 6)
    });
    answers(bench, 7, [1]);
    bench.reopen();
    let pages = pages(bench, 1, Seq(1));
    let seqs: Vec<Vec<u64>> = pages
        .iter()
        .map(|page| page.iter().map(|recorded| recorded.seq.get()).collect())
        .collect();
    assert_eq!(seqs, [vec![2, 3], vec![4, 5], vec![6], vec![7], vec![8]]);
    assert!(pages[3][0].event == list);
}
