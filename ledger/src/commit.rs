//! One append: what is written together, what must hold before, and the verdict.
//!
//! A request is all or nothing. Verdicts of a group leave together, after the sync.

use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_machine::{Alert, EffectEntry, Event, Summary};
use mainstay_types::{
    Digest, EffectKey, Epoch, MessageId, Millis, RunId, Seq, StartKey, Tenant, Timestamp,
};

use crate::drive::Drive;

/// Something to be committed as a whole.
#[derive(Clone, Debug)]
pub struct CommitRequest {
    /// What is written, per run. A run appears at most once.
    pub parts: Vec<Part>,
}

/// What is written to one run.
#[derive(Clone, Debug)]
pub struct Part {
    /// The run.
    pub run: RunId,
    /// The run's newest sequence number as the writer knows it; 0 for a new run.
    pub expected_seq: Seq,
    /// The writer's lease epoch. Accepted when it is the run's own, or one above it and the first
    /// event is `LeaseTaken` in that epoch (or `RunStarted`, in epoch 1); otherwise the verdict is
    /// `Stale`, as for any other part in which one of these two events stands.
    pub epoch: Epoch,
    /// What has happened, in order. At most `limits::APPEND_EVENTS_MAX`.
    pub events: Vec<Stamped>,
    /// What else changes with it.
    pub ops: Vec<Op>,
}

/// An event and when it was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// The engine's time of the decision.
    pub at: Timestamp,
    /// The event.
    pub event: Event,
}

/// A change beside the events of a part.
#[derive(Clone, Debug)]
pub enum Op {
    /// The run's row in listings.
    Summary(Summary),
    /// How the run is driven from here on; replaces what it had.
    Drive(Drive),
    /// An effect under a key other runs could hold. Taken when the key is free, held by the same
    /// run and call, or held as `NotApplied`; otherwise the verdict is `KeyHeld`.
    ///
    /// When it is written as `Applied`, `PartlyApplied` or `NotApplied`, every run that waits for
    /// the key gets [`InboxCommand::KeySettled`](crate::InboxCommand::KeySettled) in the same
    /// commit and waits no more. Bound: `limits::KEY_WAKES_MAX`. A run whose inbox is full gets
    /// none.
    Effect {
        /// The entry.
        entry: EffectEntry,
        /// How long it is kept once its outcome is known: the contract's `key_memory`. Until then,
        /// and in doubt, it is kept for ever.
        memory: Millis,
        /// For an entry that is taken over from another run, which cannot go on with it: how often
        /// it had changed. When it is not that one any more, or is settled, the verdict is
        /// `KeyHeld`.
        over: Option<u64>,
    },
    /// The run waits until the entry under `key`, which another holds, is settled.
    ///
    /// When the entry is not the one that changed `version` times any more, the verdict is
    /// `KeyHeld` with the entry as it stands, so that no settling falls between looking and
    /// waiting. Nobody waits for a key without an entry, nor beyond `limits::KEY_WAITERS_MAX`: the
    /// rest of the request is written all the same, and the run's own timer asks again.
    Wait {
        /// The key.
        key: EffectKey,
        /// How often the entry had changed when the run looked, as `KeyHeld` said.
        version: u64,
    },
    /// Something a person or the host should hear of; gets the next number of all alerts.
    Alert(Alert),
    /// The start key of a new run. Taken when free; otherwise the verdict is `KeyHeld`. The run's
    /// summary names it too: by that it is found, and forgotten, once the run is closed.
    StartKey {
        /// Whose key.
        tenant: Tenant,
        /// The key.
        key: StartKey,
        /// The digest of the run's input.
        input: Digest,
    },
    /// The data of the run's class, stored once per name and version; ignored when present.
    Class(Arc<TaskClass>),
    /// An inbox command was taken by these events.
    InboxAck(MessageId),
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is durable.
    Committed(Receipt),
    /// Another writer moved one of its runs: reload and decide again. Nothing was written.
    Stale {
        /// The run that moved.
        run: RunId,
        /// Its newest sequence number.
        seq: Seq,
        /// Its epoch.
        epoch: Epoch,
    },
    /// A key it wants is taken. Nothing was written.
    KeyHeld(HeldKey),
    /// There is no room, or the request is larger than this ledger can make durable at once.
    /// Nothing was written.
    Full,
}

/// What a commit made durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Per part: the run's newest sequence number.
    pub seqs: Vec<Seq>,
}

/// Who holds a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldKey {
    /// A start key.
    Start {
        /// The run it stands for.
        run: RunId,
        /// The digest of that run's input.
        input: Digest,
    },
    /// An effect key.
    Effect {
        /// The entry as it stands.
        entry: Box<EffectEntry>,
        /// How often the entry has changed.
        version: u64,
    },
}
