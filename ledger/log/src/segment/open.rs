//! Opening: where the log ends, and whether all of it is there that was acknowledged.
//!
//! There is one way in, after a clean end and after a crash. Behind the acknowledged position a
//! frame that is not whole is what a crash left, and is cut off; before it, it is damage and the
//! log is refused. Sealed segments are not read here, only the last bytes of their files.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::archive::Archive;
use super::found::Found;
use super::frame::{BEGIN_BYTES, Owner};
use super::log::Active;
use super::reader::{Bad, FrameReader};
use super::roll::{begun, size, write_begin};
use super::scan::{self, Begin, Tail};
use super::segments::{Parts, Segment, file_name, folder_of, number_of};
use super::tender::{Tender, zero};
use super::{Log, LogError, LogSettings, Place, SegmentNo};
use crate::files::{Acked, AckedFile, Disk, StoreId, is_full, read_oldest, write_oldest};

/// What opening works on.
struct Opening<'a> {
    /// The store's folder.
    store_folder: &'a Path,
    /// The folder of the segments.
    folder: PathBuf,
    disk: &'a Arc<dyn Disk>,
    store: StoreId,
    settings: LogSettings,
    tender: Tender,
}

/// What is known of the acknowledged position.
#[derive(Clone, Copy)]
struct Position {
    /// Whether its file is there.
    noted: bool,
    /// What it says, if it proves itself.
    acked: Option<Acked>,
}

/// How the log ends.
struct End {
    /// The segments, the one that is written last.
    segments: Vec<Arc<Segment>>,
    /// The number after the last frame.
    next: u64,
}

impl Log {
    /// Opens the log of the store in `folder`, and makes one when there is neither a log nor an
    /// acknowledged position. Whoever calls holds the store's lock.
    ///
    /// A torn end is cut off. `Damaged` when something is missing that was acknowledged, when a
    /// frame before the end is not whole, and when the end cannot be told from damage because the
    /// acknowledged position is not there either. `Full` when a new log has no room.
    pub(crate) fn open(
        folder: &Path,
        disk: Arc<dyn Disk>,
        store: StoreId,
        settings: LogSettings,
    ) -> Result<(Self, Arc<Archive>), LogError> {
        let segments = folder_of(folder);
        disk.make_folder(&segments)
            .map_err(|error| LogError::io("making", &segments, &error))?;
        let tender = Tender::open(folder, Arc::clone(&disk), settings)?;
        let opening = Opening {
            store_folder: folder,
            folder: segments,
            disk: &disk,
            store,
            settings,
            tender,
        };
        opening.open()
    }
}

