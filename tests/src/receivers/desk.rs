//! What a receiver does with a request, and the table of what is in its world.
//!
//! Whether a repeated request changes the world again is the receiver's kind, and nothing else.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::{Kind, Receipt};

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Done, then answered.
    Commit,
    /// Done, and the connection closed without an answer.
    CommitThenDrop,
    /// Done, and never answered.
    CommitThenHang,
    /// The connection closed, nothing done, ever.
    Drop,
    /// Neither done nor answered, ever.
    Hang,
    /// The connection closed at once, and done after so many milliseconds. Nobody who asks before
    /// sees anything of it.
    DropThenCommit(u64),
    /// The same, and whoever asks before is told that it is in progress.
    DropThenCommitSeen(u64),
    /// Not answered, and done once the test lets it: [`super::Receiver::release`].
    HangUntilReleased,
    /// Done in part, and the connection closed.
    PartThenDrop,
    /// Refused as it is; nothing done.
    Refuse,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Sent {
    /// What it is found by here: key, operation, business id, our id, reference.
    pub name: String,
    /// Its fence.
    pub fence: u64,
    /// When it arrived.
    pub at: Instant,
}

/// What a look-up was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It is done.
    Applied,
    /// It is done in part.
    Partly,
    /// It is being done.
    InProgress,
    /// It is not known.
    NotFound,
}

/// What happened at a receiver.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// Requests to write, in order.
    pub sent: Vec<Sent>,
    /// Changes in its world, each by its name.
    pub applied: Vec<String>,
    /// What was told to who looked something up.
    pub told: Vec<Told>,
    /// Requests whose turn to be done came, whether it changed anything or not.
    pub landed: usize,
    /// Look-ups that got no answer worth the name.
    pub unanswered: usize,
    /// Requests that came to be done and were not, as a later fence was known.
    pub stale: usize,
}

/// What became of a request right away.
pub(super) enum Reply {
    Receipt(Receipt),
    Refused,
    Dropped,
}

pub(super) struct Desk {
    kind: Kind,
    table: Mutex<Table>,
    released: Semaphore,
}

struct Table {
    fates: VecDeque<Fate>,
    away: usize,
    tells: bool,
    truth: Truth,
    receipts: BTreeMap<String, Receipt>,
    parts: BTreeSet<String>,
    in_progress: BTreeSet<String>,
    fences: BTreeMap<String, u64>,
}

impl Desk {
    pub(super) fn new(kind: Kind, fates: &[Fate]) -> Self {
        let table = Table {
            fates: fates.iter().copied().collect(),
            away: 0,
            tells: true,
            truth: Truth::default(),
            receipts: BTreeMap::new(),
            parts: BTreeSet::new(),
            in_progress: BTreeSet::new(),
            fences: BTreeMap::new(),
        };
        Self {
            kind,
            table: Mutex::new(table),
            released: Semaphore::new(0),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A test that failed with it still says what was true.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn away_for(&self, requests: usize) {
        self.table().away = requests;
    }

    pub(super) fn tells(&self, tells: bool) {
        self.table().tells = tells;
    }

    pub(super) fn truth(&self) -> Truth {
        self.table().truth.clone()
    }

    pub(super) fn release(&self) {
        self.released.add_permits(1);
    }

    /// Whether it hangs up on this request.
    pub(super) fn is_away(&self) -> bool {
        let mut table = self.table();
        let is_away = 0 < table.away;
        table.away = table.away.saturating_sub(1);
        is_away
    }

    /// Takes a request to write.
    pub(super) async fn send(self: &Arc<Self>, name: &str, fence: u64) -> Reply {
        let fate = self.arrived(name, fence);
        let done = |reply| match reply {
            Some(receipt) => Reply::Receipt(receipt),
            None => Reply::Refused,
        };
        match fate {
            Fate::Commit => done(self.commit(name, fence)),
            Fate::CommitThenDrop => {
                self.commit(name, fence);
                Reply::Dropped
            }
            Fate::CommitThenHang => {
                self.commit(name, fence);
                std::future::pending().await
            }
            Fate::Drop => Reply::Dropped,
            Fate::DropThenCommit(after) | Fate::DropThenCommitSeen(after) => {
                self.commit_later(name, fence, Duration::from_millis(after));
                Reply::Dropped
            }
            Fate::Hang => std::future::pending().await,
            Fate::HangUntilReleased => {
                drop(self.released.acquire().await);
                self.commit(name, fence);
                std::future::pending().await
            }
            Fate::PartThenDrop => {
                self.table().parts.insert(name.to_owned());
                Reply::Dropped
            }
            Fate::Refuse => Reply::Refused,
        }
    }

    fn commit_later(self: &Arc<Self>, name: &str, fence: u64, after: Duration) {
        let (desk, name) = (Arc::clone(self), name.to_owned());
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            desk.commit(&name, fence);
        });
    }

    /// Notes a request, and says what is to happen to it.
    fn arrived(&self, name: &str, fence: u64) -> Fate {
        let mut table = self.table();
        table.truth.sent.push(Sent {
            name: name.to_owned(),
            fence,
            at: Instant::now(),
        });
        let known = table.fences.entry(name.to_owned()).or_default();
        *known = (*known).max(fence);
        let fate = table.fates.pop_front().unwrap_or(Fate::Commit);
        if let Fate::DropThenCommitSeen(_) = fate {
            table.in_progress.insert(name.to_owned());
        }
        fate
    }

    /// Does it; `None` when a later owner of the run was heard of.
    ///
    /// The same key, and the same state under the same id, change nothing. Where only asking helps,
    /// the receiver looks at the fence: a request of an owner that was replaced comes too late.
    pub(super) fn commit(&self, name: &str, fence: u64) -> Option<Receipt> {
        let mut table = self.table();
        table.truth.landed += 1;
        table.in_progress.remove(name);
        let known = table.receipts.get(name).cloned();
        match (self.kind, known) {
            (Kind::Key | Kind::Upsert, Some(receipt)) => return Some(receipt),
            (Kind::Key | Kind::Upsert | Kind::Human, _) => {}
            (Kind::Status | Kind::BusinessKey | Kind::Ledger, _) => {
                if fence < table.fences.get(name).copied().unwrap_or_default() {
                    table.truth.stale += 1;
                    return None;
                }
            }
        }
        table.truth.applied.push(name.to_owned());
        let number = format!("R-{}", table.truth.applied.len());
        let receipt = Receipt { number };
        table.receipts.insert(name.to_owned(), receipt.clone());
        Some(receipt)
    }

    /// What somebody who asks for `name` is told; `None` when it tells nobody anything.
    pub(super) fn look_up(&self, name: &str) -> Option<(Told, Option<Receipt>)> {
        let mut table = self.table();
        if !table.tells {
            table.truth.unanswered += 1;
            // The export of a mute one is late: it is there, and does not have it yet.
            return (self.kind == Kind::Human).then_some((Told::NotFound, None));
        }
        let receipt = table.receipts.get(name).cloned();
        let told = if table.parts.contains(name) {
            Told::Partly
        } else if receipt.is_some() {
            Told::Applied
        } else if table.in_progress.contains(name) {
            Told::InProgress
        } else {
            Told::NotFound
        };
        table.truth.told.push(told);
        Some((told, receipt))
    }
}
