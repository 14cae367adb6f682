//! Books kept from the log alone: one entry for each attempt, and the sums of the entries.
//!
//! It never looks into a run's counters; [`super::laws`] compares them with these sums. What is
//! entered here is what an event says, not what the core made of it.

use std::sync::Arc;

use mainstay_graph::{Budget, CancelSemantics, Contract, FallbackKind, TaskClass};
use mainstay_machine::{AttemptEnd, AttemptStarted, Event, LapTimes, ToolCalled, ToolMade};
use mainstay_types::{
    AttemptNo, CallId, CostUnits, FailureKind, LapNo, Millis, NodeId, Reason, Rung, Sent,
    Timestamp, Tokens,
};

use super::laws::{Broken, Law, keep};
use super::reserve;

/// What a log says of the attempts of one run.
#[derive(Clone)]
pub(crate) struct Books {
    pub(super) class: Arc<TaskClass>,
    /// By node: the time that must stay after an attempt.
    pub(super) reserves: Arc<[Millis]>,
    pub(super) calls: Vec<CallBook>,
    pub(super) laps: Vec<LapBook>,
    pub(super) is_closed: bool,
}

/// One call's attempts.
#[derive(Clone)]
pub(super) struct CallBook {
    pub(super) node: NodeId,
    pub(super) entries: Vec<Entry>,
    /// Whether its receiver is proven to have got nothing of the newest attempt.
    pub(super) is_absent: bool,
}

/// One attempt.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) lap: LapNo,
    pub(super) rung: Rung,
    /// Until when it may run.
    pub(super) until: Timestamp,
    pub(super) reserved: CostUnits,
    pub(super) tokens: Tokens,
    pub(super) client_retries: Tokens,
    /// Whether a read beyond this process may work on: its own process died, or nothing can stop
    /// it.
    pub(super) outlives: bool,
    /// Whether it was stopped from here, which is no failure of anybody.
    pub(super) is_stopped: bool,
    /// Whether it works in the process, and needs no place that a copy elsewhere may have.
    pub(super) is_local: bool,
    /// Whether its failure counts against its rung.
    pub(super) counts: bool,
    /// The cap of its dependency, by its place in the class.
    pub(super) place: Option<usize>,
    pub(super) end: End,
}

/// How an attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Out,
    Answered(CostUnits),
    Failed(CostUnits),
    /// Nobody knows what it cost.
    Assumed(CostUnits),
    /// It was known or assumed, and a later report corrected it.
    Corrected(CostUnits),
}

/// One lap.
#[derive(Clone)]
pub(super) struct LapBook {
    pub(super) no: LapNo,
    pub(super) limits: Budget,
    pub(super) times: LapTimes,
    pub(super) has_ended: bool,
    /// What may lie beyond the limits, of the lap and then of each dependency with a cap.
    pub(super) beyond: Vec<Beyond>,
}

/// What attempts that were out when a limit was last kept used more than was reserved for them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beyond {
    pub(super) cost: CostUnits,
    pub(super) retries: Tokens,
}

/// Sums over attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) tokens: Tokens,
    pub(super) client_retries: Tokens,
    pub(super) out: Tokens,
    pub(super) reserved: CostUnits,
    pub(super) spent: CostUnits,
    pub(super) assumed: CostUnits,
    pub(super) attempts: u32,
}

impl Books {
    pub(crate) fn of(class: &Arc<TaskClass>) -> Self {
        Self {
            class: Arc::clone(class),
            reserves: reserve::reserves(class).into(),
            calls: Vec::new(),
            laps: Vec::new(),
            is_closed: false,
        }
    }

