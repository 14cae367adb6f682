//! Work on a store as a whole, by tools: taking out, putting in, pruning, erasing, counting.
//!
//! All of it goes through the one committer and the one reader; there is no second way to write.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use mainstay_ledger::LedgerError;
use mainstay_machine::EntryState;
use mainstay_types::{EffectKey, Family, Millis, RunId, Timestamp};

use crate::exchange::{self, ExchangeError, ExportScope, Exported, Imported, Progress};
use crate::fault;
use crate::files;
use crate::keys::{self, Key};
use crate::ledger::LogLedger;
use crate::read::{Reader, Rows};
use crate::retention::{Sweep, Sweeper, Swept, Which};
use crate::rows::effects::EffectRow;
use crate::table::TableFactory;

/// Whose traces go, and who wants that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// The run.
    pub run: RunId,
    /// Who asks.
    pub by: String,
    /// For what reason.
    pub why: String,
    /// When.
    pub at: Timestamp,
}

impl Erasure {
    /// As it stays in the store: moment, who, why; neither text has a NUL.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let text = format!(
            "{}\0{}",
            self.by.replace('\0', " "),
            self.why.replace('\0', " ")
        );
        let mut bytes = self.at.as_millis().to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }
}

/// What an erasure did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Segments of the log that were written anew.
    pub segments: u64,
    /// Effect keys that stay, without their results.
    pub keys_kept: u64,
}

/// Why a run was not erased.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EraseError {
    /// The store could not do its part.
    #[error(transparent)]
    Store(#[from] LedgerError),
    /// There is no such run.
    #[error("there is no such run")]
    Unknown,
    /// It may still act.
    #[error("the run is not closed")]
    Open,
    /// It is gone from all that is shown; older files still hold it, for want of room. Opening the
    /// store with room ends it.
    #[error("the run is gone, and older files still hold it for want of room")]
    Pending,
    /// Nobody knows yet what became of one of its effects.
    #[error("effect {key} is open or in doubt")]
    InDoubt {
        /// The effect's key.
        key: EffectKey,
    },
}

/// How much of what is in a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// The number of the stored format.
    pub format: u32,
    /// The store's identity.
    pub id: String,
    /// Runs that are not closed, or have something waiting.
    pub runs_open: u64,
    /// Runs that rest in the archive.
    pub runs_closed: u64,
    /// Runs that an engine has to drive.
    pub runs_driven: u64,
    /// Effect entries.
    pub effects: u64,
    /// Those of which nobody knows what became of them.
    pub effects_in_doubt: u64,
    /// Start keys.
    pub start_keys: u64,
    /// Alerts that are kept.
    pub alerts: u64,
    /// Classes.
    pub classes: u64,
    /// Runs with a snapshot.
    pub snapshots: u64,
    /// Their snapshots and payloads, in bytes.
    pub snapshot_bytes: u64,
    /// Segments of the log.
    pub log_segments: u64,
    /// Their files, in bytes.
    pub log_bytes: u64,
    /// The table's files, in bytes.
    pub table_bytes: u64,
    /// All files, in bytes.
    pub store_bytes: u64,
    /// Rows that are in the log and not in the table yet.
    pub unapplied_rows: u64,
    /// The newest time among all events.
    pub newest_event_at: Option<Timestamp>,
    /// When the next key may be forgotten.
    pub next_expiry_at: Option<Timestamp>,
}

impl<F: TableFactory + Default + 'static> LogLedger<F> {
    /// Takes everything of one closed run out of every file, then opens the store again. Blocks.
    ///
    /// It is refused while the run is open, unless it cannot be read, or one of its effects is in
    /// doubt. A kill in between is
    /// made good by the next open, which ends it before anything else.
    pub fn erase(
        self,
        erasure: &Erasure,
        progress: &mut Progress<'_>,
    ) -> Result<(Self, Erased), EraseError> {
        let keys_kept = self.begin_erasing(erasure)?;
        let (folder, options) = self.place();
        self.close()?;
        // Opening ends what was begun.
        let (store, segments) = Self::open_erasing(&folder, options, progress)?;
        if Rows::of(&store.reader().standing, keys::all_erasing())
            .next()
            .is_some()
        {
            return Err(EraseError::Pending);
        }
        Ok((
            store,
            Erased {
                segments,
                keys_kept,
            },
        ))
    }
}

/// Whether reading failed because of what is stored.
fn is_corrupt(error: Option<LedgerError>) -> bool {
    error.is_some_and(|error| error.code().family() == Family::Corrupt)
}

impl<F> LogLedger<F> {
    /// Takes everything of one closed run out of what stands, and notes that older files have to
    /// follow. Says how many effect keys stay.
    pub(crate) fn begin_erasing(&self, erasure: &Erasure) -> Result<u64, EraseError> {
        let reader = self.reader();
        let row = reader.row(erasure.run)?.ok_or(EraseError::Unknown)?;
        // One that cannot be read goes nowhere any more, whatever its row says.
        let is_hurt = || is_corrupt(reader.load(erasure.run).err());
        if !row.rests() && !is_hurt() {
            return Err(EraseError::Open);
        }
        // What cannot be read cannot be written anew: found before anything is decided.
        for frame in reader.archive.frames(None) {
            frame.map_err(LedgerError::from)?;
        }
        let effects = reader.effects_of(erasure.run)?;
        let start = row.summary.as_ref().and_then(|summary| {
            let start_key = summary.start_key.as_ref()?;
            Some(keys::start(&summary.tenant, start_key))
        });
        let keys_kept = effects.len() as u64;
        self.shared().sweep(Sweep::Erase {
            erasure: erasure.clone(),
            effects,
            start,
        })?;
        Ok(keys_kept)
    }

