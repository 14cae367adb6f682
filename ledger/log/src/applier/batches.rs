//! One generation, batch by batch.
//!
//! Each batch carries the sums that prove the table after it, and moves nothing of the checkpoint's
//! place; that moves alone, after a sync of everything before it and before another. Between two
//! syncs no more is written than the engine can lose without a hole. Applying a generation again,
//! wholly or from any batch on, ends in the same table.

use std::time::{Duration, Instant};

use mainstay_types::limits::APPLY_BATCH_MS;

use crate::keys::Key;
use crate::overlay::{Layer, Row};
use crate::proof::{Known, Moves, Proof, Sums, proof_of};
use crate::segment::Place;
use crate::table::pieces::{self, Cut};
use crate::table::{StoredChange, TableError};

use super::Checkpoint;
use super::draft::{BUCKET_ROW_COST, Below, Draft, Finished};
use super::shared::Shared;

/// How a generation could not be applied.
#[derive(Debug)]
pub(super) enum Failed {
    /// There is no room, and nothing was tried.
    NoRoom(String),
    /// The table failed; what of the last batch is in it is not known.
    Table(TableError),
}

impl From<TableError> for Failed {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}

/// How many changes a batch has, so that it holds readers for about as long as it should.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    rows: usize,
    max: usize,
}

const BATCH: Duration = Duration::from_millis(APPLY_BATCH_MS);
const PACE_MIN: usize = 8;

impl Pace {
    pub(super) fn new(max: usize) -> Self {
        let max = max.max(1);
        Self {
            rows: max.min(128),
            max,
        }
    }

    fn took(&mut self, rows: usize, time: Duration) {
        if BATCH < time {
            self.rows = (self.rows / 2).max(PACE_MIN).min(self.max);
        } else if time < BATCH / 2 && self.rows <= rows {
            self.rows = (self.rows * 2).min(self.max);
        }
    }
}

/// Brings the table to where `layer` ends; `checkpoint` is the table's, and follows it.
pub(super) fn apply(
    shared: &Shared,
    layer: &Layer,
    checkpoint: &mut Checkpoint,
    pace: &mut Pace,
) -> Result<(), Failed> {
    let mut batches = Batches {
        draft: Draft::new(shared.limits, checkpoint.sums.clone()),
        shared,
        checkpoint,
        pace,
        unsynced: 0,
        replayed: layer.replayed,
    };
    for (key, row) in layer.all() {
        batches.row(key, row)?;
    }
    batches.end(layer.end)
}

struct Batches<'a> {
    shared: &'a Shared,
    checkpoint: &'a mut Checkpoint,
    pace: &'a mut Pace,
    draft: Draft,
    /// What was written since the last sync, in bytes of the engine's file, from above.
    unsynced: usize,
    replayed: bool,
}

