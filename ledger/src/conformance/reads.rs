//! Checks of what is read back: runs, listings, indexes, classes, time.
//!
//! Listings are bounded: a page that holds everything only because there is little is no proof.

use std::sync::Arc;

use mainstay_machine::RunState;
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

pub(super) fn a_run_is_driven_until_it_is_said_not_to_be(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1).with(Op::Driven(true)));
    bench.must(sample::start_part(2));
    bench.must(sample::next_part(1, 1));
    bench.reopen();
    assert_eq!(bench.driven(None).rows, [sample::run(1)]);
    bench.must(sample::next_part(1, 2).with(Op::Driven(false)));
    bench.reopen();
    assert!(bench.driven(None).rows.is_empty());
    // The later of two operations of one part counts.
    bench.must(
        sample::next_part(2, 1)
            .with(Op::Driven(false))
            .with(Op::Driven(true)),
    );
    assert_eq!(bench.driven(None).rows, [sample::run(2)]);
}

/// Starts runs 0 to `count`, each with this operation.
fn start_many(bench: &Bench<'_>, count: u32, op: impl Fn(u32) -> Op) {
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

fn more_than_a_page() -> u32 {
    u32::try_from(limits::PAGE_ROWS_MAX).expect("the bound is small") + 3
}

pub(super) fn driven_runs_come_in_pages_in_the_order_of_their_ids(bench: &mut Bench<'_>) {
    let count = more_than_a_page();
    start_many(bench, count, |n| Op::Driven(n != 1));
    bench.reopen();
    let first = bench.driven(None);
    let expected = |ids: &mut dyn Iterator<Item = u32>| -> Vec<RunId> {
        ids.filter(|n| *n != 1).map(sample::run).collect()
    };
    assert_eq!(first.rows, expected(&mut (0..count - 2)));
    assert!(first.more);
    let second = bench.driven(first.rows.last().copied());
    assert_eq!(second.rows, expected(&mut (count - 2..count)));
    assert!(!second.more);
    assert!(bench.driven(second.rows.last().copied()).rows.is_empty());
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
    let mut rows = [plain(1), plain(2), plain(3), plain(4)];
    rows[0].tenant = sample::tenant("other");
    rows[1].class = sample::class_ref("procurement", 1);
    rows[2].state = RunState::Quarantined;
    for (n, row) in (1..).zip(rows) {
        bench.must(sample::start_part(n).with(Op::Summary(row)));
    }
    bench.reopen();
    let none = RunFilter::default;
    let tenant = |name| Some(sample::tenant(name));
    let class = |name| Some(ClassName::new(name).expect("a sample name is valid"));
    let state = Some(RunState::Quarantined);
    let filters = [
        (
            RunFilter {
                tenant: tenant("other"),
                ..none()
            },
            1,
        ),
        (
            RunFilter {
                class: class("procurement"),
                ..none()
            },
            2,
        ),
        (RunFilter { state, ..none() }, 3),
    ];
    for (filter, n) in filters {
        assert_eq!(ids(bench, filter), [sample::run(n)]);
    }
    let (class, state) = (class("meeting-analysis"), Some(RunState::Closed));
    let all = RunFilter {
        tenant: tenant("acme"),
        class,
        state,
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
