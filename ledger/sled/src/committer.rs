//! The one thread that writes: takes what waits, checks it in order, writes it, syncs, answers.
//!
//! There is no timer; while one group is synced, the next one gathers. No answer leaves before
//! the sync, refusals included: they may rest on what the same group wrote. After the first error
//! of a write or a sync nothing is tried again and everyone is told; a retried sync could
//! acknowledge what the system has already dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mainstay_ledger::check::check;
use mainstay_ledger::{CommitRequest, LedgerError, Receipt, Verdict};
use mainstay_types::{Seq, limits};

use crate::disk::Disk;
use crate::fault::panic_text;
use crate::heads::Heads;
use crate::keys;
use crate::position::Position;
use crate::progress::Progress;
use crate::queue::{Queue, Wish};
use crate::rows;
use crate::settings::{COMMIT_ROOM_BYTES, START_ROOM_BYTES, SYNC_BYTES_MAX};
use crate::stage::{Layer, Stage, Writes, bytes_of};
use crate::witness::Witness;

/// The committer of one open store.
pub(crate) struct Committer {
    pub(crate) db: sled::Db,
    pub(crate) disk: Box<dyn Disk>,
    pub(crate) witness: Witness,
    pub(crate) position: Position,
    pub(crate) queue: Arc<Queue>,
    pub(crate) progress: Arc<Progress>,
    /// Heads of runs that were written lately.
    pub(crate) heads: Heads,
}

/// How much may still be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Enough,
    NoNewRuns,
    None,
}

impl Committer {
    /// Works until the queue is closed and empty, or until something fails.
    pub(crate) fn run(mut self) {
        while let Some(first) = self.queue.next() {
            let mut wishes = vec![first];
            let done = catch_unwind(AssertUnwindSafe(|| self.group(&mut wishes)));
            let detail = match done {
                Ok(Ok(())) => {
                    wishes.into_iter().for_each(|wish| wish.answer(None));
                    continue;
                }
                Ok(Err(detail)) => detail,
                Err(panic) => format!("the committer panicked: {}", panic_text(&*panic)),
            };
            self.progress.poison(detail);
            let failure = self.progress.gone();
            wishes
                .into_iter()
                .for_each(|wish| wish.answer(Some(failure.clone())));
            self.queue.fail(&failure);
            return;
        }
    }

    /// Stages the first wish and what else waits, and makes it durable. The wishes stay with the
    /// caller, who answers them also when this panics.
    fn group(&mut self, wishes: &mut Vec<Wish>) -> Result<(), String> {
        let room = self.room();
        let mut stage = Stage::new(&self.db, &self.heads);
        let (mut requests, mut bytes) = (0, 0);
        loop {
            let wish = wishes.last_mut().expect("the caller gives the first wish");
            requests += wish.weight();
            bytes += handle(&mut stage, room, wish);
            let left = limits::COMMIT_GROUP_MAX.saturating_sub(requests);
            if left == 0 || SYNC_BYTES_MAX <= bytes {
                break;
            }
            let Some(wish) = self.queue.next_within(left) else {
                break;
            };
            wishes.push(wish);
        }
        let kept = stage.into_kept();
        if kept.writes.is_empty() {
            // Nothing new was seen either: refusals rest on what is durable already.
            return Ok(());
        }
        self.write(kept)
    }

    /// A volume that cannot tell its room gets the benefit of the doubt: writing will show.
    fn room(&self) -> Room {
        match self.disk.room() {
            Ok(free) if free < COMMIT_ROOM_BYTES => Room::None,
            Ok(free) if free < START_ROOM_BYTES => Room::NoNewRuns,
            Ok(_) | Err(_) => Room::Enough,
        }
    }

    /// Makes a group durable.
    ///
    /// What sled promises holds while less than a segment is written between two syncs. Pieces
    /// are invisible until their plan is written, so those of a larger group go ahead in parts.
    fn write(&mut self, kept: Layer) -> Result<(), String> {
        let Layer {
            mut writes,
            heads,
            appends,
            newest,
        } = kept;
        self.position = self.position.next(newest);
        let (key, value) = self.position.to_pair();
        writes.insert(key, Some(value));
        self.progress.begin();
        if SYNC_BYTES_MAX < bytes_of(&writes) {
            self.write_ahead(&mut writes)?;
        }
        self.apply(writes)?;
        self.witness
            .note(self.position.group)
            .map_err(|error| error.to_string())?;
        for (run, head) in heads {
            self.heads.put(run, head);
        }
        self.progress.finish(appends);
        Ok(())
    }

    fn write_ahead(&self, writes: &mut Writes) -> Result<(), String> {
        let mut pieces = Vec::new();
        writes.retain(|key, value| {
            let stays = value.is_none() || !keys::is_piece(key);
            if !stays {
                pieces.push((key.clone(), value.take()));
            }
            stays
        });
        let mut ahead = Writes::new();
        let mut bytes = 0;
        for (key, piece) in pieces {
            bytes += key.len() + piece.as_ref().map_or(0, Vec::len);
            ahead.insert(key, piece);
            if SYNC_BYTES_MAX <= bytes {
                self.apply(std::mem::take(&mut ahead))?;
                bytes = 0;
            }
        }
        if ahead.is_empty() {
            Ok(())
        } else {
            self.apply(ahead)
        }
    }

    /// One atomic batch, durable when this returns.
    fn apply(&self, writes: Writes) -> Result<(), String> {
        let mut batch = sled::Batch::default();
        for (key, value) in writes {
            match value {
                Some(value) => batch.insert(key, value),
                None => batch.remove(key),
            }
        }
        self.db
            .apply_batch(batch)
            .map_err(|error| format!("writing to sled: {error}"))?;
        self.db
            .flush()
            .map_err(|error| format!("flushing sled: {error}"))?;
        self.disk
            .sync()
            .map_err(|error| format!("syncing sled's file: {error}"))?;
        self.progress.synced();
        Ok(())
    }
}

/// Stages a wish and keeps its answer with it; says how many bytes it adds.
///
/// Bytes that cannot be read fail only the wish that needed them, and nothing of it is written.
fn handle(stage: &mut Stage<'_>, room: Room, wish: &mut Wish) -> usize {
    match wish {
        Wish::Commit(requests, reply) => {
            let answer: Result<Vec<_>, _> = requests
                .iter()
                .map(|request| commit(stage, room, request))
                .collect();
            let bytes = stage.settle(&answer);
            reply.set(answer);
            bytes
        }
        Wish::Enqueue(run, message, reply) => {
            let answer = rows::enqueue(stage, *run, message);
            let bytes = stage.settle(&answer);
            reply.set(answer);
            bytes
        }
    }
}

/// A request that another one refuses is told so even when the disk is full.
fn commit(
    stage: &mut Stage<'_>,
    room: Room,
    request: &CommitRequest,
) -> Result<Verdict, LedgerError> {
    if let Some(refused) = check(stage, request)? {
        return Ok(refused);
    }
    let begins = request.parts.iter().any(|part| part.expected_seq == Seq(0));
    if room == Room::None || (begins && room == Room::NoNewRuns) {
        return Ok(Verdict::Full);
    }
    let seqs: Result<Vec<_>, _> = request
        .parts
        .iter()
        .map(|part| rows::write_part(stage, part))
        .collect();
    Ok(Verdict::Committed(Receipt { seqs: seqs? }))
}
