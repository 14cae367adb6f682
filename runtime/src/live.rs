//! A live run: its state, its mailbox, what is out for it. One owner, one loop.
//!
//! Wait, turn, append, then act on what the new state says is to be done. A new run, a recovered
//! run and a running run differ only in the first input. Nothing leaves for a run that this
//! incarnation does not own yet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use mainstay_ledger::{HeldKey, LedgerError};
use mainstay_machine::{Action, Command, Run};
use mainstay_types::{Code, MessageId, Millis, Refusal, RunId, Timestamp, limits};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::doing::{self, Doing};
use crate::evidence;
use crate::keeping::Kept;
use crate::mailbox::{Mailbox, Message, Question};
use crate::not_driven::{NotDriven, NotDrivenReason};
use crate::observe::spans::RunSpans;
use crate::poison::{Poison, caught};
use crate::registry::Registered;
use crate::shared::Shared;
use crate::turn::{Input, Memo};

/// A run that is being driven.
pub(crate) struct Live {
    pub(crate) shared: Arc<Shared>,
    /// The class's code; a run without it is only there for what is asked of it.
    pub(crate) registered: Option<Arc<Registered>>,
    pub(crate) id: RunId,
    /// Copied when it changes while somebody who was told of it still holds it.
    pub(crate) run: Arc<Run>,
    pub(crate) mailbox: Mailbox,
    pub(crate) cancel: CancellationToken,
    pub(crate) memo: Memo,
    pub(crate) spans: RunSpans,
    /// Inputs of a turn that could not be appended for lack of room.
    pub(crate) backlog: Vec<Input>,
    /// The last turn found no room.
    pub(crate) no_room: bool,
    /// Something was pending that only a turn can do.
    pub(crate) urged: bool,
    /// A turn was urged and changed nothing.
    pub(crate) stalled: bool,
    /// The ledger has the run as parked, though it is in memory again.
    pub(crate) parked: bool,
    pub(crate) kept: Kept,
    pub(crate) receiver: mpsc::Receiver<Message>,
    /// Messages that came when the run was not driven here any more.
    unread: Vec<Message>,
    pub(crate) running: BTreeMap<Doing, CancellationToken>,
    pub(crate) waiting: Vec<(Question, oneshot::Sender<Arc<Run>>)>,
    pub(crate) wake_at: Option<Timestamp>,
    /// Inbox messages that were taken lately: one that is delivered again is left alone.
    pub(crate) taken: VecDeque<MessageId>,
    pub(crate) draining: bool,
    pub(crate) abandoned: bool,
    /// Another owner moved the run: what is out for it goes on and reports through the inbox.
    lease_lost: bool,
    /// The run is not to be looked at again by itself: it is parked, or the store takes nothing
    /// more.
    pub(crate) has_left: bool,
}

/// A run to be driven, and the code for it.
pub(crate) struct Subject {
    pub(crate) registered: Option<Arc<Registered>>,
    pub(crate) id: RunId,
    pub(crate) run: Run,
    /// The ledger has the run as parked.
    pub(crate) parked: bool,
    pub(crate) kept: Kept,
}

/// Why a run is no longer driven here.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// The start key stands for another run.
    StartKeyHeld(HeldKey),
    /// It does not begin; only a first turn ends for it.
    Refused(Refusal),
    /// Another owner moved the run.
    LeaseLost,
    /// There is no room; only a first turn ends for it.
    Full,
    /// The store failed.
    Ledger(LedgerError),
    /// Driving it panicked or contradicted its log.
    Quarantined(Poison),
}

impl Live {
    /// A run that is not driven yet. Dropping it retires the run's mailbox.
    pub(crate) fn new(
        shared: Arc<Shared>,
        subject: Subject,
        (mailbox, receiver): (Mailbox, mpsc::Receiver<Message>),
    ) -> Box<Self> {
        let spans = RunSpans::begin(subject.id, subject.run.class(), &subject.run);
        let running = doing::before(&subject.run);
        // In a place of its own: it is handed from task to task.
        Box::new(Self {
            shared,
            spans,
            registered: subject.registered,
            id: subject.id,
            run: Arc::new(subject.run),
            mailbox,
            cancel: CancellationToken::new(),
            memo: Memo::default(),
            backlog: Vec::new(),
            no_room: false,
            urged: false,
            stalled: false,
            parked: subject.parked,
            kept: subject.kept,
            receiver,
            unread: Vec::new(),
            running,
            waiting: Vec::new(),
            wake_at: None,
            taken: VecDeque::new(),
            draining: false,
            abandoned: false,
            lease_lost: false,
            has_left: false,
        })
    }

