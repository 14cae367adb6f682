//! What the acceptor, the connections and the owner of a proxy share: the plan, the queue, the log.
//!
//! A lock must never be held across a wait, and no connection ends without a record.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::bounds::{CONNECTIONS_MAX, LOG_RECORDS_MAX, QUEUE_FAULTS_MAX};
use crate::error::PlanError;
use crate::fault::Fault;
use crate::plan::Plan;
use crate::record::{End, Passage, Record};
use crate::totals::Totals;

/// See the file.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    /// Somebody's connection has ended.
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    plan: Plan,
    /// Connections since the plan was set.
    planned: u64,
    queue: VecDeque<Fault>,
    log: VecDeque<Record>,
    totals: Totals,
}

/// A connection that is open. Dropping it, in whatever way, writes its record.
pub(crate) struct Opened {
    shared: Arc<Shared>,
    number: u64,
    /// Whether there is room for it.
    pub(crate) fits: bool,
    pub(crate) fault: Option<Fault>,
    pub(crate) request: Way,
    pub(crate) reply: Way,
    pub(crate) end: End,
}

/// What goes one way, and whether the fault did something to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Way {
    pub(crate) passage: Passage,
    pub(crate) hit: bool,
}

impl Shared {
    pub(crate) fn with(plan: Plan) -> Arc<Self> {
        let shared = Self::default();
        shared.state.lock().plan = plan;
        Arc::new(shared)
    }

    /// The next connection and its fault. One beyond the bound takes no fault from the queue.
    pub(crate) fn open(self: &Arc<Self>) -> Opened {
        let mut state = self.state.lock();
        let fits = state.totals.open() < u64::try_from(CONNECTIONS_MAX).unwrap_or(u64::MAX);
        let fault = if fits { state.next_fault() } else { None };
        state.totals.connections += 1;
        Opened {
            shared: Arc::clone(self),
            number: state.totals.connections,
            fits,
            fault,
            request: Way::default(),
            reply: Way::default(),
            end: if fits { End::Stopped } else { End::Full },
        }
    }

    pub(crate) fn set(&self, plan: Plan) {
        let mut state = self.state.lock();
        state.plan = plan;
        state.planned = 0;
    }

    pub(crate) fn next(&self, fault: Fault) -> Result<(), PlanError> {
        fault.check()?;
        let mut state = self.state.lock();
        if QUEUE_FAULTS_MAX <= state.queue.len() {
            return Err(PlanError::QueueFull);
        }
        state.queue.push_back(fault);
        Ok(())
    }

    /// The records after the first `seen`, as far as they are kept.
    pub(crate) fn log_after(&self, seen: u64) -> Vec<Record> {
        let state = self.state.lock();
        let unseen = state.log.iter().filter(|record| seen < record.ended);
        unseen.cloned().collect()
    }

    pub(crate) fn totals(&self) -> Totals {
        self.state.lock().totals
    }

    pub(crate) fn accept_failed(&self) {
        self.state.lock().totals.accept_failures += 1;
    }

    pub(crate) async fn until_ended(&self, count: u64) {
        loop {
            // Made before the look, so that an end between look and wait is not missed.
            let ended = self.ended.notified();
            if count <= self.totals().ended {
                return;
            }
            ended.await;
        }
    }
}

impl State {
    fn next_fault(&mut self) -> Option<Fault> {
        self.planned += 1;
        let planned = self.plan.fault(self.planned);
        self.queue.pop_front().or(planned)
    }

    fn keep(&mut self, mut record: Record) {
        self.totals.count(&record);
        record.ended = self.totals.ended;
        if LOG_RECORDS_MAX <= self.log.len() {
            self.log.pop_front();
            self.totals.forgotten += 1;
        }
        self.log.push_back(record);
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let record = Record {
            connection: self.number,
            ended: 0,
            fault: self.fault,
            hit: self.request.hit || self.reply.hit,
            request: self.request.passage,
            reply: self.reply.passage,
            end: self.end.clone(),
        };
        self.shared.state.lock().keep(record);
        self.shared.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::Connections;
    use crate::plan::Rule;

    fn refused_first() -> Plan {
        Plan::new([Rule {
            connections: Connections::Nth(1),
            fault: Fault::Refuse,
        }])
        .expect("a valid plan")
    }

    #[test]
    fn the_queue_goes_before_the_plan_and_a_new_plan_counts_anew() {
        let shared = Shared::with(refused_first());
        let stall = Fault::Stall { hold_ms: 1 };
        shared.next(stall).expect("there is room");
        assert_eq!(shared.open().fault, Some(stall));
        assert_eq!(shared.open().fault, None);
        shared.set(refused_first());
        assert_eq!(shared.open().fault, Some(Fault::Refuse));
        assert_eq!(shared.open().fault, None);
    }

    #[test]
    fn the_log_and_the_queue_are_bounded_and_the_totals_forget_nothing() {
        let shared = Shared::with(Plan::default());
        for _ in 0..=LOG_RECORDS_MAX {
            drop(shared.open());
        }
        let (log, totals) = (shared.log_after(0), shared.totals());
        assert_eq!((log.len(), log[0].connection), (LOG_RECORDS_MAX, 2));
        let kept = u64::try_from(LOG_RECORDS_MAX).expect("it fits");
        assert_eq!((totals.ended, totals.forgotten), (kept + 1, 1));
        assert_eq!(shared.log_after(kept).len(), 1);
        for _ in 0..QUEUE_FAULTS_MAX {
            shared.next(Fault::Refuse).expect("there is room");
        }
        assert_eq!(shared.next(Fault::Refuse), Err(PlanError::QueueFull));
    }

    #[test]
    fn a_connection_too_many_takes_no_fault_and_leaves_its_record() {
        let shared = Shared::with(Plan::default());
        let open: Vec<Opened> = (0..CONNECTIONS_MAX).map(|_| shared.open()).collect();
        shared.next(Fault::Refuse).expect("there is room");
        let more = shared.open();
        assert!(!more.fits && more.fault.is_none());
        drop(more);
        assert_eq!(shared.log_after(0)[0].end, End::Full);
        drop(open);
        assert_eq!(shared.open().fault, Some(Fault::Refuse));
        assert_eq!(shared.totals().open(), 0);
    }
}
