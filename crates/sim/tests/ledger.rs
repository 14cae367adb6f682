//! The disk of the simulator: it is a ledger like any other, and what each death leaves of it.

use mainstay_ledger::conformance::Subject;
use mainstay_ledger::{Enqueued, InboxCommand, Ledger, LedgerError, Part, Verdict, sample};
use mainstay_sim::ledger::{Death, Latency, Moment, Trouble};
use mainstay_sim::{Sim, SimLedger};
use mainstay_types::{Code, Millis, Timestamp};

/// A disk without trouble, whose process is killed at each reopening.
struct Killed(SimLedger);

impl Subject for Killed {
    fn ledger(&self) -> &dyn Ledger {
        &self.0
    }

    fn reopen(&mut self) {
        self.0.die(Death::Kill);
    }

    fn kept_bytes(&self) -> Option<u64> {
        Some(self.0.memory().kept_bytes())
    }

    fn forget(&mut self, _: Timestamp) -> bool {
        false
    }
}

mod conformance {
    use mainstay_sim::{Sim, SimLedger};

    use super::Killed;

    mainstay_ledger::conformance_tests!(Killed(SimLedger::new(1, &Sim::new(1).timers())));
}

const LATENCY: Latency = Latency {
    write: Millis::new(3),
    sync: Millis::new(5),
    tell: Millis::new(2),
};

fn slow() -> Trouble {
    Trouble {
        latency: LATENCY,
        ..Trouble::default()
    }
}

/// A disk that takes its time, and where it belongs.
fn disk(seed: u64) -> (Sim, SimLedger) {
    let sim = Sim::new(seed);
    let ledger = SimLedger::new(seed, &sim.timers());
    ledger.trouble(slow());
    (sim, ledger)
}

/// Asks for the starts of so many runs at once, from as many strands.
fn start_at_once(sim: &Sim, ledger: &SimLedger, runs: u32) {
    use mainstay_types::Spawner;
    for n in 1..=runs {
        let ledger = ledger.clone();
        sim.spawner().spawn(Box::pin(async move {
            let verdicts = ledger.commit(vec![sample::start_part(n).into()]).await;
            assert!(matches!(
                verdicts.expect("the disk takes it")[0],
                Verdict::Committed(_)
            ));
        }));
    }
}

fn commit(sim: &Sim, ledger: &SimLedger, part: Part) -> Result<Verdict, LedgerError> {
    let verdicts = sim.block_on(ledger.commit(vec![part.into()]));
    verdicts.map(|mut verdicts| verdicts.remove(0))
}

/// Which of so many runs are there.
fn there(sim: &Sim, ledger: &SimLedger, runs: u32) -> Vec<u32> {
    let is_there = |n: &u32| {
        let loaded = sim.block_on(ledger.load(sample::run(*n)));
        loaded.expect("it can be read").is_some()
    };
    (1..=runs).filter(is_there).collect()
}

/// Lets 8 runs start at once and the process die at `moment` of the group; what is left.
fn left(seed: u64, moment: Moment, death: Death) -> Vec<u32> {
    let (sim, ledger) = disk(seed);
    commit(&sim, &ledger, sample::start_part(9)).expect("the disk takes it");
    ledger.stop_at(2, moment);
    start_at_once(&sim, &ledger, 8);
    sim.block_on(ledger.reached());
    sim.executor().crash();
    ledger.die(death);
    let told = there(&sim, &ledger, 9);
    assert!(told.contains(&9), "what was told is there: {told:?}");
    told.into_iter().filter(|&n| n != 9).collect()
}

#[test]
fn who_asks_at_once_is_one_group_and_is_told_after_write_sync_and_tell() {
    let (sim, ledger) = disk(1);
    start_at_once(&sim, &ledger, 8);
    sim.run_for(Millis::new(9));
    assert_eq!(sim.executor().strands(), 8, "nobody is told after 9 ms");
    sim.run_for(Millis::new(1));
    assert_eq!(sim.executor().strands(), 0, "everybody is told after 10 ms");
    // The first one led alone with what was there at its moment: itself, then all others.
    assert!(ledger.groups() <= 2, "{} groups", ledger.groups());
}

#[test]
fn a_kill_takes_what_was_not_written_and_nothing_else() {
    assert_eq!(left(1, Moment::Before, Death::Kill), Vec::<u32>::new());
    assert_eq!(
        left(1, Moment::Written, Death::Kill),
        (1..=8).collect::<Vec<_>>()
    );
    assert_eq!(
        left(1, Moment::Synced, Death::Kill),
        (1..=8).collect::<Vec<_>>()
    );
}