    /// The first turn of a new run; nothing is stored when it fails.
    pub(crate) async fn begin(&mut self, first: Command) -> Result<(), Stop> {
        let span = self.spans.run();
        self.turn(vec![first.into()]).instrument(span).await?;
        if self.no_room {
            Err(Stop::Full)
        } else {
            Ok(())
        }
    }

    /// Drives the run until it owes nothing, is stopped, or belongs to somebody else.
    pub(crate) async fn drive(mut self: Box<Self>, first: Vec<Input>) {
        let span = self.spans.run();
        if let Err(stop) = self.go_on(first).instrument(span).await {
            self.stopped(&stop);
        }
        self.unread = self.last_messages().await;
    }

    async fn go_on(&mut self, first: Vec<Input>) -> Result<(), Stop> {
        let (mut inputs, mut acts) = (first, true);
        loop {
            if !inputs.is_empty() || self.is_due() {
                self.turn(std::mem::take(&mut inputs)).await?;
                acts = true;
            }
            // What has to be done follows from the state: a question alone changes nothing of it.
            if std::mem::take(&mut acts)
                && let Err(poison) = self.act()
            {
                return Err(Box::pin(self.quarantine(poison, &[])).await);
            }
            self.tell();
            if self.is_over() {
                self.leave();
                return Ok(());
            }
            if self.is_parked().await? {
                return Ok(());
            }
            inputs = self.wait().await;
        }
    }