impl Batches<'_> {
    fn row(&mut self, key: &Key, row: &Row) -> Result<(), Failed> {
        let old = self.old(key)?;
        let cut = row.value.as_ref().map(|value| pieces::cut(key, value));
        let (new, pieces) = cut.map_or((None, Vec::new()), |Cut { stored, pieces }| {
            (Some(stored), pieces)
        });
        let stale = match self.may_have_pieces(key, old.as_deref(), !pieces.is_empty()) {
            true => pieces::keys_of(self.shared.slot().table()?, key)?,
            false => Vec::new(),
        };
        // Pieces go ahead of the plan that refers to them, and leave after it.
        for (piece, stored) in &pieces {
            let old = match stale.contains(piece) {
                true => self.shared.slot().table()?.get(piece)?,
                false => None,
            };
            self.put(piece, (old.as_deref(), Some(stored.clone())))?;
        }
        self.put(key, (old.as_deref(), new))?;
        for piece in stale {
            if !pieces.iter().any(|(kept, _)| *kept == piece) {
                let old = self.shared.slot().table()?.get(&piece)?;
                self.put(&piece, (old.as_deref(), None))?;
            }
        }
        Ok(())
    }

    /// What the table has under `key`; not read when it is known to have nothing.
    fn old(&self, key: &Key) -> Result<Option<Vec<u8>>, Failed> {
        match self.shared.known.lock().known(key) {
            Known::Absent => Ok(None),
            Known::Perhaps | Known::Nothing => Ok(self.shared.slot().table()?.get(key)?),
        }
    }

    /// Whether the table may have pieces of this row: of its value, or of one whose plan was never
    /// written because a process ended. The log brings such a row again; a row that is not in the
    /// log is looked at each time.
    fn may_have_pieces(&self, key: &[u8], old: Option<&[u8]>, new_has: bool) -> bool {
        let in_log = key
            .first()
            .is_some_and(|kind| proof_of(*kind) != Proof::Itself);
        old.is_some_and(pieces::has_pieces) || new_has || self.replayed || !in_log
    }

    fn put(
        &mut self,
        key: &Key,
        (old, new): (Option<&[u8]>, Option<Vec<u8>>),
    ) -> Result<(), Failed> {
        if old == new.as_deref() {
            return Ok(());
        }
        let own = self.shared.limits.cost(key, new.as_deref());
        let cost = own + self.shared.limits.cost(key, None) + BUCKET_ROW_COST;
        let bound = self.shared.limits.sync_bytes_max;
        let full = bound < self.unsynced + self.draft.cost() + self.overhead() + cost;
        if full || self.pace.rows <= self.draft.len() {
            self.apply()?;
        }
        if full {
            self.sync()?;
        }
        let slot = self.shared.slot();
        let below = Below {
            table: slot.table()?,
            known: &self.shared.known,
        };
        self.draft.change(below, key, (old, new))?;
        Ok(())
    }

    /// What the checkpoint adds to each batch.
    fn overhead(&self) -> usize {
        let limits = self.shared.limits;
        limits.change_bytes + limits.times_written * self.checkpoint.bytes()
    }

    /// Applies what is drafted, when there is any.
    fn apply(&mut self) -> Result<(), Failed> {
        if self.draft.is_empty() {
            return Ok(());
        }
        let empty = Draft::new(self.shared.limits, Sums::default());
        let draft = std::mem::replace(&mut self.draft, empty);
        let cost = draft.cost();
        let Finished {
            mut changes,
            sums,
            moves,
        } = draft.finish(self.shared.slot().table()?)?;
        let checkpoint = Checkpoint {
            sums: sums.clone(),
            ..self.checkpoint.clone()
        };
        changes.push(checkpoint.to_row());
        let rows = changes.len();
        let time = self.write(changes, moves)?;
        self.pace.took(rows, time);
        self.unsynced += cost + self.overhead();
        *self.checkpoint = checkpoint;
        self.draft = Draft::new(self.shared.limits, sums);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Failed> {
        let synced = self.shared.slot().table()?.sync();
        if let Err(error) = &synced {
            self.shared.known.lock().forget();
            self.shared.slot_mut().fail(error);
        }
        synced?;
        self.unsynced = 0;
        Ok(())
    }

    /// The rest, and that the table has everything up to `end`.
    fn end(mut self, end: Option<Place>) -> Result<(), Failed> {
        self.apply()?;
        // The first of the two syncs around the checkpoint.
        self.sync()?;
        let place = end.max(self.checkpoint.place);
        if place == self.checkpoint.place {
            return Ok(());
        }
        let moved = Checkpoint {
            place,
            ..self.checkpoint.clone()
        };
        let row = moved.to_row();
        self.write(vec![row], Moves::default())?;
        self.sync()?;
        *self.checkpoint = moved;
        Ok(())
    }

    /// Changes the table while nobody reads; says how long that took.
    fn write(&self, changes: Vec<StoredChange>, moves: Moves) -> Result<Duration, Failed> {
        let room = self.shared.factory.room(&self.shared.site.folder);
        room.map_err(|error| Failed::NoRoom(error.to_string()))?;
        self.shared.see(&changes);
        let mut slot = self.shared.slot_mut();
        let begun = Instant::now();
        if let Err(error) = slot.table()?.apply(changes) {
            self.shared.known.lock().forget();
            slot.fail(&error);
            return Err(Failed::Table(error));
        }
        let time = begun.elapsed();
        self.shared.known.lock().follow(moves);
        drop(slot);
        self.shared.lag().tell();
        Ok(time)
    }
}
