//! What a group is about to write, above what stands: one view of both.
//!
//! Each request is staged on its own and then kept or forgotten as a whole, so that one that turns
//! out unreadable or too large halfway leaves nothing behind. Nothing here writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainstay_ledger::check::{Head, View};
use mainstay_ledger::{Knocked, LedgerError};
use mainstay_machine::EffectEntry;
use mainstay_types::{Digest, EffectKey, RunId, Seq, StartKey, Tenant, Timestamp, limits};

use crate::below::Below;
use crate::keys::Key;
use crate::look::Looked;
use crate::read::Rows;
use crate::rows::{effects, starts};
use crate::run_row::RunRow;
use crate::segment::SegmentNo;

/// The new value of a row; `None` removes it.
#[derive(Clone, Debug)]
pub(crate) struct NewRow {
    pub(crate) value: Option<Arc<[u8]>>,
    /// Nothing that stands has a row under this key.
    pub(crate) fresh: bool,
}

/// A run's row in the making; it is encoded when the group is written, once.
#[derive(Clone, Debug)]
pub(crate) struct NewRun {
    pub(crate) row: RunRow,
    /// The group begins the run.
    pub(crate) born: bool,
    /// The group has records of it.
    pub(crate) written: bool,
}

/// Sealed records of one part.
#[derive(Clone, Debug)]
pub(crate) struct NewRecords {
    pub(crate) run: RunId,
    pub(crate) first: Seq,
    pub(crate) count: u32,
    /// The newest segment with records of the run before this.
    pub(crate) prev: SegmentNo,
    /// These are copies, written forward.
    pub(crate) carried: bool,
    pub(crate) bytes: Vec<u8>,
}

/// Changes that belong together.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub(crate) runs: BTreeMap<RunId, NewRun>,
    pub(crate) rows: BTreeMap<Key, NewRow>,
    pub(crate) records: Vec<NewRecords>,
    /// Runs that are taken out of the archive.
    pub(crate) pruned: BTreeSet<RunId>,
    /// Parts that append events.
    pub(crate) appends: u64,
    /// The newest time among the events.
    pub(crate) newest: Option<Timestamp>,
    /// What subscribers hear of once it is durable.
    pub(crate) knocked: Knocked,
    /// What all of it comes to in a frame, from above.
    pub(crate) bytes: usize,
}

/// What a row comes to in a frame beside its key and value, from above.
const ROW_BYTES: usize = 16;
/// What the row of a run comes to beside its summary's texts, from above.
const RUN_BYTES: usize = 1_024;

impl Layer {
    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
            && self.rows.is_empty()
            && self.records.is_empty()
            && self.pruned.is_empty()
    }

    fn put(&mut self, key: Key, new: NewRow) {
        let old = self.rows.get(&key);
        let fresh = old.map_or(new.fresh, |old| old.fresh);
        if new.value.is_none() && fresh {
            // It came and went within the group: nobody needs to hear of it.
            self.rows.remove(&key);
            return;
        }
        self.bytes += ROW_BYTES + key.len() + new.value.as_ref().map_or(0, |value| value.len());
        self.rows.insert(key, NewRow { fresh, ..new });
    }

    fn put_run(&mut self, run: RunId, new: NewRun) {
        self.bytes += RUN_BYTES;
        let old = self.runs.get(&run);
        let (born, written) = old.map_or((false, false), |old| (old.born, old.written));
        let merged = NewRun {
            born: new.born || born,
            written: new.written || written,
            row: new.row,
        };
        self.runs.insert(run, merged);
    }

    fn absorb(&mut self, later: Self) {
        for (key, row) in later.rows {
            self.put(key, row);
        }
        for (run, row) in later.runs {
            self.put_run(run, row);
        }
        self.bytes += later
            .records
            .iter()
            .map(|records| records.bytes.len() + ROW_BYTES * 3)
            .sum::<usize>();
        self.records.extend(later.records);
        self.pruned.extend(later.pruned);
        self.appends += later.appends;
        self.newest = self.newest.max(later.newest);
        self.knocked.absorb(&later.knocked);
    }
}

