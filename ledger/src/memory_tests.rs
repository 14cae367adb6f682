//! Tests of what only the memory backend has; the rest is the conformance suite.

use std::collections::BTreeSet;

use mainstay_types::{Code, Timestamp};

use super::store::RunLog;
use super::*;
use crate::commit::Part;
use crate::conformance::{CHECKS, Subject, block_on};
use crate::record::{self, Chain};
use crate::sample;

struct InMemory(MemoryLedger);

impl Subject for InMemory {
    fn ledger(&self) -> &dyn Ledger {
        &self.0
    }

    fn reopen(&mut self) {}

    fn kept_bytes(&self) -> Option<u64> {
        Some(self.0.kept_bytes())
    }

    fn forget(&mut self, _: Timestamp) -> bool {
        false
    }
}

mod conformance {
    use super::{InMemory, MemoryLedger};

    crate::conformance_tests!(InMemory(MemoryLedger::new()));
}

#[test]
fn each_check_of_the_suite_has_its_own_name() {
    let names: BTreeSet<&str> = CHECKS.iter().map(|check| check.name).collect();
    assert_eq!(names.len(), CHECKS.len());
}

fn commit(ledger: &MemoryLedger, part: Part) -> Verdict {
    block_on(ledger.commit(vec![part.into()]))
        .expect("memory does not fail")
        .remove(0)
}

#[test]
fn a_full_ledger_says_so_and_writes_nothing_until_a_request_fits() {
    let ledger = MemoryLedger::with_events_max(2);
    commit(&ledger, sample::start_part(1));
    let event = sample::next_part(1, 1).events.remove(0);
    let two = Part {
        events: vec![event.clone(), event],
        ..sample::next_part(1, 1)
    };
    assert_eq!(commit(&ledger, two), Verdict::Full);
    assert!(matches!(
        commit(&ledger, sample::next_part(1, 1)),
        Verdict::Committed(_)
    ));
    assert_eq!(commit(&ledger, sample::next_part(1, 2)), Verdict::Full);
    // What needs no room still goes.
    let nothing = Part {
        events: Vec::new(),
        ..sample::next_part(1, 2)
    };
    assert!(matches!(commit(&ledger, nothing), Verdict::Committed(_)));
}

fn damaged(damage: impl FnOnce(&mut RunLog)) -> Code {
    let ledger = MemoryLedger::new();
    commit(&ledger, sample::start_part(1));
    commit(&ledger, sample::next_part(1, 1));
    damage(
        ledger
            .store
            .lock()
            .runs
            .get_mut(&sample::run(1))
            .expect("it was started"),
    );
    block_on(ledger.load(sample::run(1)))
        .expect_err("damage is noticed")
        .code()
}

#[test]
fn loading_a_run_verifies_its_records_their_order_and_their_end() {
    assert_eq!(
        damaged(|log| log.records[1][record::HEADER_BYTES] ^= 1),
        Code::CorruptRecord
    );
    assert_eq!(damaged(|log| log.records.swap(0, 1)), Code::CorruptRecord);
    assert_eq!(damaged(|log| drop(log.records.pop())), Code::CorruptChain);
    assert_eq!(
        damaged(|log| log.head.chain = Chain::from_u32(1)),
        Code::CorruptChain
    );
}

#[test]
fn engines_on_one_ledger_see_until_when_the_others_live() {
    let ledger = MemoryLedger::new();
    for n in [1, 2, 3] {
        commit(&ledger, sample::start_part(n).with(sample::driven_by(n)));
    }
    let lease = |n, until| block_on(ledger.lease(sample::worker(n), until)).expect("taken");
    let until = || -> Vec<Option<Timestamp>> {
        let page = block_on(ledger.driven(None)).expect("readable");
        page.rows.iter().map(|row| row.lease_until).collect()
    };
    lease(1, Some(sample::at(10)));
    lease(2, Some(sample::at(20)));
    assert_eq!(until(), [Some(sample::at(10)), Some(sample::at(20)), None]);
    lease(1, Some(sample::at(30)));
    lease(2, None);
    assert_eq!(until(), [Some(sample::at(30)), None, None]);
}

#[test]
fn a_ledger_in_memory_marks_nothing_and_knows_of_no_abort_but_an_assumed_one() {
    let ledger = MemoryLedger::new();
    assert!(!ledger.mark(sample::run(1)).is_kept());
    assert_eq!(block_on(ledger.aborted()), Ok(Vec::new()));
    ledger.assume_aborted([(sample::run(2), 3), (sample::run(1), 1)]);
    let aborted = vec![(sample::run(1), 1), (sample::run(2), 3)];
    assert_eq!(block_on(ledger.aborted()), Ok(aborted));
}
