//! The write side: one frame a group, one positioned write, one data sync, and only then readers
//! see it.
//!
//! A frame goes where [`Log::make_room`] said it would lie. An error of a sync is for good: nobody
//! knows what is on the disk then, and a sync that is tried again may say yes to what was dropped.
//! A disk without room is none: nothing of the frame is in the log, and the next one is tried anew.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mainstay_types::limits;

use super::archive::Archive;
use super::builder::FrameBuilder;
use super::footer;
use super::frame::{ALIGN, FrameHead, HEADER_BYTES};
use super::roll::size;
use super::segments::Segment;
use super::tender::Tender;
use super::{LogError, LogSettings, Place, SegmentNo};
use crate::files::{Acked, AckedFile, Disk, StoreId, is_full};

/// How long a look at the free room of the volume is good for.
const ROOM_LOOK: Duration = Duration::from_millis(limits::LOG_ROOM_LOOK_MS);

/// Whose frame it is when room is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Commands from people and settlements of what is in flight: may use up all there is.
    Control,
    /// Everything else: leaves the last room to control while the disk is full.
    Ordinary,
}

/// A frame that was written and is not durable yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Where it begins.
    pub place: Place,
    end: u32,
    number: u64,
}

/// The write side of a log; there is one, and whoever commits owns it.
///
/// The order is [`Log::make_room`], [`Log::append`] once or more, [`Log::sync`], [`Log::publish`]
/// for each in order. Dropping it ends the log's thread after what that is doing.
#[derive(Debug)]
pub(crate) struct Log {
    pub(super) store: StoreId,
    pub(super) settings: LogSettings,
    pub(super) disk: Arc<dyn Disk>,
    /// The folder of the segments.
    pub(super) folder: PathBuf,
    pub(super) tender: Tender,
    pub(super) archive: Arc<Archive>,
    pub(super) acked: AckedFile,
    pub(super) active: Active,
    /// The number of the next frame.
    pub(super) next: u64,
    /// The newest frame that is durable.
    pub(super) synced: u64,
    /// The newest frame that readers see.
    pub(super) published: u64,
    /// The first failure, after which nothing is taken any more.
    pub(super) poison: Option<String>,
    pub(super) room: Cell<Option<(Instant, Option<u64>)>>,
}

/// The segment that is written.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) segment: Arc<Segment>,
    /// Where its next frame goes.
    pub(super) end: u32,
    /// The most that its footer takes so far.
    pub(super) footer: u64,
}

impl Active {
    pub(super) fn new(segment: Arc<Segment>) -> Self {
        let items = segment.items();
        Self {
            end: segment.end().offset,
            footer: footer::FIXED_BYTES + items * footer::ITEM_BYTES_MAX,
            segment,
        }
    }

    /// What is left for frames.
    fn left(&self) -> u64 {
        u64::from(self.segment.bytes).saturating_sub(u64::from(self.end) + self.footer)
    }
}

impl Log {
    /// Where the newest published frame ends.
    #[must_use]
    pub(crate) fn end(&self) -> Place {
        self.active.segment.end()
    }

    /// Makes sure that a frame with `bytes` bytes of entries has its room, and says which segment
    /// it will lie in. Every frame that was appended is published before this is called.
    ///
    /// `Full` when there is no room: nothing changed. `TooLarge` beyond
    /// `limits::LOG_FRAME_BYTES_MAX`.
    pub(crate) fn make_room(&mut self, bytes: usize) -> Result<SegmentNo, LogError> {
        self.check()?;
        let frame = (HEADER_BYTES + bytes).next_multiple_of(ALIGN);
        if limits::LOG_FRAME_BYTES_MAX < frame {
            return Err(LogError::TooLarge { bytes: frame });
        }
        self.look_ahead();
        // How much the footer grows is known when the frame is built; a guess that is too low lets
        // the file grow by the rest when it is sealed.
        let need = frame as u64 + (frame / 8) as u64;
        if self.active.left() < need {
            self.begin_next(need)?;
        }
        Ok(self.active.segment.no())
    }

    /// Ends the segment that is written and begins the next one; says which that is. Nothing that
    /// was appended may be unpublished. `Full` when there is no room: nothing changed.
    pub(crate) fn roll(&mut self) -> Result<SegmentNo, LogError> {
        self.check()?;
        // Whoever asks does so for a few frames, again and again.
        self.begin_sized(size(0, self.settings.short_bytes))?;
        Ok(self.active.segment.no())
    }

