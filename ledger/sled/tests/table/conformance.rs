//! What every table has to do, on sled.

use mainstay_ledger_log::conformance;
use mainstay_ledger_sled::SledFactory;

use crate::files::seed;

#[test]
fn sled_does_what_a_table_has_to_do() {
    let folder = tempfile::tempdir().unwrap();
    conformance::port(&SledFactory, &folder.path().join("table"));
}

#[test]
fn it_stands_over_sled_as_it_was_written() {
    let first = seed();
    for seed in first..first + 4 {
        println!("MAINSTAY_SEED={seed}");
        let folder = tempfile::tempdir().unwrap();
        conformance::standing(SledFactory, &folder.path().join("table"), (seed, 60));
    }
}
