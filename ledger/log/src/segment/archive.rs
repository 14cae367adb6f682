//! The read side: everything that was published, for anyone, at any time.
//!
//! It sees whole frames that are durable and nothing else. In memory there are the index of the
//! segment that is written and, of each sealed one, a fence of 28 bytes for every 16 KiB of footer
//! and a filter of 10 bits a run; everything else is read when it is asked for. It never writes a
//! frame; what it takes away or writes anew is a whole segment.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstay_types::{RunId, Seq, Timestamp};
use parking_lot::{Mutex, RwLock};

use super::closed::{ClosedRun, ClosedRuns, newest_closed};
use super::frames::Frames;
use super::leave::{self, Leave};
use super::rewrite::{self, Rewritten, Verdict};
use super::segments::{self, Segment, folder_of};
use super::walk::{self, Pack};
use super::{Entry, LogError, Place, SegmentNo, tender};
use crate::files::{Disk, StoreId, write_oldest};

/// The read side of a log, shared by everyone.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(super) store: StoreId,
    /// The store's folder.
    store_folder: PathBuf,
    pub(super) disk: Arc<dyn Disk>,
    tender: Arc<tender::Shared>,
    /// Oldest first, dense, never empty; the last one is being written.
    segments: RwLock<VecDeque<Arc<Segment>>>,
    /// Held by whoever takes a segment away or writes it anew.
    changing: Mutex<()>,
}

/// What can be said of a segment without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentInfo {
    /// Which one.
    pub no: SegmentNo,
    /// The name of its file in the log's folder.
    pub file: String,
    /// The size of its file when it was opened or made, in bytes.
    pub bytes: u32,
    /// Where its frames end, in bytes.
    pub end: u32,
    /// Its frames, the one that begins it included.
    pub frames: u64,
    /// Whether it gets no more frames.
    pub sealed: bool,
    /// Runs that it says anything of.
    pub runs: u32,
    /// Runs that are closed as far as this segment knows.
    pub closed: u32,
    /// Runs that are pruned as far as this segment knows.
    pub pruned: u32,
    /// The earliest expiry among its closed runs.
    pub expires_first: Option<Timestamp>,
    /// The latest expiry among its closed runs.
    pub expires_last: Option<Timestamp>,
}

impl Archive {
    pub(super) fn new(
        (store, store_folder): (StoreId, &Path),
        disk: Arc<dyn Disk>,
        tender: Arc<tender::Shared>,
        segments: Vec<Arc<Segment>>,
    ) -> Self {
        Self {
            store,
            store_folder: store_folder.to_owned(),
            disk,
            tender,
            segments: RwLock::new(segments.into()),
            changing: Mutex::new(()),
        }
    }

