//! Checks of alerts: numbered without a gap in the order of commits, and never lost.

use std::collections::BTreeMap;

use mainstay_machine::Alert;
use mainstay_types::{AlertSeq, RunId, limits};

use super::concurrent::{THREADS, at_once, commit};
use super::{Bench, committed};
use crate::alert::StoredAlert;
use crate::commit::{Op, Part, Verdict};
use crate::sample;

fn alerts(bench: &Bench<'_>) -> Vec<StoredAlert> {
    bench.alerts(AlertSeq(0)).rows
}

/// The `n`-th run's alert, which says `reason`.
fn about(n: u32, reason: &str) -> Alert {
    Alert {
        reason: reason.to_owned(),
        ..sample::alert(n)
    }
}

fn numbered(alerts: impl IntoIterator<Item = Alert>) -> Vec<StoredAlert> {
    let seqs = (1..).map(AlertSeq);
    seqs.zip(alerts)
        .map(|(seq, alert)| StoredAlert { seq, alert })
        .collect()
}

pub(super) fn alerts_are_numbered_in_the_order_of_their_commits(bench: &mut Bench<'_>) {
    assert!(alerts(bench).is_empty());
    bench.must(sample::start_part(2));
    let alert = |n, reason| Op::Alert(about(n, reason));
    let group = vec![
        sample::start_part(1)
            .with(alert(1, "A"))
            .with(alert(1, "B"))
            .into(),
        // Refused: it takes no number.
        sample::next_part(2, 9).with(alert(2, "X")).into(),
        sample::next_part(2, 1).with(alert(2, "C")).into(),
    ];
    let verdicts = bench.group(group);
    assert!(matches!(verdicts[1], Verdict::Stale { .. }), "{verdicts:?}");
    bench.reopen();
    let quiet = Part {
        events: Vec::new(),
        ..sample::next_part(1, 1)
    };
    assert_eq!(bench.commit(quiet.with(alert(1, "D"))), committed([1]));
    bench.reopen();
    let expected = [(1, "A"), (1, "B"), (2, "C"), (1, "D")].map(|(n, reason)| about(n, reason));
    assert_eq!(alerts(bench), numbered(expected));
}

pub(super) fn alerts_come_in_pages_after_a_number(bench: &mut Bench<'_>) {
    let count = limits::PAGE_ROWS_MAX + 3;
    let all: Vec<Alert> = (0..count).map(|n| about(1, &n.to_string())).collect();
    bench.must(sample::start_part(1));
    for (seq, some) in (1..).zip(all.chunks(250)) {
        let part = sample::next_part(1, seq);
        let ops = some.iter().cloned().map(Op::Alert).collect();
        bench.must(Part { ops, ..part });
    }
    bench.reopen();
    let all = numbered(all);
    let first = bench.alerts(AlertSeq(0));
    assert_eq!(first.rows, all[..limits::PAGE_ROWS_MAX]);
    assert!(first.more);
    let last = first.rows.last().expect("a full page").seq;
    let second = bench.alerts(last);
    assert_eq!(second.rows, all[limits::PAGE_ROWS_MAX..]);
    assert!(!second.more);
    for beyond in [second.rows[2].seq, AlertSeq(9_999), AlertSeq(u64::MAX)] {
        let page = bench.alerts(beyond);
        assert!(page.rows.is_empty() && !page.more, "after {beyond}");
    }
}

pub(super) fn alerts_of_many_threads_have_each_number_once_and_keep_their_order(
    bench: &mut Bench<'_>,
) {
    const EACH: u64 = 12;
    let ledger = bench.ledger();
    at_once(|n| {
        commit(ledger, sample::start_part(n));
        for seq in 1..=EACH {
            let alert = Op::Alert(about(n, &seq.to_string()));
            let verdict = commit(ledger, sample::next_part(n, seq).with(alert));
            assert_eq!(verdict, committed([seq + 1]));
        }
    });
    bench.reopen();
    let stored = alerts(bench);
    let seqs: Vec<u64> = stored.iter().map(|stored| stored.seq.get()).collect();
    let count = u64::from(THREADS) * EACH;
    assert_eq!(seqs, (1..=count).collect::<Vec<_>>());
    let mut of_runs: BTreeMap<RunId, Vec<String>> = BTreeMap::new();
    for StoredAlert { alert, .. } in stored {
        of_runs.entry(alert.run).or_default().push(alert.reason);
    }
    let in_order: Vec<String> = (1..=EACH).map(|seq| seq.to_string()).collect();
    assert_eq!(of_runs.len(), usize::try_from(THREADS).expect("few"));
    assert!(of_runs.values().all(|reasons| *reasons == in_order));
}
