//! What really reaches sled's file between two syncs, for requests made to be as bad as possible.
//!
//! The disk compares the file with what it was at the sync before; estimates have no say here. What
//! sled's cleaner moves on its own is left out (`settings`).

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use mainstay_ledger::conformance::block_on;
use mainstay_ledger::sample::{effect_key, entry, run, stamped, start_part, started};
use mainstay_ledger::{CommitRequest, Enqueued, HeldKey, InboxCommand, Ledger, Op, Part, Verdict};
use mainstay_machine::{EntryState, Event};
use mainstay_types::{CallId, Digest, Epoch, Payload, Rung, Seq, limits};
use parking_lot::Mutex;

use crate::disk::{DataFile, Disk};
use crate::settings::SEGMENT_BYTES;
use crate::{OpenOptions, SledLedger};

const BLOCK: usize = 4 << 10;

/// sled's largest page may not fit into what is left of a segment, which then is only filled up.
const FILL_BYTES_MAX: usize = 20 * limits::PIECE_BYTES_MAX;

/// Counts the bytes of all blocks that changed since the sync before. What sled fills up the end
/// of a segment with is no data and does not count.
struct Counting {
    data: DataFile,
    path: PathBuf,
    known: Mutex<Vec<[u8; 8]>>,
    changed: Arc<Mutex<Vec<usize>>>,
}

impl Counting {
    fn look(&self) -> usize {
        let bytes = fs::read(&self.path).unwrap();
        let now: Vec<[u8; 8]> = bytes.chunks(BLOCK).map(mark).collect();
        let mut known = self.known.lock();
        known.resize(now.len(), mark(&[0; BLOCK]));
        let fill = mark(&[0; BLOCK]);
        let changed = known.iter().zip(&now);
        let changed = changed.filter(|(old, new)| old != new && **new != fill);
        let changed = changed.count() * BLOCK;
        *known = now;
        changed
    }
}

/// Two blocks of other bytes have other marks, or nearly so.
fn mark(block: &[u8]) -> [u8; 8] {
    let (one, other) = block.split_at(block.len() / 2);
    let (one, other) = (crc32fast::hash(one), crc32fast::hash(other));
    (u64::from(one) << 32 | u64::from(other)).to_le_bytes()
}

impl Disk for Counting {
    fn sync(&self) -> io::Result<()> {
        self.changed.lock().push(self.look());
        self.data.sync()
    }

