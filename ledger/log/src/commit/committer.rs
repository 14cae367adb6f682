//! The one who writes: takes what waits, checks it in order, writes it, syncs, answers.
//!
//! A group ends by count, by bytes and by the time it took to check; a call that is larger goes on
//! in the next group and is answered when all of it is durable. Nothing is waited for to make a
//! group larger; while one is synced, the next one gathers. No answer leaves before the sync,
//! refusals included: they may rest on what the same group wrote. After the first error of a sync
//! nothing is tried again and everyone is told; a retried sync could acknowledge what the system
//! has already dropped.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mainstay_ledger::knock::Knocker;
use mainstay_types::{Timestamp, limits};
use parking_lot::Mutex;

use crate::below::Below;
use crate::commit::group::{self, Changes};
use crate::commit::progress::Progress;
use crate::commit::queue::{Queue, Served};
use crate::commit::taken::{Room, Taken};
use crate::fault::panic_text;
use crate::heads::Heads;
use crate::keys::Key;
use crate::read::Reader;
use crate::segment::{FrameBuilder, Log, LogError, Priority};
use crate::settings::Settings;
use crate::stage::{Layer, Stage};
use crate::standing::Pressure;

/// The committer of one open store.
pub(crate) struct Committer {
    pub(crate) log: Log,
    pub(crate) reader: Reader,
    pub(crate) heads: Arc<Mutex<Heads>>,
    pub(crate) classes: HashSet<Key>,
    pub(crate) settings: Settings,
    pub(crate) progress: Arc<Progress>,
    pub(crate) knocker: Arc<Knocker>,
    /// The newest time among all events.
    pub(crate) newest: Option<Timestamp>,
    /// Used again by each group.
    pub(crate) frame: FrameBuilder,
}

const GATHER: Duration = Duration::from_millis(limits::GROUP_GATHER_MS);

/// How a group could not be written.
enum Failed {
    /// For want of room; nothing of it was, and the next one may be.
    NoRoom,
    /// For good.
    Broken(String),
}

/// What of a group was written.
enum Wrote {
    All,
    /// For want of room.
    Nothing,
}

impl Committer {
    /// Writes the first wish and what else waits, and answers all that is done. `false` once the
    /// store has failed.
    pub(crate) fn serve(&mut self, queue: &Arc<Queue>, taken: &mut Vec<Taken>) -> bool {
        let done = catch_unwind(AssertUnwindSafe(|| self.group(queue, taken)));
        let detail = match done {
            Ok(Ok(())) => {
                let goes_on = taken.pop_if(|last| !last.done);
                taken.drain(..).for_each(|taken| taken.wish.answer(None));
                taken.extend(goes_on);
                return true;
            }
            Ok(Err(detail)) => detail,
            Err(panic) => format!("the committer panicked: {}", panic_text(&*panic)),
        };
        self.progress.poison(detail);
        let failure = self.progress.gone();
        taken
            .drain(..)
            .for_each(|taken| taken.wish.answer(Some(failure.clone())));
        queue.fail(&failure);
        false
    }

    /// Stages the first wish and what else waits, and makes it durable. The wishes stay with the
    /// caller, who answers them also when this panics. Only the last may be left unfinished.
    fn group(&mut self, queue: &Arc<Queue>, taken: &mut Vec<Taken>) -> Result<(), String> {
        // Rows would only gather in memory until nobody commits; opening again heals the table.
        let whole = self.reader.standing.check();
        whole.map_err(|error| error.to_string())?;
        let room = self.room();
        let kept = self.gathered(queue, taken, room);
        match self.write_group(kept, room)? {
            Wrote::All => return Ok(()),
            Wrote::Nothing if room == Room::OnlyWhatEnds => {}
            // There was more room when it was last looked at. What the log holds back is for what
            // ends something, whatever stood in the same group.
            Wrote::Nothing => {
                self.log.look_at_room_again();
                let kept = self.staged_again(taken, Room::OnlyWhatEnds);
                if let Wrote::All = self.write_group(kept, Room::OnlyWhatEnds)? {
                    return Ok(());
                }
            }
        }
        taken.iter_mut().for_each(Taken::found_no_room);
        Ok(())
    }

