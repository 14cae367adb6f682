//! Exports as files, imported into a store.
//!
//! What holds is said in `mainstay_ledger_log`'s `exchange::fuzzing`; nothing may be asserted here.
#![no_main]

use std::sync::LazyLock;

use mainstay_ledger_log::Imports;
use tempfile::TempDir;

/// The stores lie in memory where `TMPDIR` does.
static IMPORTS: LazyLock<(TempDir, Imports)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder for stores");
    let imports = Imports::below(folder.path());
    (folder, imports)
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| IMPORTS.1.run(data));
