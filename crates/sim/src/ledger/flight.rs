//! One group on its way to the disk: whoever waits longest drives it, and where a driver is
//! dropped the next one goes on at the same stage.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::task::{Context, Poll, Waker};

use mainstay_ledger::{
    CommitRequest, Enqueued, InboxCommand, Ledger, LedgerError, MemoryLedger, Verdict,
};
use mainstay_types::{MessageId, Millis, RunId, limits};

use super::Moment;
use super::journal::{Append, appends};
use super::trouble::Trouble;

/// What somebody wants of the disk.
#[derive(Clone)]
pub(super) enum Wish {
    Commit(Vec<CommitRequest>),
    Enqueue(RunId, MessageId, InboxCommand),
}

/// What became of it.
pub(super) enum Answer {
    Committed(Result<Vec<Verdict>, LedgerError>),
    Enqueued(Result<Enqueued, LedgerError>),
}

/// A group that nobody has been told of, each wish with its ticket.
pub(super) enum Flight {
    /// Nothing of it is on the disk.
    Begun(Vec<(u64, Wish)>),
    /// It is written and not synced.
    Written(Vec<(u64, Wish)>),
    /// It is synced.
    Synced(Vec<(u64, Answer)>),
}

pub(super) struct Disk {
    pub(super) trouble: Trouble,
    pub(super) groups: u64,
    pub(super) stop: Option<(u64, Moment)>,
    pub(super) answers: BTreeMap<u64, Answer>,
    pub(super) is_led: bool,
    /// It is where the process is to die.
    pub(super) stands_still: bool,
    /// Leases are kept.
    pub(super) is_shared: bool,
    poisoned: Option<String>,
    /// What was written when a sync failed.
    lost: Vec<Wish>,
    tickets: u64,
    waiting: VecDeque<(u64, Wish)>,
    pub(super) flight: Option<Flight>,
}

impl Wish {
    /// Whether it writes events, for which a full disk has no room.
    fn has_events(&self) -> bool {
        match self {
            Self::Commit(requests) => {
                let mut parts = requests.iter().flat_map(|request| &request.parts);
                parts.any(|part| !part.events.is_empty())
            }
            Self::Enqueue(..) => false,
        }
    }

    fn requests(&self) -> usize {
        match self {
            Self::Commit(requests) => requests.len(),
            Self::Enqueue(..) => 1,
        }
    }

    /// The same, in pieces of which each is on the disk as a whole or not at all.
    pub(super) fn pieces(self) -> Vec<Self> {
        match self {
            Self::Commit(requests) => {
                let one = |request| Self::Commit(vec![request]);
                requests.into_iter().map(one).collect()
            }
            Self::Enqueue(..) => vec![self],
        }
    }

    pub(super) fn failed(&self, error: LedgerError) -> Answer {
        match self {
            Self::Commit(_) => Answer::Committed(Err(error)),
            Self::Enqueue(..) => Answer::Enqueued(Err(error)),
        }
    }

    /// What a disk without room says to it, `None` when there is room for this.
    pub(super) fn without_room(&self) -> Option<Answer> {
        match self {
            Self::Commit(requests) if self.has_events() => {
                let verdicts = requests.iter().map(|_| Verdict::Full).collect();
                Some(Answer::Committed(Ok(verdicts)))
            }
            Self::Commit(_) | Self::Enqueue(..) => None,
        }
    }
}

impl Disk {
    pub(super) fn new() -> Self {
        Self {
            trouble: Trouble::default(),
            groups: 0,
            stop: None,
            answers: BTreeMap::new(),
            is_led: false,
            stands_still: false,
            is_shared: false,
            poisoned: None,
            lost: Vec::new(),
            tickets: 0,
            waiting: VecDeque::new(),
            flight: None,
        }
    }

    pub(super) const fn is_poisoned(&self) -> bool {
        self.poisoned.is_some()
    }

    pub(super) fn queue(&mut self, wish: Wish) -> u64 {
        let ticket = self.tickets;
        self.tickets += 1;
        self.waiting.push_back((ticket, wish));
        ticket
    }

    /// Begins the next group, of all that waits and fits into one; whether there is one now.
    pub(super) fn begin(&mut self) -> bool {
        let mut wishes = Vec::new();
        let mut requests = 0;
        while let Some((_, wish)) = self.waiting.front() {
            requests += wish.requests();
            if limits::COMMIT_GROUP_MAX < requests && !wishes.is_empty() {
                break;
            }
            wishes.extend(self.waiting.pop_front());
        }
        if wishes.is_empty() {
            return false;
        }
        self.groups += 1;
        self.flight = Some(Flight::Begun(wishes));
        true
    }

