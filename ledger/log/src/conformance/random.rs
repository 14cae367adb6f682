//! Anything in any order over the table, with every way of ending: it stands as the model says.

use std::collections::BTreeMap;
use std::path::Path;

use mainstay_types::Millis;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::standing::StandingSettings;
use crate::table::TableFactory;

use super::world::{KINDS, World, key, patient, value};

/// Runs `deeds` deeds drawn from `seed` over a table in `folder`. Panics when anything stands
/// otherwise than as it was written.
pub fn standing<F: TableFactory + Clone + 'static>(
    factory: F,
    folder: &Path,
    (seed, deeds): (u64, u32),
) {
    let mut draw = StdRng::seed_from_u64(seed);
    let settings = StandingSettings {
        batch_rows_max: draw.random_range(1..40),
        freeze_rows: draw.random_range(4..200),
        freeze_age: Millis::new(draw.random_range(1..20)),
        ..patient()
    };
    let mut world = World::on(factory, folder, settings);
    for number in 0..deeds {
        match draw.random_range(0..20) {
            0 => world.standing().flush().expect("nothing fails here"),
            1 => {
                world.close();
                world.open();
            }
            // Without a flush: the log has the rest.
            2 => {
                drop(world.take());
                world.open();
            }
            3 if draw.random_range(0..4) == 0 => world.start_over("for a change"),
            4 => world.check(),
            _ => commit(&mut world, &mut draw, u64::from(number)),
        }
    }
    world.check_settled();
    world.close();
    world.open();
    assert_eq!(
        world.standing().made_anew(),
        None,
        "it was closed as it should be"
    );
    world.check_settled();
    world.close();
}

fn commit<F: TableFactory + Clone + 'static>(world: &mut World<F>, draw: &mut StdRng, number: u64) {
    let mut rows = BTreeMap::new();
    for _ in 0..draw.random_range(1..30) {
        let key = key(KINDS[draw.random_range(0..KINDS.len())], draw.random());
        let bytes = match draw.random_range(0..40) {
            0 => 70_000,
            1..4 => 3_000,
            _ => draw.random_range(0..200),
        };
        let gone = draw.random_range(0..5) < 2;
        let value = (!gone).then(|| value(&key, number, bytes));
        rows.insert(key, value);
    }
    world.commit(rows.into_iter().collect());
}
