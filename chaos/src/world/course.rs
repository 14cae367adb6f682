//! How one world goes: faults come at their moments, processes die and begin again; then all is
//! calm, and everything has to end.

use std::pin::pin;
use std::task::Poll;

use mainstay_ledger::Ledger;
use mainstay_machine::{OutcomeKind, RunState};
use mainstay_sim::ledger::{Death, Moment, Trouble};
use mainstay_types::{Clock, Millis, RunId, Spawner, Timers};

use super::blow::{self, Blow, Edge};
use super::book::{self, Order};
use super::disturbance::Disturbances;
use super::life::Life;
use super::stage::{self, Setup, Stage};
use super::{EVENTS_MAX, GROUPS_MAX, LIFE_POLLS_MAX, person, ready};
use crate::facts::{ENDED, Facts, standing};
use crate::fault::{Act, Fault, Stage as Written};
use crate::schedule::Schedule;

/// How long after the last fault a world has before it is calm.
const FAULTS_LAST: Millis = Millis::from_secs(20);
/// How long a calm world has to end beyond what its class waits for a doubt.
const CALM_MAX: Millis = Millis::from_days(2);
/// How long both owners of a run go on side by side, after one of them was taken for dead.
const SIDE_BY_SIDE: Millis = Millis::from_secs(4);
/// How fine they are cut into turns.
const SLICE: Millis = Millis::new(25);

/// Lets the world of `seed` happen.
pub(crate) fn run(setup: &Setup, seed: u64, schedule: &Schedule) -> Facts {
    let stage = Stage::new(setup, seed, schedule);
    let life = Life::begin(&stage, &stage.orders);
    let mut course = Course {
        schedule,
        deaths: blow::deaths(schedule),
        blows: blow::of(schedule),
        active: vec![false; schedule.faults.len()],
        stage,
        life,
        disturbances: Disturbances::default(),
        stuck: None,
    };
    course.set_trap();
    course.storm();
    let mut ended = course.calm();
    let gate = setup.gate_ms.filter(|_| ended);
    let gate = gate.and_then(|ms| course.fails_at_the_gate(seed, Millis::new(ms)));
    ended = ended && (course.is_over() || course.calm());
    course.life.crash();
    let stuck = course.stuck;
    Facts::of(
        &course.stage,
        (seed, ended, stuck),
        (course.disturbances, gate),
    )
}

struct Course<'a> {
    schedule: &'a Schedule,
    stage: Stage,
    life: Life,
    /// The next one last.
    deaths: Vec<(u64, usize)>,
    /// The next one last.
    blows: Vec<Blow>,
    /// Faults of the disk that are going on.
    active: Vec<bool>,
    /// When an engine was not alive with a disk that answers.
    disturbances: Disturbances,
    /// Why the world does not go on: somebody spins, or waits for what nobody does, or writes
    /// without end.
    stuck: Option<String>,
}

/// Why the world stood still for a moment.
#[derive(PartialEq)]
enum Pause {
    /// The disk has come to where the process is to die.
    Trap,
    /// The time has come, or the world is stuck.
    Time,
}

