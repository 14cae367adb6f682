//! The process is killed at any moment: what its files hold then, and the log, are everything.
//!
//! The files are copied while the table is written, which is worse than a kill: the copy has older
//! bytes of some places and newer ones of others.

use mainstay_ledger_log::conformance::StandingSettings;
use mainstay_ledger_log::conformance::{KINDS, World, eager, key, value};
use mainstay_ledger_sled::SledFactory;

use crate::files::{Draw, copy, seed};

/// Begins and ends runs as fast as it can.
fn work(world: &mut World<SledFactory>, draw: &mut Draw, frame: u64) {
    let mut rows = std::collections::BTreeMap::new();
    for _ in 0..1 + draw.below(12) {
        let key = key(
            KINDS[draw.below(KINDS.len())],
            u8::try_from(draw.below(256)).unwrap(),
        );
        let bytes = [20, 300, 2_000, 40_000][draw.below(40) % 4 % (1 + draw.below(4))];
        let gone = draw.below(5) < 2;
        let value = (!gone).then(|| value(&key, frame, bytes));
        rows.insert(key, value);
    }
    world.commit(rows.into_iter().collect());
}

#[test]
fn whatever_the_files_hold_everything_stands_after_the_log_was_replayed() {
    let first = seed();
    let mut recovered = 0;
    for seed in first..first + 12 {
        println!("MAINSTAY_SEED={seed}");
        let mut draw = Draw(seed);
        let folder = tempfile::tempdir().unwrap();
        let settings = StandingSettings {
            batch_rows_max: 1 + draw.below(30),
            ..eager()
        };
        let mut world = World::on(SledFactory, &folder.path().join("table"), settings);
        let mut frame = 0;
        for life in 0..3 {
            for _ in 0..20 + draw.below(120) {
                frame += 1;
                work(&mut world, &mut draw, frame);
                if draw.below(60) == 0 {
                    world.standing().flush().unwrap();
                }
            }
            let next = folder.path().join(format!("table{life}"));
            copy(world.folder(), &next);
            drop(world.take());
            world.move_to(&next);
            world.open();
            recovered += u32::from(world.standing().made_anew().is_none());
            world.check();
        }
        world.check_settled();
        world.close();
    }
    // Most copies are good enough not to begin anew, or this would prove little.
    assert!(
        12 < recovered,
        "{recovered} of 36 tables were used as they were"
    );
}

#[test]
fn a_snapshot_that_a_crash_left_half_written_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::on(SledFactory, &folder.path().join("table"), eager());
    world.put(&key(0x11, 1), 1, 10);
    world.close();
    let torn = world.folder().join("snap.0000000000000FFF.generating");
    std::fs::write(&torn, "half").unwrap();
    world.open();
    assert!(!torn.exists());
    assert_eq!(world.standing().made_anew(), None);
    world.check_settled();
}

#[test]
fn a_file_in_blobs_makes_the_table_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::on(SledFactory, &folder.path().join("table"), eager());
    world.put(&key(0x11, 1), 1, 10);
    world.standing().flush().unwrap();
    let blob = world.folder().join("blobs/17");
    std::fs::write(&blob, "unsynced").unwrap();
    world.put(&key(0x11, 2), 1, 10);
    let told = world.standing().flush().unwrap_err().to_string();
    assert!(
        told.contains("blobs/17") && told.contains("made anew"),
        "{told}"
    );
    world.close();
    assert_eq!(world.open(), 0);
    assert!(world.standing().made_anew().unwrap().contains("blobs/17"));
    assert!(!blob.exists());
    world.check_settled();
}
