//! Snapshots: the state of an open run beside its events, in the table only.
//!
//! A snapshot is a hint. Whatever is wrong with one, the run is folded from its events, which are
//! in the log; a payload is stored once however many snapshots refer to it.

use std::collections::HashSet;
use std::sync::Arc;

use mainstay_ledger::codec::value::{open_value, seal_value};
use mainstay_ledger::record::Chain;
use mainstay_ledger::{LedgerError, Snapshot};
use mainstay_types::{Digest, Payload, RunId, Seq};

use super::{Reader, Rows};
use crate::fields::Fields;
use crate::keys;
use crate::run_row::RunRow;

const DIGEST_BYTES: usize = 32;

impl Reader {
    /// The newest snapshot of a run whose log ends at `newest`, and the chain value after it;
    /// `None` when there is none that can be used.
    pub(super) fn kept(
        &self,
        run: RunId,
        newest: Seq,
    ) -> Result<Option<(Snapshot, Chain)>, LedgerError> {
        let key = keys::snapshot(run);
        let Some(value) = self.standing.get(&key)? else {
            return Ok(None);
        };
        let Some(head) = open_value(&key, &value).ok().and_then(Head::parse) else {
            return Ok(None);
        };
        if newest < head.seq {
            return Ok(None);
        }
        let mut payloads = Vec::with_capacity(head.digests.len());
        for digest in &head.digests {
            let key = keys::payload(run, digest);
            let value = self.standing.get(&key)?;
            let bytes = value
                .as_deref()
                .and_then(|value| open_value(&key, value).ok());
            let Some(bytes) = bytes.filter(|bytes| Digest::of(bytes) == *digest) else {
                return Ok(None);
            };
            payloads.push((*digest, Payload::new(bytes)));
        }
        let snapshot = Snapshot {
            seq: head.seq,
            schema: head.schema,
            state: head.state.to_vec(),
            payloads,
        };
        Ok(Some((snapshot, head.chain)))
    }

    /// Keeps a snapshot of a run that stands as `row` says, when it is its newest state.
    pub(crate) fn keep(&self, run: RunId, row: &RunRow, snapshot: &Snapshot) {
        if snapshot.seq != row.head.seq || row.rests() {
            return;
        }
        self.snapshots.lock().insert(run);
        let there = self.forget_payloads(run, |digest| {
            snapshot.payloads.iter().any(|(kept, _)| kept == digest)
        });
        // Payloads of the snapshot before were kept before that was, so they are there if it is.
        let new = snapshot.payloads.iter();
        for (digest, payload) in new.filter(|(digest, _)| !there.contains(digest)) {
            let key = keys::payload(run, digest);
            let value = seal_value(&key, payload.as_bytes());
            self.standing.hint(key, Some(value.into()));
        }
        let key = keys::snapshot(run);
        let value: Arc<[u8]> = seal_value(&key, &encode(snapshot, row.head.chain)).into();
        self.standing.hint(key, Some(value));
    }
}

impl Reader {
    /// Forgets the payloads that the snapshot of before refers to, but for those that stay; says
    /// which these are.
    fn forget_payloads(&self, run: RunId, stays: impl Fn(&Digest) -> bool) -> HashSet<Digest> {
        let key = keys::snapshot(run);
        // A snapshot that cannot be read now is replaced as if there were none.
        let Ok(Some(value)) = self.standing.get(&key) else {
            return HashSet::new();
        };
        let Some(before) = open_value(&key, &value).ok().and_then(Head::parse) else {
            return HashSet::new();
        };
        let (stay, go): (HashSet<Digest>, HashSet<Digest>) =
            before.digests.into_iter().partition(stays);
        for digest in go {
            self.standing.hint(keys::payload(run, &digest), None);
        }
        stay
    }

    /// Forgets the snapshot of a run that rests or is gone.
    pub(crate) fn forget_snapshot(&self, run: RunId) {
        if self.snapshots.lock().remove(&run) {
            self.forget_payloads(run, |_| false);
            self.standing.hint(keys::snapshot(run), None);
        }
    }

    /// Notes which runs have a snapshot, at open.
    pub(crate) fn find_snapshots(&self) -> Result<(), LedgerError> {
        for row in Rows::of(&self.standing, keys::snapshots()) {
            let (key, _) = row?;
            let Some(run) = keys::run_at_end(&key) else {
                continue;
            };
            self.snapshots.lock().insert(run);
            // One that was kept while its run closed stayed behind.
            if self.standing.get(&keys::run(run))?.is_none() {
                self.forget_snapshot(run);
            }
        }
        Ok(())
    }
}

fn encode(snapshot: &Snapshot, chain: Chain) -> Vec<u8> {
    let digests = u32::try_from(snapshot.payloads.len()).expect("a state has far fewer payloads");
    let mut bytes =
        Vec::with_capacity(20 + snapshot.payloads.len() * DIGEST_BYTES + snapshot.state.len());
    bytes.extend_from_slice(&snapshot.seq.get().to_le_bytes());
    bytes.extend_from_slice(&snapshot.schema.to_le_bytes());
    bytes.extend_from_slice(&chain.as_u32().to_le_bytes());
    bytes.extend_from_slice(&digests.to_le_bytes());
    for (digest, _) in &snapshot.payloads {
        bytes.extend_from_slice(digest.as_bytes());
    }
    bytes.extend_from_slice(&snapshot.state);
    bytes
}

/// A snapshot's row without its payloads.
struct Head<'a> {
    seq: Seq,
    schema: u32,
    chain: Chain,
    digests: Vec<Digest>,
    state: &'a [u8],
}

impl<'a> Head<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let (seq, schema) = (Seq(fields.u64()?), fields.u32()?);
        let chain = Chain::from_u32(fields.u32()?);
        let count = usize::try_from(fields.u32()?).ok()?;
        // Bounded by what is there before anything is allocated.
        let (digests, state) = fields
            .0
            .split_at_checked(count.checked_mul(DIGEST_BYTES)?)?;
        let digests = digests.chunks_exact(DIGEST_BYTES).map(|bytes| {
            let bytes = <[u8; DIGEST_BYTES]>::try_from(bytes);
            Digest::from_bytes(bytes.expect("chunks have this size"))
        });
        Some(Self {
            seq,
            schema,
            chain,
            digests: digests.collect(),
            state,
        })
    }
}
