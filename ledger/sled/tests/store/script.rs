//! Commits whose content follows from their place, so that it can be checked byte for byte.
//!
//! A pair of runs, `2 n` and `2 n + 1`, is written by one request per sequence number, with a start
//! key of its own: all of it is there afterwards, or none.

use mainstay_ledger::conformance::block_on;
use mainstay_ledger::sample::{
    driven_by, run, stamped, start_key, started, summary, take_start_key, tenant,
};
use mainstay_ledger::{CommitRequest, Ledger, LedgerError, Op, Part, Recorded, Verdict};
use mainstay_ledger_sled::SledLedger;
use mainstay_machine::{Event, RunState};
use mainstay_types::{CallId, Digest, Epoch, Payload, RunId, Rung, Seq};

/// Pseudo-random numbers from a seed (SplitMix64).
#[derive(Clone)]
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// The runs of a pair.
pub(crate) fn runs_of(pair: u32) -> [u32; 2] {
    [2 * pair, 2 * pair + 1]
}

/// The start key that the commit `seq` of a pair takes.
pub(crate) fn mark(pair: u32, seq: u64) -> String {
    format!("pair-{pair}-{seq}")
}

/// What run `n` says at `seq`: mostly small, at times larger than a piece, or than a value.
pub(crate) fn event(n: u32, seq: u64) -> Event {
    let mut draw = Draw(u64::from(n) << 32 | seq);
    let len = match draw.below(40) {
        0 => 70_000 + draw.below(200_000),
        1 | 2 => 5_000 + draw.below(45_000),
        _ => draw.below(400),
    };
    let text: String = (0..len)
        .map(|_| char::from(b'a' + (draw.next() % 26) as u8))
        .collect();
    let payload = Payload::from(format!("\"{text}\""));
    match seq {
        1 => Event::RunStarted(Box::new(started(n, payload))),
        _ => Event::CallSettled {
            call: CallId(n),
            rung: Rung(0),
            result: payload,
        },
    }
}

/// The commit that brings a pair to `seq`.
pub(crate) fn commit(pair: u32, seq: u64) -> CommitRequest {
    let part = |n| Part {
        run: run(n),
        expected_seq: Seq(seq - 1),
        epoch: Epoch(1),
        events: stamped(seq, [event(n, seq)]),
        ops: vec![Op::Summary(summary(n, RunState::Running)), driven_by(1)],
    };
    let [first, second] = runs_of(pair);
    let taken = take_start_key(&mark(pair, seq), "input");
    CommitRequest {
        parts: vec![part(first).with(taken), part(second)],
    }
}

/// Brings a pair to `seq`, and says whether that was acknowledged.
pub(crate) fn advance(ledger: &SledLedger, pair: u32, seq: u64) -> bool {
    let verdicts = block_on(ledger.commit(vec![commit(pair, seq)])).unwrap();
    matches!(verdicts[..], [Verdict::Committed(_)])
}

/// Checks that a pair has every acknowledged commit, and each other one whole or not at all.
pub(crate) fn verify(ledger: &SledLedger, pair: u32, acknowledged: u64) {
    let [first, second] = runs_of(pair).map(|n| length(ledger, n).unwrap());
    assert_eq!(first, second, "pair {pair}: a request is half there");
    assert!(
        acknowledged <= first,
        "pair {pair}: {acknowledged} acknowledged, {first} there"
    );
    for seq in 1..=first + 1 {
        let key = start_key(&mark(pair, seq));
        let taken = block_on(ledger.start_key(tenant("acme"), key)).unwrap();
        let expected = (seq <= first).then(|| (run_of_mark(pair), Digest::of(b"input")));
        assert_eq!(
            taken, expected,
            "pair {pair}: the start key of commit {seq}"
        );
    }
}

fn run_of_mark(pair: u32) -> RunId {
    run(runs_of(pair)[0])
}

/// How many events a run has; each must be the one that was written. 0 when there is no run.
pub(crate) fn length(ledger: &SledLedger, n: u32) -> Result<u64, LedgerError> {
    let events = block_on(ledger.load(run(n)))?.map_or_else(Vec::new, |loaded| loaded.events);
    for Recorded {
        seq, event: found, ..
    } in &events
    {
        assert!(
            *found == event(n, seq.get()),
            "run {n}, event {seq}: not what was written"
        );
    }
    Ok(events.len() as u64)
}