/// A group in the making.
pub(crate) struct Stage<'a> {
    pub(crate) below: Below<'a>,
    /// What the caller of the request at hand looked up.
    looked: Arc<Looked>,
    kept: Layer,
    tried: Layer,
}

impl<'a> Stage<'a> {
    /// An empty group above what stands.
    pub(crate) fn new(below: Below<'a>) -> Self {
        Self {
            below,
            looked: Arc::default(),
            kept: Layer::default(),
            tried: Layer::default(),
        }
    }

    /// From here on, what the caller of the next requests looked up is believed.
    pub(crate) fn believe(&mut self, looked: &Arc<Looked>) {
        self.looked = Arc::clone(looked);
    }

    /// Keeps what was staged since the last `keep` or `forget`.
    pub(crate) fn keep(&mut self) {
        let tried = std::mem::take(&mut self.tried);
        self.kept.absorb(tried);
    }

    /// Forgets what was staged since the last `keep` or `forget`.
    pub(crate) fn forget(&mut self) {
        self.tried = Layer::default();
    }

    /// Whether what was staged since the last `keep` or `forget` fits into the group. What does not
    /// is for the next group, where it comes first.
    pub(crate) fn fits(&self) -> bool {
        self.kept.is_empty() || self.kept.bytes + self.bytes_tried() <= limits::GROUP_BYTES_MAX
    }

    /// What was staged since the last `keep` or `forget` comes to in a frame, from above.
    pub(crate) fn bytes_tried(&self) -> usize {
        let records = self.tried.records.iter();
        self.tried.bytes
            + records
                .map(|records| records.bytes.len() + ROW_BYTES * 3)
                .sum::<usize>()
    }

    /// Everything that was kept.
    pub(crate) fn into_kept(self) -> Layer {
        self.kept
    }

    /// The value under `key`, as the group so far leaves it.
    pub(crate) fn value(&self, key: &[u8]) -> Result<Option<Arc<[u8]>>, LedgerError> {
        let staged = self.tried.rows.get(key).or_else(|| self.kept.rows.get(key));
        staged.map_or_else(
            || self.below.value(&self.looked, key),
            |staged| Ok(staged.value.clone()),
        )
    }

    /// Whether the class under `key` is stored.
    pub(crate) fn holds_class(&self, key: &[u8]) -> Result<bool, LedgerError> {
        Ok(self.below.classes.contains(key) || self.value(key)?.is_some())
    }

    /// Keys below the group that begin with `prefix`, and those the group itself has staged.
    pub(crate) fn keys_of(&self, prefix: &[u8]) -> Result<BTreeSet<Key>, LedgerError> {
        let below = Rows::of(self.below.standing, prefix.to_vec());
        let mut keys: BTreeSet<Key> = below
            .map(|row| row.map(|(key, _)| key))
            .collect::<Result<_, _>>()?;
        for layer in [&self.kept, &self.tried] {
            let staged = layer.rows.range(prefix.to_vec()..);
            keys.extend(
                staged
                    .map(|(key, _)| key)
                    .take_while(|key| key.starts_with(prefix))
                    .cloned(),
            );
        }
        Ok(keys)
    }

    /// Stages the value of a row.
    pub(crate) fn put(&mut self, key: Key, value: Vec<u8>) {
        self.put_row(key, Some(value.into()), false);
    }

    /// Stages a row under a key that nothing can have yet.
    pub(crate) fn put_fresh(&mut self, key: Key, value: Vec<u8>) {
        self.put_row(key, Some(value.into()), true);
    }

