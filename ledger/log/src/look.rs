//! What a caller looks up before it gets in line, so that the committer reads no disk for it: the
//! keys it wants, and what a command is about. What a part changes beside (who waits for a key, the
//! start key of a run that closes) is in memory most often, and read by the committer otherwise.
//!
//! A look-up only saves time: what it found is believed only as long as its pins keep in memory
//! everything that was written after it looked.

use std::sync::Arc;

use mainstay_ledger::{CommitRequest, LedgerError, Op};
use mainstay_types::{MessageId, RunId};

use crate::keys::{self, Key};
use crate::standing::{LookUp, Standing};

/// Rows that were looked up, with the pins that keep them true.
#[derive(Debug, Default)]
pub(crate) struct Looked(Vec<(Key, LookUp)>);

impl Looked {
    /// What was found under `key`; `None` when it was not looked for, or so long ago that what was
    /// written since is not in memory any more.
    #[expect(
        clippy::option_option,
        reason = "not looked for and not there are two things"
    )]
    pub(crate) fn row(&self, key: &[u8]) -> Option<Option<Arc<[u8]>>> {
        let found = self.0.iter().find(|(looked, _)| looked == key);
        let found = found.filter(|(_, look_up)| look_up.holds());
        found.map(|(_, look_up)| look_up.value.clone())
    }

    /// Looks up what is known of a command, and where its run stands unless that `is_known`.
    pub(crate) fn of_command(
        standing: &Standing,
        (run, is_known): (RunId, bool),
        message: MessageId,
    ) -> Result<Self, LedgerError> {
        let mut looked = Self::default();
        looked.look(standing, keys::message(run, message))?;
        if !is_known {
            looked.look(standing, keys::run(run))?;
        }
        Ok(looked)
    }

    /// Looks up the keys that `requests` want and that may lie on the disk.
    pub(crate) fn of(standing: &Standing, requests: &[CommitRequest]) -> Result<Self, LedgerError> {
        let mut looked = Self::default();
        let ops = requests
            .iter()
            .flat_map(|request| request.parts.iter().flat_map(|part| &part.ops));
        for op in ops {
            let key = match op {
                Op::Effect { entry, .. } => keys::effect(&entry.key),
                Op::Wait { key, .. } => keys::effect(key),
                Op::StartKey { tenant, key, .. } => keys::start(tenant, key),
                Op::Summary(_) | Op::Drive(_) | Op::Alert(_) | Op::Class(_) | Op::InboxAck(_) => {
                    continue;
                }
            };
            looked.look(standing, key)?;
        }
        Ok(looked)
    }

    fn look(&mut self, standing: &Standing, key: Key) -> Result<(), LedgerError> {
        if self.row(&key).is_none() && standing.in_memory(&key).is_none() {
            let found = standing.look_up(&key)?;
            self.0.push((key, found));
        }
        Ok(())
    }
}
