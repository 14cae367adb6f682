//! Anything in any order, crashes and failures included: it stands as the model says.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{World, tight};
use crate::conformance::{KINDS, key, patient, value};
use crate::standing::StandingSettings;
use crate::table::{Fault, TableLimits};

#[derive(Clone, Debug)]
enum Deed {
    Commit(Vec<(usize, u8, Option<usize>)>),
    Flush,
    /// So many calls until it dies, and what survives of what was not synced.
    Crash(u64, usize),
    Fail(Fault),
    Close,
    StartOver,
    Look(usize, u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    let bytes = prop_oneof![8 => 0..60_usize, 2 => 900..3_000_usize, 1 => 30_000..90_000_usize];
    let change = (
        0..KINDS.len(),
        0..24_u8,
        proptest::option::weighted(0.6, bytes),
    );
    let at = 1..12_u64;
    prop_oneof![
        10 => vec(change, 1..8).prop_map(Deed::Commit),
        3 => Just(Deed::Flush),
        2 => (at.clone(), 0..6_usize).prop_map(|(at, keep)| Deed::Crash(at, keep)),
        1 => at.clone().prop_map(|at| Deed::Fail(Fault::Refused(at))),
        1 => at.prop_map(|at| Deed::Fail(Fault::Unsynced(at))),
        1 => Just(Deed::Close),
        1 => Just(Deed::StartOver),
        2 => (0..KINDS.len(), 0..24_u8).prop_map(|(kind, number)| Deed::Look(kind, number)),
    ]
}

fn settings() -> impl Strategy<Value = StandingSettings> {
    (1..5_usize, prop_oneof![Just(4_usize), Just(usize::MAX)]).prop_map(|(batch, freeze)| {
        StandingSettings {
            batch_rows_max: batch,
            freeze_rows: freeze,
            ..patient()
        }
    })
}

fn run(settings: StandingSettings, limits: TableLimits, deeds: &[Deed]) {
    let mut world = World::new(settings, limits);
    let mut pins = Vec::new();
    for (number, deed) in deeds.iter().enumerate() {
        match deed {
            Deed::Commit(changes) => {
                let mut rows = std::collections::BTreeMap::new();
                for (kind, name, bytes) in changes {
                    let key = key(KINDS[*kind], *name);
                    let value = bytes.map(|bytes| value(&key, number as u64, bytes));
                    rows.insert(key, value);
                }
                world.commit(rows.into_iter().collect());
            }
            // It may fail when a failure is on its way; what stands is the same.
            Deed::Flush => drop(world.standing().flush()),
            Deed::Crash(at, keep) => {
                world.factory.fail(Some(Fault::Dead(*at)));
                let _ = world.standing().flush();
                pins.clear();
                world.crash(*keep);
                world.open();
            }
            Deed::Fail(fault) => world.factory.fail(Some(*fault)),
            Deed::Close => {
                pins.clear();
                let _ = world.standing().flush();
                world.factory.fail(None);
                world.close();
                world.open();
            }
            Deed::StartOver => {
                pins.clear();
                world.factory.fail(None);
                world.start_over("for a change");
            }
            Deed::Look(kind, name) => {
                let key = key(KINDS[*kind], *name);
                let looked = world.standing().look_up(&key).unwrap();
                pins.push((key, looked));
            }
        }
        for (key, looked) in &pins {
            let known = world.standing().in_memory(key);
            // What was found in memory is not believed; what was found below always is.
            assert_eq!(looked.holds(), looked.pin.is_some());
            if looked.pin.is_none() {
                continue;
            }
            let stands = known.unwrap_or_else(|| looked.value.clone());
            assert_eq!(stands.as_deref(), world.model.get(key).map(Vec::as_slice));
        }
        world.check();
    }
    world.factory.fail(None);
    pins.clear();
    world.check_settled();
    world.close();
    world.open();
    world.check_settled();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn it_stands_as_written_whatever_happens(
        settings in settings(),
        deeds in vec(deed(), 1..30),
    ) {
        run(settings, tight(), &deeds);
    }
}
