//! What is done beside the writing: the next segment's file is prepared, segments get their
//! footers, files of freed segments become the next ones, the ballast is given up and made again.
//!
//! A thread of its own, so that whoever appends waits for none of it; in tests whoever appends does
//! it in a fixed order. Nothing acknowledged depends on any of it, and nothing here touches a
//! frame.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mainstay_types::limits;
use parking_lot::{Condvar, Mutex};

use super::segments::Segment;
use super::{LogError, LogSettings};
use crate::files::{Ballast, Disk, DiskFile, is_full};

/// A prepared file for the next segment.
const SPARE: &str = "spare";
/// One that is not finished.
const UNFINISHED: &str = "spare.new";
/// A freed segment that is being made into one.
const RECYCLED: &str = "recycled.new";
/// One that is made by whoever cannot wait for a spare.
const AT_ONCE: &str = "next.new";

const POLL: Duration = Duration::from_millis(limits::LOG_ROOM_POLL_MS);

/// How much of a recycled file is written at a time, in bytes.
const FILL_BYTES: usize = 1 << 20;

/// The owner of the thread: dropping it ends the thread after what it is doing.
#[derive(Debug)]
pub(super) struct Tender {
    pub(super) shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and those who ask it share.
#[derive(Debug)]
pub(super) struct Shared {
    disk: Arc<dyn Disk>,
    /// The folder of the segments.
    folder: PathBuf,
    settings: LogSettings,
    ballast: Ballast,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    chores: VecDeque<Chore>,
    spare: Spare,
    closing: bool,
}

#[derive(Debug)]
enum Chore {
    /// Prepare a file of so many bytes.
    Prepare(u32),
    Recycle(u32),
    Seal(Arc<Segment>),
    Ballast,
}

/// Whose the names of spares are: those of finished and unfinished ones belong to whoever makes one
/// while it is wanted, and to whoever takes it while it is ready.
#[derive(Debug, Default)]
enum Spare {
    #[default]
    None,
    /// It is being made.
    Wanted,
    /// It is there, until it has another name.
    Ready(Prepared),
    /// It could not be made.
    Refused { full: bool, at: Instant },
}

/// A file for a segment, full of zeros and durable.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) bytes: u32,
}

impl Tender {
    /// Looks at what an earlier process prepared, and begins.
    pub(super) fn open(
        store: &Path,
        disk: Arc<dyn Disk>,
        settings: LogSettings,
    ) -> Result<Self, LogError> {
        let folder = super::segments::folder_of(store);
        let ballast = Ballast::open(store, Arc::clone(&disk), settings.ballast_bytes)
            .map_err(|error| LogError::io("looking for the ballast in", store, &error))?;
        let shared = Shared {
            disk,
            folder,
            settings,
            ballast,
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
        };
        shared.find_spare()?;
        let shared = Arc::new(shared);
        let thread = settings.beside.then(|| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new()
                .name("mainstay-log".to_owned())
                .spawn(move || shared.work())
        });
        let thread = thread.transpose().map_err(|error| LogError::Io {
            detail: format!("starting the log's thread: {error}"),
        })?;
        shared.order(Chore::Ballast);
        Ok(Self { shared, thread })
    }
}

