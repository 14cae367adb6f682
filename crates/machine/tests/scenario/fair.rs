//! A world that is fair: providers answer, receivers tell the truth, time passes when nothing
//! else happens. A run that was left at any point has to come to its end in it.
//!
//! The receiver does not merge repeated requests: a second send that lands is a second effect, and
//! the core alone has to prevent it.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_graph::Resolution;
use mainstay_machine::{
    Action, AskOrphan, AskTool, AttemptState, Command, EffectStatus, Evidence, Finding, LookedUp,
    OrphanWish, Run, Settle, SettleEnd, Stand, ToolsAsked, decide, pending,
};
use mainstay_types::{AttemptNo, CallId, EffectKey, Millis, Payload, Timestamp, limits};

use super::world::World;

/// Rounds within which a run of a test class has to end.
const ROUNDS_MAX: usize = 20_000;

/// What became of requests that were out when their sender died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// They had landed.
    Landed,
    /// They never land.
    Lost,
    /// They land in the last moment they may.
    Late,
}

impl Fate {
    pub(crate) const ALL: [Self; 3] = [Self::Landed, Self::Lost, Self::Late];
}

/// The outside world's side of all writes, by effect key.
#[derive(Clone, Default)]
pub(crate) struct Receiver {
    /// What it answers to every request; default: a word.
    pub(crate) reply: Option<Payload>,
    /// When each effect happened, as often as it did.
    applied: BTreeMap<EffectKey, Vec<Timestamp>>,
    /// Requests that have landed: one request lands once.
    landed: BTreeSet<(CallId, AttemptNo)>,
    coming: BTreeMap<(CallId, AttemptNo), Timestamp>,
}

impl Receiver {
    /// What a log says about the world, and `fate` for what it does not say.
    pub(crate) fn of(world: &World, fate: Fate) -> Self {
        let mut receiver = Self::default();
        for (id, call) in world.run.calls().iter() {
            let (Some(effect), Some(last)) = (&call.effect, call.attempts.last()) else {
                continue;
            };
            let request = (id, last.no);
            match (&effect.status, fate) {
                (EffectStatus::Applied(_) | EffectStatus::Compensated, _) => {
                    receiver.land(world, request, last.at)
                }
                (EffectStatus::Dispatched | EffectStatus::InDoubt(_), Fate::Landed) => {
                    receiver.land(world, request, last.at);
                }
                (EffectStatus::Dispatched | EffectStatus::InDoubt(_), Fate::Late) => {
                    receiver.comes(world, request, u64::MAX);
                }
                (EffectStatus::Dispatched | EffectStatus::InDoubt(_), Fate::Lost)
                | (
                    EffectStatus::Intended | EffectStatus::PartlyApplied | EffectStatus::Absent(_),
                    _,
                ) => {}
            }
        }
        receiver
    }

    /// A request lands.
    pub(crate) fn land(&mut self, world: &World, request: (CallId, AttemptNo), at: Timestamp) {
        if self.landed.insert(request) {
            self.applied
                .entry(key_of(world, request.0))
                .or_default()
                .push(at);
        }
    }

    /// A request will land, at most `wait` ms from its send and never beyond its horizon.
    pub(crate) fn comes(&mut self, world: &World, request: (CallId, AttemptNo), wait: u64) {
        let call = world
            .run
            .calls()
            .get(request.0)
            .expect("a call that was attempted");
        let sent = call.attempt(request.1).expect("an attempt that was made");
        let effect = world
            .run
            .class()
            .node(call.node)
            .effect()
            .expect("the call writes");
        let horizon = Millis::new(limits::SEND_WINDOW_MS) + sent.timeout + effect.receiver_bound;
        let at = sent.at + Millis::new(wait).min(horizon.less(Millis::new(1)));
        self.coming.insert(request, at);
    }

    /// What is under way lands when its moment has come.
    pub(crate) fn pass(&mut self, world: &World) {
        let due = self.coming.iter().filter(|(_, at)| **at <= world.now);
        for (request, at) in due.map(|(id, at)| (*id, *at)).collect::<Vec<_>>() {
            self.coming.remove(&request);
            self.land(world, request, at);
        }
    }

    pub(crate) fn has_landed(&self, request: (CallId, AttemptNo)) -> bool {
        self.landed.contains(&request)
    }

    pub(crate) fn is_coming(&self, request: (CallId, AttemptNo)) -> bool {
        self.coming.contains_key(&request)
    }

    /// What the receiver finds under a call's key; a key is forgotten after its time.
    pub(crate) fn finds(&self, world: &World, id: CallId) -> bool {
        let call = world
            .run
            .calls()
            .get(id)
            .expect("a call that is asked about");
        let effect = world
            .run
            .class()
            .node(call.node)
            .effect()
            .expect("the call writes");
        let memory = match effect.resolution {
            Resolution::ByKey => effect.receiver_key_ttl,
            Resolution::ByStatus
            | Resolution::ByBusinessKey
            | Resolution::ByUpsert
            | Resolution::ByLedger
            | Resolution::ByHuman => None,
        };
        let known = |at: &Timestamp| memory.is_none_or(|memory| world.now < *at + memory);
        self.applied
            .get(&key_of(world, id))
            .is_some_and(|times| times.iter().any(known))
    }

    #[track_caller]
    pub(crate) fn assert_at_most_once(&self) {
        let twice: Vec<_> = self
            .applied
            .iter()
            .filter(|(_, times)| 1 < times.len())
            .collect();
        assert!(twice.is_empty(), "an effect twice: {twice:?}");
    }
}

