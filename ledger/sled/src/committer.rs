//! The one thread that writes: takes what waits, checks it in order, writes it, syncs, answers.
//!
//! A group ends by count and by what sled will write for it; a call that is larger goes on in the
//! next group and is answered when all of it is durable. There is no timer; while one group is
//! synced, the next one gathers. No answer leaves before the sync, refusals included: they may rest
//! on what the same group wrote. After the first error of a write or a sync nothing is tried again
//! and everyone is told; a retried sync could acknowledge what the system has already dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mainstay_ledger::check::check;
use mainstay_ledger::knock::Knocker;
use mainstay_ledger::{CommitRequest, LedgerError, Receipt, Verdict};
use mainstay_types::{Seq, limits};

use crate::disk::Disk;
use crate::fault::panic_text;
use crate::heads::Heads;
use crate::parts::Parts;
use crate::position::Position;
use crate::progress::Progress;
use crate::queue::{Queue, Wish};
use crate::stage::{Layer, Stage, Writes};
use crate::witness::Witness;
use crate::{inbox, rows, waits};

/// The committer of one open store.
pub(crate) struct Committer {
    pub(crate) db: sled::Db,
    pub(crate) disk: Box<dyn Disk>,
    pub(crate) witness: Witness,
    pub(crate) position: Position,
    pub(crate) queue: Arc<Queue>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) knocker: Arc<Knocker>,
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
        let mut taken = Vec::new();
        while let Some(first) = taken.pop().or_else(|| self.queue.next().map(Taken::new)) {
            taken.push(first);
            let done = catch_unwind(AssertUnwindSafe(|| self.group(&mut taken)));
            let detail = match done {
                Ok(Ok(())) => {
                    let goes_on = taken.pop_if(|last| !last.done);
                    taken.drain(..).for_each(|taken| taken.wish.answer(None));
                    taken.extend(goes_on);
                    continue;
                }
                Ok(Err(detail)) => detail,
                Err(panic) => format!("the committer panicked: {}", panic_text(&*panic)),
            };
            self.progress.poison(detail);
            let failure = self.progress.gone();
            taken
                .into_iter()
                .for_each(|taken| taken.wish.answer(Some(failure.clone())));
            self.queue.fail(&failure);
            return;
        }
    }

    /// Stages the first wish and what else waits, and makes it durable. The wishes stay with the
    /// caller, who answers them also when this panics. Only the last may be left unfinished.
    fn group(&mut self, taken: &mut Vec<Taken>) -> Result<(), String> {
        let room = self.room();
        let mut stage = Stage::new(&self.db, &self.heads);
        let mut requests = 0;
        loop {
            let last = taken.last_mut().expect("the caller gives the first wish");
            requests += last.wish.weight();
            last.stage(&mut stage, room);
            let left = limits::COMMIT_GROUP_MAX.saturating_sub(requests);
            if left == 0 || !last.done {
                break;
            }
            let Some(wish) = self.queue.next_within(left) else {
                break;
            };
            taken.push(Taken::new(wish));
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
            Ok(free) if free < limits::COMMIT_ROOM_BYTES_MIN => Room::None,
            Ok(free) if free < limits::START_ROOM_BYTES_MIN => Room::NoNewRuns,
            Ok(_) | Err(_) => Room::Enough,
        }
    }

    /// Makes a group durable: at once, or in parts of which one is the group for everyone else.
    fn write(&mut self, kept: Layer) -> Result<(), String> {
        let Layer {
            mut writes,
            heads,
            appends,
            newest,
            knocked,
        } = kept;
        self.position = self.position.next(newest);
        let (key, value) = self.position.to_pair();
        writes.insert(key, Some(value));
        self.progress.begin();
        let parts = Parts::of(writes);
        for part in parts
            .ahead
            .into_iter()
            .chain([parts.whole])
            .chain(parts.behind)
        {
            self.apply(part)?;
        }
        self.witness
            .note(self.position.group)
            .map_err(|error| error.to_string())?;
        for (run, head) in heads {
            self.heads.put(run, head);
        }
        self.progress.finish(appends);
        self.knocker.knock(&knocked);
        Ok(())
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

/// A wish that the committer works on.
struct Taken {
    wish: Wish,
    /// Of a commit: the verdicts so far.
    verdicts: Vec<Verdict>,
    /// Whether its answer is known and may leave after the sync.
    done: bool,
}

impl Taken {
    fn new(wish: Wish) -> Self {
        Self {
            wish,
            verdicts: Vec::new(),
            done: false,
        }
    }

    /// Stages the wish until it is done or the group is full, and keeps its answer with it.
    ///
    /// Bytes that cannot be read fail only the wish that needed them; nothing of the request that
    /// needed them is written, and none after it is looked at.
    fn stage(&mut self, stage: &mut Stage<'_>, room: Room) {
        self.done = match &mut self.wish {
            Wish::Commit(requests, reply) => {
                let left = &requests[self.verdicts.len()..];
                let each = |request| settled(stage, |stage| commit(stage, room, request));
                let answer = left.iter().map_while(each).try_for_each(|verdict| {
                    self.verdicts.push(verdict?);
                    Ok(())
                });
                let done = answer.is_err() || self.verdicts.len() == requests.len();
                if done {
                    reply.set(answer.map(|()| std::mem::take(&mut self.verdicts)));
                }
                done
            }
            Wish::Enqueue(run, message, reply) => {
                let answer = settled(stage, |stage| inbox::enqueue(stage, *run, message));
                answer.map(|answer| reply.set(answer)).is_some()
            }
        };
    }
}

/// What `work` says; what it staged is kept unless it failed. `None` when the group has no room for
/// it.
fn settled<T>(
    stage: &mut Stage<'_>,
    work: impl FnOnce(&mut Stage<'_>) -> Result<T, LedgerError>,
) -> Option<Result<T, LedgerError>> {
    let answer = work(stage);
    if answer.is_ok() && stage.fits() {
        stage.keep();
        return Some(answer);
    }
    stage.forget();
    answer.is_err().then_some(answer)
}

/// A request that another one refuses is told so even when the disk is full. One that sled could
/// not make durable at once, whatever is cut, is answered `Full`.
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
    let mut settled = Vec::new();
    let seqs: Result<Vec<_>, _> = request
        .parts
        .iter()
        .map(|part| rows::write_part(stage, part, &mut settled))
        .collect();
    let seqs = seqs?;
    let Some(left) = stage.bytes_left() else {
        stage.forget();
        return Ok(Verdict::Full);
    };
    waits::wake(stage, settled, left)?;
    Ok(Verdict::Committed(Receipt { seqs }))
}
