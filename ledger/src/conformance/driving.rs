//! Checks of how runs are driven: rows replace each other, and what wakes comes in order.
//!
//! Leases are not checked here: who can still be alive depends on the backend.

use std::collections::BTreeMap;

use mainstay_types::{RunId, Timestamp, limits};

use super::draw::Draw;
use super::reads::{more_than_a_page, start_many};
use super::{Bench, block_on};
use crate::commit::{Op, Part};
use crate::drive::{Drive, Driving};
use crate::sample;

const OFF: Op = Op::Drive(Drive::Off);
const PARKED: Op = Op::Drive(Drive::Parked { wake_at: None });

pub(super) fn a_run_is_driven_until_it_is_said_not_to_be(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1).with(sample::driven_by(7)));
    bench.must(sample::start_part(2));
    bench.must(sample::next_part(1, 1));
    bench.reopen();
    let driving = Driving {
        run: sample::run(1),
        worker: sample::worker(7),
        lease_until: None,
    };
    assert_eq!(bench.driven(None).rows, [driving]);
    bench.must(sample::next_part(1, 2).with(OFF));
    bench.reopen();
    assert!(bench.driven(None).rows.is_empty());
    // The later of two operations of one part counts.
    bench.must(
        sample::next_part(2, 1)
            .with(PARKED)
            .with(sample::driven_by(7)),
    );
    assert_eq!(bench.driven_ids(), [sample::run(2)]);
}

pub(super) fn driven_runs_come_in_pages_in_the_order_of_their_ids(bench: &mut Bench<'_>) {
    let count = more_than_a_page();
    start_many(bench, count, |n| match n {
        1 => OFF,
        n => sample::driven_by(n),
    });
    bench.reopen();
    let first = bench.driven(None);
    let driving = |n| Driving {
        run: sample::run(n),
        worker: sample::worker(n),
        lease_until: None,
    };
    let expected = |ids: &mut dyn Iterator<Item = u32>| -> Vec<Driving> {
        ids.filter(|n| *n != 1).map(driving).collect()
    };
    assert_eq!(first.rows, expected(&mut (0..count - 2)));
    assert!(first.more);
    let second = bench.driven(first.rows.last().map(|row| row.run));
    assert_eq!(second.rows, expected(&mut (count - 2..count)));
    assert!(!second.more);
    let last = second.rows.last().map(|row| row.run);
    assert!(bench.driven(last).rows.is_empty());
}

pub(super) fn a_worker_that_gave_up_its_lease_is_gone(bench: &mut Bench<'_>) {
    let worker = sample::worker(1);
    let lease = |until| block_on(bench.ledger().lease(worker, until)).expect("a lease is taken");
    bench.must(sample::start_part(1).with(sample::driven_by(1)));
    lease(Some(sample::at(5_000)));
    lease(None);
    let page = bench.driven(None);
    let leases: Vec<_> = page.rows.iter().map(|row| row.lease_until).collect();
    assert_eq!(leases, [None]);
}

pub(super) fn a_parked_run_wakes_at_its_newest_moment_and_is_not_driven(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1).with(sample::driven_by(1)));
    bench.must(sample::next_part(1, 1).with(sample::parked_until(900)));
    bench.must(sample::next_part(1, 2).with(sample::parked_until(400)));
    bench.reopen();
    assert_eq!(wakes(bench), [(sample::at(400), sample::run(1))]);
    assert!(bench.driven(None).rows.is_empty());
    // The same moment again, and one before all others.
    bench.must(sample::next_part(1, 3).with(sample::parked_until(400)));
    assert_eq!(wakes(bench), [(sample::at(400), sample::run(1))]);
    let before = Timestamp::from_millis(-5);
    let early = Op::Drive(Drive::Parked {
        wake_at: Some(before),
    });
    bench.must(sample::start_part(2).with(early));
    bench.reopen();
    assert_eq!(
        wakes(bench),
        [(before, sample::run(2)), (sample::at(400), sample::run(1))]
    );
    bench.must(sample::next_part(1, 4).with(sample::driven_by(2)));
    bench.must(sample::next_part(2, 1).with(PARKED));
    bench.reopen();
    assert!(wakes(bench).is_empty());
    assert_eq!(bench.driven_ids(), [sample::run(1)]);
}