    /// No new attempt starts.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining || self.shared.is_stopping()
    }

    fn is_over(&self) -> bool {
        let over = self
            .run
            .head()
            .is_some_and(|head| head.closed || head.quarantined.is_some());
        over || self.abandoned || (self.draining && self.running.is_empty())
    }

    /// A run that owes nothing is left to whoever started it.
    fn leave(&self) {
        if self.run.head().is_some_and(|head| head.closed) {
            self.mailbox.leave(&self.run);
        }
    }

    /// Whether it has to be driven.
    pub(crate) fn is_open(&self) -> bool {
        let head = self.run.head();
        head.is_some_and(|head| !head.closed && head.quarantined.is_none())
    }

    fn is_due(&self) -> bool {
        self.wake_at.is_some_and(|at| at <= self.shared.now())
    }

    fn stopped(&mut self, stop: &Stop) {
        self.lease_lost = matches!(stop, Stop::LeaseLost);
        self.has_left = matches!(stop, Stop::Ledger(LedgerError::Poisoned { .. }));
        let (reason, detail) = match stop {
            Stop::LeaseLost => (
                NotDrivenReason::LeaseLost,
                "another owner drives this run".to_owned(),
            ),
            Stop::Ledger(error @ LedgerError::Io { .. }) => {
                (NotDrivenReason::StoreIo, error.to_string())
            }
            Stop::Ledger(error) => (NotDrivenReason::StoreFailed, error.to_string()),
            Stop::Quarantined(poison) => {
                tracing::error!(run = %self.id, code = %poison.code, "the run is quarantined");
                return;
            }
            Stop::StartKeyHeld(_) | Stop::Refused(_) | Stop::Full => return,
        };
        if !self.is_open() && !self.has_left {
            // It has not to be driven; only what waits in its inbox is looked at again.
            self.shared.keeper.look_later(self.id);
            return;
        }
        tracing::error!(run = %self.id, code = %reason.code(), "the run is let go");
        self.shared.note_not_driven(NotDriven {
            run: self.id,
            reason,
            detail,
        });
    }

    /// Starts what the state says has to be done and is not, drops what vanished.
    fn act(&mut self) -> Result<(), Poison> {
        let now = self.shared.now();
        (self.wake_at, self.urged) = (None, false);
        if !self.is_ours() {
            return Ok(());
        }
        let (core, run) = (&self.shared.core, &self.run);
        let actions = caught(Code::TurnPanicked, || core.pending(run, now))?;
        let mut wanted = BTreeSet::new();
        for action in actions {
            wanted.extend(self.meant(action, now));
        }
        self.running.retain(|doing, cancel| {
            let keep = wanted.contains(doing);
            if !keep {
                cancel.cancel();
            }
            keep
        });
        for doing in wanted {
            self.start(doing, now);
        }
        if self.is_forgotten() {
            tracing::error!(run = %self.id, "nothing is pending for a run that is open");
            self.wake(now + Millis::new(limits::RETRY_AFTER_MS_DEFAULT));
        }
        Ok(())
    }

    /// A lap without an outcome always has something to do or a moment to look again, and a run
    /// that owes nothing is closed: the core contradicts itself. Parked like this, nobody would
    /// ever come back to the run.
    fn is_forgotten(&self) -> bool {
        let Some(head) = self.run.head() else {
            return false;
        };
        let is_open = !head.closed && head.quarantined.is_none();
        let calls = self.run.calls();
        let owes_nothing = calls.in_doubt().next().is_none() && calls.watched().next().is_none();
        let is_wrong = is_open && (head.lap.outcome.is_none() || owes_nothing);
        is_wrong && self.running.is_empty() && self.wake_at.is_none() && !self.is_draining()
    }

    /// Until the take-over is durable, what was out belongs to somebody who may still be there.
    fn is_ours(&self) -> bool {
        let head = self.run.head();
        head.is_some_and(|head| head.worker == self.shared.worker)
    }

    /// What an action wants to be out; what it wants of the loop is noted.
    fn meant(&mut self, action: Action, now: Timestamp) -> Option<Doing> {
        match action {
            Action::Attempt { call, attempt } => Some(Doing::Attempt(call, attempt)),
            Action::LookUp { call, number, at } => {
                if now < at {
                    self.wake(at);
                }
                Some(Doing::LookUp(call, number))
            }
            Action::WakeAt(at) => {
                self.wake(at);
                None
            }
            Action::Advance | Action::Prepare { .. } | Action::Start { .. } | Action::Assemble => {
                self.wake_for_a_turn(now);
                None
            }
        }
    }

    fn wake(&mut self, at: Timestamp) {
        self.wake_at = Some(self.wake_at.map_or(at, |sooner| sooner.min(at)));
    }

    /// A turn can go on at once; one that just went on to nothing has to wait, so that a
    /// contradiction between what is pending and what is allowed costs no more than a line of log.
    fn wake_for_a_turn(&mut self, now: Timestamp) {
        if self.is_draining() {
            return;
        }
        self.urged = true;
        if self.stalled {
            tracing::warn!(run = %self.id, "a turn changed nothing of what was pending");
            self.wake(now + Millis::new(limits::RETRY_AFTER_MS_DEFAULT));
        } else {
            self.wake(now);
        }
    }

    fn start(&mut self, doing: Doing, now: Timestamp) {
        if self.running.contains_key(&doing) {
            return;
        }
        let cancel = self.cancel.child_token();
        let future = match doing {
            Doing::Attempt(call, attempt) => self.outgoing(call, attempt, &cancel),
            Doing::LookUp(call, number) => self.asking((call, number), now, &cancel),
        };
        if let Some(future) = future {
            let future = self.spans.within(&self.run, doing.call(), future);
            self.running.insert(doing, cancel);
            self.shared.ports.spawner.spawn(future);
        }
    }
}

/// However the run ends to be driven here (over, let go, panicked, dropped with its process's
/// runtime): its mailbox goes first, so that nobody waits at it, and what nobody took is kept.
impl Drop for Live {
    fn drop(&mut self) {
        if !self.lease_lost {
            self.cancel.cancel();
        }
        self.receiver.close();
        let left = std::mem::take(&mut self.backlog);
        self.keep_evidence(&left);
        let mut is_asked = false;
        let mut unread = std::mem::take(&mut self.unread);
        while let Ok(message) = self.receiver.try_recv() {
            unread.push(message);
        }
        for message in unread {
            match message {
                Message::Report(command) => evidence::keep(&self.shared, self.id, &command),
                Message::Inbox(_) => is_asked = true,
                Message::Tell(..) | Message::Drain | Message::Abandon => {}
            }
        }
        let open = self.is_open();
        self.shared.retire(self.id, open);
        // An open run that nobody drives any more, for whatever reason, is looked at again.
        if is_asked {
            self.shared.keeper.look(self.id);
        } else if open && !self.has_left {
            self.shared.keeper.look_later(self.id);
        }
    }
}