    /// Enters one event; says which law it breaks.
    pub(crate) fn book(&mut self, event: &Event) -> Result<(), Broken> {
        match event {
            Event::RunStarted(started) => {
                let nodes = self.class.ids().map(|(id, _)| id);
                self.calls = nodes.map(CallBook::of).collect();
                self.open(started.lap, started.budget, started.times);
            }
            Event::LapStarted(started) => self.open(started.lap, started.budget, started.times),
            Event::ListRecorded { call, items } => {
                let node = self.call(*call)?.node;
                self.calls.extend(items.iter().map(|_| CallBook::of(node)));
            }
            Event::ToolCalled(called) => self.calls.extend(asked(called)),
            Event::BudgetRaised(raise) => self.raise(&raise.more),
            Event::LeaseTaken(taken) => self.extend(taken.extended),
            Event::AttemptStarted(started) => self.start(started)?,
            Event::AttemptSettled {
                call,
                attempt,
                end,
                cost,
                client_retries,
            } => self.settle((*call, *attempt), end, (*cost, *client_retries))?,
            Event::AttemptInterrupted {
                call,
                attempt,
                cost,
            } => self.interrupt((*call, *attempt), *cost)?,
            Event::LateResult {
                call,
                attempt,
                cost,
                client_retries,
            } => self.correct((*call, *attempt), (*cost, *client_retries))?,
            Event::RepairWanted { call, of } => self.entry((*call, *of))?.counts = false,
            Event::EffectAbsent { call, reason } => self.absent(*call, *reason)?,
            Event::LapEnded { .. } => self.newest()?.has_ended = true,
            Event::RunClosed => self.is_closed = true,
            Event::OrphanAdopted { .. } => self.is_closed = false,
            #[rustfmt::skip]
            Event::AdmissionDecided(_) | Event::CallPrepared { .. } | Event::CallSettled { .. }
            | Event::CallRescheduled { .. } | Event::NextDecided(_) | Event::CallOmitted { .. }
            | Event::CallSkipped { .. } | Event::CallFailed { .. } | Event::CodeFailed { .. }
            | Event::EffectIntended { .. } | Event::EffectApplied { .. }
            | Event::EffectInDoubt { .. } | Event::EffectPartlyApplied { .. }
            | Event::CompensationWanted(_) | Event::EffectCompensated { .. }
            | Event::ControlSettled { .. } | Event::KeyAwaited { .. } | Event::KeyTakenOver { .. }
            | Event::LateValueRecorded { .. } | Event::AttemptOrphaned { .. }
            | Event::OrphanObserved { .. } | Event::OrphanClosed { .. }
            | Event::CancelRequested { .. } | Event::HardPathLost { .. }
            | Event::AnsweredLater { .. } | Event::AddendumRecorded { .. }
            | Event::RunQuarantined(_) | Event::QuarantineLifted { .. }
            | Event::EffectSettledByHand(_) | Event::ToolsDone { .. }
            | Event::RunTerminated { .. } => return Ok(()),
        }
        self.check(event)
    }

    fn absent(&mut self, call: CallId, reason: Reason) -> Result<(), Broken> {
        self.call(call)?.is_absent = reason == Reason::AbsentAfterHorizon;
        Ok(())
    }

    fn open(&mut self, no: LapNo, limits: Budget, times: LapTimes) {
        self.is_closed = false;
        self.laps.push(LapBook {
            no,
            limits,
            times,
            has_ended: false,
            beyond: vec![Beyond::default(); 1 + self.class.caps.dependencies.len()],
        });
    }

    fn raise(&mut self, more: &Budget) {
        if let Some(lap) = self.laps.last_mut() {
            let limits = &mut lap.limits;
            limits.retry_tokens = limits.retry_tokens + more.retry_tokens;
            limits.concurrency_tokens = limits.concurrency_tokens + more.concurrency_tokens;
            limits.cost_units = limits.cost_units + more.cost_units;
        }
    }

    fn extend(&mut self, by: Millis) {
        if let Some(lap) = self.laps.last_mut() {
            lap.times.work_by = lap.times.work_by + by;
        }
    }

