//! The leanest driver of a run: turns, a death of its process, and the books after every event.
//!
//! A turn is what one append holds. A process that dies loses all but the log, and perhaps the turn
//! it had not written; another takes the log and goes on. It checks nothing but the laws.

use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_machine::{
    Action, Attempt, Command, Event, Evidence, Finding, LookedUp, Run, Settle, SettleEnd, apply,
    decide, pending,
};
use mainstay_types::{AttemptNo, CallId, Millis, Timestamp};

use super::bends::Bend;
use super::books::Books;
use super::laws::Broken;
use crate::scenario::code;
use crate::scenario::fair::{answered, of_a_person};
use crate::scenario::world::{Facts, Stamped, World, worker_id};

/// More rounds than any turn, and more turns than any end of these runs takes.
const ROUNDS_MAX: usize = 2_000;

/// A run, who drives it, and what was left behind.
#[derive(Clone)]
pub(crate) struct Course {
    pub(crate) run: Run,
    pub(crate) now: Timestamp,
    pub(crate) facts: Facts,
    pub(crate) log: Vec<Stamped>,
    /// Attempts nobody waits for that may still report.
    pub(crate) ghosts: Vec<Ghost>,
    /// The first law that was broken.
    pub(crate) broken: Option<Broken>,
    books: Books,
    bend: Option<Bend>,
    worker: u8,
    newest: Turn,
}

/// An attempt that may still report; with what, when that is known.
#[derive(Clone, Debug)]
pub(crate) struct Ghost {
    pub(crate) call: CallId,
    pub(crate) attempt: AttemptNo,
    pub(crate) end: Option<SettleEnd>,
}

/// The newest turn: the log's length before it, and the report that it began with.
#[derive(Clone, Default)]
struct Turn {
    mark: usize,
    report: Option<Ghost>,
}

impl Course {
    pub(crate) fn begin(class: &Arc<TaskClass>, facts: Facts, bend: Option<Bend>) -> Self {
        let world = World::new(Arc::clone(class), facts);
        let opening = world.opening();
        let mut course = Self {
            run: world.run,
            now: world.now,
            facts: world.facts,
            log: Vec::new(),
            ghosts: Vec::new(),
            broken: None,
            books: Books::of(&Bend::told_class(bend, class)),
            bend,
            worker: 1,
            newest: Turn::default(),
        };
        course.turn(Some(opening));
        course
    }

    /// One turn: a command, and everything that follows at once.
    #[track_caller]
    pub(crate) fn turn(&mut self, command: Option<Command>) {
        self.newest = Turn {
            mark: self.log.len(),
            report: None,
        };
        if let Some(command) = command {
            self.feed(command);
        }
        for _ in 0..ROUNDS_MAX {
            let actions = pending(&self.run, self.now);
            let mut moved = false;
            for action in actions {
                moved |= self.act(action);
            }
            if !moved {
                return;
            }
        }
        panic!(
            "a turn that does not end: {:?}",
            pending(&self.run, self.now)
        );
    }

    fn act(&mut self, action: Action) -> bool {
        let command = match action {
            Action::Advance => Command::Advance,
            Action::Prepare { .. } | Action::Assemble if self.facts.code_absent => return false,
            Action::Prepare { call } => code::made(&self.run, &self.facts, call),
            Action::Start { .. } if self.facts.gates_closed => return false,
            Action::Start { call, rung } => {
                let predicted_cost = self.facts.observed_cost.filter(|_| rung.get() == 0);
                let evidence = Evidence {
                    predicted_cost,
                    ..Evidence::default()
                };
                Command::Authorize {
                    call,
                    rung,
                    evidence,
                }
            }
            Action::Assemble => Command::Assembled {
                result: code::result(&self.run, &self.facts),
            },
            Action::Attempt { .. } | Action::LookUp { .. } | Action::WakeAt(_) => return false,
        };
        self.feed(command)
    }

    /// Decides and applies a command; a refused one changes nothing.
    #[track_caller]
    fn feed(&mut self, command: Command) -> bool {
        if self.broken.is_some() {
            return false;
        }
        let events = decide(&self.run, command, self.now).unwrap_or_default();
        let changed = !events.is_empty();
        for event in events {
            let event = Bend::decided(self.bend, event, &self.run);
            apply(&mut self.run, &event).expect("what was decided can be applied");
            Bend::applied(self.bend, &event, &mut self.run);
            if let &Event::AttemptOrphaned { call, attempt, .. } = &event {
                let end = None;
                self.ghosts.push(Ghost { call, attempt, end });
            }
            if self.broken.is_none() {
                self.broken = self.check(&event).err();
            }
            let at = self.now;
            self.log.push(Stamped { at, event });
        }
        changed
    }

    fn check(&mut self, event: &Event) -> Result<(), Broken> {
        self.book(event)?;
        match Bend::shows_figures(self.bend) {
            true => self.books.check_figures(&self.run, self.now),
            false => Ok(()),
        }
    }

    fn book(&mut self, event: &Event) -> Result<(), Broken> {
        match self.bend {
            None => self.books.book(event),
            Some(bend) => {
                let told = bend.told(event);
                told.iter().try_for_each(|event| self.books.book(event))
            }
        }
    }

