//! The ledger in memory: for unit tests and for runs nobody needs to find again.
//!
//! It obeys every rule of a durable backend except durability. Events are kept as records, so that
//! what is read back has gone through the codec; nothing may take a short cut around it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use mainstay_machine::{EffectEntry, Summary};
use mainstay_types::{
    BoxFuture, ClassName, ClassVersion, Digest, EffectKey, Epoch, MessageId, RunId, Seq, StartKey,
    Tenant, Timestamp, limits,
};
use parking_lot::Mutex;

use crate::check::{Head, View, check};
use crate::codec::{decode_class, encode_class};
use crate::commit::{CommitRequest, Op, Part, Receipt, Verdict};
use crate::error::LedgerError;
use crate::inbox::{Enqueued, InboxCommand, InboxMessage};
use crate::query::{Loaded, Page, RunFilter, StoredClass};
use crate::record::{self, Chain, Place};
use crate::{Ledger, query};

/// A ledger that lives as long as its process. Shared by reference; all methods take `&self`.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    store: Mutex<Store>,
}

impl MemoryLedger {
    /// An empty ledger without a bound but memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty ledger that answers `Full` to a request beyond `max` events in all.
    #[must_use]
    pub fn with_events_max(max: usize) -> Self {
        Self {
            store: Mutex::new(Store {
                events_max: Some(max),
                ..Store::default()
            }),
        }
    }
}

#[derive(Debug, Default)]
struct Store {
    runs: BTreeMap<RunId, RunLog>,
    effects: BTreeMap<EffectKey, (EffectEntry, u64)>,
    starts: BTreeMap<(Tenant, StartKey), (RunId, Digest)>,
    /// As encoded values, so that reading one is what a durable backend does.
    classes: BTreeMap<(ClassName, ClassVersion), Vec<u8>>,
    last_time: Option<Timestamp>,
    events: usize,
    events_max: Option<usize>,
    appends: u64,
}

#[derive(Debug)]
struct RunLog {
    head: Head,
    records: Vec<Vec<u8>>,
    inbox: Vec<InboxMessage>,
    /// Ids of messages that wait or were taken.
    known: BTreeSet<MessageId>,
    driven: bool,
    summary: Option<Summary>,
}

impl RunLog {
    fn new(run: RunId) -> Self {
        Self {
            head: Head {
                seq: Seq(0),
                epoch: Epoch(0),
                chain: Chain::start(run),
            },
            records: Vec::new(),
            inbox: Vec::new(),
            known: BTreeSet::new(),
            driven: false,
            summary: None,
        }
    }
}

impl View for Store {
    fn head(&self, run: RunId) -> Result<Option<Head>, LedgerError> {
        Ok(self.runs.get(&run).map(|log| log.head))
    }

    fn effect(&self, key: &EffectKey) -> Result<Option<(EffectEntry, u64)>, LedgerError> {
        Ok(self.effects.get(key).cloned())
    }

    fn start_key(
        &self,
        tenant: &Tenant,
        key: &StartKey,
    ) -> Result<Option<(RunId, Digest)>, LedgerError> {
        Ok(self.starts.get(&(tenant.clone(), key.clone())).copied())
    }
}

impl Store {
    fn commit(&mut self, request: CommitRequest) -> Result<Verdict, LedgerError> {
        if let Some(refused) = check(self, &request)? {
            return Ok(refused);
        }
        let events = request
            .parts
            .iter()
            .map(|part| part.events.len())
            .sum::<usize>();
        let wanted = self.events.saturating_add(events);
        if self.events_max.is_some_and(|max| max < wanted) {
            return Ok(Verdict::Full);
        }
        self.events = wanted;
        let seqs = request
            .parts
            .into_iter()
            .map(|part| self.write(part))
            .collect();
        Ok(Verdict::Committed(Receipt { seqs }))
    }

    fn write(&mut self, part: Part) -> Seq {
        let log = self
            .runs
            .entry(part.run)
            .or_insert_with(|| RunLog::new(part.run));
        self.appends += u64::from(!part.events.is_empty());
        for stamped in &part.events {
            let seq = log.head.seq.next();
            let (run, epoch, chain) = (part.run, part.epoch, log.head.chain);
            let (bytes, chain) = record::seal(
                Place {
                    run,
                    seq,
                    epoch,
                    chain,
                },
                stamped,
            );
            log.records.push(bytes);
            log.head = Head {
                seq,
                epoch: part.epoch,
                chain,
            };
            self.last_time = self.last_time.max(Some(stamped.at));
        }
        let seq = log.head.seq;
        for op in part.ops {
            self.write_op(part.run, op);
        }
        seq
    }

    fn write_op(&mut self, run: RunId, op: Op) {
        let log = self
            .runs
            .get_mut(&run)
            .expect("its part was written just before");
        match op {
            Op::Summary(summary) => log.summary = Some(summary),
            Op::Driven(driven) => log.driven = driven,
            Op::Effect(entry) => {
                let version = self
                    .effects
                    .get(&entry.key)
                    .map_or(0, |(_, version)| *version);
                self.effects.insert(entry.key.clone(), (entry, version + 1));
            }
            Op::StartKey { tenant, key, input } => {
                self.starts.insert((tenant, key), (run, input));
            }
            Op::Class(class) => {
                let key = (class.name.clone(), class.version);
                self.classes
                    .entry(key)
                    .or_insert_with(|| encode_class(&[], &class));
            }
            Op::InboxAck(id) => log.inbox.retain(|message| message.id != id),
        }
    }

