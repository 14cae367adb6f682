//! The thread that keeps the store small, and the same work for whoever asks for it at once.
//!
//! It finds; the committer does, a bounded handful at a time, and looks once more. What time it is
//! says the newest event: a store that nothing is written to forgets nothing, and no clock that
//! jumps makes it forget early.

use std::collections::HashMap;
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_types::{Millis, RunId, Timestamp, limits};

use crate::blocking;
use crate::commit::Shared;
use crate::commit::queue::{Reply, Wish};
use crate::keys::{self, Key};
use crate::read::{Reader, Rows};
use crate::retention::Sweep;
use crate::segment::{Entry, Leave, Place, RunIn, SegmentInfo, SegmentNo};

/// How many things one sweep has.
const HANDFUL: usize = 256;

/// A segment whose closed runs expire one after the other is looked at once for so many of them.
const SPREAD: Millis = Millis::from_secs(60 * 60);

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Closed runs that were taken out.
    pub runs: u64,
    /// Keys of effects and starts that were forgotten.
    pub keys: u64,
    /// Alerts that are not kept any more.
    pub alerts: u64,
    /// Rows and packs of records that were written forward.
    pub carried: u64,
    /// Segments that were freed.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Keeps one store small.
pub(crate) struct Sweeper {
    shared: Arc<Shared>,
    reader: Reader,
    /// When a segment is looked at next.
    due: HashMap<SegmentNo, Timestamp>,
    /// The oldest and the newest segment and what had expired when the oldest one was looked at
    /// last: as long as these are the same it holds what it held.
    looked: Option<(SegmentNo, SegmentNo, u64)>,
    /// What was appended since this began, as far as it was looked at.
    appended: Appended,
    pub(crate) swept: Swept,
}

/// Bytes that may be written forward: never more than others append, so that an idle store rests
/// and a busy one writes at most twice.
#[derive(Debug, Default)]
struct Appended {
    end: Option<Place>,
    credit: u64,
}

/// Is shown rows, key and value, until it fails.
type EachRow<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), LedgerError> + 'a;

/// Which closed runs go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    /// Those whose time is over.
    Expired,
    /// Those that ended so long ago.
    EndedBefore(Timestamp),
}

impl Sweeper {
    pub(crate) fn new(shared: Arc<Shared>, reader: Reader) -> Self {
        Self {
            shared,
            reader,
            due: HashMap::new(),
            looked: None,
            appended: Appended::default(),
            swept: Swept::default(),
        }
    }

    /// One round of everything, by the store's own time. A chore that fails, for want of room or
    /// because something cannot be read, keeps what it would have taken away and stops no other.
    pub(crate) fn round(&mut self) {
        let shared = Arc::clone(&self.shared);
        let _alone = shared.housekeeping.lock();
        let now = match self.reader.newest_time() {
            Ok(Some(now)) => now,
            Ok(None) => return,
            Err(error) => return told("the time", &error),
        };
        self.earn();
        let chores: [(&str, Chore); 4] = [
            ("keys", |sweeper, now| sweeper.forget_keys(now)),
            ("runs", |sweeper, now| sweeper.prune_due(now)),
            ("alerts", |sweeper, _| sweeper.forget_alerts()),
            ("segments", |sweeper, now| {
                while sweeper.free_oldest(now, Effort::Little)? {}
                Ok(())
            }),
        ];
        for (what, chore) in chores {
            if let Err(error) = chore(self, now) {
                told(what, &error);
            }
        }
    }

    /// Everything that can go at `now`, at once.
    pub(crate) fn prune_now(
        &mut self,
        which: Which,
        now: Timestamp,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), LedgerError> {
        let shared = Arc::clone(&self.shared);
        let _alone = shared.housekeeping.lock();
        self.forget_keys(now)?;
        self.prune_all(which, now, progress)?;
        self.forget_alerts()?;
        // A segment that is being written is never freed.
        let segments = self.reader.archive.segments().len();
        for _ in 1..segments {
            if !self.free_oldest(now, Effort::Much)? {
                break;
            }
        }
        Ok(())
    }

