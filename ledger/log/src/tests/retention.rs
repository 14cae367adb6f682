//! What expires, what is written forward, what is freed, and what must stay.

use std::collections::HashSet;

use mainstay_ledger::{Drive, InboxCommand, InboxMessage, Ledger, LedgerError, Op, sample};
use mainstay_machine::{EntryState, RunState};
use mainstay_types::{AlertSeq, Millis, Payload, RunId, limits};
use parking_lot::Mutex;

use super::house::{House, Table, effect, summary};
use crate::below::Below;
use crate::blocking::wait;
use crate::heads::Heads;
use crate::retention::{Sweep, Sweeper};
use crate::rows::inbox;
use crate::stage::Stage;

fn prune_all(house: &House) -> crate::Swept {
    let now = sample::at(20_000);
    house
        .ledger()
        .prune(Some(Millis::ZERO), now, &mut |_, _| {})
        .unwrap()
}

fn sweeper(house: &House) -> Sweeper {
    Sweeper::new(
        std::sync::Arc::clone(house.ledger().shared()),
        house.ledger().reader().clone(),
        house.options.settings.run_memory,
    )
}

fn is_there(house: &House, run: RunId) -> bool {
    wait(house.ledger().load(run)).unwrap().is_some()
}

#[test]
fn pruned_runs_are_gone_and_their_keys_alerts_and_classes_stay_also_without_the_table() {
    for table in [Table::Stays, Table::IsLost] {
        let mut house = House::small(table);
        for n in 1..=40 {
            house.live(n, "result");
        }
        let swept = prune_all(&house);
        assert_eq!(swept.runs, 40);
        assert!(0 < swept.segments, "segments are freed");
        for _ in 0..2 {
            for n in 1..=40 {
                assert!(!is_there(&house, sample::run(n)));
                let held = house.holder(n).expect("a key outlives its run");
                assert_eq!(held.state, EntryState::Applied(Payload::from("result")));
                let key = sample::start_key(&format!("start-{n}"));
                let start = wait(house.ledger().start_key(sample::tenant("acme"), key)).unwrap();
                assert_eq!(start.map(|(run, _)| run), Some(sample::run(n)));
            }
            let alerts = wait(house.ledger().alerts(AlertSeq(0))).unwrap();
            assert_eq!(alerts.rows.len(), 40);
            assert_eq!(wait(house.ledger().classes()).unwrap().len(), 1);
            house.reopen();
        }
    }
}

#[test]
fn an_open_run_survives_the_segments_it_began_in_with_every_record() {
    for table in [Table::Stays, Table::IsLost] {
        let mut house = House::small(table);
        house.must(
            sample::start_part(900)
                .with(Op::Summary(summary(900, RunState::Running)))
                .with(sample::driven_by(1)),
        );
        for n in 1..=60 {
            house.live(n, "result");
            house.must(sample::next_part(900, u64::from(n)));
        }
        let before = house.ledger().reader().archive.oldest();
        assert_eq!(prune_all(&house).runs, 60);
        let oldest = house.ledger().reader().archive.oldest();
        assert!(before < oldest, "the segment that it began in is free");
        for _ in 0..2 {
            let loaded = wait(house.ledger().load(sample::run(900)))
                .unwrap()
                .unwrap();
            assert_eq!(loaded.events.len(), 61);
            house.reopen();
        }
        house.must(sample::next_part(900, 61));
    }
}

#[test]
fn a_run_that_lives_for_long_does_not_keep_what_is_dead_behind_it() {
    let house = House::small(Table::Stays);
    house.must(
        sample::start_part(900)
            .with(Op::Summary(summary(900, RunState::Running)))
            .with(sample::driven_by(1)),
    );
    // The oldest segment is all its own.
    for seq in 1..=60 {
        house.must(sample::next_part(900, seq));
    }
    for n in 1..=60 {
        house.live(n, "result");
    }
    assert_eq!(prune_all(&house).runs, 60);
    assert!(
        1 < house.ledger().reader().archive.oldest().0,
        "the oldest segment went"
    );
    let loaded = wait(house.ledger().load(sample::run(900)))
        .unwrap()
        .unwrap();
    assert_eq!(loaded.events.len(), 61);
}