    /// An attempt reports.
    #[track_caller]
    pub(crate) fn settle(&mut self, ghost: &Ghost, end: SettleEnd, evidence: Evidence) {
        let &Ghost { call, attempt, .. } = ghost;
        let end = ghost.end.clone().unwrap_or(end);
        let known = Some(end.clone());
        self.turn(Some(Command::Settle(Settle {
            call,
            attempt,
            end,
            evidence,
        })));
        self.newest.report = Some(Ghost {
            call,
            attempt,
            end: known,
        });
    }

    /// A receiver says what it knows of a call.
    #[track_caller]
    pub(crate) fn look_up(&mut self, (call, number): (CallId, u32), finding: Finding) {
        self.turn(Some(Command::LookedUp(LookedUp {
            call,
            number,
            asked_at: self.now,
            finding,
            evidence: Evidence::default(),
        })));
    }

    /// The process dies; another one has nothing but the log. What was out may still report.
    #[track_caller]
    pub(crate) fn die(&mut self, down: Millis) {
        let out: Vec<Ghost> = self.out().map(|(ghost, _)| ghost).collect();
        self.ghosts.extend(out);
        self.now = self.now + down;
        self.worker += 1;
        let last = self.log.last().expect("a run that started has events").at;
        self.turn(Some(Command::TakeOver {
            worker: worker_id(self.worker),
            downtime: self.now.since(last),
        }));
    }

    /// The newest turn was never written: its attempts never left, and its report is lost.
    #[track_caller]
    pub(crate) fn lose_turn(&mut self) {
        let Turn { mark, report } = std::mem::take(&mut self.newest);
        if mark == 0 || self.broken.is_some() {
            return;
        }
        self.log.truncate(mark);
        let class = Arc::clone(self.run.class());
        self.run = Run::unborn(Arc::clone(&class));
        self.books = Books::of(&Bend::told_class(self.bend, &class));
        let log = std::mem::take(&mut self.log);
        for stamped in &log {
            apply(&mut self.run, &stamped.event).expect("a log that was written can be read");
            Bend::applied(self.bend, &stamped.event, &mut self.run);
            self.book(&stamped.event).expect("it was booked before");
        }
        self.log = log;
        // What was out is known to be out by the next `die`; only its word is kept here.
        let made = |ghost: &Ghost| self.attempt(ghost).is_some();
        let report = report.filter(made);
        self.ghosts.extend(report);
    }

    /// Drops the log but for its end, where only the state is wanted.
    pub(crate) fn forget(&mut self) {
        let all = self.log.len().saturating_sub(1);
        self.log.drain(..all);
        self.newest = Turn::default();
    }

    pub(crate) const fn is_bent(&self) -> bool {
        self.bend.is_some()
    }

    /// Attempts that are out, oldest call first.
    pub(crate) fn out(&self) -> impl Iterator<Item = (Ghost, &Attempt)> {
        let out = self.run.calls().in_flight();
        out.filter_map(|(call, state)| {
            let made = state.in_flight()?;
            let (attempt, end) = (made.no, None);
            Some((Ghost { call, attempt, end }, made))
        })
    }

    /// The attempt that a ghost was.
    pub(crate) fn attempt(&self, ghost: &Ghost) -> Option<&Attempt> {
        self.run.calls().get(ghost.call)?.attempt(ghost.attempt)
    }

    /// Look-ups that are due.
    pub(crate) fn due(&self) -> Vec<(CallId, u32)> {
        let actions = pending(&self.run, self.now).into_iter();
        let due = actions.filter_map(|action| match action {
            Action::LookUp { call, number, at } => (at <= self.now).then_some((call, number)),
            Action::Advance
            | Action::Prepare { .. }
            | Action::Start { .. }
            | Action::Assemble
            | Action::Attempt { .. }
            | Action::WakeAt(_) => None,
        });
        due.collect()
    }

    /// When the core wants to look again, or to ask again.
    pub(crate) fn wake(&self) -> Option<Timestamp> {
        let actions = pending(&self.run, self.now).into_iter();
        let moments = actions.filter_map(|action| match action {
            Action::LookUp { at, .. } | Action::WakeAt(at) => Some(at),
            Action::Advance
            | Action::Prepare { .. }
            | Action::Start { .. }
            | Action::Assemble
            | Action::Attempt { .. } => None,
        });
        moments.filter(|&at| self.now < at).min()
    }

    /// Providers answer, receivers have got nothing, time passes: the run has to end in that.
    /// What only a person can end is left in doubt with its outcome.
    #[track_caller]
    pub(crate) fn end(&mut self) {
        (self.facts.gates_closed, self.facts.code_absent) = (false, false);
        for _ in 0..ROUNDS_MAX {
            self.turn(None);
            let head = self.run.head().expect("the run has started");
            if head.closed || head.quarantined.is_some() || self.broken.is_some() {
                return;
            }
            let out = self.out().next().map(|(ghost, _)| ghost);
            if let Some(ghost) = out {
                self.settle(&ghost, answered(), Evidence::default());
            } else if let Some(&due) = self.due().first() {
                self.look_up(due, Finding::NotFound);
            } else if let Some(command) = of_a_person(&self.run) {
                self.turn(Some(command));
            } else if let Some(wake) = self.wake() {
                self.now = wake;
            } else {
                let open = self.run.calls().in_doubt().next().is_some();
                assert!(open && head.lap.outcome.is_some(), "stuck: {head:#?}");
                return;
            }
        }
        panic!("no end: {:?}", pending(&self.run, self.now));
    }
}
