//! How things stood by the table of a hurt store: the better witness where the log has holes before
//! the table's place. A copy of its files is read, never the files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use mainstay_ledger::LedgerError;

use super::rebuild::Writer;
use super::tables::Copy;
use crate::files::{Disk, StoreId};
use crate::keys::{self, Key};
use crate::open::changes_of;
use crate::read::Rows;
use crate::segment::{Frame, Place};
use crate::standing::{Site, Standing, StandingSettings};
use crate::table::TableFactory;

/// How things stood by the former table and the frames behind its place: the better witness where
/// the log has holes before that place.
pub(super) struct Former {
    standing: Option<(Standing, Place)>,
    /// Holds the files of it.
    copy: Option<Copy>,
}

impl Former {
    pub(super) fn open(
        folder: &Path,
        store: StoreId,
        factory: Arc<dyn TableFactory>,
        disk: &Arc<dyn Disk>,
    ) -> Result<Self, LedgerError> {
        let none = Self {
            standing: None,
            copy: None,
        };
        let Some(copy) = Copy::of(folder)? else {
            return Ok(none);
        };
        let site = Site {
            folder: copy.folder.clone(),
            store,
            disk: Arc::clone(disk),
        };
        let (standing, place) = Standing::open(site, factory, StandingSettings::default())?;
        // One that was emptied knows nothing.
        Ok(place.map_or(none, |place| Self {
            standing: Some((standing, place)),
            copy: Some(copy),
        }))
    }

    /// Whether it had everything up to a place, and beyond.
    pub(super) fn knows(&self, hole: Place) -> bool {
        self.standing
            .as_ref()
            .is_some_and(|(_, place)| hole < *place)
    }

    pub(super) fn follow(&self, frame: &Frame) -> Result<(), LedgerError> {
        match &self.standing {
            Some((standing, place)) if *place <= frame.place => {
                standing.replay(changes_of(frame)?, frame.next)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Writes into the new log what this knows better; says what nobody knows.
    pub(super) fn correct(&self, writer: &mut Writer) -> Result<Vec<String>, LedgerError> {
        let Some((standing, _)) = &self.standing else {
            return Ok(vec![
                "the table could not be used either: keys that were taken in the missing frames, \
                 and nowhere else, are free now; look at the receivers before runs go on"
                    .to_owned(),
            ]);
        };
        let mut changes: Vec<(Key, Option<Arc<[u8]>>)> = Vec::new();
        let mut known: BTreeMap<Key, Arc<[u8]>> = BTreeMap::new();
        for prefix in keys::logged() {
            for row in Rows::of(standing, prefix) {
                let (key, value) = row?;
                known.insert(key, value);
            }
        }
        for (key, value) in &known {
            // Where a run's records lie was written anew; everything else of its row was not.
            let value: Arc<[u8]> = match keys::run_at_end(key).filter(|_| keys::is_run(key)) {
                Some(run) => writer.moved(run, value).into(),
                None => Arc::clone(value),
            };
            if writer.rows.get(key) != Some(&value) {
                changes.push((key.clone(), Some(value)));
            }
        }
        let gone: Vec<Key> = writer
            .rows
            .keys()
            .filter(|key| !known.contains_key(*key))
            .cloned()
            .collect();
        for key in gone {
            // It was closed or pruned where something is missing, and how is not known.
            if keys::is_run(&key) {
                writer.suspects.sure.insert(key);
            } else {
                changes.push((key, None));
            }
        }
        writer.correct(&changes)?;
        Ok(Vec::new())
    }

    pub(super) fn close(self) {
        if let Some((standing, _)) = self.standing {
            // It goes with its files.
            drop(standing);
        }
        drop(self.copy);
    }
}