    /// Frames in order, from `from` on, which is where one begins or ends; all frames that are kept
    /// when there is none. It ends with the newest published frame; asked again later it goes on.
    ///
    /// `Damaged` for a place that the log does not have, and for a frame that is not whole; nothing
    /// follows an error.
    pub(crate) fn frames(&self, from: Option<Place>) -> Frames<'_> {
        let first = Place {
            segment: self.oldest(),
            offset: 0,
        };
        Frames::new(self, from.unwrap_or(first))
    }

    /// Whether a frame begins at `place`, or the frames of its segment end there: a place that
    /// [`Archive::frames`] can begin at.
    pub(crate) fn has_place(&self, place: Place) -> Result<bool, LogError> {
        let Some(segment) = self.segment(place.segment) else {
            return Ok(false);
        };
        let end = segment.end().offset;
        if end <= place.offset {
            return Ok(end == place.offset);
        }
        let mut reader = segment.reader()?.narrow();
        reader.end_at(end);
        Ok(reader.frame(u64::from(place.offset), None)?.is_ok())
    }

    /// Where the newest published frame ends.
    #[must_use]
    pub(crate) fn end(&self) -> Place {
        self.active().end()
    }

    /// The oldest segment that is kept.
    #[must_use]
    pub(crate) fn oldest(&self) -> SegmentNo {
        let segments = self.segments.read();
        segments.front().expect("a log has a segment").no()
    }

    /// How a run rests here, as its newest entry says; `None` when it is pruned, or nothing is said
    /// of it. It is only asked for a run that has no row among what stands.
    pub(crate) fn closed(&self, run: RunId) -> Result<Option<ClosedRun>, LogError> {
        newest_closed(&self.that_may_have(run), run)
    }

    /// All records of a run from seq `from` on, in order, found from the newest segment that has
    /// records of it. Copies that were written forward stand for what they were copied from.
    ///
    /// What is missing is missing in the answer: the caller, who knows the run's head, proves it.
    pub(crate) fn records(
        &self,
        run: RunId,
        newest: SegmentNo,
        from: Seq,
    ) -> Result<Vec<Pack>, LogError> {
        self.records_within(run, (newest, from), usize::MAX)
    }

    /// The first of these records only: packs until they have `bytes_max` bytes, one at least.
    pub(crate) fn records_within(
        &self,
        run: RunId,
        (newest, from): (SegmentNo, Seq),
        bytes_max: usize,
    ) -> Result<Vec<Pack>, LogError> {
        walk::records(self, run, (newest, from), bytes_max)
    }

    /// Closed runs that are not pruned, the newest run id first, below `before`. A run that was
    /// opened again since is among them: what stands says so.
    #[must_use]
    pub(crate) fn list_closed(&self, before: Option<RunId>) -> ClosedRuns {
        ClosedRuns::new(self.all(), before)
    }

    /// All segments, oldest first.
    #[must_use]
    pub(crate) fn segments(&self) -> Vec<SegmentInfo> {
        let all = self.all();
        let active = all.last().map(|segment| segment.no());
        all.iter()
            .map(|segment| info(segment, Some(segment.no()) != active))
            .collect()
    }

    /// What lives in a segment, so that it has to be written forward before the segment can go.
    ///
    /// `Damaged` when there is no such segment.
    pub(crate) fn leave(&self, segment: SegmentNo) -> Result<Leave, LogError> {
        let later: Vec<_> = self
            .all()
            .into_iter()
            .filter(|later| segment < later.no())
            .collect();
        leave::leave(&*self.known(segment)?, &later)
    }

    /// The records of a run that lie in one segment, in the order they were written.
    pub(crate) fn packs_in(&self, segment: SegmentNo, run: RunId) -> Result<Vec<Pack>, LogError> {
        let segment = self.known(segment)?;
        let at = segment.find(run)?;
        let packs = at.iter().flat_map(|at| &at.packs);
        packs.map(|pack| walk::read(&segment, run, pack)).collect()
    }

    /// Takes the oldest segment away. What lives in it was written forward before.
    ///
    /// Nothing to do when it is gone already. Panics on a segment that is not the oldest, and on
    /// the one that is written.
    pub(crate) fn free(&self, segment: SegmentNo) -> Result<(), LogError> {
        let _changing = self.changing.lock();
        let oldest = self.oldest();
        if segment < oldest {
            return Ok(());
        }
        assert!(segment == oldest, "segment {segment} is not the oldest");
        assert!(
            segment < self.active().no(),
            "segment {segment} is being written"
        );
        write_oldest(&*self.disk, &self.store_folder, self.store, segment.next()).map_err(
            |error| LogError::io("noting the oldest segment in", &self.store_folder, &error),
        )?;
        let freed = self.segments.write().pop_front();
        let freed = freed.expect("it was there, and only one changes it at a time");
        self.let_go(freed)
            .map_err(|error| LogError::io("freeing", &self.folder(), &error))
    }

    /// Writes a sealed segment anew without the entries that `judge` condemns, in place of the old
    /// one; places and numbers stay what they are. A crash leaves the one or the other. Nothing of
    /// what is gone is left in any file of the log when this returns, but in segments that were not
    /// rewritten.
    ///
    /// Panics on the segment that is written: [`super::Log::roll`] comes before.
    pub(crate) fn rewrite(
        &self,
        segment: SegmentNo,
        judge: impl FnMut(&Entry<'_>) -> Verdict,
    ) -> Result<Rewritten, LogError> {
        let _changing = self.changing.lock();
        assert!(
            segment < self.active().no(),
            "segment {segment} is being written"
        );
        // Files of freed segments may hold what has to go.
        self.tender.settle();
        let old = self.known(segment)?;
        let (new, rewritten) = rewrite::rewrite(&*self.disk, &old, judge)?;
        let Some(new) = new else {
            return Ok(rewritten);
        };
        let mut segments = self.segments.write();
        let place = segments.iter_mut().find(|found| found.no() == segment);
        *place.expect("it was there, and only one changes it at a time") = Arc::new(new);
        Ok(rewritten)
    }

    pub(super) fn add(&self, segment: Arc<Segment>) {
        self.segments.write().push_back(segment);
    }

    /// The segment, if it is there.
    pub(super) fn segment(&self, no: SegmentNo) -> Option<Arc<Segment>> {
        let segments = self.segments.read();
        let first = segments.front()?.no();
        let at = usize::try_from(no.0.checked_sub(first.0)?).ok()?;
        segments.get(at).cloned()
    }

    /// The segment, which has to be there.
    fn known(&self, no: SegmentNo) -> Result<Arc<Segment>, LogError> {
        self.segment(no)
            .ok_or_else(|| LogError::damaged_in(no, "there is no such segment"))
    }

    /// Which segments there are, in words.
    pub(super) fn extent(&self) -> String {
        format!(
            "the log begins with segment {} and ends in {}",
            self.oldest(),
            self.end()
        )
    }

    fn active(&self) -> Arc<Segment> {
        let segments = self.segments.read();
        Arc::clone(segments.back().expect("a log has a segment"))
    }

    pub(super) fn all(&self) -> Vec<Arc<Segment>> {
        self.segments.read().iter().cloned().collect()
    }

    /// The segments in which a run has to be looked for, newest first.
    fn that_may_have(&self, run: RunId) -> Vec<Arc<Segment>> {
        let segments = self.segments.read();
        let newest_first = segments.iter().rev();
        newest_first
            .filter(|segment| segment.may_have(run))
            .cloned()
            .collect()
    }

    fn folder(&self) -> PathBuf {
        folder_of(&self.store_folder)
    }

    /// Takes a freed segment's file away, or has it become the next one: only when nobody reads it
    /// any more, since it is overwritten.
    fn let_go(&self, freed: Arc<Segment>) -> std::io::Result<()> {
        match Arc::try_unwrap(freed) {
            Ok(Segment {
                path, file, bytes, ..
            }) => {
                let whole = file.bytes()? == u64::from(bytes);
                let unread = Arc::strong_count(&file) == 1;
                drop(file);
                if whole && unread && self.tender.recycle(&path, bytes)? {
                    return Ok(());
                }
                self.tender.remove(&path)
            }
            Err(read) => self.tender.remove(&read.path),
        }
    }
}

fn info(segment: &Segment, sealed: bool) -> SegmentInfo {
    let (sums, _) = segment.sums();
    SegmentInfo {
        no: segment.no(),
        file: segments::file_name(segment.no()),
        bytes: segment.bytes,
        end: sums.end,
        frames: sums.next.saturating_sub(sums.first),
        sealed,
        runs: sums.runs,
        closed: sums.closed,
        pruned: sums.pruned,
        expires_first: sums.expires.map(|(first, _)| first),
        expires_last: sums.expires.map(|(_, last)| last),
    }
}
