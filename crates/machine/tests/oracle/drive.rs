//! A run in virtual time: attempts end when their truth says, and time jumps to what comes next.
//!
//! It does what the runtime does: commands in, everything that follows at once, attempts last.
//! Between two moments nothing happens; whoever wants to look again has to have named the moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_machine::{
    Action, Attempt, AttemptState, Command, Event, Evidence, Finding, LookedUp, OutcomeKind, Run,
    Settle, SettleEnd, apply, decide, pending,
};
use mainstay_types::{AttemptNo, CallId, Failure, FailureKind, Millis, Sent, Timestamp, limits};

use super::bent::{self, Bent};
use super::draw::Draw;
use super::truth::{self, Truth, Which};
use crate::scenario::code;
use crate::scenario::world::{Facts, Stamped, World};

/// More moments, and more rounds at one of them, than any run of these classes has.
const ROUNDS_MAX: usize = 2_000;

/// What the caller was told first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Ready(OutcomeKind),
    Later,
}

/// A run until its caller was told something.
pub(crate) struct Driven {
    pub(crate) run: Run,
    pub(crate) log: Vec<Stamped>,
    pub(crate) told: Told,
    pub(crate) told_at: Timestamp,
}

impl Driven {
    /// Whether the hard path got all its values in time.
    pub(crate) const fn has_hard_path(&self) -> bool {
        matches!(
            self.told,
            Told::Ready(OutcomeKind::Completed | OutcomeKind::Degraded)
        )
    }

    pub(crate) const fn is_completed(&self) -> bool {
        matches!(self.told, Told::Ready(OutcomeKind::Completed))
    }
}

pub(super) struct Drive<'a> {
    draw: &'a Draw,
    pub(super) run: Run,
    pub(super) now: Timestamp,
    log: Vec<Stamped>,
    facts: Facts,
    /// When the first request of a write landed, or will.
    landings: BTreeMap<CallId, Timestamp>,
    bent: Option<Bent>,
}

/// Drives a run of the draw's class until its caller is told something.
#[track_caller]
pub(crate) fn drive(draw: &Draw, bent: Option<Bent>) -> Driven {
    let class = Arc::new(draw.class.clone());
    let mut drive = Drive::begin(draw, class, bent);
    for _ in 0..ROUNDS_MAX {
        let actions = drive.follow();
        if let Some((told, told_at)) = drive.told() {
            let Drive { run, log, .. } = drive;
            return Driven {
                run,
                log,
                told,
                told_at,
            };
        }
        drive.pass(&actions);
    }
    panic!("seed {}: the caller is told nothing", draw.seed);
}

impl<'a> Drive<'a> {
    fn begin(draw: &'a Draw, class: Arc<TaskClass>, bent: Option<Bent>) -> Self {
        // What a world does at its first turn, short of sending anything.
        let facts = Facts {
            gates_closed: true,
            ..Facts::default()
        };
        let mut world = World::new(class, facts);
        world.rehearse = false;
        world.begin();
        Self {
            draw,
            run: world.run,
            now: world.now,
            log: world.log,
            facts: world.facts,
            landings: BTreeMap::new(),
            bent,
        }
    }

    fn told(&self) -> Option<(Told, Timestamp)> {
        let lap = &self.run.head().expect("the run has started").lap;
        match (&lap.outcome, &lap.later) {
            (Some(outcome), _) => Some((Told::Ready(outcome.kind), self.now)),
            (None, Some(_)) => Some((Told::Later, self.now)),
            (None, None) => None,
        }
    }

    /// Decides and applies a command; a refused one changes nothing.
    fn feed(&mut self, command: Command) -> bool {
        let events = decide(&self.run, command, self.now).unwrap_or_default();
        let events = bent::without_stops(self.bent, events);
        let changed = !events.is_empty();
        for event in events {
            self.apply(event);
        }
        changed
    }

    pub(super) fn apply(&mut self, event: Event) {
        apply(&mut self.run, &event)
            .unwrap_or_else(|corrupt| panic!("seed {}: {corrupt}", self.draw.seed));
        if let Event::AttemptStarted(started) = &event {
            self.send(started.call, started.attempt);
        }
        let at = self.now;
        self.log.push(Stamped { at, event });
    }

    /// Everything that follows at once; what is pending then.
    fn follow(&mut self) -> Vec<Action> {
        for _ in 0..ROUNDS_MAX {
            let actions = pending(&self.run, self.now);
            let mut moved = false;
            for action in &actions {
                moved |= self.follow_one(*action);
            }
            // The class's code first: an attempt's time counts from its start.
            if moved || self.start_all(&actions) {
                continue;
            }
            return actions;
        }
        panic!("seed {}: a turn that does not end", self.draw.seed);
    }

    fn follow_one(&mut self, action: Action) -> bool {
        let command = match action {
            Action::Advance => Command::Advance,
            Action::Prepare { call } => code::made(&self.run, &self.facts, call),
            Action::Assemble => Command::Assembled {
                result: code::result(&self.run, &self.facts),
            },
            Action::Start { .. }
            | Action::Attempt { .. }
            | Action::LookUp { .. }
            | Action::WakeAt(_) => return false,
        };
        self.feed(command)
    }

    fn start_all(&mut self, actions: &[Action]) -> bool {
        let mut moved = false;
        for action in actions {
            if let Action::Start { call, rung } = *action
                && !bent::holds_back(self.bent, &self.run)
            {
                let evidence = Evidence::default();
                moved |= self.feed(Command::Authorize {
                    call,
                    rung,
                    evidence,
                });
            }
        }
        moved || bent::push(self.bent, self)
    }