    fn ask(&self, sweep: Sweep) -> Result<u64, LedgerError> {
        let (reply, answer) = Reply::new();
        let wish = Wish::Sweep(sweep, reply);
        blocking::wait(self.shared.ask(wish, answer))
    }

    fn forget_keys(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        loop {
            let mut queued: Vec<Key> = Vec::new();
            for row in Rows::of(&self.reader.standing, keys::expiries()).take(HANDFUL) {
                let (key, _) = row?;
                // The queue is in order of time.
                if keys::expiry_in(&key).is_some_and(|(at, _)| now < at) {
                    break;
                }
                queued.push(key);
            }
            if queued.is_empty() {
                return Ok(());
            }
            self.swept.keys += self.ask(Sweep::ForgetKeys { now, queued })?;
        }
    }

    /// Closed runs of those segments in which enough has expired to look.
    fn prune_due(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        for segment in self.reader.archive.segments() {
            let Some(due) = self.due_of(&segment).filter(|due| *due <= now) else {
                continue;
            };
            let leave = self.reader.archive.leave(segment.no)?;
            let rest = leave.runs.iter().filter(|run| run.row_here);
            let (over, kept): (Vec<&RunIn>, Vec<&RunIn>) =
                rest.partition(|run| run.expires_at.is_some_and(|at| at <= now));
            for runs in over.chunks(HANDFUL) {
                let runs = runs.iter().map(|run| run.run).collect();
                self.swept.runs += self.ask(Sweep::Prune { runs })?;
            }
            let next = kept.iter().filter_map(|run| run.expires_at).min();
            let next = next.map_or(never(), |next| next.max(due) + SPREAD);
            self.due.insert(segment.no, next);
        }
        Ok(())
    }

    fn due_of(&self, segment: &SegmentInfo) -> Option<Timestamp> {
        let (first, last) = segment.expires_first.zip(segment.expires_last)?;
        // More may have closed in a segment that is still written.
        match self.due.get(&segment.no) {
            Some(due) if segment.sealed || *due != never() => Some(*due),
            Some(_) | None => Some(last.min(first + SPREAD)),
        }
    }

    fn prune_all(
        &mut self,
        which: Which,
        now: Timestamp,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), LedgerError> {
        let mut before = None;
        let mut looked = 0;
        loop {
            let mut over: Vec<RunId> = Vec::new();
            let mut last = None;
            for found in self.reader.archive.list_closed(before).take(HANDFUL) {
                let (run, closed) = found?;
                last = Some(run);
                looked += 1;
                let row = crate::run_row::RunRow::decode(run, &closed.row)?;
                let ended = row.summary.as_ref().and_then(|summary| summary.ended_at);
                let goes = match which {
                    Which::Expired => closed.expires_at <= now,
                    Which::EndedBefore(moment) => ended.is_none_or(|ended| ended <= moment),
                };
                if goes {
                    over.push(run);
                }
            }
            let Some(last) = last else {
                return Ok(());
            };
            before = Some(last);
            if !over.is_empty() {
                self.swept.runs += self.ask(Sweep::Prune { runs: over })?;
            }
            progress(looked, 0);
        }
    }

    fn forget_alerts(&mut self) -> Result<(), LedgerError> {
        let (first, newest) = self.reader.alerts_kept()?;
        let last_gone = newest.get().saturating_sub(limits::ALERTS_KEPT_MAX);
        let mut from = first.get().saturating_sub(1);
        while from < last_gone {
            let through = last_gone.min(from + HANDFUL as u64);
            self.swept.alerts += self.ask(Sweep::ForgetAlerts { from, through })?;
            from = through;
        }
        Ok(())
    }

