//! Closed runs: how one rests, and all of them, newest run id first.
//!
//! The newest segment that says anything of a run is believed. A list is a merge of the segments'
//! indexes: one handful of each is in memory, and a segment is not read before the list gets down
//! to its highest run.

use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use mainstay_types::{RunId, Timestamp};

use super::entry::{self, Entry};
use super::index::Standing;
use super::segments::Segment;
use super::{LogError, SegmentNo};

/// A closed run as it rests in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClosedRun {
    /// Its row, as it was written.
    pub row: Vec<u8>,
    /// When nothing of it has to be kept any more.
    pub expires_at: Timestamp,
    /// The segment that its row lies in.
    pub segment: SegmentNo,
}

/// How a run rests, in these segments, newest first.
pub(super) fn newest_closed(
    newest_first: &[Arc<Segment>],
    run: RunId,
) -> Result<Option<ClosedRun>, LogError> {
    for segment in newest_first {
        let standing = segment.find(run)?.map(|at| at.standing);
        match standing.unwrap_or_default() {
            Standing::Silent => {}
            Standing::Pruned => return Ok(None),
            closed @ Standing::Closed { .. } => return read(segment, run, closed),
        }
    }
    Ok(None)
}

/// The row of a run that is closed by this; `None` for one that is not.
fn read(segment: &Segment, run: RunId, standing: Standing) -> Result<Option<ClosedRun>, LogError> {
    let Standing::Closed {
        offset,
        bytes,
        expires_at,
    } = standing
    else {
        return Ok(None);
    };
    let found = segment.read(offset, bytes)?;
    // The index proved itself and the entry did not: it has to be what the index says.
    let row = match entry::parse(&found) {
        Some((
            Entry::Closed {
                run: of,
                expires_at: at,
                row,
            },
            length,
        )) if (of, at, length) == (run, expires_at, found.len()) => row.to_vec(),
        _ => {
            let detail = format!("the row of the closed run {run} is not here");
            return Err(segment.damaged_at(offset, detail));
        }
    };
    Ok(Some(ClosedRun {
        row,
        expires_at,
        segment: segment.no(),
    }))
}

/// Closed runs, the newest run id first; see [`super::Archive::list_closed`]. It goes on with the
/// segments that were there when it was made.
#[derive(Debug)]
pub(crate) struct ClosedRuns {
    heap: BinaryHeap<Cursor>,
    /// The run that was decided last.
    last: Option<RunId>,
    before: Option<RunId>,
    failed: bool,
}

/// Where the list is in one segment.
#[derive(Debug)]
struct Cursor {
    /// The next run; while nothing was read, no run in the segment is above it.
    run: RunId,
    unread: bool,
    segment: Arc<Segment>,
    /// Its standing in front, and what else was read.
    ready: VecDeque<(RunId, Standing)>,
}

impl Cursor {
    /// The next one on top: the highest run; of those what is not read yet, then the newest
    /// segment.
    fn key(&self) -> (RunId, bool, SegmentNo) {
        (self.run, self.unread, self.segment.no())
    }
}

impl PartialEq for Cursor {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Cursor {}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cursor {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl ClosedRuns {
    pub(super) fn new(segments: Vec<Arc<Segment>>, before: Option<RunId>) -> Self {
        let cursors = segments.into_iter().filter_map(|segment| {
            let ceiling = segment.ceiling()?;
            let run = before.map_or(ceiling, |before| before.min(ceiling));
            Some(Cursor {
                run,
                unread: true,
                segment,
                ready: VecDeque::new(),
            })
        });
        Self {
            heap: cursors.collect(),
            last: None,
            before,
            failed: false,
        }
    }

    fn advance(&mut self) -> Result<Option<(RunId, ClosedRun)>, LogError> {
        while let Some(mut cursor) = self.heap.pop() {
            let Some((run, standing)) = cursor.ready.pop_front() else {
                self.refill(cursor)?;
                continue;
            };
            let segment = Arc::clone(&cursor.segment);
            cursor.run = match cursor.ready.front() {
                Some((next, _)) => *next,
                None => {
                    // What follows is below it; the next handful says how far.
                    cursor.unread = true;
                    run
                }
            };
            self.heap.push(cursor);
            if self.last == Some(run) {
                continue;
            }
            self.last = Some(run);
            if let Some(closed) = read(&segment, run, standing)? {
                return Ok(Some((run, closed)));
            }
        }
        Ok(None)
    }

    /// Reads the next handful of a segment; a segment without one is done.
    fn refill(&mut self, mut cursor: Cursor) -> Result<(), LogError> {
        let below = match self.last {
            // Everything above was decided, wherever it lies.
            Some(last) => Some(last.min(self.before.unwrap_or(last))),
            None => self.before,
        };
        cursor.ready = cursor.segment.ended_below(below)?.into();
        if let Some((first, _)) = cursor.ready.front() {
            cursor.run = *first;
            cursor.unread = false;
            self.heap.push(cursor);
        }
        Ok(())
    }
}

impl Iterator for ClosedRuns {
    type Item = Result<(RunId, ClosedRun), LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.advance();
        self.failed = next.is_err();
        next.transpose()
    }
}