    fn start(&mut self, started: &AttemptStarted) -> Result<(), Broken> {
        self.check_start(started)?;
        let node = self.call(started.call)?.node;
        let contract = self.class.node(node).contract();
        let is_local = contract.is_some_and(|all| !is_remote(all, started.rung));
        let (place, lap) = (self.place(node, started.rung), self.newest()?);
        for of in places(place) {
            // Whoever may pay keeps the limit: what lay beyond it is no longer excused.
            if started.cost != CostUnits::ZERO {
                lap.beyond[of].cost = CostUnits::ZERO;
            }
            if started.retry_tokens != Tokens::ZERO {
                lap.beyond[of].retries = Tokens::ZERO;
            }
        }
        let entry = Entry {
            lap: lap.no,
            rung: started.rung,
            until: started.at + started.timeout,
            reserved: started.cost,
            tokens: started.retry_tokens,
            client_retries: Tokens::ZERO,
            outlives: false,
            is_stopped: false,
            is_local,
            counts: true,
            place,
            end: End::Out,
        };
        let call = self.call(started.call)?;
        call.is_absent = false;
        call.entries.push(entry);
        Ok(())
    }

    fn settle(
        &mut self,
        request: (CallId, AttemptNo),
        end: &AttemptEnd,
        (cost, client_retries): (CostUnits, u32),
    ) -> Result<(), Broken> {
        let node = self.call(request.0)?.node;
        let contract = self.class.node(node).contract().cloned();
        let is_read = self.class.node(node).effect().is_none();
        let is_lost = matches!(end, AttemptEnd::Failed(failure) if failure.sent == Sent::MaybeSent);
        let entry = self.entry(request)?;
        is_out(entry, request)?;
        let goes_on =
            |all: &Contract| all.cancel == CancelSemantics::None && is_remote(all, entry.rung);
        entry.outlives = is_read && is_lost && contract.as_ref().is_some_and(goes_on);
        (entry.end, entry.counts) = match end {
            AttemptEnd::Answered => (End::Answered(cost), true),
            AttemptEnd::Failed(failure) => {
                (End::Failed(cost), failure.kind != FailureKind::Canceled)
            }
        };
        entry.is_stopped = matches!(
            end,
            AttemptEnd::Failed(failure) if failure.kind == FailureKind::Canceled
        );
        entry.client_retries = Tokens::new(client_retries);
        let more = Beyond {
            cost: cost.less(entry.reserved),
            retries: entry.client_retries,
        };
        let (lap, place) = (entry.lap, entry.place);
        self.excuse(lap, place, more);
        Ok(())
    }

    /// What is only assumed excuses nothing.
    fn interrupt(&mut self, request: (CallId, AttemptNo), cost: CostUnits) -> Result<(), Broken> {
        let node = self.call(request.0)?.node;
        let contract = self.class.node(node).contract().cloned();
        let is_read = self.class.node(node).effect().is_none();
        let entry = self.entry(request)?;
        is_out(entry, request)?;
        entry.outlives = is_read && contract.is_some_and(|all| is_remote(&all, entry.rung));
        (entry.end, entry.counts) = (End::Assumed(cost), false);
        Ok(())
    }

    /// A cost that becomes known later takes the place of the one that was entered, once.
    fn correct(
        &mut self,
        request: (CallId, AttemptNo),
        (cost, client_retries): (CostUnits, u32),
    ) -> Result<(), Broken> {
        let entry = self.entry(request)?;
        let (End::Failed(before) | End::Assumed(before)) = entry.end else {
            let told = || format!("{request:?} is corrected while it is {:?}", entry.end);
            return keep(false, Law::CorrectedOnce, told);
        };
        entry.end = End::Corrected(cost);
        let retries = Tokens::new(client_retries);
        entry.client_retries = entry.client_retries + retries;
        let more = Beyond {
            cost: cost.less(before),
            retries,
        };
        let (lap, place) = (entry.lap, entry.place);
        self.excuse(lap, place, more);
        Ok(())
    }