    fn earn(&mut self) {
        let end = self.reader.archive.end();
        let before = self.appended.end.replace(end);
        let Some(before) = before else {
            return;
        };
        let bytes: u64 = match before.segment == end.segment {
            true => u64::from(end.offset.saturating_sub(before.offset)),
            false => {
                let segments = self.reader.archive.segments();
                let newer = segments.iter().filter(|info| before.segment < info.no);
                newer.map(|info| u64::from(info.end)).sum()
            }
        };
        self.appended.credit = self.appended.credit.saturating_add(bytes);
    }

    /// Frees the oldest segment when nothing lives in it, or so little that it is written forward.
    fn free_oldest(&mut self, now: Timestamp, effort: Effort) -> Result<bool, LedgerError> {
        let segments = self.reader.archive.segments();
        let Some(oldest) = segments.first().filter(|oldest| oldest.sealed) else {
            return Ok(false);
        };
        if effort == Effort::Little && !self.may_be_free(oldest, now) {
            return Ok(false);
        }
        let newest = segments.last().map_or(oldest.no, |newest| newest.no);
        let seen = Some((oldest.no, newest, self.swept.runs + self.swept.keys));
        if effort == Effort::Little && self.looked == seen {
            return Ok(false);
        }
        self.looked = seen;
        let leave = self.reader.archive.leave(oldest.no)?;
        let living = self.living(&leave)?;
        let runs: u64 = living.iter().map(|run| run.bytes).sum();
        let bytes = runs + self.living_rows(oldest.no)?;
        if !self.is_worth(oldest, bytes, (&living, now), effort)? {
            return Ok(false);
        }
        self.carry(oldest.no, &living)?;
        self.appended.credit = self.appended.credit.saturating_sub(bytes);
        self.free(oldest)
    }

    /// Whether so many bytes are written forward so that a segment can go.
    fn is_worth(
        &self,
        oldest: &SegmentInfo,
        bytes: u64,
        (living, now): (&[&RunIn], Timestamp),
        effort: Effort,
    ) -> Result<bool, LedgerError> {
        let quarter = u64::from(oldest.end) / 4;
        if bytes <= quarter {
            return Ok(true);
        }
        // A closed run whose time is not over leaves on its own.
        if living
            .iter()
            .any(|run| run.expires_at.is_some_and(|at| now < at))
        {
            return Ok(false);
        }
        match effort {
            // What lives for long must not keep everything behind it from going.
            Effort::Little => Ok(bytes <= self.appended.credit),
            Effort::Much => Ok(bytes <= 3 * quarter || self.is_half_dead_behind(oldest.no)?),
        }
    }

    /// Whether some later segment would give back half of itself.
    fn is_half_dead_behind(&self, oldest: SegmentNo) -> Result<bool, LedgerError> {
        for segment in self.reader.archive.segments() {
            if segment.no <= oldest || !segment.sealed {
                continue;
            }
            let leave = self.reader.archive.leave(segment.no)?;
            let runs: u64 = self.living(&leave)?.iter().map(|run| run.bytes).sum();
            if runs <= u64::from(segment.end) / 2
                && runs + self.living_rows(segment.no)? <= u64::from(segment.end) / 2
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether it is worth reading an index: something expired in it, or nothing was closed in it.
    fn may_be_free(&self, oldest: &SegmentInfo, now: Timestamp) -> bool {
        oldest.expires_last.is_none_or(|last| last <= now)
    }

    /// Runs that are still there; what an import left that was cut off is not.
    fn living<'a>(&self, leave: &'a Leave) -> Result<Vec<&'a RunIn>, LedgerError> {
        let mut living = Vec::new();
        for run in &leave.runs {
            if run.row_here || self.reader.row(run.run)?.is_some() {
                living.push(run);
            }
        }
        Ok(living)
    }

