//! What every ledger has to do, on sled, with a real close and open in between.

use std::path::Path;

use mainstay_ledger::Ledger;
use mainstay_ledger::conformance::Subject;
use mainstay_ledger_sled::{OpenOptions, SledLedger};
use mainstay_types::Timestamp;

struct Store {
    folder: tempfile::TempDir,
    /// `None` only while it is opened again.
    ledger: Option<SledLedger>,
}

impl Store {
    fn in_a_new_folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Some(open(folder.path()));
        Self { folder, ledger }
    }
}

fn open(folder: &Path) -> SledLedger {
    SledLedger::open(folder, OpenOptions::creating()).unwrap()
}

impl Subject for Store {
    fn ledger(&self) -> &dyn Ledger {
        self.ledger.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        self.ledger.take().unwrap().close().unwrap();
        self.ledger = Some(open(self.folder.path()));
    }

    fn kept_bytes(&self) -> Option<u64> {
        Some(
            self.ledger
                .as_ref()
                .unwrap()
                .stats()
                .unwrap()
                .snapshot_bytes,
        )
    }

    fn forget(&mut self, now: Timestamp) -> bool {
        let ledger = self.ledger.as_ref().unwrap();
        ledger.prune(None, now, &mut |_, _| {}).unwrap();
        true
    }
}

mainstay_ledger::conformance_tests!(Store::in_a_new_folder());
