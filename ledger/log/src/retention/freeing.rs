//! Freeing the oldest segment: what still lives in it is written forward first, when that pays.
//!
//! The oldest goes first, always, and only when the table needs nothing of it any more. What cannot
//! be read is kept.

use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_types::{Timestamp, limits};

use super::sweeper::{HANDFUL, Sweeper};
use crate::keys::{self, Key};
use crate::retention::Sweep;
use crate::segment::{Entry, Leave, Place, RunIn, SegmentInfo, SegmentNo};

/// Bytes that may be written forward: never more than others appended, so that an idle store rests
/// and a busy one writes at most twice. What is written forward here earns nothing.
#[derive(Debug, Default)]
pub(super) struct Appended {
    end: Option<Place>,
    /// Below zero after more was written than it seemed.
    credit: i64,
}

/// Is shown rows, key and value, until it fails.
type EachRow<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), LedgerError> + 'a;

/// How much is done for a segment to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// What costs little beside what others write.
    Little,
    /// Whatever it takes.
    Much,
}

impl Sweeper {
    pub(super) fn earn(&mut self) {
        let end = self.reader.archive.end();
        let before = self.appended.end.replace(end);
        if let Some(before) = before {
            let bytes = self.between(before, end);
            self.appended.credit = self.appended.credit.saturating_add_unsigned(bytes);
        }
    }

    /// Bytes of the log from one place to a later one.
    fn between(&self, from: Place, to: Place) -> u64 {
        if from.segment == to.segment {
            return u64::from(to.offset.saturating_sub(from.offset));
        }
        let segments = self.reader.archive.segments();
        let newer = segments.iter().filter(|info| from.segment < info.no);
        newer.map(|info| u64::from(info.end)).sum()
    }

    /// Frees the oldest segment when nothing lives in it, or so little that it is written forward.
    pub(super) fn free_oldest(
        &mut self,
        now: Timestamp,
        effort: Effort,
    ) -> Result<bool, LedgerError> {
        let segments = self.reader.archive.segments();
        let Some(oldest) = segments.first().filter(|oldest| oldest.sealed) else {
            return Ok(false);
        };
        if effort == Effort::Little && !self.may_be_free(oldest, now) {
            return Ok(false);
        }
        if self.carried == Some(oldest.no) {
            // Nothing comes to live in it any more; only freeing it failed.
            return self.free(oldest);
        }
        let newest = segments.last().map_or(oldest.no, |newest| newest.no);
        let seen = Some((oldest.no, newest, self.swept.runs + self.swept.keys));
        if effort == Effort::Little && self.looked == seen {
            return Ok(false);
        }
        let leave = self.reader.archive.leave(oldest.no)?;
        let living = self.living(&leave)?;
        let runs: u64 = living.iter().map(|run| run.bytes).sum();
        let bytes = runs + self.living_rows(oldest.no)?;
        if !self.is_worth(oldest, bytes, (&living, now), effort)? {
            self.looked = seen;
            return Ok(false);
        }
        let before = self.reader.archive.end();
        self.carry(oldest.no, &living)?;
        // What others appended meanwhile counts as written forward, too.
        let end = self.reader.archive.end();
        let written = self.between(before, end).max(bytes);
        self.appended.credit = self.appended.credit.saturating_sub_unsigned(written);
        self.appended.end = Some(end);
        self.carried = Some(oldest.no);
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
            Effort::Little => {
                Ok(i64::try_from(bytes).is_ok_and(|bytes| bytes <= self.appended.credit))
            }
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
                self.swept.carried += self.shared.sweep(Sweep::CarryRun { run, packs })?;
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
                carried += self.shared.sweep(Sweep::CarryRows { rows })?;
            }
            Ok(())
        })?;
        if !rows.is_empty() {
            carried += self.shared.sweep(Sweep::CarryRows { rows })?;
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
        self.looks.remove(&oldest.no);
        self.swept.segments += 1;
        self.swept.bytes += u64::from(oldest.bytes);
        Ok(true)
    }
}
