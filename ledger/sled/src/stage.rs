//! What a group is about to write, above what sled holds: one view of both.
//!
//! Each request is staged on its own and then kept or forgotten as a whole, so that one that turns
//! out unreadable or too large halfway leaves nothing behind. Nothing here writes to sled.

use std::collections::BTreeMap;

use mainstay_ledger::check::{Head, View};
use mainstay_ledger::{Knocked, LedgerError, codec};
use mainstay_machine::EffectEntry;
use mainstay_types::{Digest, EffectKey, RunId, Seq, StartKey, Tenant, Timestamp};

use crate::fault;
use crate::heads::Heads;
use crate::keys::{self, Key};
use crate::parts;
use crate::pieces::{self, Broken, Source};

/// Changes of keys; `None` removes.
pub(crate) type Writes = BTreeMap<Key, Option<Vec<u8>>>;

/// Changes that belong together.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    /// What is written.
    pub(crate) writes: Writes,
    /// The new heads.
    pub(crate) heads: BTreeMap<RunId, Head>,
    /// Parts that append events.
    pub(crate) appends: u64,
    /// The newest time among the events.
    pub(crate) newest: Option<Timestamp>,
    /// What subscribers hear of once it is durable.
    pub(crate) knocked: Knocked,
}

impl Layer {
    fn absorb(&mut self, later: Self) {
        self.writes.extend(later.writes);
        self.heads.extend(later.heads);
        self.appends += later.appends;
        self.newest = self.newest.max(later.newest);
        self.knocked.absorb(&later.knocked);
    }
}

/// A group in the making.
pub(crate) struct Stage<'a> {
    tree: &'a sled::Tree,
    known: &'a Heads,
    kept: Layer,
    /// What was kept comes to, from above.
    bytes: usize,
    tried: Layer,
}

impl<'a> Stage<'a> {
    /// An empty group above `tree`; `known` are durable heads.
    pub(crate) fn new(tree: &'a sled::Tree, known: &'a Heads) -> Self {
        Self {
            tree,
            known,
            kept: Layer::default(),
            bytes: 0,
            tried: Layer::default(),
        }
    }

    /// Keeps what was staged since the last `keep` or `forget`.
    pub(crate) fn keep(&mut self) {
        let tried = std::mem::take(&mut self.tried);
        self.bytes += parts::bytes_of(&tried.writes);
        self.kept.absorb(tried);
    }

    /// Forgets what was staged since the last `keep` or `forget`.
    pub(crate) fn forget(&mut self) {
        self.tried = Layer::default();
    }

    /// Whether what was staged since the last `keep` or `forget` fits into the group. What does not
    /// is for the next group, where it is alone and may be taken apart.
    pub(crate) fn fits(&self) -> bool {
        self.kept.writes.is_empty()
            || self.bytes + parts::bytes_of(&self.tried.writes) <= parts::REQUEST_BYTES_MAX
    }

    /// What may still be staged, in bytes from above, so that all of it since the last `keep` or
    /// `forget` can be written at once; `None` when it cannot be already.
    pub(crate) fn bytes_left(&self) -> Option<usize> {
        parts::REQUEST_BYTES_MAX.checked_sub(parts::least_bytes_of(&self.tried.writes))
    }

    /// Everything that was kept.
    pub(crate) fn into_kept(self) -> Layer {
        self.kept
    }

    /// Writes `value` under a key that holds nothing yet.
    pub(crate) fn put(&mut self, key: Key, value: &[u8]) {
        let cut = pieces::cut(&key, value);
        self.tried.writes.insert(key, Some(cut.stored));
        self.tried.writes.extend(
            cut.pieces
                .into_iter()
                .map(|(key, piece)| (key, Some(piece))),
        );
    }

    /// Writes `value` under a key that may hold another one, whose pieces go with it.
    pub(crate) fn replace(&mut self, key: Key, value: &[u8]) -> Result<(), Broken> {
        self.remove_pieces(&key)?;
        // After the removals: equal bytes have equal piece keys, and those must stay.
        self.put(key, value);
        Ok(())
    }

    /// Removes a value that has no pieces.
    pub(crate) fn remove(&mut self, key: Key) {
        self.tried.writes.insert(key, None);
    }

    /// Removes a value and its pieces.
    pub(crate) fn clear(&mut self, key: Key) -> Result<(), Broken> {
        self.remove_pieces(&key)?;
        self.remove(key);
        Ok(())
    }