pub(super) fn a_refused_commit_parks_nothing(bench: &mut Bench<'_>) {
    bench.must(sample::start_part(1).with(sample::driven_by(1)));
    bench.commit(sample::next_part(1, 9).with(sample::parked_until(1)));
    bench.reopen();
    assert!(wakes(bench).is_empty());
    assert_eq!(bench.driven_ids(), [sample::run(1)]);
}

pub(super) fn what_wakes_comes_in_pages_in_the_order_of_its_moments(bench: &mut Bench<'_>) {
    let count = more_than_a_page();
    // Later runs wake earlier, and always two at once: their ids decide.
    let moment = |n: u32| u64::from(count - n) / 2;
    start_many(bench, count, |n| sample::parked_until(moment(n)));
    bench.reopen();
    let mut expected: Vec<_> = (0..count)
        .map(|n| (sample::at(moment(n)), sample::run(n)))
        .collect();
    expected.sort_unstable();
    let first = bench.wakes(None);
    assert_eq!(first.rows, expected[..limits::PAGE_ROWS_MAX]);
    assert!(first.more);
    let second = bench.wakes(first.rows.last().copied());
    assert_eq!(second.rows, expected[limits::PAGE_ROWS_MAX..]);
    assert!(!second.more);
    assert!(bench.wakes(second.rows.last().copied()).rows.is_empty());
}

/// How each run is driven, as a table beside the ledger.
type Table = BTreeMap<RunId, (u32, Drive)>;

pub(super) fn rows_of_driven_and_parked_runs_follow_any_sequence_of_changes(bench: &mut Bench<'_>) {
    let mut draw = Draw::seeded();
    let mut table = Table::new();
    let runs = 12;
    for n in 0..runs {
        bench.must(sample::start_part(n));
        table.insert(sample::run(n), (0, Drive::Off));
    }
    for round in 0..40 {
        let changes: Vec<Part> = (0..draw.below(6))
            .map(|_| change(&mut draw, runs, &mut table))
            .collect();
        bench.group(changes.into_iter().map(Into::into).collect());
        if round % 10 == 9 {
            bench.reopen();
        }
        check(bench, &table, &draw);
    }
}

/// A part without events that changes how one run is driven.
fn change(draw: &mut Draw, runs: u32, table: &mut Table) -> Part {
    let n = draw.small(runs);
    let drive = match draw.below(4) {
        0 => Drive::Off,
        1 => Drive::Parked { wake_at: None },
        2 => Drive::Driven {
            worker: sample::worker(draw.small(3)),
        },
        _ => Drive::Parked {
            wake_at: Some(sample::at(draw.below(5))),
        },
    };
    table.insert(sample::run(n), (n, drive));
    let part = Part {
        events: Vec::new(),
        ..sample::next_part(n, 1)
    };
    part.with(Op::Drive(drive))
}

fn check(bench: &Bench<'_>, table: &Table, draw: &Draw) {
    let (mut driven, mut parked) = (Vec::new(), Vec::new());
    for (run, (_, drive)) in table {
        match *drive {
            Drive::Driven { worker } => driven.push((*run, worker)),
            Drive::Parked { wake_at: Some(at) } => parked.push((at, *run)),
            Drive::Parked { wake_at: None } | Drive::Off => {}
        }
    }
    parked.sort_unstable();
    assert_eq!(wakes(bench), parked, "{draw}");
    let rows = bench.driven(None).rows;
    for run in table.keys() {
        let row = rows.iter().find(|row| row.run == *run);
        assert_eq!(bench.driving(*run), row.copied(), "{draw}");
    }
    let rows: Vec<_> = rows.iter().map(|row| (row.run, row.worker)).collect();
    assert_eq!(rows, driven, "{draw}");
}

fn wakes(bench: &Bench<'_>) -> Vec<(Timestamp, RunId)> {
    bench.wakes(None).rows
}