    fn room(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

struct Bench {
    ledger: SledLedger,
    changed: Arc<Mutex<Vec<usize>>>,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let changed = Arc::new(Mutex::new(Vec::new()));
        let path = folder.path().join("sled/db");
        let disk = |data| -> Box<dyn Disk> {
            let disk = Counting {
                data,
                path,
                known: Mutex::default(),
                changed: Arc::clone(&changed),
            };
            disk.look();
            Box::new(disk)
        };
        let ledger = SledLedger::open_on(folder.path(), OpenOptions::creating(), disk);
        let bench = Self {
            ledger: ledger.unwrap(),
            changed,
            _folder: folder,
        };
        bench.must(vec![start_part(1).into()]);
        bench
    }

    fn must(&self, requests: Vec<CommitRequest>) {
        let verdicts = block_on(self.ledger.commit(requests)).unwrap();
        let all = |verdict: &Verdict| matches!(verdict, Verdict::Committed(_));
        assert!(verdicts.iter().all(all), "{verdicts:?}");
    }

    /// Forgets what was written so far, and checks it.
    fn check(&self, what: &str) {
        let changed = std::mem::take(&mut *self.changed.lock());
        println!("{what}: {changed:?} bytes");
        let most = changed.iter().copied().max().unwrap();
        assert!(
            most < SEGMENT_BYTES - FILL_BYTES_MAX,
            "{what}: {most} bytes between two syncs"
        );
    }
}

fn text(len: usize, n: u32) -> Payload {
    let noise = |at: u32| (at ^ n).wrapping_mul(2_654_435_761).to_le_bytes()[3] % 26;
    let text: String = (0u32..)
        .take(len)
        .map(|at| char::from(b'a' + noise(at)))
        .collect();
    Payload::from(format!("\"{text}\""))
}

/// A turn that settles `count` items whose results have `len` bytes, each with its effect entry.
fn settles(seq: u64, count: u32, len: usize) -> Part {
    let settled = |n: u32| Event::CallSettled {
        call: CallId(n),
        rung: Rung(0),
        result: text(len, n),
    };
    let applied = |n: u32| {
        let state = EntryState::Applied(text(len, n));
        Op::Effect(entry(effect_key("mtg-1", n), 1, n, state))
    };
    Part {
        run: run(1),
        expected_seq: Seq(seq),
        epoch: Epoch(1),
        events: stamped(5, (0..count).map(settled)),
        ops: (0..count).map(applied).collect(),
    }
}

#[test]
fn one_large_request_never_writes_a_segment_between_two_syncs() {
    for (count, len) in [(130, 50 << 10), (400, 3_000), (4_096, 10), (4, 1 << 20)] {
        let bench = Bench::new();
        let part = settles(1, count, len);
        let events: Vec<_> = part.events.iter().map(|s| s.event.clone()).collect();
        bench.must(vec![part.into()]);
        bench.check(&format!("{count} items of {len} bytes"));
        // The same entries again: values that were cut are replaced.
        bench.must(vec![settles(1 + u64::from(count), count, len + 1).into()]);
        bench.check("replaced by others");
        let open = |n: u32| {
            let key = effect_key("mtg-1", n);
            Op::Effect(entry(key, 1, n, EntryState::PartlyApplied))
        };
        let mut small = settles(1 + 2 * u64::from(count), 0, 0);
        small.ops = (0..count).map(open).collect();
        bench.must(vec![small.into()]);
        bench.check("replaced by small ones");
        let loaded = block_on(bench.ledger.load(run(1))).unwrap().unwrap();
        let loaded = loaded.events.into_iter().skip(1).map(|e| e.event);
        assert!(loaded.take(events.len()).eq(events), "{count} of {len}");
        let asking = entry(effect_key("mtg-1", count - 1), 2, 1, EntryState::Open);
        let asking = start_part(2).with(Op::Effect(asking));
        let verdicts = block_on(bench.ledger.commit(vec![asking.into()])).unwrap();
        let Some(Verdict::KeyHeld(HeldKey::Effect { entry, version })) = verdicts.first() else {
            panic!("{verdicts:?}")
        };
        assert_eq!((&entry.state, *version), (&EntryState::PartlyApplied, 3));
    }
}

#[test]
fn a_call_of_many_requests_is_written_in_several_groups_and_answered_in_order() {
    let bench = Bench::new();
    for (first, len) in [(10, 500), (2_000, 20_000)] {
        let starts = |n: u32| {
            let event = Event::RunStarted(Box::new(started(n, text(len, n))));
            let events = stamped(u64::from(n), [event]);
            CommitRequest::from(Part {
                events,
                ..start_part(n)
            })
        };
        let last = first + u32::try_from(limits::COMMIT_GROUP_MAX).unwrap();
        let mut requests: Vec<_> = (first..last - 1).map(starts).collect();
        requests.push(starts(first));
        let verdicts = block_on(bench.ledger.commit(requests)).unwrap();
        let (again, new) = verdicts.split_last().unwrap();
        assert!(
            matches!(again, Verdict::Stale { seq: Seq(1), .. }),
            "{again:?}"
        );
        assert_eq!(new.len(), limits::COMMIT_GROUP_MAX - 1);
        assert!(new.iter().all(|v| matches!(v, Verdict::Committed(_))));
        assert!(1 < bench.changed.lock().len(), "one group took it all");
        bench.check(&format!("starts with {len} bytes"));
        for n in [first, last - 2] {
            assert!(block_on(bench.ledger.load(run(n))).unwrap().is_some());
        }
    }
}

#[test]
fn waking_as_many_runs_as_a_commit_may_stays_within_a_segment_beside_the_largest_request() {
    let bench = Bench::new();
    let waiters = u32::try_from(limits::KEY_WAITERS_MAX).unwrap();
    let items = 10;
    let long = |n: u32| effect_key(&"k".repeat(limits::KEY_BYTES_MAX - 2), n);
    let writes = |n, state| Op::Effect(entry(long(n), 1, n, state));
    let quiet = |n| Part {
        run: run(n),
        expected_seq: Seq(1),
        epoch: Epoch(1),
        events: Vec::new(),
        ops: Vec::new(),
    };
    let mut held = quiet(1);
    held.ops = (0..items).map(|n| writes(n, EntryState::Open)).collect();
    bench.must(vec![held.into()]);
    for n in 2..waiters + 2 {
        let mut part = start_part(n);
        part.ops = (0..items)
            .map(|n| Op::Wait {
                key: long(n),
                version: 1,
            })
            .collect();
        bench.must(vec![part.into()]);
    }
    bench.check("waiting");
    let woken = |bench: &Bench| -> usize {
        let inbox = |n| block_on(bench.ledger.load(run(n))).unwrap().unwrap().inbox;
        (2..waiters + 2).map(|n| inbox(n).len()).sum()
    };
    // As large as a request may be, or nearly so: some are told, and it is committed.
    let mut large = settles(1, 4_900, 10);
    let settled = (0..items).map(|n| writes(n, EntryState::PartlyApplied));
    large.ops.extend(settled);
    bench.must(vec![large.into()]);
    bench.check("a large request that wakes");
    let some = woken(&bench);
    assert!(
        (1..limits::KEY_WAKES_MAX).contains(&some),
        "{some} were told"
    );
    let mut small = quiet(1);
    small.expected_seq = Seq(4_901);
    small.ops = (0..items)
        .map(|n| writes(n, EntryState::NotApplied))
        .collect();
    bench.must(vec![small.into()]);
    bench.check("a small request that wakes");
    let all = usize::try_from(waiters * items).unwrap();
    let told = woken(&bench) - some;
    assert_eq!(told, (all - some).min(limits::KEY_WAKES_MAX));
}

#[test]
fn a_command_with_the_largest_result_is_written_in_parts() {
    let bench = Bench::new();
    let end = mainstay_machine::SettleEnd::Answered {
        result: text(limits::PAYLOAD_BYTES_MAX - 2, 1),
        cost: None,
        client_retries: 0,
    };
    let (call, attempt) = (CallId(1), mainstay_types::AttemptNo(1));
    let command = InboxCommand::Settle { call, attempt, end };
    let id = mainstay_ledger::sample::message(1);
    let enqueued = block_on(bench.ledger.enqueue(run(1), id, command));
    assert_eq!(enqueued, Ok(Enqueued::New));
    assert!(2 < bench.changed.lock().len(), "it went in one part");
    bench.check("a large command");
    let part = settles(1, 1, 10);
    let part = Part {
        ops: vec![Op::InboxAck(id)],
        ..part
    };
    bench.must(vec![part.into()]);
    bench.check("a large command that is taken");
}

#[test]
fn a_request_that_stays_too_large_however_it_is_cut_is_answered_full() {
    let bench = Bench::new();
    let mut part = settles(1, 1, 10);
    part.ops = (0..20_000)
        .map(|n| Op::StartKey {
            tenant: mainstay_ledger::sample::tenant("acme"),
            key: mainstay_ledger::sample::start_key(&format!("k{n}")),
            input: Digest::of(b""),
        })
        .collect();
    let verdicts = block_on(bench.ledger.commit(vec![part.into()])).unwrap();
    assert_eq!(verdicts, [Verdict::Full]);
    bench.must(vec![settles(1, 1, 10).into()]);
    bench.check("nothing of it");
    let loaded = block_on(bench.ledger.load(run(1))).unwrap().unwrap();
    assert_eq!(loaded.events.len(), 2);
}
