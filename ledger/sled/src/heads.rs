//! The heads of the runs that were written lately, so that a commit reads nothing.
//!
//! A head enters only once it is durable. What is not here is read from sled; nothing may be
//! concluded from an absence.

use std::collections::HashMap;

use mainstay_ledger::check::Head;
use mainstay_types::RunId;

/// Heads in two halves: when the newer is full it becomes the older, and the older goes.
#[derive(Debug)]
pub(crate) struct Heads {
    newer: HashMap<RunId, Head>,
    older: HashMap<RunId, Head>,
    half: usize,
}

impl Heads {
    /// Room for at most `max` heads.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            newer: HashMap::new(),
            older: HashMap::new(),
            half: (max / 2).max(1),
        }
    }

    /// The head of `run`, when it is remembered.
    pub(crate) fn get(&self, run: RunId) -> Option<Head> {
        self.newer
            .get(&run)
            .or_else(|| self.older.get(&run))
            .copied()
    }

    /// Remembers the durable head of `run`.
    pub(crate) fn put(&mut self, run: RunId, head: Head) {
        if self.half <= self.newer.len() && !self.newer.contains_key(&run) {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(run, head);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_ledger::record::Chain;
    use mainstay_types::{Epoch, Seq};

    fn run(n: u8) -> RunId {
        RunId::from_bytes([n; 16])
    }

    fn head(seq: u64) -> Head {
        Head {
            seq: Seq(seq),
            epoch: Epoch(1),
            chain: Chain::from_u32(0),
        }
    }

    #[test]
    fn the_newest_heads_stay_and_the_bound_holds() {
        let mut heads = Heads::new(4);
        for n in 0..10 {
            heads.put(run(n), head(u64::from(n)));
            assert!(heads.newer.len() + heads.older.len() <= 4);
        }
        assert_eq!(heads.get(run(9)), Some(head(9)));
        assert_eq!(heads.get(run(0)), None);
    }

    #[test]
    fn an_older_head_never_hides_a_newer_one() {
        let mut heads = Heads::new(4);
        for (n, seq) in [(1, 1), (2, 1), (3, 1), (1, 2)] {
            heads.put(run(n), head(seq));
        }
        assert_eq!(heads.get(run(1)), Some(head(2)));
    }
}