    /// Writes one frame behind the last. It is durable after [`Log::sync`] and seen by readers
    /// after [`Log::publish`].
    ///
    /// After `Full` and `TooLarge` nothing of it is in the log, which goes on. Every other error is
    /// for good.
    pub(crate) fn append(
        &mut self,
        frame: &mut FrameBuilder,
        priority: Priority,
    ) -> Result<Written, LogError> {
        self.check()?;
        let bytes = frame.bytes();
        if limits::LOG_FRAME_BYTES_MAX < bytes {
            return Err(LogError::TooLarge { bytes });
        }
        self.refuse_ordinary(priority, bytes)?;
        if limits::LOG_UNSYNCED_FRAMES_MAX <= self.lag() {
            self.sync()?;
        }
        let head = FrameHead {
            owner: self.active.segment.owner,
            begins: false,
            number: self.next,
            lag: self.lag(),
        };
        let offset = self.active.end;
        let written = {
            let sealed = frame.seal(head);
            let file = &self.active.segment.file;
            file.write_at(sealed.as_bytes(), u64::from(offset))
        };
        if let Err(error) = written {
            let path = &self.active.segment.path;
            if is_full(&error) {
                // A part of it may lie behind the end: the next frame or the next open replaces it.
                self.room.set(None);
                let detail = format!("{}: {error}", path.display());
                return Err(LogError::Full { detail });
            }
            let error = LogError::io("writing", path, &error);
            return Err(self.poisoned(&error));
        }
        let place = Place {
            segment: self.active.segment.no(),
            offset,
        };
        let end = offset + u32::try_from(bytes).expect("a frame is bounded");
        let number = self.next;
        self.active.end = end;
        self.active.footer += frame.footer_bytes();
        self.next = self.next.saturating_add(1);
        Ok(Written { place, end, number })
    }

    /// Makes all that was appended durable. An error is for good.
    pub(crate) fn sync(&mut self) -> Result<(), LogError> {
        self.check()?;
        if let Err(error) = self.active.segment.file.sync_data() {
            let error = LogError::io("syncing", &self.active.segment.path, &error);
            return Err(self.poisoned(&error));
        }
        self.synced = self.next.saturating_sub(1);
        Ok(())
    }

    /// Shows a durable frame to readers, and notes that it was acknowledged. It is the frame that
    /// was appended as `written`.
    ///
    /// When the note cannot be written, the frame is in the log all the same, and the log takes no
    /// more.
    pub(crate) fn publish(&mut self, written: Written, frame: &FrameBuilder) {
        let Written { place, end, number } = written;
        assert!(number <= self.synced, "frame {number} is not durable");
        assert!(
            number == self.published + 1,
            "frame {number} is published out of turn"
        );
        let next = number.saturating_add(1);
        let segment = &self.active.segment;
        segment.publish(place.offset, frame.items(), (end, next));
        self.published = number;
        self.note();
    }

    /// Free bytes: those of the volume, and those that the log has set aside for frames already.
    /// `None` when the volume cannot tell. Looked at again after `limits::LOG_ROOM_LOOK_MS`.
    #[must_use]
    pub(crate) fn room(&self) -> Option<u64> {
        let known = self.room.get().filter(|(at, _)| at.elapsed() < ROOM_LOOK);
        let free = match known {
            Some((_, free)) => free,
            None => {
                let free = self.disk.free_bytes(&self.folder).ok();
                self.room.set(Some((Instant::now(), free)));
                free
            }
        };
        let ready = self.active.left() + self.tender.shared.ready_bytes();
        free.map(|free| free.saturating_add(ready))
    }

    /// What was last seen of the volume's room is not so any more.
    pub(crate) fn look_at_room_again(&self) {
        self.room.set(None);
    }

    pub(super) fn check(&self) -> Result<(), LogError> {
        self.poison.as_ref().map_or(Ok(()), |detail| {
            Err(LogError::Poisoned {
                detail: detail.clone(),
            })
        })
    }

    pub(super) fn poisoned(&mut self, error: &LogError) -> LogError {
        let detail = self.poison.get_or_insert(error.to_string()).clone();
        LogError::Poisoned { detail }
    }

    /// How many frames are written and not known to be durable; it stops counting at the most that
    /// a header can say, which is more than there ever are.
    fn lag(&self) -> u16 {
        let lag = self.next.saturating_sub(1).saturating_sub(self.synced);
        u16::try_from(lag).unwrap_or(u16::MAX)
    }

    /// While the disk is full the last room of a segment is for control.
    fn refuse_ordinary(&self, priority: Priority, bytes: usize) -> Result<(), LogError> {
        if priority == Priority::Control || !self.tender.shared.is_short() {
            return Ok(());
        }
        let share = u64::from(limits::LOG_RESERVE_PERCENT);
        let kept = u64::from(self.active.segment.bytes) * share / 100;
        if self.active.left() < kept.saturating_add(bytes as u64) {
            let detail = "the last room of the log is kept for control".to_owned();
            return Err(LogError::Full { detail });
        }
        Ok(())
    }

    /// Has the next segment's file made once this one is half full: a small store stays small.
    fn look_ahead(&self) {
        if self.active.segment.bytes / 2 < self.active.end {
            let next = self.active.segment.no().next();
            self.tender.shared.want(self.settings.bytes_of(next));
        }
    }

    /// Notes what is published. Without it a damaged end could not be told from a torn one.
    pub(super) fn note(&mut self) {
        let noted = self.acked.note(Acked {
            frame: self.published,
            end: self.active.segment.end(),
        });
        self.believe_note(noted);
    }

    pub(super) fn sync_note(&mut self) {
        let synced = self.acked.sync();
        self.believe_note(synced);
    }

    fn believe_note(&mut self, done: std::io::Result<()>) {
        if let Err(error) = done {
            let error = LogError::Io {
                detail: format!("noting the acknowledged position: {error}"),
            };
            self.poisoned(&error);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // After a loss of power the note may only say less, so a failure here loses nothing.
        let _ = self.acked.sync();
    }
}