impl Drop for Tender {
    fn drop(&mut self) {
        self.shared.state.lock().closing = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It panics only on a bug, which its caller has been told of by then.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Asks for a spare of so many bytes, unless there is one or it is being made. On a full disk
    /// it is asked for again when there is room.
    pub(super) fn want(&self, bytes: u32) {
        let mut state = self.state.lock();
        let asks = match &state.spare {
            Spare::None => true,
            Spare::Wanted | Spare::Ready(_) => false,
            Spare::Refused { at, .. } => {
                let waited = !self.settings.beside || POLL <= at.elapsed();
                waited && self.has_room(u64::from(bytes))
            }
        };
        if asks {
            state.spare = Spare::Wanted;
            drop(state);
            self.order(Chore::Prepare(bytes));
            self.order(Chore::Ballast);
        }
    }

    /// Whether the disk had no room for the next segment when that was last tried.
    pub(super) fn is_short(&self) -> bool {
        matches!(self.state.lock().spare, Spare::Refused { full: true, .. })
    }

    /// A file of at least `least` bytes, under the name `to`; of `bytes` when it has to be made.
    /// Waits for one that is being made.
    pub(super) fn take(&self, (least, bytes): (u32, u32), to: &Path) -> std::io::Result<Prepared> {
        let spare = {
            let mut state = self.state.lock();
            while self.settings.beside && matches!(state.spare, Spare::Wanted) {
                self.changed.wait(&mut state);
            }
            match &state.spare {
                Spare::Ready(spare) if least <= spare.bytes => Some(spare.clone()),
                Spare::None | Spare::Wanted | Spare::Ready(_) | Spare::Refused { .. } => None,
            }
        };
        let prepared = match spare {
            Some(spare) => {
                let renamed = self.disk.rename(&self.folder.join(SPARE), to);
                // Only now: while it has the spare's name, a freed segment that became the next
                // spare would take its place, and get the name `to` instead of it.
                self.set_spare(Spare::None);
                renamed?;
                spare
            }
            None => {
                let made = self.make(AT_ONCE, bytes.max(least))?;
                self.disk.rename(&self.folder.join(AT_ONCE), to)?;
                made
            }
        };
        self.forget_refusal();
        Ok(prepared)
    }

    /// Gives up the ballast, if there is one.
    pub(super) fn give_up_ballast(&self) {
        self.ballast.give_up();
    }

    /// Room that is set aside for the next segment.
    pub(super) fn ready_bytes(&self) -> u64 {
        match &self.state.lock().spare {
            Spare::Ready(spare) => u64::from(spare.bytes),
            Spare::None | Spare::Wanted | Spare::Refused { .. } => 0,
        }
    }

    /// Waits until nothing is left of freed segments: their files are zeros, or gone.
    pub(super) fn settle(&self) {
        let mut state = self.state.lock();
        while self.settings.beside && matches!(state.spare, Spare::Wanted) {
            self.changed.wait(&mut state);
        }
    }

    /// Has a segment sealed that gets no more frames.
    pub(super) fn seal(&self, segment: Arc<Segment>) {
        self.order(Chore::Seal(segment));
    }

    /// Makes the file of a freed segment the next spare when one of its size is needed; `false`
    /// when it is not, and nothing was done. Nobody else may have the file open.
    pub(super) fn recycle(&self, path: &Path, bytes: u32) -> std::io::Result<bool> {
        let takes = {
            let mut state = self.state.lock();
            let free = !matches!(state.spare, Spare::Wanted | Spare::Ready(_));
            let takes = free && bytes == self.settings.segment_bytes;
            if takes {
                state.spare = Spare::Wanted;
            }
            takes
        };
        if !takes {
            return Ok(false);
        }
        if let Err(error) = self.disk.rename(path, &self.folder.join(RECYCLED)) {
            self.set_spare(Spare::None);
            return Err(error);
        }
        self.order(Chore::Recycle(bytes));
        Ok(true)
    }

    /// Takes the file of a freed segment away.
    pub(super) fn remove(&self, path: &Path) -> std::io::Result<()> {
        self.disk.remove(path)
    }

    fn work(&self) {
        loop {
            let chore = {
                let mut state = self.state.lock();
                while state.chores.is_empty() && !state.closing {
                    self.changed.wait(&mut state);
                }
                // What is not sealed or prepared is found out at the next open.
                match state.chores.pop_front().filter(|_| !state.closing) {
                    Some(chore) => chore,
                    None => {
                        if matches!(state.spare, Spare::Wanted) {
                            state.spare = Spare::None;
                        }
                        drop(state);
                        self.changed.notify_all();
                        return;
                    }
                }
            };
            self.do_chore(chore);
        }
    }

    fn order(&self, chore: Chore) {
        if !self.settings.beside {
            self.do_chore(chore);
            return;
        }
        self.state.lock().chores.push_back(chore);
        self.changed.notify_all();
    }

    fn do_chore(&self, chore: Chore) {
        match chore {
            Chore::Prepare(bytes) => self.prepare(|| self.make(UNFINISHED, bytes)),
            Chore::Recycle(bytes) => self.prepare(|| self.refill(bytes)),
            Chore::Seal(segment) => {
                // A segment without a footer is good, and gets one at the next open.
                let _ = segment.seal();
            }
            Chore::Ballast => self.ballast.make(),
        }
    }

    /// Makes a spare, and says so to whoever waits.
    fn prepare(&self, make: impl FnOnce() -> std::io::Result<Prepared>) {
        let made = make().and_then(|prepared| {
            let (from, to) = (self.folder.join(UNFINISHED), self.folder.join(SPARE));
            self.disk.rename(&from, &to)?;
            Ok(prepared)
        });
        self.set_spare(match made {
            Ok(prepared) => Spare::Ready(prepared),
            Err(error) => refused(&error),
        });
    }

    /// A file of zeros that has no lasting name yet.
    fn make(&self, name: &str, bytes: u32) -> std::io::Result<Prepared> {
        let path = self.folder.join(name);
        if !self.has_room(u64::from(bytes)) {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        match self.disk.create(&path, u64::from(bytes)) {
            Ok(file) => Ok(Prepared { file, bytes }),
            Err(error) => {
                if is_full(&error) {
                    // Half a file would keep the room that someone else could use.
                    let _ = self.disk.remove(&path);
                }
                Err(error)
            }
        }
    }

    /// Overwrites a freed segment with zeros: what was erased must not live on in it.
    fn refill(&self, bytes: u32) -> std::io::Result<Prepared> {
        let path = self.folder.join(RECYCLED);
        let file = self.disk.open(&path)?;
        zero(&*file, 0, u64::from(bytes))?;
        file.sync_data()?;
        self.disk.rename(&path, &self.folder.join(UNFINISHED))?;
        Ok(Prepared { file, bytes })
    }

    /// A volume that cannot tell its room gets the benefit of the doubt: writing will show.
    fn has_room(&self, bytes: u64) -> bool {
        let free = self.disk.free_bytes(&self.folder);
        free.map_or(true, |free| bytes <= free)
    }

    fn set_spare(&self, spare: Spare) {
        self.state.lock().spare = spare;
        self.changed.notify_all();
    }

    fn forget_refusal(&self) {
        let mut state = self.state.lock();
        if matches!(state.spare, Spare::Refused { .. }) {
            state.spare = Spare::None;
        }
    }

    /// Takes over what an earlier process prepared and takes away what it did not finish.
    fn find_spare(&self) -> Result<(), LogError> {
        let error = |error| LogError::io("looking into", &self.folder, &error);
        let names = self.disk.list(&self.folder).map_err(error)?;
        for name in names.iter().filter(|name| name.ends_with(".new")) {
            self.disk.remove(&self.folder.join(name)).map_err(error)?;
        }
        if names.iter().any(|name| name == SPARE) {
            let file = self.disk.open(&self.folder.join(SPARE)).map_err(error)?;
            let bytes = file.bytes().map_err(error)?;
            if let Ok(bytes) = u32::try_from(bytes) {
                self.set_spare(Spare::Ready(Prepared { file, bytes }));
            }
        }
        Ok(())
    }
}

fn refused(error: &std::io::Error) -> Spare {
    Spare::Refused {
        full: is_full(error),
        at: Instant::now(),
    }
}

/// Writes zeros from `from` to `to`.
pub(super) fn zero(file: &dyn DiskFile, from: u64, to: u64) -> std::io::Result<()> {
    let chunk = FILL_BYTES.min(usize::try_from(to.saturating_sub(from)).unwrap_or(FILL_BYTES));
    let zeros = vec![0; chunk];
    let mut at = from;
    while at < to {
        let left = usize::try_from(to - at).unwrap_or(usize::MAX);
        let part = &zeros[..left.min(chunk)];
        file.write_at(part, at)?;
        at += part.len() as u64;
    }
    Ok(())
}
