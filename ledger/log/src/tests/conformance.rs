//! What every ledger has to do: with its table kept, with its table lost at each open, and with
//! segments and generations of a handful of rows.

use mainstay_ledger::Ledger;
use mainstay_ledger::conformance::Subject;
use mainstay_types::Timestamp;

use super::house::{House, Table};

impl Subject for House {
    fn ledger(&self) -> &dyn Ledger {
        House::ledger(self)
    }

    fn reopen(&mut self) {
        House::reopen(self);
    }

    fn kept_bytes(&self) -> Option<u64> {
        Some(House::ledger(self).stats().unwrap().snapshot_bytes)
    }

    fn forget(&mut self, now: Timestamp) -> bool {
        let pruned = House::ledger(self).prune(None, now, &mut |_, _| {});
        pruned.unwrap();
        true
    }
}

mod with_its_table {
    use super::{House, Table};
    mainstay_ledger::conformance_tests!(House::new(Table::Stays));
}

mod made_anew_from_the_log {
    use super::{House, Table};
    mainstay_ledger::conformance_tests!(House::new(Table::IsLost));
}

mod in_small_pieces {
    use super::{House, Table};
    mainstay_ledger::conformance_tests!(House::small(Table::Stays));
}

mod in_small_pieces_made_anew {
    use super::{House, Table};
    mainstay_ledger::conformance_tests!(House::small(Table::IsLost));
}