#[test]
fn a_group_says_nothing_of_a_run_that_it_prunes_and_prunes_none_that_it_moves() {
    let house = House::small(Table::Stays);
    house.live(1, "result");
    house.live(2, "result");
    let reader = house.ledger().reader();
    let (heads, classes) = (Mutex::new(Heads::new(8)), HashSet::new());
    let mut stage = Stage::new(Below {
        standing: &reader.standing,
        archive: &reader.archive,
        heads: &heads,
        classes: &classes,
        settings: &house.options.settings,
    });
    let message = InboxMessage {
        id: sample::message(500),
        command: InboxCommand::Cancel {
            by: "ann".to_owned(),
            why: "because".to_owned(),
        },
    };
    let prune = |run: u32| Sweep::Prune {
        runs: vec![sample::run(run)],
    };
    assert_eq!(prune(1).stage(&mut stage), Ok(1));
    stage.keep();
    let (gone, there) = (sample::run(1), sample::run(2));
    let refused = inbox::enqueue(&mut stage, gone, &message);
    assert_eq!(refused, Err(LedgerError::RunUnknown { run: gone }));
    stage.forget();
    assert!(inbox::enqueue(&mut stage, there, &message).is_ok());
    stage.keep();
    assert_eq!(prune(2).stage(&mut stage), Ok(0), "a command waits for it");
}

#[test]
fn pruning_again_and_again_frees_no_more_than_can_go_and_writes_forward_no_more_than_lives() {
    let house = House::small(Table::Stays);
    for n in 1..=40 {
        house.live(n, "result");
    }
    prune_all(&house);
    let segments = house.ledger().reader().archive.segments().len();
    for _ in 0..5 {
        assert_eq!(prune_all(&house).runs, 0);
    }
    let after = house.ledger().reader().archive.segments().len();
    assert!(after <= segments + 1, "{segments} segments became {after}");
}

#[test]
fn what_is_open_or_in_doubt_never_expires_and_what_is_known_does() {
    let house = House::small(Table::Stays);
    let memory = Millis::new(1_000);
    house.must(sample::start_part(1).with(sample::driven_by(1)));
    let states = [
        EntryState::Open,
        EntryState::InDoubt,
        EntryState::NotApplied,
        EntryState::Applied(Payload::from("1")),
    ];
    for (n, state) in (1..).zip(&states) {
        let mut entry = effect(n, state.clone());
        entry.run = sample::run(1);
        house.must(sample::next_part(1, u64::from(n)).with(Op::Effect {
            entry,
            memory,
            over: None,
        }));
    }
    let years = sample::at(400 * 24 * 60 * 60 * 1_000);
    house.ledger().prune(None, years, &mut |_, _| {}).unwrap();
    let kept: Vec<bool> = (1..=4).map(|n| house.holder(n).is_some()).collect();
    assert_eq!(kept, [true, true, false, false]);
}

#[test]
fn an_entry_that_changed_since_is_kept_for_as_long_as_it_says_now() {
    let house = House::small(Table::Stays);
    house.must(sample::start_part(1).with(sample::driven_by(1)));
    let known = effect(1, EntryState::NotApplied);
    let short = Op::Effect {
        entry: known.clone(),
        memory: Millis::new(10),
        over: None,
    };
    house.must(sample::next_part(1, 1).with(short));
    let again = effect(1, EntryState::InDoubt);
    house.must(sample::next_part(1, 2).with(Op::Effect {
        entry: again,
        memory: Millis::new(10),
        over: None,
    }));
    let later = sample::at(60_000);
    house.ledger().prune(None, later, &mut |_, _| {}).unwrap();
    assert!(house.holder(1).is_some(), "in doubt again");
    house.must(sample::next_part(1, 3).with(Op::Effect {
        entry: known,
        memory: Millis::new(10),
        over: None,
    }));
    house.ledger().prune(None, later, &mut |_, _| {}).unwrap();
    assert!(house.holder(1).is_none());
}

#[test]
fn a_start_key_is_kept_while_its_run_is_open_and_for_its_time_after_it_closed() {
    let house = House::small(Table::Stays);
    let key = || sample::start_key("start-1");
    house.must(
        sample::start_part(1)
            .with(Op::Summary(summary(1, RunState::Running)))
            .with(sample::take_start_key("start-1", "{}"))
            .with(sample::driven_by(1)),
    );
    let tenant = || sample::tenant("acme");
    let held = || wait(house.ledger().start_key(tenant(), key())).unwrap();
    let years = sample::at(400 * 24 * 60 * 60 * 1_000);
    let prune = |now| house.ledger().prune(None, now, &mut |_, _| {}).unwrap();
    prune(years);
    assert!(held().is_some(), "its run is open");
    house.must(
        sample::next_part(1, 1)
            .with(Op::Summary(summary(1, RunState::Closed)))
            .with(Op::Drive(Drive::Off)),
    );
    let ended = sample::at(9_000);
    let memory = Millis::new(limits::START_KEY_MEMORY_MS_DEFAULT);
    prune(ended + memory.less(Millis::new(1)));
    assert!(held().is_some(), "its time is not over");
    prune(ended + memory);
    assert!(held().is_none());
}