    fn remove_pieces(&mut self, key: &[u8]) -> Result<(), Broken> {
        if let Some(old) = self.stored(key)? {
            for piece in pieces::piece_keys(key, &old)? {
                self.tried.writes.insert(piece, None);
            }
        }
        Ok(())
    }

    /// The value under `key`, as the group so far leaves it.
    pub(crate) fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
        pieces::read(self, key)
    }

    /// Whether there is anything under `key`.
    pub(crate) fn holds(&self, key: &[u8]) -> Result<bool, Broken> {
        Ok(self.stored(key)?.is_some())
    }

    /// Notes a run's new head; the value is written with it.
    pub(crate) fn set_head(&mut self, run: RunId, head: Head) {
        let key = keys::head(run);
        let value = codec::encode_head(&key, &head);
        self.put(key, &value);
        self.tried.heads.insert(run, head);
    }

    /// Notes what subscribers have to hear of.
    pub(crate) fn knock(&mut self, knocked: &Knocked) {
        self.tried.knocked.absorb(knocked);
    }

    /// The first key of the tree that begins with `prefix`, whatever the group has staged.
    pub(crate) fn first_in_tree(&self, prefix: &[u8]) -> Result<Option<Key>, Broken> {
        let first = self.tree.scan_prefix(prefix).next().transpose()?;
        Ok(first.map(|(key, _)| key.to_vec()))
    }

    /// Notes that a part appended events, the newest of them at `newest`.
    pub(crate) fn count_append(&mut self, newest: Option<Timestamp>) {
        self.tried.appends += 1;
        self.tried.newest = self.tried.newest.max(newest);
    }
}

impl Source for Stage<'_> {
    fn stored(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
        let staged = self
            .tried
            .writes
            .get(key)
            .or_else(|| self.kept.writes.get(key));
        staged.map_or_else(|| self.tree.stored(key), |staged| Ok(staged.clone()))
    }
}

impl View for Stage<'_> {
    fn head(&self, run: RunId) -> Result<Option<Head>, LedgerError> {
        let staged = self
            .tried
            .heads
            .get(&run)
            .or_else(|| self.kept.heads.get(&run))
            .copied();
        if let Some(head) = staged.or_else(|| self.known.get(run)) {
            return Ok(Some(head));
        }
        read_head(self, run)
    }

    fn effect(&self, key: &EffectKey) -> Result<Option<(EffectEntry, u64)>, LedgerError> {
        let place = keys::effect(key);
        let entry = self.value(&place).and_then(|value| {
            value
                .map(|value| Ok(codec::decode_entry(&place, &value)?))
                .transpose()
        });
        match entry.map_err(|broken| fault::of_store("an effect entry", broken))? {
            Some((entry, _)) if entry.key != *key => Err(fault::damaged(format!(
                "the entry of effect {} lies in the place of {key}",
                entry.key
            ))),
            entry => Ok(entry),
        }
    }

    fn start_key(
        &self,
        tenant: &Tenant,
        key: &StartKey,
    ) -> Result<Option<(RunId, Digest)>, LedgerError> {
        read_start(self, tenant, key)
    }
}

/// The head of a run as `source` has it.
pub(crate) fn read_head(source: &dyn Source, run: RunId) -> Result<Option<Head>, LedgerError> {
    let key = keys::head(run);
    pieces::read(source, &key)
        .and_then(|value| {
            value
                .map(|value| Ok(codec::decode_head(&key, &value)?))
                .transpose()
        })
        .map_err(|broken| fault::of_run(run, Seq(0), "its head", broken))
}

/// What a start key stands for as `source` has it.
pub(crate) fn read_start(
    source: &dyn Source,
    tenant: &Tenant,
    key: &StartKey,
) -> Result<Option<(RunId, Digest)>, LedgerError> {
    let place = keys::start(tenant, key);
    let start = pieces::read(source, &place)
        .and_then(|value| {
            value
                .map(|value| Ok(codec::decode_start(&place, &value)?))
                .transpose()
        })
        .map_err(|broken| fault::of_store("a start key", broken))?;
    match start {
        Some(start) if start.tenant != *tenant || start.start_key != *key => {
            Err(fault::damaged(format!(
                "the entry of start key {} lies in the place of {key}",
                start.start_key
            )))
        }
        start => Ok(start.map(|start| (start.run, start.input))),
    }
}