    fn carry(&mut self, segment: SegmentNo, living: &[&RunIn]) -> Result<(), LedgerError> {
        self.carry_rows(segment)?;
        for run in living {
            let packs = self.reader.archive.packs_in(segment, run.run)?;
            let mut packs: Vec<_> = packs
                .into_iter()
                .filter(|pack| run.packs.contains(&(pack.first, pack.count)))
                .collect();
            // At least once: its row may be all that lives here.
            loop {
                let mut bytes = 0;
                let handful = packs.iter().take_while(|pack| {
                    bytes += pack.bytes.len();
                    bytes <= limits::GROUP_BYTES_MAX
                });
                let count = handful.count().max(1).min(packs.len());
                let left = packs.split_off(count);
                let run = run.run;
                self.swept.carried += self.ask(Sweep::CarryRun { run, packs })?;
                if left.is_empty() {
                    break;
                }
                packs = left;
            }
        }
        Ok(())
    }

    /// What the rows take that still stand as they lie there, in bytes.
    fn living_rows(&self, segment: SegmentNo) -> Result<u64, LedgerError> {
        let mut bytes = 0;
        self.each_living_row(segment, &mut |key, value| {
            bytes += (key.len() + value.len()) as u64;
            Ok(())
        })?;
        Ok(bytes)
    }

    fn carry_rows(&mut self, segment: SegmentNo) -> Result<(), LedgerError> {
        let mut rows: Vec<(Key, Arc<[u8]>)> = Vec::new();
        let (mut bytes, mut carried) = (0, 0);
        self.each_living_row(segment, &mut |key, value| {
            bytes += value.len();
            rows.push((key.to_vec(), value.into()));
            if HANDFUL <= rows.len() || limits::GROUP_BYTES_MAX <= bytes {
                bytes = 0;
                let rows = std::mem::take(&mut rows);
                carried += self.ask(Sweep::CarryRows { rows })?;
            }
            Ok(())
        })?;
        if !rows.is_empty() {
            carried += self.ask(Sweep::CarryRows { rows })?;
        }
        self.swept.carried += carried;
        Ok(())
    }

    /// Rows that still stand as they lie there; where runs stand goes with their records.
    fn each_living_row(
        &self,
        segment: SegmentNo,
        each: &mut EachRow<'_>,
    ) -> Result<(), LedgerError> {
        for frame in self
            .reader
            .archive
            .frames(Some(Place { segment, offset: 0 }))
        {
            let frame = frame?;
            if segment < frame.place.segment {
                break;
            }
            for entry in frame.entries() {
                let Entry::Row { key, value } = entry? else {
                    continue;
                };
                let stands = !keys::is_run(key)
                    && self
                        .reader
                        .standing
                        .get(key)?
                        .is_some_and(|now| &*now == value);
                if stands {
                    each(key, value)?;
                }
            }
        }
        Ok(())
    }

    /// What was written forward is durable; the table must not need what lay here before either.
    fn free(&mut self, oldest: &SegmentInfo) -> Result<bool, LedgerError> {
        let standing = &self.reader.standing;
        let needs = |place: Option<Place>| place.is_none_or(|place| place.segment <= oldest.no);
        if needs(standing.place()) {
            standing.flush()?;
            if needs(standing.place()) {
                return Ok(false);
            }
        }
        self.reader.archive.free(oldest.no)?;
        self.due.remove(&oldest.no);
        self.swept.segments += 1;
        self.swept.bytes += u64::from(oldest.bytes);
        Ok(true)
    }
}

/// One part of a round.
type Chore = fn(&mut Sweeper, Timestamp) -> Result<(), LedgerError>;

fn told(what: &str, error: &LedgerError) {
    tracing::warn!(what, %error, "nothing of this kind was taken away");
}

/// How much is done for a segment to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    /// What costs little beside what others write.
    Little,
    /// Whatever it takes.
    Much,
}

const fn never() -> Timestamp {
    Timestamp::from_millis(i64::MAX)
}