#[test]
fn a_power_loss_takes_what_was_not_synced_from_some_request_on() {
    let mut lengths = std::collections::BTreeSet::new();
    for seed in 1..=64 {
        let left_over = left(seed, Moment::Written, Death::PowerLoss);
        let whole: Vec<u32> = (1..).take(left_over.len()).collect();
        assert_eq!(
            left_over, whole,
            "seed {seed}: a prefix in the order of asking"
        );
        lengths.insert(left_over.len());
    }
    assert!(lengths.contains(&0) && lengths.contains(&8), "{lengths:?}");
    assert!(5 < lengths.len(), "cuts differ by seed: {lengths:?}");
    assert_eq!(left(7, Moment::Before, Death::PowerLoss), Vec::<u32>::new());
    let synced = left(7, Moment::Synced, Death::PowerLoss);
    assert_eq!(synced, (1..=8).collect::<Vec<_>>());
}

#[test]
fn a_driver_that_is_dropped_leaves_its_group_to_the_next_one() {
    let (sim, ledger) = disk(1);
    for dropped_after in 0..=10 {
        let before = ledger.groups();
        let n = u32::try_from(dropped_after).unwrap() + 20;
        let mut lead = ledger.commit(vec![sample::start_part(n).into()]);
        let polled = |lead: &mut mainstay_types::BoxFuture<'_, _>| {
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            drop(lead.as_mut().poll(&mut cx));
        };
        // Asked, and then leading.
        polled(&mut lead);
        polled(&mut lead);
        for _ in 0..dropped_after {
            sim.run_for(Millis::new(1));
            polled(&mut lead);
        }
        drop(lead);
        let next = commit(&sim, &ledger, sample::start_part(n + 100)).unwrap();
        assert!(matches!(next, Verdict::Committed(_)));
        assert!(sim.block_on(ledger.load(sample::run(n))).unwrap().is_some());
        assert_eq!(ledger.groups() - before, 2);
    }
}

#[test]
fn a_full_disk_takes_no_events_and_all_the_rest() {
    let (sim, ledger) = disk(1);
    commit(&sim, &ledger, sample::start_part(1)).unwrap();
    ledger.trouble(Trouble {
        is_full: true,
        ..slow()
    });
    let refused = commit(&sim, &ledger, sample::next_part(1, 1)).unwrap();
    assert_eq!(refused, Verdict::Full);
    let cancel = InboxCommand::Cancel {
        by: "anna".to_owned(),
        why: "no need".to_owned(),
    };
    let wish = ledger.enqueue(sample::run(1), sample::message(1), cancel);
    assert_eq!(sim.block_on(wish), Ok(Enqueued::New));
    ledger.trouble(slow());
    let taken = commit(&sim, &ledger, sample::next_part(1, 1)).unwrap();
    assert!(matches!(taken, Verdict::Committed(_)), "{taken:?}");
}

#[test]
fn a_burst_of_errors_writes_nothing_and_passes() {
    let (sim, ledger) = disk(1);
    ledger.trouble(Trouble {
        failing: 2,
        ..slow()
    });
    for _ in 0..2 {
        let failed = commit(&sim, &ledger, sample::start_part(1)).unwrap_err();
        assert_eq!(failed.code(), Code::StoreIo);
        assert_eq!(there(&sim, &ledger, 1), Vec::<u32>::new());
    }
    commit(&sim, &ledger, sample::start_part(1)).unwrap();
    assert_eq!(there(&sim, &ledger, 1), [1]);
}

#[test]
fn after_a_failed_sync_nothing_more_is_taken_until_the_process_has_died() {
    let mut outcomes = std::collections::BTreeSet::new();
    for seed in 1..=16 {
        let (sim, ledger) = disk(seed);
        ledger.trouble(Trouble {
            is_sync_failing: true,
            ..slow()
        });
        for n in [1, 2] {
            let failed = commit(&sim, &ledger, sample::start_part(n)).unwrap_err();
            assert_eq!(failed.code(), Code::StorePoisoned);
        }
        sim.executor().crash();
        ledger.die(Death::Kill);
        outcomes.insert(there(&sim, &ledger, 2));
        let third = commit(&sim, &ledger, sample::start_part(3)).unwrap();
        assert!(matches!(third, Verdict::Committed(_)));
    }
    let both = [vec![], vec![1]];
    assert_eq!(
        outcomes.into_iter().collect::<Vec<_>>(),
        both,
        "lost or not, by the seed"
    );
}

#[test]
fn a_head_that_was_told_is_what_a_later_append_must_expect() {
    let (sim, ledger) = disk(1);
    commit(&sim, &ledger, sample::start_part(1)).unwrap();
    let stale = commit(&sim, &ledger, sample::next_part(1, 7)).unwrap();
    assert!(
        matches!(stale, Verdict::Stale { seq, .. } if seq.get() == 1),
        "{stale:?}"
    );
}
