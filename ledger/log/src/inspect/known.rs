//! What is known of one run while a whole log is read: which of its records were seen, and whether
//! they are all there and follow each other. Copies that were written forward may lie anywhere.

use mainstay_ledger::LedgerError;
use mainstay_ledger::check::Head;
use mainstay_ledger::record::{self, Chain};
use mainstay_types::{RunId, Seq};

/// What is known of a run's records.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Stretches of records that follow each other, as they were read.
    pub(super) stretches: Vec<Stretch>,
    /// Where the run ends by its newest row.
    pub(super) head: Option<Head>,
    pub(super) gone: bool,
    /// Something of it was told already.
    pub(super) told: bool,
}

/// Records that follow each other: what comes before them, and what after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    from: (Seq, Chain),
    to: (Seq, Chain),
}

impl Known {
    /// Takes in a record; it continues the newest stretch, or begins one.
    pub(super) fn add(&mut self, run: RunId, seq: Seq, bytes: &[u8]) -> Result<(), LedgerError> {
        let goes_on = self.stretches.last().filter(|last| last.to.0.next() == seq);
        let before = match goes_on {
            Some(last) => last.to.1,
            // The first record follows what every run begins with.
            None if seq == Seq(1) => Chain::start(run),
            None => record::chain_of(run, seq, bytes)?,
        };
        let (_, after) = record::open(run, seq, bytes, before)?;
        match self
            .stretches
            .last_mut()
            .filter(|last| last.to.0.next() == seq)
        {
            Some(last) => last.to = (seq, after),
            None => self.stretches.push(Stretch {
                from: (Seq(seq.get() - 1), before),
                to: (seq, after),
            }),
        }
        Ok(())
    }

    /// What is missing of a run that ends as its row says; copies of records may overlap.
    pub(super) fn missing(&mut self, run: RunId, head: Head) -> Option<String> {
        self.stretches.sort_by_key(|stretch| stretch.from.0);
        let mut end = (Seq(0), Chain::start(run));
        for stretch in &self.stretches {
            if end.0 < stretch.from.0 {
                let next = end.0.next();
                return Some(format!(
                    "record {next} is missing, and record {} is there",
                    stretch.from.0.next()
                ));
            }
            if end.0 == stretch.from.0 && end.1 != stretch.from.1 {
                return Some(format!(
                    "record {} does not follow those before it",
                    end.0.next()
                ));
            }
            if end.0 < stretch.to.0 {
                end = stretch.to;
            }
        }
        (end != (head.seq, head.chain))
            .then(|| format!("its records end with {}, its row says {}", end.0, head.seq))
    }
}