    fn excuse(&mut self, lap: LapNo, place: Option<usize>, more: Beyond) {
        for lap in self.laps.iter_mut().filter(|other| other.no == lap) {
            for of in places(place) {
                let beyond = &mut lap.beyond[of];
                beyond.cost = beyond.cost + more.cost;
                beyond.retries = beyond.retries + more.retries;
            }
        }
    }

    /// Sums over the attempts that are chosen.
    pub(super) fn sums(&self, chosen: impl Fn(&Entry) -> bool) -> Sums {
        let mut sums = Sums::default();
        let entries = self.calls.iter().flat_map(|call| &call.entries);
        for entry in entries.filter(|entry| chosen(entry)) {
            sums.attempts += 1;
            sums.tokens = sums.tokens + entry.tokens;
            sums.client_retries = sums.client_retries + entry.client_retries;
            match entry.end {
                End::Out => {
                    sums.out = sums.out + Tokens::new(1);
                    sums.reserved = sums.reserved + entry.reserved;
                }
                End::Assumed(cost) => {
                    sums.assumed = sums.assumed + cost;
                    sums.spent = sums.spent + cost;
                }
                End::Answered(cost) | End::Failed(cost) | End::Corrected(cost) => {
                    sums.spent = sums.spent + cost;
                }
            }
        }
        sums
    }

    pub(super) fn newest(&mut self) -> Result<&mut LapBook, Broken> {
        let lap = self.laps.last_mut();
        lap.ok_or_else(|| Broken::of(Law::Known, "nothing has begun".to_owned()))
    }

    pub(super) fn call(&mut self, id: CallId) -> Result<&mut CallBook, Broken> {
        let at = usize::try_from(id.get()).expect("few calls");
        let call = self.calls.get_mut(at);
        call.ok_or_else(|| Broken::of(Law::Known, format!("there is no call {id}")))
    }

    fn entry(&mut self, (id, no): (CallId, AttemptNo)) -> Result<&mut Entry, Broken> {
        let at = usize::try_from(no.get())
            .expect("few attempts")
            .checked_sub(1);
        let entries = &mut self.call(id)?.entries;
        let entry = at.and_then(|at| entries.get_mut(at));
        entry.ok_or_else(|| Broken::of(Law::Known, format!("call {id} has no attempt {no}")))
    }

    /// The cap of the dependency that a rung of a node asks, by its place in the class.
    fn place(&self, node: NodeId, rung: Rung) -> Option<usize> {
        let contract = self.class.node(node).contract()?;
        let asked = match usize::from(rung.get()).checked_sub(1) {
            None => &contract.dependency,
            Some(below) => contract.fallbacks.get(below)?.dependency.as_ref()?,
        };
        let caps = &self.class.caps.dependencies;
        caps.iter().position(|cap| cap.dependency == *asked)
    }
}

impl CallBook {
    const fn of(node: NodeId) -> Self {
        Self {
            node,
            entries: Vec::new(),
            is_absent: false,
        }
    }
}

fn is_out(entry: &Entry, request: (CallId, AttemptNo)) -> Result<(), Broken> {
    let told = || format!("{request:?} ends while it is {:?}", entry.end);
    keep(entry.end == End::Out, Law::SettledOnce, told)
}

/// Where an attempt counts: in the lap, and in its dependency's cap.
fn places(place: Option<usize>) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(place.map(|place| place + 1))
}

/// Whether a rung works outside the process, and may go on when that is gone.
fn is_remote(contract: &Contract, rung: Rung) -> bool {
    let kind = usize::from(rung.get()).checked_sub(1);
    let kind = kind.and_then(|below| contract.fallbacks.get(below));
    kind.is_none_or(|rung| rung.kind != FallbackKind::LocalCompute)
}

/// The book of what a model asked for, when that is a call of its own.
fn asked(called: &ToolCalled) -> Option<CallBook> {
    match &called.made {
        ToolMade::New { node, .. } => Some(CallBook::of(*node)),
        ToolMade::Joined(_) => None,
    }
}
