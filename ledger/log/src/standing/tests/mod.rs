//! How things stand, against a model that is a map, over a table in memory that fails and crashes.

mod crash;
mod damage;
mod lag;
mod model;
mod pins;
mod reading;

use std::ops::{Deref, DerefMut};

use tempfile::TempDir;

use crate::conformance;
use crate::standing::StandingSettings;
use crate::table::{Fault, MemoryFactory, TableLimits};

/// A table with little room between two syncs.
fn tight() -> TableLimits {
    TableLimits {
        value_bytes_max: 64 << 10,
        sync_bytes_max: 80 << 10,
        written_bytes_max: 1 << 30,
        change_bytes: 64,
        times_written: 1,
        piece_change_bytes: 33 << 10,
    }
}

/// A world over a table in memory, whose process may die.
struct World {
    world: conformance::World<MemoryFactory>,
    _folder: TempDir,
}

impl World {
    fn new(settings: StandingSettings, limits: TableLimits) -> Self {
        let folder = TempDir::new().unwrap();
        let factory = MemoryFactory::with_limits(limits);
        Self {
            world: conformance::World::on(factory, &folder.path().join("table"), settings),
            _folder: folder,
        }
    }

    /// The process dies; of the batches that were not synced `keep` survive.
    fn crash(&mut self, keep: usize) {
        self.factory.fail(Some(Fault::Dead(0)));
        drop(self.take());
        self.factory.crash(|all| keep.min(all));
        self.factory.fail(None);
    }
}

impl Deref for World {
    type Target = conformance::World<MemoryFactory>;

    fn deref(&self) -> &Self::Target {
        &self.world
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.world
    }
}

#[test]
fn the_table_in_memory_does_what_a_table_has_to_do() {
    let folder = TempDir::new().unwrap();
    let factory = MemoryFactory::default();
    conformance::port(&factory, &folder.path().join("port"));
    for seed in 0..4 {
        println!("seed {seed}");
        conformance::standing(
            factory.clone(),
            &folder.path().join("standing"),
            (seed, 120),
        );
        crate::table::TableFactory::destroy(&factory, &folder.path().join("standing")).unwrap();
    }
}