/// Where a store with so many open runs ends, with or without somebody who keeps it small.
fn end_with_open_runs(runs: u32, sweeps: bool) -> u64 {
    let house = House::small(Table::Stays);
    let mut sweeper = sweeper(&house);
    for n in 1..=runs {
        house.must(sample::start_part(n).with(Op::Summary(summary(n, RunState::Running))));
        if sweeps {
            sweeper.round();
        }
    }
    house.ledger().reader().archive.end().segment.0
}

#[test]
fn what_only_lives_is_written_forward_at_most_as_often_as_it_was_written() {
    let alone = end_with_open_runs(600, false);
    let swept = end_with_open_runs(600, true);
    assert!(20 < alone, "{alone} segments");
    assert!(swept <= 5 * alone / 2, "{swept} segments for {alone}");
}

#[test]
fn a_segment_that_could_not_be_freed_is_freed_later_and_not_written_forward_again() {
    let mut house = House::small(Table::Stays);
    house.options.settings.run_memory = Millis::new(10);
    house.options.settings.start_key_memory = Millis::new(10);
    house.reopen();
    // The table needs all of the log then.
    house.factory.fill_up(true);
    house.must(sample::start_part(1).with(Op::Summary(summary(1, RunState::Running))));
    for n in 2..=40 {
        house.live_until(n, 1_000 * u64::from(n));
    }
    let mut sweeper = sweeper(&house);
    let oldest = || house.ledger().reader().archive.oldest();
    let before = oldest();
    sweeper.round();
    let carried = sweeper.swept.carried;
    assert!(oldest() == before && 0 < carried, "{:?}", sweeper.swept);
    sweeper.round();
    assert_eq!(sweeper.swept.carried, carried, "once is enough");
    house.factory.fill_up(false);
    sweeper.round();
    assert!(before < oldest(), "{:?}", sweeper.swept);
    assert!(is_there(&house, sample::run(1)));
}

#[test]
fn rounds_free_what_has_expired_without_being_asked() {
    let mut house = House::small(Table::Stays);
    house.options.settings.run_memory = Millis::new(10);
    house.options.settings.start_key_memory = Millis::new(10);
    house.reopen();
    let mut sweeper = sweeper(&house);
    let before = house.ledger().reader().archive.oldest();
    for n in 1..=200 {
        let ended = 1_000 * u64::from(n);
        house.live_until(n, ended);
        sweeper.round();
    }
    let oldest = house.ledger().reader().archive.oldest();
    assert!(before < oldest, "segments went: {:?}", sweeper.swept);
    assert!(150 < sweeper.swept.runs, "{:?}", sweeper.swept);
    let segments = house.ledger().reader().archive.segments().len();
    assert!(segments < 40, "{segments} segments are left");
}

/// Runs that are closed in bursts, with a round of the sweeper now and then: in between what is
/// about to expire is written forward into the segment in which the next runs come to rest.
fn left_after_bursts(seed: u32) -> (usize, crate::Swept) {
    let mut house = House::small(Table::Stays);
    let memory = 40 + u64::from(seed % 5) * 20;
    house.options.settings.run_memory = Millis::from_secs(memory);
    house.options.settings.start_key_memory = Millis::from_secs(memory);
    house.reopen();
    let mut sweeper = sweeper(&house);
    let mut draw = seed;
    let mut ended = 0;
    for n in 1..=300 {
        draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ended += 1_000;
        house.live_until(n, ended);
        if draw >> 27 == 0 {
            sweeper.round();
        }
    }
    // Only this one is remembered then.
    house.live_until(301, ended + memory * 1_000 * 9 / 8);
    for _ in 0..3 {
        sweeper.round();
    }
    let left = house.ledger().reader().archive.list_closed(None).count();
    (left, sweeper.swept)
}

#[test]
fn whatever_was_written_forward_meanwhile_what_has_expired_goes() {
    for seed in 0..12 {
        let (left, swept) = left_after_bursts(seed);
        assert_eq!(left, 1, "seed {seed}: {swept:?}");
    }
}