    /// A write's request lands when its truth says, and never beyond its horizon.
    fn send(&mut self, id: CallId, no: AttemptNo) {
        let call = self.run.calls().get(id).expect("it was started");
        let Some(effect) = self.run.class().node(call.node).effect() else {
            return;
        };
        let timeout = call.attempt(no).expect("it was started").timeout;
        let horizon = Millis::new(limits::SEND_WINDOW_MS) + timeout + effect.receiver_bound;
        if let Some(after) = self.truth(id, no).lands {
            let at = self.now + after.min(horizon.less(Millis::new(1)));
            let first = self.landings.entry(id).or_insert(at);
            *first = at.min(*first);
        }
    }

    fn truth(&self, id: CallId, no: AttemptNo) -> Truth {
        let call = self.run.calls().get(id).expect("an attempt has a call");
        let rung = call.attempt(no).expect("an action names an attempt").rung;
        // An attempt that was stopped has not met its truth: the next one does.
        let met = |made: &&Attempt| made.no == no || (made.no < no && !is_stopped(made));
        let on_rung = call.attempts.iter().filter(|made| made.rung == rung);
        let contract = self.run.class().node(call.node).contract();
        let which = Which {
            seed: self.draw.seed,
            place: self.place(id),
            rung,
            no: u64::try_from(on_rung.filter(met).count()).expect("few attempts"),
        };
        Truth::of(contract.expect("what is attempted has a contract"), which)
    }

    fn place(&self, id: CallId) -> u64 {
        let call = self.run.calls().get(id).expect("an action names a call");
        self.draw.places[usize::from(call.node.get())]
    }

    /// Time jumps to the next moment at which something happens, and that happens.
    fn pass(&mut self, actions: &[Action]) {
        let next = actions.iter().filter_map(|&action| self.due(action)).min();
        let next = next.unwrap_or_else(|| panic!("seed {}: stuck", self.draw.seed));
        assert!(self.now < next, "seed {}: {actions:?}", self.draw.seed);
        self.now = next;
        for &action in actions {
            let is_due = self.due(action) == Some(next);
            if let Some(report) = self.report(action).filter(|_| is_due) {
                self.feed(report);
            }
        }
    }

    /// When what is out comes back, or the core wants to look again.
    fn due(&self, action: Action) -> Option<Timestamp> {
        match action {
            Action::Attempt { call, attempt } => {
                let made = self.run.calls().get(call)?.attempt(attempt)?;
                Some(made.at + self.truth(call, attempt).latency.min(made.timeout))
            }
            Action::LookUp { call, number, at } => {
                let (latency, _, _) = truth::look_up(self.draw.seed, self.place(call), number);
                Some(at + latency)
            }
            Action::WakeAt(at) => Some(bent::wake(self.bent, at)),
            Action::Advance | Action::Prepare { .. } | Action::Start { .. } | Action::Assemble => {
                None
            }
        }
    }

    fn report(&self, action: Action) -> Option<Command> {
        match action {
            Action::Attempt { call, attempt } => Some(self.settle(call, attempt)),
            Action::LookUp { call, number, at } => Some(self.looked_up(call, number, at)),
            Action::Advance
            | Action::Prepare { .. }
            | Action::Start { .. }
            | Action::Assemble
            | Action::WakeAt(_) => None,
        }
    }

    /// As its truth says, or as the dispatcher reports a timeout.
    fn settle(&self, call: CallId, attempt: AttemptNo) -> Command {
        let truth = self.truth(call, attempt);
        let made = self
            .run
            .calls()
            .get(call)
            .and_then(|call| call.attempt(attempt));
        let is_cut = made.is_some_and(|made| made.timeout < truth.latency);
        let end = match truth.end {
            _ if is_cut => SettleEnd::Failed(Failure::new(
                FailureKind::TransientTransport,
                Sent::MaybeSent,
            )),
            Err(failure) => SettleEnd::Failed(failure),
            Ok(cost) => SettleEnd::Answered {
                result: "\"done\"".into(),
                cost,
                client_retries: 0,
            },
        };
        let evidence = Evidence {
            draw: truth.draw,
            ..Evidence::default()
        };
        Command::Settle(Settle {
            call,
            attempt,
            end,
            evidence,
        })
    }

    fn looked_up(&self, call: CallId, number: u32, asked_at: Timestamp) -> Command {
        let (_, can_tell, draw) = truth::look_up(self.draw.seed, self.place(call), number);
        let landed = self.landings.get(&call);
        let finding = match landed.is_some_and(|&at| at <= asked_at) {
            _ if !can_tell => Finding::CannotTell,
            true => Finding::Applied("\"found\"".into()),
            false => Finding::NotFound,
        };
        let evidence = Evidence {
            draw,
            ..Evidence::default()
        };
        Command::LookedUp(LookedUp {
            call,
            number,
            asked_at,
            finding,
            evidence,
        })
    }
}

fn is_stopped(attempt: &Attempt) -> bool {
    match &attempt.state {
        AttemptState::Failed { failure, .. } => failure.kind == FailureKind::Canceled,
        AttemptState::InFlight
        | AttemptState::Answered { .. }
        | AttemptState::Interrupted { .. }
        | AttemptState::Late { .. } => false,
    }
}