impl Opening<'_> {
    fn open(self) -> Result<(Log, Arc<Archive>), LogError> {
        let (acked_file, acked) = self.acked()?;
        let position = Position {
            noted: acked_file.is_some(),
            acked,
        };
        let found = self.find()?;
        let end = match found.is_empty() {
            true => self.begin_log(position)?,
            false => self.end_of(found, position)?,
        };
        let published = end.next.saturating_sub(1);
        let active = end.segments.last().expect("a log has a segment");
        let acked = Acked {
            frame: published,
            end: active.end(),
        };
        let acked_file = self.noted(acked_file, acked)?;
        self.note_oldest(end.segments.first().expect("a log has a segment").no())?;
        self.have_sealed(&end.segments);
        let active = Active::new(Arc::clone(active));
        let archive = Arc::new(Archive::new(
            (self.store, self.store_folder),
            Arc::clone(self.disk),
            Arc::clone(&self.tender.shared),
            end.segments,
        ));
        let log = Log {
            store: self.store,
            settings: self.settings,
            disk: Arc::clone(self.disk),
            folder: self.folder,
            tender: self.tender,
            archive: Arc::clone(&archive),
            acked: acked_file,
            active,
            next: end.next,
            synced: published,
            published,
            poison: None,
            room: Cell::new(None),
        };
        Ok((log, archive))
    }

    /// The acknowledged position: its file if it is there, and what it says if it proves itself.
    fn acked(&self) -> Result<(Option<AckedFile>, Option<Acked>), LogError> {
        match AckedFile::open(&**self.disk, self.store_folder, self.store) {
            Ok((file, acked)) => Ok((Some(file), acked)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((None, None)),
            Err(error) => Err(self.acked_error(&error)),
        }
    }

    /// The file of the acknowledged position, saying this one.
    fn noted(&self, file: Option<AckedFile>, acked: Acked) -> Result<AckedFile, LogError> {
        // A new log made one meanwhile.
        let mut file = match file {
            Some(file) => file,
            None => match self.acked()? {
                (Some(file), _) => file,
                (None, _) => {
                    self.create_acked(acked)?;
                    let opened = AckedFile::open(&**self.disk, self.store_folder, self.store);
                    opened.map_err(|error| self.acked_error(&error))?.0
                }
            },
        };
        file.note(acked).map_err(|error| self.acked_error(&error))?;
        Ok(file)
    }

    fn create_acked(&self, acked: Acked) -> Result<(), LogError> {
        AckedFile::create(&**self.disk, self.store_folder, self.store, acked)
            .map_err(|error| self.acked_error(&error))
    }

    fn acked_error(&self, error: &io::Error) -> LogError {
        if is_full(error) {
            let detail = format!("the acknowledged position: {error}");
            return LogError::Full { detail };
        }
        LogError::io("the acknowledged position in", self.store_folder, error)
    }

    /// The files of the segments, oldest first, without a gap.
    fn find(&self) -> Result<Vec<Found>, LogError> {
        let names = self.disk.list(&self.folder);
        let names = names.map_err(|error| LogError::io("listing", &self.folder, &error))?;
        let mut numbers: Vec<SegmentNo> = names.iter().filter_map(|name| number_of(name)).collect();
        numbers.sort_unstable();
        self.finish_freeing(&mut numbers)?;
        let gap = numbers.windows(2).find(|pair| pair[0].next() != pair[1]);
        if let Some(pair) = gap {
            let detail = format!(
                "there is no file {}, and segment {} is there",
                file_name(pair[0].next()),
                pair[1]
            );
            return Err(LogError::damaged_in(pair[0].next(), detail));
        }
        let found = numbers.into_iter().map(|segment| {
            let path = self.folder.join(file_name(segment));
            let file = self.disk.open(&path);
            Ok(Found {
                owner: Owner {
                    store: self.store,
                    segment,
                },
                file: file.map_err(|error| LogError::io("opening", &path, &error))?,
                path,
            })
        });
        found.collect()
    }

    /// Takes away segments that were freed already, and refuses a log whose oldest is missing.
    fn finish_freeing(&self, numbers: &mut Vec<SegmentNo>) -> Result<(), LogError> {
        let oldest = self.oldest()?;
        let (Some(oldest), Some(newest)) = (oldest, numbers.last().copied()) else {
            return Ok(());
        };
        let freed = numbers.partition_point(|segment| *segment < oldest);
        if freed == numbers.len() {
            let detail =
                format!("segment {newest} is the newest, and was freed: files are missing");
            return Err(LogError::damaged_in(oldest, detail));
        }
        for segment in numbers.drain(..freed) {
            let path = self.folder.join(file_name(segment));
            self.disk
                .remove(&path)
                .map_err(|error| LogError::io("removing", &path, &error))?;
        }
        if numbers.first().is_some_and(|first| oldest < *first) {
            let detail = format!(
                "there is no file {}, which was not freed",
                file_name(oldest)
            );
            return Err(LogError::damaged_in(oldest, detail));
        }
        Ok(())
    }

    fn oldest(&self) -> Result<Option<SegmentNo>, LogError> {
        read_oldest(&**self.disk, self.store_folder, self.store)
            .map_err(|error| LogError::io("the oldest segment in", self.store_folder, &error))
    }

    fn note_oldest(&self, oldest: SegmentNo) -> Result<(), LogError> {
        if self.oldest()?.is_none() {
            // On a full disk it is made at a later open.
            let _ = write_oldest(&**self.disk, self.store_folder, self.store, oldest);
        }
        Ok(())
    }

    /// The first segment of a new log. The acknowledged position comes first: with it, a log that
    /// is not there is damage, unless it says that nothing was acknowledged yet.
    fn begin_log(&self, Position { noted, acked }: Position) -> Result<End, LogError> {
        if noted && acked.is_none_or(|acked| 0 < acked.frame) {
            let detail = format!("there is no segment in {}", self.folder.display());
            return Err(LogError::damaged_store(detail));
        }
        if !noted {
            self.create_acked(Acked {
                frame: 0,
                end: Place::default(),
            })?;
        }
        let segment = SegmentNo(1);
        let path = self.folder.join(file_name(segment));
        let sized = size(0, self.settings.bytes_of(segment));
        let error = |error: io::Error| match is_full(&error) {
            true => LogError::Full {
                detail: format!("a new log: {error}"),
            },
            false => LogError::io("making", &path, &error),
        };
        let prepared = self.tender.shared.take(sized, &path).map_err(error)?;
        let parts = Parts {
            owner: Owner {
                store: self.store,
                segment,
            },
            path: path.clone(),
            file: prepared.file,
            bytes: prepared.bytes,
            begin: Begin {
                first: 1,
                previous_end: 0,
            },
        };
        write_begin(&parts).map_err(error)?;
        Ok(End {
            segments: vec![Arc::new(begun(parts))],
            next: 2,
        })
    }

    /// Where the log ends that lies in these files.
    fn end_of(&self, mut found: Vec<Found>, position: Position) -> Result<End, LogError> {
        let last = found.pop().expect("there are files");
        let mut last_reader = last.reader()?;
        let scanned = scan::scan(&mut last_reader)?;
        let Some(begin) = scanned.begin else {
            return self.without_begin(found, (last, last_reader, scanned.bad), position);
        };
        let mut segments = self.sealed(found, begin)?;
        let next = scanned.next;
        let place = Place {
            segment: last.owner.segment,
            offset: scanned.end,
        };
        proven(place, next, &scanned.bad, position.acked)?;
        self.cut(&last, &mut last_reader, (scanned.end, next), position.acked)?;
        segments.push(Arc::new(last.written(begin, scanned)?));
        Ok(End { segments, next })
    }

    /// The log ends before a segment that was made and has not begun: its file goes.
    fn without_begin(
        &self,
        found: Vec<Found>,
        (last, mut reader, bad): (Found, FrameReader, Bad),
        position: Position,
    ) -> Result<End, LogError> {
        let broken = |detail: &str| {
            let why = match &bad {
                Bad::Zeros => "nothing is written where it begins",
                Bad::Broken(detail) => detail,
            };
            LogError::damaged_in(last.owner.segment, format!("{why}, and {detail}"))
        };
        // Whoever sealed the one before had seen this one begin.
        let sealed = match found.last() {
            Some(before) => before.footer()?.is_some(),
            None => false,
        };
        if sealed {
            return Err(broken("the segment before it is sealed"));
        }
        let next = match found.last() {
            Some(before) => scan::scan(&mut before.reader()?)?.next,
            None => 1,
        };
        if position.acked.is_some_and(|acked| next <= acked.frame) {
            return Err(broken("frames in it were acknowledged"));
        }
        let written = scan::tail(&mut reader, 0, next)?;
        if matches!(written, Tail::Torn { to } if u64::from(BEGIN_BYTES) < to) {
            return Err(broken("something is written behind"));
        }
        drop(reader);
        self.disk
            .remove(&last.path)
            .map_err(|error| LogError::io("removing", &last.path, &error))?;
        match found.is_empty() {
            true => self.begin_log(position),
            false => self.end_of(found, position),
        }
    }

    /// The segments before the one that begins like this, oldest first.
    fn sealed(&self, found: Vec<Found>, last: Begin) -> Result<Vec<Arc<Segment>>, LogError> {
        let begins = found.iter().map(Found::begin);
        let begins: Vec<Begin> = begins.collect::<Result<_, _>>()?;
        let nexts = begins.iter().skip(1).copied().chain([last]);
        let all: Vec<(Begin, Begin)> = begins.iter().copied().zip(nexts).collect();
        let segments = found.into_iter().zip(all);
        segments
            .map(|(found, (begin, next))| found.sealed(begin, next).map(Arc::new))
            .collect()
    }

    /// Cuts off what lies behind the end, and makes all before it durable: it may have been read
    /// from memory only.
    fn cut(
        &self,
        last: &Found,
        reader: &mut FrameReader,
        (end, next): (u32, u64),
        acked: Option<Acked>,
    ) -> Result<(), LogError> {
        let segment = last.owner.segment;
        match scan::tail(reader, end, next)? {
            Tail::Clean => {}
            Tail::Torn { .. } if acked.is_none() => {
                let detail = format!(
                    "frame {next} is not whole, and the acknowledged position that would tell \
                     whether it has to be is not there"
                );
                let offset = end;
                return Err(LogError::damaged(Place { segment, offset }, detail));
            }
            Tail::Torn { to } => zero(&*last.file, u64::from(end), to)
                .map_err(|error| LogError::io("cutting", &last.path, &error))?,
        }
        last.file
            .sync_data()
            .map_err(|error| LogError::io("syncing", &last.path, &error))
    }

    /// Has those sealed that a crash left without a footer.
    fn have_sealed(&self, segments: &[Arc<Segment>]) {
        let (_, before) = segments.split_last().expect("a log has a segment");
        for segment in before {
            if !segment.is_sealed() {
                self.tender.shared.seal(Arc::clone(segment));
            }
        }
    }
}

/// Refuses a log that ends before what was acknowledged.
fn proven(end: Place, next: u64, bad: &Bad, acked: Option<Acked>) -> Result<(), LogError> {
    let Some(acked) = acked else {
        return Ok(());
    };
    let last = next.saturating_sub(1);
    if last < acked.frame {
        let found = match bad {
            Bad::Zeros => "nothing is written here",
            Bad::Broken(detail) => detail,
        };
        let detail = format!(
            "{found}, and frames up to {} were acknowledged, which end at {}",
            acked.frame, acked.end
        );
        return Err(LogError::damaged(end, detail));
    }
    if last == acked.frame && acked.end != end {
        let detail = format!(
            "frame {last} ends here, and was acknowledged with its end at {}: files of different \
             times were mixed",
            acked.end
        );
        return Err(LogError::damaged(end, detail));
    }
    Ok(())
}