    /// Stages that a row goes.
    pub(crate) fn remove(&mut self, key: Key) {
        let fresh = self.kept.rows.get(&key).is_some_and(|kept| kept.fresh);
        match fresh {
            // Kept by an earlier request of the group: absorbing makes both vanish.
            true => {
                let gone = NewRow {
                    value: None,
                    fresh: false,
                };
                self.tried.rows.insert(key, gone);
            }
            false => self.put_row(key, None, false),
        }
    }

    fn put_row(&mut self, key: Key, value: Option<Arc<[u8]>>, fresh: bool) {
        self.tried.put(key, NewRow { value, fresh });
    }

    /// Where a run stands as the group so far leaves it, and whether the group begins it.
    pub(crate) fn run(&self, run: RunId) -> Result<Option<NewRun>, LedgerError> {
        if self.is_pruned(run) {
            return Ok(None);
        }
        let staged = self
            .tried
            .runs
            .get(&run)
            .or_else(|| self.kept.runs.get(&run));
        if let Some(staged) = staged {
            return Ok(Some(staged.clone()));
        }
        let row = self.below.run(&self.looked, run)?;
        Ok(row.map(|row| NewRun {
            row: RunRow::clone(&row),
            born: false,
            written: false,
        }))
    }

    /// Stages where a run stands.
    pub(crate) fn put_run(&mut self, run: RunId, row: RunRow, born: bool) {
        let written = false;
        self.tried.put_run(run, NewRun { row, born, written });
    }

    /// Stages new records of a run, whose row is staged too.
    pub(crate) fn append(&mut self, records: NewRecords, newest: Timestamp) {
        self.carry(records);
        self.tried.appends += 1;
        self.tried.newest = self.tried.newest.max(Some(newest));
    }

    /// Stages records of a run, whose row is staged too.
    pub(crate) fn carry(&mut self, records: NewRecords) {
        let run = self.tried.runs.get_mut(&records.run);
        run.expect("its row is staged before its records").written = true;
        self.tried.records.push(records);
    }

    /// Stages records that come from another store; their run's row may follow later.
    pub(crate) fn import(&mut self, records: NewRecords, newest: Timestamp) {
        if let Some(run) = self.tried.runs.get_mut(&records.run) {
            run.written = true;
        }
        self.tried.records.push(records);
        self.tried.newest = self.tried.newest.max(Some(newest));
    }

    /// Whether the group takes a run away: nothing after that finds it.
    fn is_pruned(&self, run: RunId) -> bool {
        self.tried.pruned.contains(&run) || self.kept.pruned.contains(&run)
    }

    /// Whether the group says anything new of a run.
    pub(crate) fn is_touched(&self, run: RunId) -> bool {
        self.tried.runs.contains_key(&run) || self.kept.runs.contains_key(&run)
    }

    /// Stages that nothing of a run is left. The group says nothing else of it.
    pub(crate) fn prune(&mut self, run: RunId) {
        self.tried.pruned.insert(run);
    }

    /// Notes what subscribers have to hear of.
    pub(crate) fn knock(&mut self, knocked: &Knocked) {
        self.tried.knocked.absorb(knocked);
    }
}

impl View for Stage<'_> {
    fn head(&self, run: RunId) -> Result<Option<Head>, LedgerError> {
        if self.is_pruned(run) {
            return Ok(None);
        }
        if let Some(staged) = self
            .tried
            .runs
            .get(&run)
            .or_else(|| self.kept.runs.get(&run))
        {
            return Ok(Some(staged.row.head));
        }
        Ok(self.below.run(&self.looked, run)?.map(|row| row.head))
    }

    fn effect(&self, key: &EffectKey) -> Result<Option<(EffectEntry, u64)>, LedgerError> {
        effects::read(key, |row| self.value(row))
    }

    fn start_key(
        &self,
        tenant: &Tenant,
        key: &StartKey,
    ) -> Result<Option<(RunId, Digest)>, LedgerError> {
        let start = starts::read(tenant, key, |row| self.value(row))?;
        Ok(start.map(|start| (start.run, start.input)))
    }
}
