//! What a writer asks of the ledger, small enough to be told before it is done.
//!
//! A deed says everything that its request holds but bytes that follow from their place.

use mainstay::types::{Digest, Epoch, MessageId, Seq};
use mainstay_ledger::{CommitRequest, Drive, Op, Part, Stamped, sample};
use serde::{Deserialize, Serialize};

use super::content::{
    self, Happened, Key, Stand, alert, at, entry, event, moment, run_id, summary, worker,
};

/// One call of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// Requests that are committed by one call.
    Commit(Vec<Vec<Writing>>),
    /// A command for an inbox.
    Enqueue {
        /// Whose.
        run: u32,
        /// The how-manieth from outside.
        message: u32,
        /// Of its payload; 0 for none.
        bytes: usize,
    },
    /// A state that is offered; a hint, so nothing is answered.
    Keep {
        /// Whose.
        run: u32,
        /// After which event.
        seq: u64,
        /// Of the state.
        bytes: usize,
    },
}

/// What a request writes to one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writing {
    /// The run.
    pub run: u32,
    /// Its newest event before.
    pub after: u64,
    /// Of the writer.
    pub epoch: u32,
    /// What has happened.
    pub events: Vec<Happened>,
    /// What else changes.
    pub beside: Vec<Beside>,
}

/// A change beside the events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Beside {
    /// The row, of a run that is closed or not.
    Row(bool),
    /// Somebody drives it.
    Driven,
    /// Nobody does until then (milliseconds), or until something comes.
    Parked(Option<u64>),
    /// Nobody does.
    Off,
    /// An entry under a key.
    Effect(Key, Stand),
    /// It waits for the next change of a key after this one.
    Wait(Key, u64),
    /// Somebody should hear of it.
    Alert,
    /// A start key.
    Start(Key),
    /// The data of a class's version.
    Class(u32),
    /// A message is taken.
    Taken(String),
}

impl Writing {
    /// The newest event after it.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.after + self.events.len() as u64
    }

    /// What the ledger is asked.
    #[must_use]
    pub fn part(&self) -> Part {
        let numbered = (self.after + 1..).zip(&self.events);
        let events = numbered.map(|(seq, happened)| Stamped {
            at: moment(self.run, seq),
            event: event(self.run, seq, *happened),
        });
        Part {
            run: run_id(self.run),
            expected_seq: Seq(self.after),
            epoch: Epoch(self.epoch),
            events: events.collect(),
            ops: self.beside.iter().map(|beside| self.op(beside)).collect(),
        }
    }

    fn op(&self, beside: &Beside) -> Op {
        let (run, seq) = (self.run, self.seq());
        match beside {
            Beside::Row(closed) => Op::Summary(summary(run, seq, *closed)),
            Beside::Driven => Op::Drive(Drive::Driven {
                worker: worker(self.epoch),
            }),
            Beside::Parked(wake) => Op::Drive(Drive::Parked {
                wake_at: wake.map(at),
            }),
            Beside::Off => Op::Drive(Drive::Off),
            Beside::Effect(key, stand) => sample::effect(entry(*key, run, seq, *stand)),
            Beside::Wait(key, version) => Op::Wait {
                key: key.effect_key(),
                version: *version,
            },
            Beside::Alert => Op::Alert(alert(run, seq)),
            Beside::Start(key) => Op::StartKey {
                tenant: sample::tenant("acme"),
                key: key.start_key(),
                input: input_of(*key),
            },
            Beside::Class(version) => sample::store_class("ordeal", *version),
            Beside::Taken(id) => Op::InboxAck(parse_message(id)),
        }
    }
}

/// The digest of the input of the run that takes a start key.
#[must_use]
pub fn input_of(key: Key) -> Digest {
    Digest::of(format!("{}/{}", key.owner, key.item).as_bytes())
}

/// The request of these writings.
#[must_use]
pub fn request(writings: &[Writing]) -> CommitRequest {
    CommitRequest {
        parts: writings.iter().map(Writing::part).collect(),
    }
}

/// A message by the id in a deed.
fn parse_message(id: &str) -> MessageId {
    id.parse().expect("a deed names messages by their ids")
}

/// The message that tells `run` of a key's change, by its id.
#[must_use]
pub fn told_id(key: Key, version: u64, run: u32) -> String {
    mainstay_ledger::wait::wake_id(&key.effect_key(), version, run_id(run)).to_string()
}

/// A message from outside, by its id.
#[must_use]
pub fn outside_id(run: u32, message: u32) -> String {
    content::message_id(run, message).to_string()
}
