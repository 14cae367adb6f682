//! Checks of what is read back: runs, listings, indexes, classes, time.
//!
//! Listings are bounded: a page that holds everything only because there is little is no proof.

use std::sync::Arc;

use mainstay_machine::{OutcomeKind, RunState, StateReason, Summary};
use mainstay_types::{ClassName, ClassVersion, RunId, Timestamp, limits};

use super::{Bench, block_on};
use crate::commit::{Op, Part};
use crate::query::{RunFilter, StoredClass};
use crate::sample;

pub(super) fn a_run_that_does_not_exist_loads_as_nothing(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(2));
    for n in [1, 3] {
        assert!(bench.load(n).is_none());
    }
    let all_ones = RunId::from_bytes([0xff; 16]);
    assert!(
        block_on(bench.ledger().load(all_ones))
            .expect("readable")
            .is_none()
    );
}

/// Starts runs 0 to `count`, each with this operation.
pub(super) fn start_many(bench: &Bench<'_>, count: u32, op: impl Fn(u32) -> Op) {
    let runs: Vec<u32> = (0..count).collect();
    for group in runs.chunks(limits::COMMIT_GROUP_MAX) {
        bench.group(
            group
                .iter()
                .map(|&n| sample::start_part(n).with(op(n)).into())
                .collect(),
        );
    }
}

pub(super) fn more_than_a_page() -> u32 {
    u32::try_from(limits::PAGE_ROWS_MAX).expect("the bound is small") + 3
}

fn listed(n: u32, state: RunState) -> Op {
    Op::Summary(sample::summary(n, state))
}

fn ids(bench: &Bench<'_>, filter: RunFilter) -> Vec<RunId> {
    bench
        .runs(filter, None)
        .rows
        .iter()
        .map(|row| row.run)
        .collect()
}

pub(super) fn runs_are_listed_newest_first_as_they_stand_now(bench: &mut Bench<'_>) {
    for n in [3, 1, 2] {
        bench.must(sample::start_part(n).with(listed(n, RunState::Running)));
    }
    bench.must(sample::next_part(2, 1).with(listed(2, RunState::Ended)));
    bench.reopen();
    let page = bench.runs(RunFilter::default(), None);
    let expected = [
        sample::summary(3, RunState::Running),
        sample::summary(2, RunState::Ended),
        sample::summary(1, RunState::Running),
    ];
    assert_eq!(page.rows, expected);
    assert!(!page.more);
}

pub(super) fn a_listing_shows_only_what_its_filter_lets_pass(bench: &mut Bench<'_>) {
    let plain = |n| sample::summary(n, RunState::Closed);
    let mut rows = [plain(1), plain(2), plain(3), plain(4), plain(5), plain(6)];
    rows[0].tenant = sample::tenant("other");
    rows[1].class = sample::class_ref("procurement", 1);
    rows[2].state = RunState::Quarantined;
    rows[4].outcome = Some(OutcomeKind::Terminated);
    rows[5].in_doubt = 0;
    for (n, row) in (1..).zip(rows) {
        bench.must(sample::start_part(n).with(Op::Summary(row)));
    }
    bench.reopen();
    let none = RunFilter::default;
    let tenant = |name| Some(sample::tenant(name));
    let class = |name| Some(ClassName::new(name).expect("a sample name is valid"));
    let (other, procurement) = (tenant("other"), class("procurement"));
    let state = Some(RunState::Quarantined);
    let outcome = Some(OutcomeKind::Terminated);
    let in_doubt = Some(false);
    let filters = [
        RunFilter {
            tenant: other,
            ..none()
        },
        RunFilter {
            class: procurement,
            ..none()
        },
        RunFilter { state, ..none() },
        RunFilter { outcome, ..none() },
        RunFilter { in_doubt, ..none() },
    ];
    for (filter, n) in filters.into_iter().zip([1, 2, 3, 5, 6]) {
        assert_eq!(ids(bench, filter), [sample::run(n)]);
    }
    let (class, state) = (class("meeting-analysis"), Some(RunState::Closed));
    let all = RunFilter {
        tenant: tenant("acme"),
        class,
        state,
        outcome: Some(OutcomeKind::Degraded),
        in_doubt: Some(true),
    };
    assert_eq!(ids(bench, all.clone()), [sample::run(4)]);
    let nobody = RunFilter {
        tenant: tenant("nobody"),
        ..all
    };
    assert!(ids(bench, nobody).is_empty());
}