fn key_of(world: &World, call: CallId) -> EffectKey {
    let call = world
        .run
        .calls()
        .get(call)
        .expect("the log names calls that exist");
    call.effect.as_ref().expect("the call writes").key.clone()
}

/// Drives the run to its end. `false` when only a person can end it.
#[track_caller]
pub(crate) fn drive(world: &mut World, receiver: &mut Receiver) -> bool {
    for _ in 0..ROUNDS_MAX {
        world.turn(None);
        receiver.pass(world);
        receiver.assert_at_most_once();
        let head = world.run.head().expect("the run has started");
        if head.closed || head.quarantined.is_some() {
            return true;
        }
        let actions = pending(&world.run, world.now);
        if let Some(command) = actions
            .iter()
            .find_map(|&action| serve(world, receiver, action))
        {
            world.turn(Some(command));
            continue;
        }
        if let Some(command) = of_the_model(world) {
            world.turn(Some(command));
            continue;
        }
        if let Some(command) = of_a_person(&world.run) {
            world.turn(Some(command));
            continue;
        }
        // A look-up that is due is served, so what is left lies ahead.
        let Some(next) = actions.iter().filter_map(|&action| due_at(action)).min() else {
            let open = world.run.calls().in_doubt().next().is_some();
            assert!(open && head.lap.outcome.is_some(), "stuck: {head:#?}");
            return false;
        };
        assert!(
            world.now < next,
            "an action is due and nobody serves it: {actions:?}"
        );
        world.now = next;
    }
    let last = world.log.iter().rev().take(6);
    let last: Vec<_> = last.map(|stamped| &stamped.event).collect();
    panic!(
        "no end in {ROUNDS_MAX} rounds: {:?}, after {last:?}",
        pending(&world.run, world.now)
    );
}

/// A model that remembers nothing of what it asked for: it asks for the last of it again, under an
/// id of its own, and is done.
fn of_the_model(world: &World) -> Option<Command> {
    const AGAIN: &str = "again";
    let head = world.run.head()?;
    let is_open = head.lap.outcome.is_none() && head.cancel.is_none();
    let mut offers = world.run.calls().with_items();
    let open = |asked: &&ToolsAsked| !asked.done;
    let (tools, asked) =
        offers.find_map(|(id, call)| Some((id, call.asked.as_ref().filter(open)?)))?;
    if !is_open {
        return None;
    }
    let last = asked.made().last().and_then(|id| world.run.calls().get(id));
    match last.filter(|_| asked.call(AGAIN).is_none()) {
        Some(last) => Some(Command::ToolCall(Box::new(AskTool {
            tools,
            id: AGAIN.to_owned(),
            tool: last.node,
            prepared: last.prepared.clone()?,
            told: Vec::new(),
        })))
        .filter(|command| decide(&world.run, command.clone(), world.now).is_ok())
        .or(Some(Command::ToolsDone { call: tools })),
        None => Some(Command::ToolsDone { call: tools }),
    }
}

/// Somebody heard that nothing is known of an orphan, looked, and closes it.
pub(crate) fn of_a_person(run: &Run) -> Option<Command> {
    let (call, attempt, after) = run.calls().watched().find_map(|(id, call)| {
        let made = call.attempts.iter();
        let mut known = made.filter_map(|made| Some((made.no, made.orphan()?)));
        let (no, orphan) = known.find(|(_, orphan)| orphan.stand == Stand::Overdue)?;
        Some((id, no, orphan.adoptions))
    })?;
    Some(Command::Orphan(AskOrphan {
        call,
        attempt,
        wish: OrphanWish::Close,
        after,
        by: "ann".to_owned(),
        why: "it is gone".to_owned(),
    }))
}

fn due_at(action: Action) -> Option<Timestamp> {
    match action {
        Action::LookUp { at, .. } | Action::WakeAt(at) => Some(at),
        Action::Advance
        | Action::Prepare { .. }
        | Action::Start { .. }
        | Action::Attempt { .. }
        | Action::Assemble => None,
    }
}

/// The world's answer to an action that is due.
fn serve(world: &World, receiver: &mut Receiver, action: Action) -> Option<Command> {
    match action {
        Action::Attempt { call, attempt } => {
            let made = world.run.calls().get(call)?.attempt(attempt)?;
            assert_eq!(
                made.state,
                AttemptState::InFlight,
                "an action for an attempt that is over"
            );
            if world.run.calls().get(call)?.effect.is_some() {
                receiver.land(world, (call, attempt), world.now);
            }
            let mut end = answered();
            if let (SettleEnd::Answered { result, .. }, Some(reply)) = (&mut end, &receiver.reply) {
                *result = reply.clone();
            }
            Some(Command::Settle(Settle {
                call,
                attempt,
                end,
                evidence: Evidence::default(),
            }))
        }
        Action::LookUp { call, number, at } if at <= world.now => {
            let found = receiver.finds(world, call);
            let finding = if found {
                Finding::Applied(value())
            } else {
                Finding::NotFound
            };
            let (asked_at, evidence) = (world.now, Evidence::default());
            Some(Command::LookedUp(LookedUp {
                call,
                number,
                asked_at,
                finding,
                evidence,
            }))
        }
        Action::LookUp { .. }
        | Action::Advance
        | Action::Prepare { .. }
        | Action::Start { .. }
        | Action::Assemble
        | Action::WakeAt(_) => None,
    }
}

fn value() -> Payload {
    Payload::from("\"done\"")
}

/// A good answer at the estimated cost.
pub(crate) fn answered() -> SettleEnd {
    SettleEnd::Answered {
        result: value(),
        cost: None,
        client_retries: 0,
    }
}
