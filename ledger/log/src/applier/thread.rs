//! The applier's thread: waits for work, applies, and tries again for as long as it fails.
//!
//! It never gives a generation up; it ends when it is told to, or when the table is damaged.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::fault::panic_text;
use crate::overlay::Layer;
use crate::table::TableError;

use super::batches::{self, Failed, Pace};
use super::waits::Work;
use super::{Checkpoint, Shared, marker, mending};

/// The one that moves rows into the table.
pub(crate) struct Applier {
    shared: Arc<Shared>,
    checkpoint: Checkpoint,
    pace: Pace,
    /// The table has to be opened again before it is used.
    mend: bool,
}

/// What is done until it succeeds.
type Try<'a> = &'a mut dyn FnMut(&mut Applier) -> Result<(), Failed>;

impl Applier {
    /// Starts it; `checkpoint` is what the table says of itself.
    pub(crate) fn spawn(shared: Arc<Shared>, checkpoint: Checkpoint) -> io::Result<JoinHandle<()>> {
        let applier = Self {
            pace: Pace::new(shared.settings.batch_rows_max),
            shared,
            checkpoint,
            mend: false,
        };
        std::thread::Builder::new()
            .name("mainstay-apply".to_owned())
            .spawn(move || applier.guarded())
    }

    fn guarded(mut self) {
        let shared = Arc::clone(&self.shared);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.run())) {
            let text = panic_text(&*panic);
            shared.damaged(&format!("the applier panicked: {text}"));
        }
    }

    fn run(&mut self) {
        loop {
            match self.shared.next_work() {
                Work::Stop => return self.shared.lag().tell(),
                Work::Release => self.shared.release(),
                Work::Apply => {
                    let layer = self.shared.freeze();
                    if layer.is_some_and(|layer| !self.generation(&layer)) {
                        return;
                    }
                }
            }
        }
    }

    /// Applies a generation, however often it takes; `false` when it has to end.
    fn generation(&mut self, layer: &Arc<Layer>) -> bool {
        self.shared.lag().tell();
        let applied = self.keep_trying(&mut |applier| {
            let checkpoint = &mut applier.checkpoint;
            batches::apply(&applier.shared, layer, checkpoint, &mut applier.pace)
        });
        if !applied {
            return false;
        }
        // With the generation that is done, so that the most is told too, and then without it.
        self.shared.lag().tell();
        self.shared.applied(layer.number, self.checkpoint.place);
        self.shared.lag().tell();
        if !self.is_to_be_reopened() {
            return true;
        }
        self.mend = true;
        self.keep_trying(&mut |_| Ok(()))
    }

    fn is_to_be_reopened(&self) -> bool {
        let slot = self.shared.slot();
        let written = slot.table().map_or(0, |table| table.bytes_written());
        self.shared.limits.written_bytes_max <= written
    }

    /// Tries until it succeeds; `false` when it has to end. The table is opened again first, when
    /// it has to be.
    fn keep_trying(&mut self, attempt: Try<'_>) -> bool {
        let (first, longest) = self.shared.settings.retry;
        let mut wait = first.to_duration();
        loop {
            if self.shared.is_damaged() {
                return false;
            }
            let detail = match self.mended().and_then(|()| attempt(self)) {
                Ok(()) => return true,
                Err(Failed::NoRoom(detail)) => detail,
                Err(Failed::Table(error)) => match self.after(error) {
                    Some(detail) => detail,
                    None => return false,
                },
            };
            self.shared.lag().tell();
            if !self.shared.failed(&detail, wait) {
                return false;
            }
            wait = (wait * 2).min(longest.to_duration());
        }
    }

    fn mended(&mut self) -> Result<(), Failed> {
        if self.mend {
            let room = self.shared.factory.room(&self.shared.site.folder);
            room.map_err(|error| Failed::NoRoom(error.to_string()))?;
            let synced = self.shared.place();
            self.checkpoint = mending::reopen(&self.shared, &self.checkpoint, synced)?;
            self.mend = false;
        }
        Ok(())
    }

    /// What to do about a failure of the table: the text of one that is tried again, `None` when
    /// nothing is.
    fn after(&mut self, error: TableError) -> Option<String> {
        self.mend = true;
        match error {
            TableError::Damaged(detail) => {
                self.shared.damaged(&detail);
                None
            }
            TableError::Io(detail) => Some(detail),
            TableError::Unsynced(detail) => {
                // What the system dropped may be anything: nothing proves the table any more.
                marker::put(&self.shared.site, &detail);
                Some(detail)
            }
        }
    }
}