pub(super) fn a_listing_goes_on_before_its_cursor(bench: &mut Bench<'_>) {
    let count = more_than_a_page();
    start_many(bench, count, |n| listed(n, RunState::Closed));
    bench.reopen();
    let first = bench.runs(RunFilter::default(), None);
    assert_eq!(first.rows.len(), limits::PAGE_ROWS_MAX);
    assert!(first.more);
    let cursor = first.rows.last().map(|row| row.run);
    let second = bench.runs(RunFilter::default(), cursor);
    assert!(!second.more);
    let shown: Vec<RunId> = first
        .rows
        .iter()
        .chain(&second.rows)
        .map(|row| row.run)
        .collect();
    let newest_first: Vec<RunId> = (0..count).rev().map(sample::run).collect();
    assert_eq!(shown, newest_first);
}

pub(super) fn a_run_has_the_row_that_was_written_last(bench: &mut Bench<'_>) {
    let row = |bench: &Bench<'_>, n| {
        block_on(bench.ledger().summary(sample::run(n))).expect("a row that can be read")
    };
    bench.must(sample::start_part(1));
    assert_eq!((row(bench, 1), row(bench, 2)), (None, None));
    bench.must(sample::next_part(1, 1).with(listed(1, RunState::Running)));
    let waiting = Summary {
        reason: Some(StateReason::KeyHeld),
        ..sample::summary(1, RunState::Waiting)
    };
    bench.must(sample::next_part(1, 2).with(Op::Summary(waiting.clone())));
    bench.commit(sample::next_part(1, 2).with(listed(1, RunState::Closed)));
    bench.reopen();
    assert_eq!(row(bench, 1), Some(waiting));
}

fn find(bench: &Bench<'_>, name: &str, version: u32) -> Option<StoredClass> {
    let name = ClassName::new(name).expect("a sample name is valid");
    let class = bench.ledger().class(name, ClassVersion(version));
    block_on(class).expect("a class that can be read")
}

pub(super) fn a_class_is_stored_once_and_found_again(bench: &mut Bench<'_>) {
    assert_eq!(find(bench, "meeting-analysis", 3), None);
    bench.must(sample::start_part(1).with(sample::store_class("meeting-analysis", 3)));
    let mut changed = sample::class("meeting-analysis", 3);
    changed.nodes.truncate(1);
    changed.result.clear();
    bench.must(sample::start_part(2).with(Op::Class(Arc::new(changed))));
    bench.reopen();
    let stored = find(bench, "meeting-analysis", 3).expect("it was stored");
    let first = sample::class("meeting-analysis", 3);
    assert_eq!(stored.fingerprint, first.fingerprint());
    assert_eq!(*stored.class, first);
    assert_eq!(find(bench, "meeting-analysis", 4), None);
    assert_eq!(find(bench, "meeting", 3), None);
}

pub(super) fn classes_are_listed_by_name_and_version(bench: &mut Bench<'_>) {
    let known = [("b", 2), ("a", 10), ("b", 1), ("a", 2), ("a-b", 1)];
    for (n, (name, version)) in (1..).zip(known) {
        bench.must(sample::start_part(n).with(sample::store_class(name, version)));
    }
    bench.reopen();
    let classes = block_on(bench.ledger().classes()).expect("classes that can be read");
    let listed: Vec<(&str, u32)> = classes
        .iter()
        .map(|stored| (stored.class.name.as_str(), stored.class.version.0))
        .collect();
    assert_eq!(
        listed,
        [("a", 2), ("a", 10), ("a-b", 1), ("b", 1), ("b", 2)]
    );
}

fn last_time(bench: &Bench<'_>) -> Option<Timestamp> {
    block_on(bench.ledger().last_time()).expect("a time that can be read")
}

pub(super) fn the_newest_time_is_remembered(bench: &mut Bench<'_>) {
    assert_eq!(last_time(bench), None);
    bench.must(sample::start_part(1));
    let skipped = |ms| {
        sample::next_part(1, 1)
            .events
            .into_iter()
            .map(move |mut stamped| {
                stamped.at = sample::at(ms);
                stamped
            })
    };
    let events = skipped(9_000).chain(skipped(4_000)).collect();
    bench.must(Part {
        events,
        ..sample::next_part(1, 1)
    });
    assert_eq!(last_time(bench), Some(sample::at(9_000)));
    // A refused commit leaves no time behind, an older event does not turn it back.
    bench.commit(Part {
        events: skipped(99_000).collect(),
        ..sample::next_part(1, 77)
    });
    bench.must(Part {
        events: skipped(5_000).collect(),
        ..sample::next_part(1, 3)
    });
    bench.reopen();
    assert_eq!(last_time(bench), Some(sample::at(9_000)));
}