    /// Answers those of a group that has just begun that a disk in this trouble does not take.
    /// Whether nothing is left of it, or it is written already.
    pub(super) fn refuses(&mut self) -> bool {
        let Some(Flight::Begun(wishes)) = &mut self.flight else {
            return true;
        };
        let is_failing = 0 < self.trouble.failing;
        self.trouble.failing -= u32::from(is_failing);
        let (mut taken, mut refused) = (Vec::new(), Vec::new());
        for (ticket, wish) in std::mem::take(wishes) {
            let refusal = match &self.poisoned {
                Some(detail) => Some(wish.failed(LedgerError::Poisoned {
                    detail: detail.clone(),
                })),
                None if is_failing => Some(wish.failed(LedgerError::Io {
                    detail: "the disk does not take it".to_owned(),
                })),
                None if self.trouble.is_full => wish.without_room(),
                None => None,
            };
            match refusal {
                Some(answer) => refused.push((ticket, answer)),
                None => taken.push((ticket, wish)),
            }
        }
        self.answers.extend(refused);
        let is_empty = taken.is_empty();
        self.flight = (!is_empty).then_some(Flight::Begun(taken));
        is_empty
    }

    /// What has begun is written.
    pub(super) fn write(&mut self) {
        self.flight = match self.flight.take() {
            Some(Flight::Begun(wishes)) => Some(Flight::Written(wishes)),
            other => other,
        };
    }

    /// What is written is synced; or nobody knows any more, and it stays written.
    pub(super) fn sync(&mut self, carry_out: impl Fn(Wish) -> Answer) {
        let wishes = match self.flight.take() {
            Some(Flight::Written(wishes)) => wishes,
            other => {
                self.flight = other;
                return;
            }
        };
        if std::mem::take(&mut self.trouble.is_sync_failing) {
            let detail = "the disk could not sync".to_owned();
            let told = wishes.iter().map(|(ticket, wish)| {
                let detail = detail.clone();
                (*ticket, wish.failed(LedgerError::Poisoned { detail }))
            });
            self.answers.extend(told);
            self.lost.extend(wishes.into_iter().map(|(_, wish)| wish));
            self.poisoned = Some(detail);
            return;
        }
        let synced = wishes.into_iter();
        let synced = synced.map(|(ticket, wish)| (ticket, carry_out(wish)));
        self.flight = Some(Flight::Synced(synced.collect()));
    }

    /// Everybody is told of what is synced.
    pub(super) fn tell(&mut self) {
        if let Some(Flight::Synced(answers)) = self.flight.take() {
            self.answers.extend(answers);
        }
    }

    /// Whether the process is to die at this moment of the group that is under way.
    pub(super) fn stops_at(&self, moment: Moment) -> bool {
        let is_there = match self.flight {
            Some(Flight::Begun(_)) => moment == Moment::Before,
            Some(Flight::Written(_)) => moment == Moment::Written,
            Some(Flight::Synced(_)) => moment == Moment::Synced,
            None => false,
        };
        is_there && self.stop == Some((self.groups, moment))
    }

    /// Forgets all that nobody will ask for any more. What is written and not synced, in pieces of
    /// which each is on the disk as a whole or not at all, and whether a sync of it has failed.
    pub(super) fn die(&mut self) -> (Vec<Wish>, bool) {
        self.waiting.clear();
        self.answers.clear();
        (self.stop, self.is_led, self.stands_still) = (None, false, false);
        let has_failed = self.poisoned.take().is_some();
        let mut written = std::mem::take(&mut self.lost);
        if let Some(Flight::Written(wishes)) = self.flight.take() {
            written.extend(wishes.into_iter().map(|(_, wish)| wish));
        }
        let pieces = written.into_iter().flat_map(Wish::pieces);
        (pieces.collect(), has_failed)
    }
}

/// Makes `wish` durable at `at`; what it wrote.
pub(super) fn carried_out(memory: &MemoryLedger, wish: Wish, at: Millis) -> (Answer, Vec<Append>) {
    match wish {
        Wish::Commit(requests) => {
            let verdicts = ready(memory.commit(requests.clone()));
            let told = verdicts.as_deref().unwrap_or_default();
            let written = appends(&requests, told, at);
            (Answer::Committed(verdicts), written)
        }
        Wish::Enqueue(run, message, command) => {
            let enqueued = ready(memory.enqueue(run, message, command));
            (Answer::Enqueued(enqueued), Vec::new())
        }
    }
}

/// The value of a future of the ledger in memory, which waits for nothing.
fn ready<T>(mut future: impl Future<Output = T> + Unpin) -> T {
    let mut cx = Context::from_waker(Waker::noop());
    match std::pin::Pin::new(&mut future).poll(&mut cx) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("memory does not wait"),
    }
}
