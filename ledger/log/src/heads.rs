//! Where the runs that were written lately stand, so that a commit looks nothing up.
//!
//! A row enters only once it is durable. What is not here is looked up; nothing may be concluded
//! from an absence.

use std::collections::HashMap;
use std::sync::Arc;

use mainstay_types::RunId;

use crate::run_row::RunRow;

/// Rows in two halves: when the newer is full it becomes the older, and the older goes.
#[derive(Debug)]
pub(crate) struct Heads {
    newer: HashMap<RunId, Arc<RunRow>>,
    older: HashMap<RunId, Arc<RunRow>>,
    half: usize,
}

impl Heads {
    /// Room for at most `max` rows.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            newer: HashMap::new(),
            older: HashMap::new(),
            half: (max / 2).max(1),
        }
    }

    /// Where `run` stands, when it is remembered.
    pub(crate) fn get(&self, run: RunId) -> Option<&Arc<RunRow>> {
        self.newer.get(&run).or_else(|| self.older.get(&run))
    }

    /// Remembers where `run` stands, durably.
    pub(crate) fn put(&mut self, run: RunId, row: Arc<RunRow>) {
        if self.half <= self.newer.len() && !self.newer.contains_key(&run) {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(run, row);
    }

    /// Forgets `run`, which rests in the archive or is gone.
    pub(crate) fn remove(&mut self, run: RunId) {
        self.newer.remove(&run);
        self.older.remove(&run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_types::Seq;

    fn run(n: u8) -> RunId {
        RunId::from_bytes([n; 16])
    }

    fn row(seq: u64) -> Arc<RunRow> {
        let mut row = RunRow::unborn(run(1));
        row.head.seq = Seq(seq);
        Arc::new(row)
    }

    fn seq(heads: &Heads, n: u8) -> Option<u64> {
        heads.get(run(n)).map(|row| row.head.seq.get())
    }

    #[test]
    fn the_newest_rows_stay_and_the_bound_holds() {
        let mut heads = Heads::new(4);
        for n in 0..10 {
            heads.put(run(n), row(u64::from(n)));
            assert!(heads.newer.len() + heads.older.len() <= 4);
        }
        assert_eq!((seq(&heads, 9), seq(&heads, 0)), (Some(9), None));
    }

    #[test]
    fn an_older_row_never_hides_a_newer_one_and_a_removed_one_is_gone() {
        let mut heads = Heads::new(4);
        for (n, seq) in [(1, 1), (2, 1), (3, 1), (1, 2)] {
            heads.put(run(n), row(seq));
        }
        assert_eq!(seq(&heads, 1), Some(2));
        heads.remove(run(1));
        assert_eq!(seq(&heads, 1), None);
    }
}
