//! What the ledger in memory holds, and how one request changes it.
//!
//! Everything here happens under one lock; nothing waits and nothing is half done.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use mainstay_machine::{EffectEntry, RunState, Summary};
use mainstay_types::{
    AlertSeq, ClassName, ClassVersion, Digest, EffectKey, Epoch, MessageId, RunId, Seq, StartKey,
    Tenant, Timestamp, WorkerId, limits,
};

use crate::alert::StoredAlert;
use crate::check::{Head, View, check};
use crate::codec::{
    DecodeError, decode_alert, decode_class, decode_message, encode_alert, encode_class,
    encode_message,
};
use crate::commit::{CommitRequest, Op, Part, Receipt, Verdict};
use crate::drive::{Drive, Driving};
use crate::error::LedgerError;
use crate::inbox::{Enqueued, InboxCommand, InboxMessage};
use crate::knock::Knocked;
use crate::query::{self, Loaded, Page, Recorded, RunFilter, StoredClass};
use crate::record::{self, Chain, Place};
use crate::snapshot::Snapshot;
use crate::wait::{Waiters, is_settled, wake_id};

#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) runs: BTreeMap<RunId, RunLog>,
    effects: BTreeMap<EffectKey, (EffectEntry, u64)>,
    waiters: BTreeMap<EffectKey, Waiters>,
    starts: BTreeMap<(Tenant, StartKey), (RunId, Digest)>,
    /// As encoded values, so that reading one is what a durable backend does.
    classes: BTreeMap<(ClassName, ClassVersion), Vec<u8>>,
    /// As encoded values; the first has number 1.
    alerts: Vec<Vec<u8>>,
    wakes: BTreeSet<(Timestamp, RunId)>,
    /// One row per engine that has not given up its lease.
    leases: BTreeMap<WorkerId, Timestamp>,
    pub(super) aborted: BTreeMap<RunId, u32>,
    pub(super) last_time: Option<Timestamp>,
    events: usize,
    events_max: Option<usize>,
    pub(super) appends: u64,
    /// What subscribers have to hear of once the lock is released.
    knocked: Knocked,
}

