//! Leaving memory: a run that only waits is parked, and comes back when there is something for it.
//!
//! Parking changes nothing of the run. It loses no message either: what arrives while the run
//! leaves is found before it has left, or refused to its sender, who finds the run in the ledger.

use mainstay_ledger::{CommitRequest, Drive, Op, Part, Verdict};
use mainstay_types::{Millis, limits};

use crate::live::{Live, Stop};
use crate::mailbox::{Mailbox, Message};

impl Live {
    /// Parks the run if it only waits; `true` when it has left.
    pub(crate) async fn is_parked(&mut self) -> Result<bool, Stop> {
        if !self.only_waits() || !self.receiver.is_empty() {
            return Ok(false);
        }
        if !self.write_parked().await? {
            return Ok(false);
        }
        self.parked = true;
        let arrived = self.last_messages().await;
        if arrived.is_empty() {
            self.has_left = true;
            self.keep_state();
            self.shared.keeper.wakes_at(self.wake_at);
            return Ok(true);
        }
        self.stay(arrived);
        Ok(false)
    }

    /// Closes the mailbox and takes what had come by then. A sender that is at it is waited for, so
    /// that none believes to have delivered what nobody takes.
    pub(crate) async fn last_messages(&mut self) -> Vec<Message> {
        self.receiver.close();
        let mut arrived = Vec::new();
        while let Some(message) = self.receiver.recv().await {
            arrived.push(message);
        }
        arrived
    }

    /// Nothing is out, nobody asks, and nothing is due for a while.
    fn only_waits(&mut self) -> bool {
        self.waiting.retain(|(_, waits)| !waits.is_closed());
        let far = self.shared.now() + Millis::new(limits::PARK_MS_MIN);
        let is_far = self.wake_at.is_none_or(|at| far <= at);
        let is_idle = self.running.is_empty() && self.waiting.is_empty() && !self.urged;
        is_far && is_idle && self.backlog.is_empty() && !self.is_draining()
    }

    /// `false` when the ledger has no room for it now: then the run stays where it is.
    async fn write_parked(&mut self) -> Result<bool, Stop> {
        let Some(head) = self.run.head() else {
            return Ok(false);
        };
        let drive = Drive::Parked {
            wake_at: self.wake_at,
        };
        let part = Part {
            run: self.id,
            expected_seq: self.run.seq(),
            epoch: head.epoch,
            events: Vec::new(),
            ops: vec![Op::Drive(drive)],
        };
        let request = CommitRequest { parts: vec![part] };
        match self.shared.ledger.commit(vec![request]).await {
            Ok(verdicts) => match verdicts.first() {
                Some(Verdict::Committed(_)) => Ok(true),
                Some(Verdict::Full | Verdict::KeyHeld(_)) => Ok(false),
                Some(Verdict::Stale { .. }) | None => Err(Stop::LeaseLost),
            },
            Err(error) => Err(Stop::Ledger(error)),
        }
    }

    /// Somebody came while the run was leaving: what came is taken, and whoever comes later finds a
    /// new mailbox.
    fn stay(&mut self, arrived: Vec<Message>) {
        let (mailbox, receiver) = Mailbox::new();
        self.shared.move_mailbox(self.id, mailbox.clone());
        (self.mailbox, self.receiver) = (mailbox, receiver);
        for message in arrived {
            self.arrived(message);
        }
    }
}