    fn below(&self) -> Below<'_> {
        Below {
            standing: &self.reader.standing,
            archive: &self.reader.archive,
            heads: &self.heads,
            classes: &self.classes,
            settings: &self.settings,
        }
    }

    /// What the first wish and those that wait come to, until the group is full.
    fn gathered(&self, queue: &Arc<Queue>, taken: &mut Vec<Taken>, room: Room) -> Layer {
        let served = Served::now(&self.reader.standing);
        let mut stage = Stage::new(self.below());
        let mut requests = 0;
        let begun = Instant::now();
        loop {
            let last = taken.last_mut().expect("the caller gives the first wish");
            requests += last.wish.weight();
            last.stage(&mut stage, room);
            let left = limits::COMMIT_GROUP_MAX.saturating_sub(requests);
            // What waits in the control lane waits for one group and its own, so a crowd makes none
            // long; a single wish is bounded by itself.
            if left == 0 || !last.done || GATHER < begun.elapsed() {
                break;
            }
            let Some(wish) = queue.next_within(served, left) else {
                break;
            };
            taken.push(Taken::new(wish));
        }
        stage.into_kept()
    }

    /// What the same wishes come to when there is less room; they are not more than before.
    fn staged_again(&self, taken: &mut [Taken], room: Room) -> Layer {
        let mut stage = Stage::new(self.below());
        for wish in taken {
            wish.forget_group();
            wish.stage(&mut stage, room);
        }
        stage.into_kept()
    }

    /// Makes a group durable. An error, in words, is for good.
    fn write_group(&mut self, kept: Layer, room: Room) -> Result<Wrote, String> {
        if kept.is_empty() {
            // Nothing new was seen either: refusals rest on what is durable already.
            return Ok(Wrote::All);
        }
        let priority = match room {
            Room::Enough => Priority::Ordinary,
            Room::NoNewRuns | Room::OnlyWhatEnds => Priority::Control,
        };
        match self.write(kept, priority) {
            Ok(()) => Ok(Wrote::All),
            Err(Failed::NoRoom) => Ok(Wrote::Nothing),
            Err(Failed::Broken(detail)) => Err(detail),
        }
    }

    /// What may still be written. On a full disk what is in flight is settled, with the room that
    /// the log and the ballast hold back; nothing begins.
    fn room(&self) -> Room {
        let standing = &self.reader.standing;
        if standing.pressure() != Pressure::Calm && standing.is_failing() {
            return Room::OnlyWhatEnds;
        }
        match self.log.room() {
            Some(free) if free < limits::COMMIT_ROOM_BYTES_MIN => Room::OnlyWhatEnds,
            Some(free) if free < limits::START_ROOM_BYTES_MIN => Room::NoNewRuns,
            // A volume that cannot tell its room gets the benefit of the doubt.
            Some(_) | None => Room::Enough,
        }
    }

    /// Makes a group durable and visible.
    fn write(&mut self, mut kept: Layer, priority: Priority) -> Result<(), Failed> {
        let newest = self.newest.max(kept.newest);
        kept.newest = kept.newest.and(newest);
        let segment = self.log.make_room(kept.bytes).map_err(failed)?;
        self.frame.clear();
        let changes = group::write(&mut self.frame, segment, &mut kept, &self.settings);
        let written = self.log.append(&mut self.frame, priority).map_err(failed)?;
        self.log
            .sync()
            .map_err(|error| Failed::Broken(error.to_string()))?;
        self.newest = newest;
        // The archive first: a run that closes is never in neither place.
        self.log.publish(written, &self.frame);
        self.settle(changes);
        self.progress.written(kept.appends);
        self.knocker.knock(&kept.knocked);
        Ok(())
    }

    /// Shows the rows of a durable group to everyone.
    fn settle(&mut self, changes: Changes) {
        for change in &changes.rows {
            if crate::keys::is_class(&change.key) {
                self.classes.insert(change.key.clone());
            }
        }
        let mut heads = self.heads.lock();
        for (run, row) in changes.open {
            heads.put(run, row);
        }
        for run in &changes.gone {
            heads.remove(*run);
        }
        drop(heads);
        self.reader.standing.write(changes.rows, self.log.end());
        for run in changes.gone {
            self.reader.forget_snapshot(run);
        }
    }
}

fn failed(error: LogError) -> Failed {
    match error {
        LogError::Full { .. } => Failed::NoRoom,
        LogError::Damaged { .. }
        | LogError::Io { .. }
        | LogError::TooLarge { .. }
        | LogError::Poisoned { .. } => Failed::Broken(error.to_string()),
    }
}