#[derive(Debug)]
pub(super) struct RunLog {
    pub(super) head: Head,
    pub(super) records: Vec<Vec<u8>>,
    /// As encoded values, in the order of arrival.
    inbox: Vec<(MessageId, Vec<u8>)>,
    /// Ids of messages that wait or were taken.
    known: BTreeSet<MessageId>,
    drive: Drive,
    summary: Option<Summary>,
    /// The newest state that was kept, and the chain value of the record after it.
    kept: Option<(Snapshot, Chain)>,
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
            drive: Drive::Off,
            summary: None,
            kept: None,
        }
    }

    /// Where a reader of what follows the kept state begins.
    fn tail(&self, run: RunId) -> (Seq, Chain) {
        let start = (Seq(0), Chain::start(run));
        self.kept
            .as_ref()
            .map_or(start, |(snapshot, chain)| (snapshot.seq, *chain))
    }

    /// The records after the first `after`.
    fn records_after(&self, after: Seq) -> impl Iterator<Item = &[u8]> {
        let from = usize::try_from(after.get()).unwrap_or(usize::MAX);
        let records = self.records.get(from..).unwrap_or_default();
        records.iter().map(Vec::as_slice)
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

/// Writing.
impl Store {
    pub(super) fn with_events_max(max: usize) -> Self {
        Self {
            events_max: Some(max),
            ..Self::default()
        }
    }

    /// What came up since the last time it was asked for.
    pub(super) fn take_knocked(&mut self) -> Knocked {
        std::mem::take(&mut self.knocked)
    }

    pub(super) fn commit(&mut self, request: CommitRequest) -> Result<Verdict, LedgerError> {
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
        let mut settled = Vec::new();
        let seqs = request
            .parts
            .into_iter()
            .map(|part| self.write(part, &mut settled))
            .collect();
        self.wake(settled);
        Ok(Verdict::Committed(Receipt { seqs }))
    }

    fn write(&mut self, part: Part, settled: &mut Vec<(EffectKey, u64)>) -> Seq {
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
            settled.extend(self.write_op(part.run, op));
        }
        seq
    }

    /// Writes one operation; says which key it settled, when it did.
    fn write_op(&mut self, run: RunId, op: Op) -> Option<(EffectKey, u64)> {
        match op {
            Op::Summary(summary) => {
                let log = self.log(run);
                if summary.state == RunState::Closed {
                    log.kept = None;
                }
                log.summary = Some(summary);
            }
            Op::Drive(drive) => self.drive(run, drive),
            Op::Effect { entry, .. } => return self.write_effect(entry),
            Op::Wait { key, version } => self.wait(run, key, version),
            Op::Alert(alert) => {
                self.alerts.push(encode_alert(&[], &alert));
                self.knocked.alerts = true;
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
            Op::InboxAck(id) => {
                let log = self.log(run);
                log.known.insert(id);
                log.inbox.retain(|(message, _)| *message != id);
            }
        }
        None
    }

    fn log(&mut self, run: RunId) -> &mut RunLog {
        self.runs
            .get_mut(&run)
            .expect("its part was written just before")
    }

    fn drive(&mut self, run: RunId, drive: Drive) {
        let before = std::mem::replace(&mut self.log(run).drive, drive);
        if let Drive::Parked { wake_at: Some(at) } = before {
            self.wakes.remove(&(at, run));
        }
        if let Drive::Parked { wake_at: Some(at) } = drive {
            self.wakes.insert((at, run));
        }
    }

    fn write_effect(&mut self, entry: EffectEntry) -> Option<(EffectKey, u64)> {
        let before = self.effects.get(&entry.key);
        let version = before.map_or(0, |(_, version)| *version) + 1;
        let settled = is_settled(&entry.state).then(|| (entry.key.clone(), version));
        self.effects.insert(entry.key.clone(), (entry, version));
        settled
    }

    fn wait(&mut self, run: RunId, key: EffectKey, version: u64) {
        if self.effects.contains_key(&key) {
            self.waiters.entry(key).or_default().register(run, version);
        }
    }

    /// Tells those who wait for the keys that a request settled.
    fn wake(&mut self, settled: Vec<(EffectKey, u64)>) {
        let mut room = limits::KEY_WAKES_MAX;
        for (key, version) in settled {
            let Some(waiters) = self.waiters.get_mut(&key) else {
                continue;
            };
            let woken = waiters.take(version, room);
            if waiters.is_empty() {
                self.waiters.remove(&key);
            }
            room -= woken.len();
            for run in woken {
                let message = InboxMessage {
                    id: wake_id(&key, version, run),
                    command: InboxCommand::KeySettled { key: key.clone() },
                };
                // A full inbox gets no word: the run has much to look at anyway.
                let _ = self.enqueue(run, &message);
            }
        }
    }

    pub(super) fn enqueue(
        &mut self,
        run: RunId,
        message: &InboxMessage,
    ) -> Result<Enqueued, LedgerError> {
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
        log.inbox.push((message.id, encode_message(&[], message)));
        self.knocked.absorb(&Knocked {
            runs: BTreeSet::from([run]),
            ..Knocked::default()
        });
        Ok(Enqueued::New)
    }

    /// Keeps the state of a run that is open, when it is the newest.
    pub(super) fn keep(&mut self, run: RunId, snapshot: Snapshot) {
        let Some(log) = self.runs.get_mut(&run) else {
            return;
        };
        let row = log.summary.as_ref();
        let is_closed = row.is_some_and(|summary| summary.state == RunState::Closed);
        if snapshot.seq == log.head.seq && !is_closed {
            log.kept = Some((snapshot, log.head.chain));
        }
    }

    pub(super) fn lease(&mut self, worker: WorkerId, until: Option<Timestamp>) {
        match until {
            Some(until) => self.leases.insert(worker, until),
            None => self.leases.remove(&worker),
        };
    }
}

/// Reading.
impl Store {
    /// Bytes of all states that are kept, with their payloads.
    #[cfg(any(test, feature = "conformance"))]
    pub(super) fn kept_bytes(&self) -> u64 {
        let kept = self.runs.values().filter_map(|log| log.kept.as_ref());
        let bytes = kept.map(|(snapshot, _)| {
            let payloads = snapshot.payloads.iter().map(|(_, payload)| payload.len());
            snapshot.state.len() + payloads.sum::<usize>()
        });
        bytes.sum::<usize>() as u64
    }

    pub(super) fn load(&self, run: RunId) -> Result<Option<Loaded>, LedgerError> {
        let Some(log) = self.runs.get(&run) else {
            return Ok(None);
        };
        let tail = log.tail(run);
        let events = query::open_tail(run, tail, log.head, log.records_after(tail.0))?;
        let inbox = self.inbox(run)?;
        let snapshot = log.kept.as_ref().map(|(snapshot, _)| snapshot.clone());
        Ok(Some(Loaded {
            snapshot,
            events,
            inbox,
        }))
    }

    pub(super) fn history(
        &self,
        run: RunId,
        after: Seq,
    ) -> Result<Option<Page<Recorded>>, LedgerError> {
        let Some(log) = self.runs.get(&run) else {
            return Ok(None);
        };
        let count = query::page_of_events(log.records_after(after).map(<[u8]>::len));
        // Beginning one record early proves that the page follows what lies before it.
        let from = after.get().saturating_sub(1);
        let start = match log.records_after(Seq(from)).next() {
            Some(bytes) if 0 < from => record::chain_of(run, after, bytes)?,
            Some(_) | None => Chain::start(run),
        };
        let early = usize::from(from < after.get());
        let records = log.records_after(Seq(from)).take(early + count);
        let (mut rows, (last, _)) = query::open_from(run, (Seq(from), start), records)?;
        rows.drain(..early.min(rows.len()));
        let more = !rows.is_empty() && last < log.head.seq;
        Ok(Some(Page { rows, more }))
    }

    pub(super) fn inbox(&self, run: RunId) -> Result<Vec<InboxMessage>, LedgerError> {
        let log = self.runs.get(&run).into_iter();
        let waiting = log.flat_map(|log| &log.inbox);
        waiting
            .map(|(_, value)| decode_message(&[], value).map_err(unreadable))
            .collect()
    }

    pub(super) fn runs(&self, filter: &RunFilter, cursor: Option<RunId>) -> Page<Summary> {
        let before = cursor.map_or(Bound::Unbounded, Bound::Excluded);
        let newest_first = self.runs.range((Bound::Unbounded, before)).rev();
        let summaries = newest_first.filter_map(|(_, log)| log.summary.as_ref());
        Page::of(summaries.filter(|summary| filter.passes(summary)).cloned())
    }

    pub(super) fn summary(&self, run: RunId) -> Option<Summary> {
        self.runs.get(&run)?.summary.clone()
    }

    /// Runs after `cursor`, by id.
    fn after(&self, cursor: Option<RunId>) -> impl Iterator<Item = (RunId, &RunLog)> {
        let after = cursor.map_or(Bound::Unbounded, Bound::Excluded);
        let runs = self.runs.range((after, Bound::Unbounded));
        runs.map(|(run, log)| (*run, log))
    }

    pub(super) fn driven(&self, cursor: Option<RunId>) -> Page<Driving> {
        let all = self.after(cursor);
        Page::of(all.filter_map(|(run, log)| self.driving_of(run, log)))
    }

    pub(super) fn driving(&self, run: RunId) -> Option<Driving> {
        self.driving_of(run, self.runs.get(&run)?)
    }

    fn driving_of(&self, run: RunId, log: &RunLog) -> Option<Driving> {
        match log.drive {
            Drive::Driven { worker } => Some(Driving {
                run,
                worker,
                lease_until: self.leases.get(&worker).copied(),
            }),
            Drive::Parked { .. } | Drive::Off => None,
        }
    }

    pub(super) fn wakes(&self, cursor: Option<(Timestamp, RunId)>) -> Page<(Timestamp, RunId)> {
        let after = cursor.map_or(Bound::Unbounded, Bound::Excluded);
        Page::of(self.wakes.range((after, Bound::Unbounded)).copied())
    }

    pub(super) fn inboxes(&self, cursor: Option<RunId>) -> Page<RunId> {
        let waiting = self.after(cursor).filter(|(_, log)| !log.inbox.is_empty());
        Page::of(waiting.map(|(run, _)| run))
    }

    pub(super) fn alerts(&self, after: AlertSeq) -> Result<Page<StoredAlert>, LedgerError> {
        let known = usize::try_from(after.get()).unwrap_or(usize::MAX);
        let new = self.alerts.get(known..).unwrap_or_default();
        let page = Page::of(new.iter().zip(after.next().get()..));
        let rows = page.rows.into_iter().map(|(value, seq)| {
            let seq = AlertSeq(seq);
            let alert = decode_alert(&[], value).map_err(unreadable)?;
            Ok(StoredAlert { seq, alert })
        });
        Ok(Page {
            rows: rows.collect::<Result<_, LedgerError>>()?,
            more: page.more,
        })
    }

    pub(super) fn class(
        &self,
        name: &ClassName,
        version: ClassVersion,
    ) -> Result<Option<StoredClass>, LedgerError> {
        let value = self.classes.get(&(name.clone(), version));
        value.map(|value| stored_class(value)).transpose()
    }

    pub(super) fn classes(&self) -> Result<Vec<StoredClass>, LedgerError> {
        let values = self.classes.values().take(limits::PAGE_ROWS_MAX);
        values.map(|value| stored_class(value)).collect()
    }
}

fn stored_class(value: &[u8]) -> Result<StoredClass, LedgerError> {
    decode_class(&[], value).map_err(unreadable)
}

fn unreadable(error: DecodeError) -> LedgerError {
    LedgerError::Io {
        detail: error.to_string(),
    }
}