    /// Writes what `scope` says to `out`, as lines that prove themselves. Blocks.
    ///
    /// It is a consistent cut only while nobody commits: tools hold the store for it.
    pub fn export(
        &self,
        scope: ExportScope,
        out: &mut dyn Write,
        progress: &mut Progress<'_>,
    ) -> Result<Exported, ExchangeError> {
        exchange::export(self.reader(), (self.id(), scope), out, progress)
    }

    /// Reads an export into the store. Everything is checked before anything is written; each run
    /// is written as a whole. Blocks.
    pub fn import(
        &self,
        file: &Path,
        progress: &mut Progress<'_>,
    ) -> Result<Imported, ExchangeError> {
        // Nobody frees segments meanwhile, nor begins one between an answer and the look at the
        // end.
        let _alone = self.shared().housekeeping.lock();
        let mut write = |pieces| {
            self.shared().sweep(Sweep::Import(pieces))?;
            Ok(self.reader().archive.end().segment)
        };
        exchange::import(self.reader(), file, &mut write, progress)
    }

    /// Takes out what has expired at `now`; with `keep`, also closed runs that ended longer ago
    /// than that. Frees what it can of the log. Blocks.
    pub fn prune(
        &self,
        keep: Option<Millis>,
        now: Timestamp,
        progress: &mut Progress<'_>,
    ) -> Result<Swept, LedgerError> {
        let which = match keep {
            None => Which::Expired,
            Some(keep) => Which::EndedBefore(now.minus(keep)),
        };
        let (shared, reader) = (Arc::clone(self.shared()), self.reader().clone());
        let mut sweeper = Sweeper::new(shared, reader, self.place().1.settings.run_memory);
        sweeper.prune_now(which, now, progress)?;
        Ok(sweeper.swept)
    }

    /// Counts and sizes. Reads all of what stands. Blocks.
    pub fn stats(&self) -> Result<StoreStats, LedgerError> {
        let reader = self.reader();
        let (first, newest) = reader.alerts_kept()?;
        let segments = reader.archive.segments();
        let (folder, _) = self.place();
        let mut stats = StoreStats {
            format: crate::settings::FORMAT,
            id: self.id().to_string(),
            runs_open: reader.count(keys::runs())?,
            runs_driven: reader.count(keys::all_driven())?,
            start_keys: reader.count(keys::starts())?,
            alerts: (newest.get() + 1).saturating_sub(first.get()),
            classes: reader.count(keys::classes())?,
            snapshots: reader.count(keys::snapshots())?,
            log_segments: segments.len() as u64,
            log_bytes: segments
                .iter()
                .map(|segment| u64::from(segment.bytes))
                .sum(),
            table_bytes: files::under(&folder.join(crate::open::TABLE_FOLDER))?.1,
            store_bytes: files::under(&folder)?.1,
            unapplied_rows: reader.standing.lag().rows as u64,
            newest_event_at: reader.newest_time()?,
            ..StoreStats::default()
        };
        for closed in reader.archive.list_closed(None) {
            closed?;
            stats.runs_closed += 1;
        }
        for row in Rows::of(&reader.standing, keys::effects()) {
            let (key, value) = row?;
            let row = EffectRow::decode(&key, &value)
                .map_err(|error| fault::of_store("an effect entry", &error))?;
            stats.effects += 1;
            stats.effects_in_doubt += u64::from(row.entry.state == EntryState::InDoubt);
        }
        for prefix in [keys::snapshots(), keys::payloads()] {
            for row in Rows::of(&reader.standing, prefix) {
                stats.snapshot_bytes += row?.1.len() as u64;
            }
        }
        let next = Rows::of(&reader.standing, keys::expiries()).next();
        let next = next.transpose()?;
        stats.next_expiry_at = next.and_then(|(key, _)| keys::expiry_in(&key).map(|(at, _)| at));
        Ok(stats)
    }
}

impl Reader {
    fn count(&self, prefix: Key) -> Result<u64, LedgerError> {
        let mut count = 0;
        for row in Rows::of(&self.standing, prefix) {
            row?;
            count += 1;
        }
        Ok(count)
    }

    /// The rows of the effects that a run holds; an error names one of which nobody knows.
    fn effects_of(&self, run: RunId) -> Result<Vec<Key>, EraseError> {
        let mut found = Vec::new();
        for row in Rows::of(&self.standing, keys::effects()) {
            let (key, value) = row?;
            let row = EffectRow::decode(&key, &value)
                .map_err(|error| fault::of_store("an effect entry", &error))?;
            if row.entry.run != run {
                continue;
            }
            match row.entry.state {
                EntryState::Open | EntryState::InDoubt => {
                    let key = row.entry.key;
                    return Err(EraseError::InDoubt { key });
                }
                EntryState::Applied(_)
                | EntryState::PartlyApplied
                | EntryState::NotApplied
                | EntryState::Compensated => {
                    found.push(key);
                }
            }
        }
        Ok(found)
    }
}