    fn enqueue(&mut self, run: RunId, message: InboxMessage) -> Result<Enqueued, LedgerError> {
        let Some(log) = self.runs.get_mut(&run) else {
            return Err(LedgerError::RunUnknown { run });
        };
        if log.known.contains(&message.id) {
            return Ok(Enqueued::Known);
        }
        if limits::INBOX_COMMANDS_MAX <= log.inbox.len() {
            return Err(LedgerError::InboxFull {
                run,
                waiting: log.inbox.len(),
            });
        }
        log.known.insert(message.id);
        log.inbox.push(message);
        Ok(Enqueued::New)
    }

    fn load(&self, run: RunId) -> Result<Option<Loaded>, LedgerError> {
        let Some(log) = self.runs.get(&run) else {
            return Ok(None);
        };
        let events = query::open_all(run, log.head, log.records.iter().map(Vec::as_slice))?;
        Ok(Some(Loaded {
            events,
            inbox: log.inbox.clone(),
        }))
    }

    fn runs(&self, filter: &RunFilter, cursor: Option<RunId>) -> Page<Summary> {
        let before = cursor.map_or(Bound::Unbounded, Bound::Excluded);
        let newest_first = self.runs.range((Bound::Unbounded, before)).rev();
        let summaries = newest_first.filter_map(|(_, log)| log.summary.as_ref());
        Page::of(summaries.filter(|summary| filter.passes(summary)).cloned())
    }

    fn driven(&self, cursor: Option<RunId>) -> Page<RunId> {
        let after = cursor.map_or(Bound::Unbounded, Bound::Excluded);
        let runs = self.runs.range((after, Bound::Unbounded));
        Page::of(runs.filter(|(_, log)| log.driven).map(|(run, _)| *run))
    }

    fn class(
        &self,
        name: &ClassName,
        version: ClassVersion,
    ) -> Result<Option<StoredClass>, LedgerError> {
        let value = self.classes.get(&(name.clone(), version));
        value.map(|value| stored_class(value)).transpose()
    }

    fn classes(&self) -> Result<Vec<StoredClass>, LedgerError> {
        let values = self.classes.values().take(limits::PAGE_ROWS_MAX);
        values.map(|value| stored_class(value)).collect()
    }
}

fn stored_class(value: &[u8]) -> Result<StoredClass, LedgerError> {
    decode_class(&[], value).map_err(|error| LedgerError::Io {
        detail: error.to_string(),
    })
}

impl Ledger for MemoryLedger {
    fn commit(
        &self,
        requests: Vec<CommitRequest>,
    ) -> BoxFuture<'_, Result<Vec<Verdict>, LedgerError>> {
        assert!(
            requests.len() <= limits::COMMIT_GROUP_MAX,
            "a group beyond its bound"
        );
        Box::pin(async move {
            let mut store = self.store.lock();
            requests
                .into_iter()
                .map(|request| store.commit(request))
                .collect()
        })
    }

    fn enqueue(
        &self,
        run: RunId,
        message: MessageId,
        command: InboxCommand,
    ) -> BoxFuture<'_, Result<Enqueued, LedgerError>> {
        let message = InboxMessage {
            id: message,
            command,
        };
        Box::pin(async move { self.store.lock().enqueue(run, message) })
    }

    fn load(&self, run: RunId) -> BoxFuture<'_, Result<Option<Loaded>, LedgerError>> {
        Box::pin(async move { self.store.lock().load(run) })
    }

    fn driven(&self, cursor: Option<RunId>) -> BoxFuture<'_, Result<Page<RunId>, LedgerError>> {
        Box::pin(async move { Ok(self.store.lock().driven(cursor)) })
    }

    fn runs(
        &self,
        filter: RunFilter,
        cursor: Option<RunId>,
    ) -> BoxFuture<'_, Result<Page<Summary>, LedgerError>> {
        Box::pin(async move { Ok(self.store.lock().runs(&filter, cursor)) })
    }

    fn start_key(
        &self,
        tenant: Tenant,
        key: StartKey,
    ) -> BoxFuture<'_, Result<Option<(RunId, Digest)>, LedgerError>> {
        Box::pin(async move { View::start_key(&*self.store.lock(), &tenant, &key) })
    }

    fn class(
        &self,
        name: ClassName,
        version: ClassVersion,
    ) -> BoxFuture<'_, Result<Option<StoredClass>, LedgerError>> {
        Box::pin(async move { self.store.lock().class(&name, version) })
    }

    fn classes(&self) -> BoxFuture<'_, Result<Vec<StoredClass>, LedgerError>> {
        Box::pin(async move { self.store.lock().classes() })
    }

    fn last_time(&self) -> BoxFuture<'_, Result<Option<Timestamp>, LedgerError>> {
        Box::pin(async move { Ok(self.store.lock().last_time) })
    }

    fn appends(&self) -> u64 {
        self.store.lock().appends
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