impl Course<'_> {
    fn now(&self) -> Millis {
        self.stage.timers.clock().monotonic()
    }

    fn fault(&self, place: usize) -> &Fault {
        &self.schedule.faults[place]
    }

    /// Lets the next death wait for its group of commits.
    fn set_trap(&mut self) {
        // One whose group has gone by while its process was away comes at none.
        let begun = self.stage.disk.groups();
        while self.deaths.pop_if(|(nth, _)| *nth <= begun).is_some() {}
        if let Some(&(nth, place)) = self.deaths.last() {
            let moment = match self.fault(place).moment {
                Some(Written::Before) | None => Moment::Before,
                Some(Written::Written) => Moment::Written,
                Some(Written::Synced) => Moment::Synced,
            };
            self.stage.disk.stop_at(nth, moment);
        }
    }

    /// Goes on until `until`, or until the process is to die.
    fn go_on(&mut self, until: Millis) -> Pause {
        let left = until.less(self.now());
        let stage = &self.stage;
        let paused = self.life.executor.try_block_on(async move {
            let mut trap = pin!(stage.disk.reached());
            let mut time = stage.timers.sleep(left);
            std::future::poll_fn(|cx| {
                if trap.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Pause::Trap);
                }
                time.as_mut().poll(cx).map(|()| Pause::Time)
            })
            .await
        });
        let (groups, events) = (self.stage.disk.groups(), self.stage.disk.events());
        if GROUPS_MAX < groups || EVENTS_MAX < events {
            self.stuck = Some(format!("no end after {events} events in {groups} commits"));
        }
        let polls = self.life.executor.polls();
        if LIFE_POLLS_MAX < polls {
            self.stuck = Some(format!("no end after {polls} polls in one process"));
        }
        paused.unwrap_or_else(|stuck| {
            self.stuck = Some(stuck.to_string());
            Pause::Time
        })
    }

    /// Faults come, until none is left or all has ended.
    fn storm(&mut self) {
        let last = self.blows.first().map_or(0, |blow| blow.at_ms);
        let end = Millis::new(last) + FAULTS_LAST;
        loop {
            let next = self.blows.last().map(|blow| Millis::new(blow.at_ms));
            let until = next.unwrap_or(end).min(self.now() + Millis::from_secs(2));
            match self.go_on(until) {
                Pause::Trap => self.dies_at_the_trap(),
                Pause::Time if next.is_some_and(|next| next <= self.now()) => {
                    let blow = self.blows.pop().expect("there is a next one");
                    self.strikes(blow);
                }
                Pause::Time => {}
            }
            // A world that is behind its time still has all of its faults.
            let is_late = end <= self.now() && self.blows.is_empty();
            if is_late || self.stuck.is_some() || self.is_over() {
                return;
            }
        }
    }

    /// Nothing goes wrong any more; whether everything ended.
    fn calm(&mut self) -> bool {
        self.stage.injector.calm();
        self.disturbances.ends(None, self.now());
        if self.stage.disk.stands_still() {
            self.dies_at_the_trap();
        }
        self.stage.disk.disarm();
        if self.stage.disk.is_poisoned() {
            self.begins_again(Death::Kill, Millis::ZERO);
        }
        self.stage.disk.trouble(stage::healthy());
        let doubt_wait = self.stage.class.data.times.doubt_wait;
        let end = self.now() + doubt_wait + CALM_MAX;
        let look = self.now() + person::LOOKS_AFTER;
        let mut stride = Millis::from_secs(1);
        while !self.is_over() {
            if end <= self.now() || self.stuck.is_some() || self.is_quarantined() {
                return false;
            }
            self.go_on(self.now() + stride);
            if look <= self.now()
                && let Some(engine) = self.life.engine()
            {
                let looks = person::looks(engine, self.stage.clone());
                if let Err(stuck) = self.life.executor.try_block_on(looks) {
                    self.stuck = Some(stuck.to_string());
                }
            }
            stride = (stride + stride).min(Millis::from_mins(60));
        }
        true
    }

    /// Why a fresh run does not complete within so long; `None`: it does.
    fn fails_at_the_gate(&mut self, seed: u64, within: Millis) -> Option<String> {
        let end = self.now() + within;
        // The last process may have begun a moment ago: everybody had heard, and nothing was owed.
        while self.life.engine().is_none() && self.now() < end && self.stuck.is_none() {
            self.go_on(self.now() + SLICE);
        }
        let Some(engine) = self.life.engine() else {
            return Some(format!("no engine starts within {within}"));
        };
        let order = Order {
            no: self.stage.orders.len(),
            key: format!("{seed}-gate"),
            tenant: "default".to_owned(),
        };
        self.stage.orders.push(order.clone());
        let call = self
            .stage
            .callers
            .call(engine, order.clone(), self.stage.desk());
        self.life.executor.spawner().spawn(call);
        let end = self.now() + within;
        while self.now() < end && self.stuck.is_none() && !self.is_over() {
            self.go_on(end.min(self.now() + Millis::from_secs(1)));
        }
        match self.stage.book.outcome_of(order.no) {
            Some(OutcomeKind::Completed | OutcomeKind::Degraded) => None,
            Some(kind) => Some(format!("a fresh run ends {}", kind.as_str())),
            None => Some(format!("a fresh run does not end within {within}")),
        }
    }

    /// Whether a run is there that nobody drives any more: it never ends by itself.
    fn is_quarantined(&self) -> bool {
        let mut orders = self.stage.orders.iter();
        orders.any(|order| {
            let run = self.stage.book.run_of(order.no);
            let row = run.and_then(|run| ready(self.stage.disk.memory().summary(run)).ok()?);
            row.is_some_and(|row| row.state == RunState::Quarantined)
        })
    }

    /// Whether every caller has its outcome, and no run owes anything.
    fn is_over(&self) -> bool {
        let is_closed = |run: RunId| {
            let summary = ready(self.stage.disk.memory().summary(run)).ok().flatten();
            summary.is_some_and(|summary| summary.state == RunState::Closed)
        };
        let mut orders = self.stage.orders.iter();
        orders.all(|order| {
            let run = self.stage.book.run_of(order.no);
            self.stage.book.is_over(order.no) && run.is_some_and(is_closed)
        })
    }

    fn hit(&self, place: usize) {
        let standing = standing(&self.stage);
        if standing != ENDED {
            self.stage.injector.hit(place, self.now(), standing);
        }
    }

    /// The process dies where the disk stands still.
    fn dies_at_the_trap(&mut self) {
        let Some((_, place)) = self.deaths.pop() else {
            return;
        };
        self.hit(place);
        let fault = self.fault(place);
        let Act::Dies(death) = fault.kind.named().act else {
            return;
        };
        let away = Millis::new(fault.length());
        self.begins_again(death, away);
        self.set_trap();
    }

    /// The process dies, and another one begins after a while.
    fn begins_again(&mut self, death: Death, away: Millis) {
        let now = self.now();
        match self.stage.is_shared {
            // The next one waits for the lease of a process that nobody knows to be dead.
            true => self.disturbances.for_good(now),
            false => self.disturbances.lasted(now, now + away),
        }
        self.life.executor.crash();
        self.stage.disk.die(death);
        self.stage.timers.advance(away);
        let next = Life::begin(&self.stage, &self.stage.orders);
        std::mem::replace(&mut self.life, next).crash();
    }

    fn strikes(&mut self, blow: Blow) {
        let fault = self.fault(blow.fault).clone();
        match (fault.kind.named().act, blow.edge) {
            (Act::Disk(_), Edge::Begins) => {
                self.disturbances.begins(blow.fault, self.now());
                self.active[blow.fault] = true;
                self.hit(blow.fault);
                self.set_trouble(Some(blow.fault));
            }
            (Act::Disk(_), Edge::Ends) => {
                // A sync that is to fail and was not asked for yet fails some time later.
                let is_still_to_come = self.stage.disk.troubles().is_sync_failing;
                if !(is_still_to_come && fault.kind.named().ms.is_none()) {
                    self.disturbances.ends(Some(blow.fault), self.now());
                }
                self.active[blow.fault] = false;
                if self.stage.disk.is_poisoned() {
                    self.begins_again(Death::Kill, Millis::ZERO);
                    self.set_trap();
                }
                self.set_trouble(None);
            }
            (Act::Stall, _) => {
                self.hit(blow.fault);
                let (now, length) = (self.now(), Millis::new(fault.length()));
                self.disturbances.lasted(now, now + length);
                self.stage.timers.advance(length);
            }
            (Act::Usurp, _) => {
                self.hit(blow.fault);
                self.disturbances.for_good(self.now());
                self.is_usurped(Millis::new(fault.length()));
            }
            (Act::Clock(jump), _) => {
                self.disturbances.for_good(self.now());
                self.hit(blow.fault);
                jump(self.stage.timers.clock(), Millis::new(fault.length()));
            }
            (Act::Cancel, _) => self.asks(blow.fault, Wish::Cancel),
            (Act::StartAgain, _) => self.asks(blow.fault, Wish::Start),
            (Act::Request(_) | Act::LookUp(_) | Act::Dies(_), _) => {}
        }
    }

    /// The disk is as bad as everything that is going on makes it. A sync that is to fail fails
    /// once.
    fn set_trouble(&self, begins: Option<usize>) {
        let mut trouble = Trouble {
            is_sync_failing: self.stage.disk.troubles().is_sync_failing,
            ..stage::healthy()
        };
        let faults = self.schedule.faults.iter().enumerate();
        for (place, fault) in faults.filter(|(place, _)| self.active[*place]) {
            let is_once = fault.kind.named().ms.is_none();
            if let Act::Disk(make) = fault.kind.named().act
                && (!is_once || begins == Some(place))
            {
                make(fault, &mut trouble);
            }
        }
        self.stage.disk.trouble(trouble);
    }

    /// The process stands still; another one takes over, and then both believe that they own what
    /// there is. The first one dies in the end.
    fn is_usurped(&mut self, stands_still: Millis) {
        let heir = Life::begin(&self.stage, &self.stage.orders);
        let went = heir.executor.try_run_for(stands_still);
        self.stuck = went.err().map(|stuck| stuck.to_string());
        let until = self.now() + SIDE_BY_SIDE;
        while self.stuck.is_none() && self.now() < until {
            let one = self.life.executor.try_run_for(Millis::ZERO);
            let both = one.and_then(|()| heir.executor.try_run_for(Millis::ZERO));
            self.stuck = both.err().map(|stuck| stuck.to_string());
            self.stage.timers.advance(SLICE);
        }
        std::mem::replace(&mut self.life, heir).crash();
    }

    /// Somebody wants something of the first run.
    fn asks(&mut self, place: usize, wish: Wish) {
        let (Some(engine), Some(order)) = (self.life.engine(), self.stage.orders.first().cloned())
        else {
            return;
        };
        self.hit(place);
        let desk = self.stage.desk();
        let asks = match wish {
            Wish::Cancel => match self.stage.book.run_of(order.no) {
                Some(run) => Box::pin(book::cancel(engine, (order, run), desk)),
                // It knows of no run yet.
                None => return,
            },
            Wish::Start => self.stage.callers.start(engine, order, desk),
        };
        self.life.executor.spawner().spawn(asks);
    }
}

/// What somebody wants in the middle of a run.
enum Wish {
    Cancel,
    Start,
}
