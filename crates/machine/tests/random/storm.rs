//! A world that is not fair: answers, failures, losses, kills, pauses, late reports, in any order.
//!
//! It never lies: a receiver says what is true of it, a request that was refused never lands, one
//! that was sent lands inside its horizon or not at all. Everything else may happen.

use std::collections::BTreeSet;
use std::sync::Arc;

use mainstay_graph::{Budget, NodeKind};
use mainstay_machine::{
    Action, Command, EffectEntry, EffectStatus, EntryState, Event, Evidence, Finding, Forecast,
    LookedUp, Quarantine, Settle, SettleEnd, pending,
};
use mainstay_types::{
    AttemptNo, CallId, Code, CostUnits, Failure, FailureKind, Millis, NodeId, Payload, Sent, Tokens,
};

use super::draw::{Blow, Draw};
use super::orphans;
use super::watch::Watch;
use super::{elsewhere, model, undo};
use crate::scenario::fair::Receiver;
use crate::scenario::play::raise;
use crate::scenario::world::{Facts, Held, ORIGIN, World};

/// The attempt of another run whose key this one has taken over.
pub(crate) const THEIRS: AttemptNo = AttemptNo(0);

/// A run in a storm.
pub(crate) struct Storm {
    world: World,
    receiver: Receiver,
    watch: Watch,
    /// Attempts the engine has given up that may still report.
    ghosts: Vec<(CallId, AttemptNo)>,
    /// Calls whose keys other runs have taken over.
    lost: BTreeSet<String>,
}

impl Storm {
    pub(crate) fn begin(draw: &Draw) -> Self {
        let mut world = World::new(Arc::new(draw.class.clone()), facts_of(draw));
        world.begin();
        let mut watch = Watch::new(&world);
        let receiver = Receiver::default();
        watch.look(&world, &receiver);
        Self {
            world,
            receiver,
            watch,
            ghosts: Vec::new(),
            lost: BTreeSet::new(),
        }
    }

    /// The storm is over: code, gates and process are there again.
    pub(crate) fn calm(mut self) -> (World, Receiver, Watch) {
        (self.world.facts.gates_closed, self.world.facts.code_absent) = (false, false);
        self.world.rehearse = false;
        self.turn(None);
        (self.world, self.receiver, self.watch)
    }

    fn turn(&mut self, command: Option<Command>) {
        let mark = self.world.log.len();
        self.world.turn(command);
        self.land_theirs(mark);
        self.receiver.pass(&self.world);
        self.watch.look(&self.world, &self.receiver);
        for stamped in &self.world.log[mark..] {
            if let Event::AttemptOrphaned { call, attempt, .. } = stamped.event {
                self.ghosts.push((call, attempt));
            }
        }
    }

    /// What another run had sent before this one took its key over is in the world, or is not.
    fn land_theirs(&mut self, mark: usize) {
        let taken = self.world.log[mark..].iter().filter_map(|stamped| {
            let Event::KeyTakenOver { call, .. } = stamped.event else {
                return None;
            };
            let held = self.world.facts.held.get(&self.world.run.path(call))?;
            held.has_landed.then_some(call)
        });
        for call in taken.collect::<Vec<_>>() {
            let now = self.world.now;
            self.receiver.land(&self.world, (call, THEIRS), now);
        }
    }

    /// One thing happens.
    pub(crate) fn blow(&mut self, blow: Blow) {
        self.world.rehearse = blow.how.is_multiple_of(4);
        if 160 <= blow.what
            && blow.what < 200
            && let Some(command) = model::asks(&self.world.run, blow)
        {
            return self.turn(Some(command));
        }
        if 200 <= blow.what
            && blow.what < 214
            && let Some(command) = orphans::wishes(&self.world, blow)
        {
            return self.turn(Some(command));
        }
        match blow.what {
            0..=69 => self.report(blow),
            70..=73 => self.lose(blow),
            74..=79 => self.hear(blow),
            80..=119 => self.look_up(blow),
            120..=139 => self.haunt(blow),
            140..=199 => self.pass(blow),
            200..=224 => self.kill(blow),
            225..=232 => self.toggle(blow),
            233..=236 => self.land(blow),
            237..=238 => {
                let (by, why) = ("ann".to_owned(), "storm".to_owned());
                self.turn(Some(Command::Cancel { by, why }));
            }
            239 => {
                let (by, why) = ("ann".to_owned(), "storm".to_owned());
                self.turn(Some(Command::Terminate { by, why }));
            }
            242..=249 => {
                let (by, why) = ("ann".to_owned(), "storm".to_owned());
                let from = self.world.run.head().expect("started").lap.no;
                self.turn(Some(Command::Continue { from, by, why }));
            }
            240 => self.turn(Some(Command::Quarantine(Quarantine {
                code: Code::TurnPanicked,
                message: "storm".to_owned(),
            }))),
            250..=253 => {
                let more = Budget {
                    retry_tokens: Tokens::new(u32::from(blow.whom % 3)),
                    concurrency_tokens: Tokens::new(u32::from(blow.whom / 3 % 2)),
                    cost_units: CostUnits::units(u64::from(blow.how % 4)),
                };
                let raise = raise(&self.world, more);
                self.turn(Some(raise));
            }
            241 => self.turn(model::settles(&self.world, &self.receiver, blow)),
            254 => self.turn(undo::wants(&self.world.run, blow)),
            255 => self.turn(None),
        }
    }

    /// An attempt that is out, by the draw.
    fn out(&self, blow: Blow) -> Option<(CallId, AttemptNo)> {
        let out: Vec<_> = self.world.run.calls().in_flight().collect();
        let (id, call) = out.get(usize::from(blow.whom) % out.len().max(1))?;
        Some((*id, call.in_flight()?.no))
    }

    fn writes(&self, call: CallId) -> bool {
        self.world
            .run
            .calls()
            .get(call)
            .is_some_and(|call| call.effect.is_some())
    }

    /// An attempt that is out ends.
    fn report(&mut self, blow: Blow) {
        let Some(request) = self.out(blow) else {
            return self.turn(None);
        };
        let is_write = self.writes(request.0);
        let landed = is_write && self.receiver.has_landed(request);
        let end = match blow.how % 8 {
            0..=3 => self.answer(request, blow),
            4 | 5 if !landed => SettleEnd::Failed(failure(blow, sure(blow), is_write)),
            _ if is_write => {
                self.decide_fate(request, blow);
                self.ghosts.push(request);
                SettleEnd::Failed(Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent))
            }
            _ => {
                self.ghosts.push(request);
                SettleEnd::Failed(failure(blow, Sent::MaybeSent, is_write))
            }
        };
        self.settle(request, end, blow);
    }

    fn settle(&mut self, (call, attempt): (CallId, AttemptNo), end: SettleEnd, blow: Blow) {
        let evidence = evidence(blow);
        self.watch.reported((call, attempt));
        let report = Settle {
            call,
            attempt,
            end,
            evidence,
        };
        let command = match self.held(call) {
            Some(entry) => Command::SettleHeld {
                report,
                entry: Box::new(entry),
            },
            None => Command::Settle(report),
        };
        self.turn(Some(command));
    }

    /// What another run has of a call whose key it has taken over.
    fn held(&self, call: CallId) -> Option<EffectEntry> {
        let path = self.world.run.path(call);
        let held = self.world.facts.held.get(&path)?;
        let is_lost = self.lost.contains(&path);
        is_lost.then(|| self.world.entry(call, held)).flatten()
    }

    /// Another run takes a key over, and has it from then on.
    fn lose(&mut self, blow: Blow) {
        if let Some((path, held)) = elsewhere::loses(&self.world, blow) {
            self.world.facts.held.insert(path.clone(), held);
            self.lost.insert(path);
        }
        self.turn(None);
    }

    fn hear(&mut self, blow: Blow) {
        let Some((command, call)) = elsewhere::told(&self.world, &self.receiver, blow) else {
            return self.turn(None);
        };
        let path = self.world.run.path(call);
        if let (Command::KeyHeld { entry, .. }, Some(held)) =
            (&command, self.world.facts.held.get_mut(&path))
        {
            held.state = entry.state.clone();
        }
        self.turn(Some(command));
    }

    fn answer(&mut self, request: (CallId, AttemptNo), blow: Blow) -> SettleEnd {
        if self.writes(request.0) {
            self.receiver.land(&self.world, request, self.world.now);
        }
        let call = self
            .world
            .run
            .calls()
            .get(request.0)
            .expect("it was attempted");
        let reserved = call.attempt(request.1).expect("it was made").reserved;
        let cost = match blow.how >> 8 & 15 {
            0 => Some(reserved.times(2)),
            1..=4 => Some(reserved.less(mainstay_types::CostUnits::milli(100))),
            _ => None,
        };
        let client_retries = u32::from(blow.how >> 12 & 31 == 0);
        SettleEnd::Answered {
            result: Payload::from("\"late\""),
            cost,
            client_retries,
        }
    }

    /// What becomes of a request nobody hears of any more.
    fn decide_fate(&mut self, request: (CallId, AttemptNo), blow: Blow) {
        if self.receiver.has_landed(request) {
            return;
        }
        match blow.how >> 16 & 3 {
            0 => self.receiver.land(&self.world, request, self.world.now),
            1 => self
                .receiver
                .comes(&self.world, request, u64::from(blow.how >> 18)),
            _ => {}
        }
        self.receiver.pass(&self.world);
    }

    /// A receiver answers a look-up that is due; sometimes it cannot tell.
    fn look_up(&mut self, blow: Blow) {
        let now = self.world.now;
        let due: Vec<(CallId, u32)> = pending(&self.world.run, now)
            .into_iter()
            .filter_map(|action| {
                let Action::LookUp { call, number, at } = action else {
                    return None;
                };
                (at <= now).then_some((call, number))
            })
            .collect();
        let Some(&(call, number)) = due.get(usize::from(blow.whom) % due.len().max(1)) else {
            return self.turn(None);
        };
        let held = self.held(call);
        let finding = match blow.how % 8 {
            _ if held.is_some() => Finding::Held(Box::new(held.expect("it is"))),
            0 => Finding::CannotTell,
            1 => Finding::InProgress,
            2 if blow.how >> 3 & 3 == 0 && self.is_lost(call) => Finding::Partly,
            _ if self.receiver.finds(&self.world, call) => {
                Finding::Applied(Payload::from("\"found\""))
            }
            _ => Finding::NotFound,
        };
        let evidence = evidence(blow);
        let report = LookedUp {
            call,
            number,
            asked_at: now,
            finding,
            evidence,
        };
        self.turn(Some(Command::LookedUp(report)));
    }

    /// Whether no request of the call has landed or will.
    fn is_lost(&self, id: CallId) -> bool {
        let call = self.world.run.calls().get(id).expect("it is asked about");
        let made = call.attempts.iter().map(|made| made.no);
        made.chain([THEIRS]).all(|no| {
            let request = (id, no);
            !self.receiver.has_landed(request) && !self.receiver.is_coming(request)
        })
    }

    /// A report of an attempt that was given up: what is true of it, once or again.
    fn haunt(&mut self, blow: Blow) {
        let at = usize::from(blow.whom) % self.ghosts.len().max(1);
        let Some(&request) = self.ghosts.get(at) else {
            return self.turn(None);
        };
        let is_write = self.writes(request.0);
        if is_write && self.receiver.is_coming(request) {
            return self.turn(None);
        }
        let end = if !is_write && blow.how & 1 == 0 || self.receiver.has_landed(request) {
            self.answer(request, blow)
        } else if blow.how >> 25 & 7 == 0 {
            SettleEnd::Failed(Failure::new(
                FailureKind::TransientTransport,
                Sent::MaybeSent,
            ))
        } else {
            SettleEnd::Failed(failure(blow, sure(blow), is_write))
        };
        self.settle(request, end, blow);
    }

    fn pass(&mut self, blow: Blow) {
        let now = self.world.now;
        let wake = self.world.wake();
        let target = match blow.how % 8 {
            0..=3 => wake.unwrap_or(now),
            4 => now + Millis::new(u64::from(blow.how >> 22)),
            5 | 6 => now + Millis::new(u64::from(blow.how >> 19)),
            _ => now + Millis::new(u64::from(blow.how >> 10)),
        };
        self.world.pass_until(target);
        self.turn(None);
    }

    /// The process dies, perhaps for a while, and another takes over.
    fn kill(&mut self, blow: Blow) {
        let out: Vec<_> = self.world.run.calls().in_flight().collect();
        let requests: Vec<_> = out
            .iter()
            .filter_map(|(id, call)| Some((*id, call.in_flight()?.no)))
            .collect();
        for (turn, request) in (0_u32..).zip(requests) {
            self.ghosts.push(request);
            if self.writes(request.0) {
                self.decide_fate(
                    request,
                    Blow {
                        how: blow.how.rotate_left(turn * 2),
                        ..blow
                    },
                );
            }
        }
        if blow.how & 3 == 0 {
            self.world.now = self.world.now + Millis::new(u64::from(blow.how >> 10));
        }
        self.receiver.pass(&self.world);
        self.world.take_over();
        self.turn(None);
    }

    fn toggle(&mut self, blow: Blow) {
        let held = self.free_key(blow).map(|path| (path, others(blow)));
        let facts = &mut self.world.facts;
        match (blow.how & 3, held) {
            (0, _) => facts.gates_closed = !facts.gates_closed,
            (1, _) => facts.code_absent = !facts.code_absent,
            (_, Some((path, entry))) => drop(facts.held.insert(path, entry)),
            (_, None) => {}
        }
        self.turn(None);
    }

    /// A call whose key this run does not hold, so that another may.
    fn free_key(&self, blow: Blow) -> Option<String> {
        let run = &self.world.run;
        let free = run.calls().iter().filter(|(_, call)| {
            let status = call.effect.as_ref().map(|effect| &effect.status);
            run.class().node(call.node).effect().is_some()
                && matches!(status, None | Some(EffectStatus::Absent(_)))
        });
        let free = free.filter(|&(id, _)| !self.lost.contains(&run.path(id)));
        let free: Vec<CallId> = free.map(|(id, _)| id).collect();
        free.get(usize::from(blow.whom) % free.len().max(1))
            .map(|&id| run.path(id))
    }

    /// A request lands and nobody has heard of it yet.
    fn land(&mut self, blow: Blow) {
        if let Some(request) = self.out(blow).filter(|request| self.writes(request.0)) {
            self.receiver.land(&self.world, request, self.world.now);
        }
    }
}

/// What holds around the drawn run.
pub(crate) fn facts_of(draw: &Draw) -> Facts {
    let mut facts = Facts::default();
    for (_, node) in draw.class.ids() {
        facts.lists.insert(node.name.to_string(), draw.items);
        if matches!(node.kind, NodeKind::When) {
            facts
                .says
                .insert(node.name.to_string(), draw.says.to_string());
        }
        if let Some(how) = draw.held {
            let held = others(Blow {
                what: 0,
                whom: 0,
                how,
            });
            facts.held.insert(node.name.to_string(), held.clone());
            facts.held.insert(format!("{}[1]", node.name), held);
        }
    }
    if draw.blows.len().is_multiple_of(8)
        && let Some((_, last)) = draw.class.ids().last()
    {
        let kind = FailureKind::InvalidInput;
        facts.broken.insert(last.name.to_string(), kind);
    }
    facts.forecast = Forecast {
        queue: Millis::ZERO,
        calls: forecast(draw),
        takes_later: draw.caller.1,
    };
    facts.within = draw.caller.0.map(Millis::new);
    facts
}

/// What another run has under a key.
fn others(blow: Blow) -> Held {
    let state = match blow.how >> 2 & 7 {
        0 if blow.how >> 7 & 1 == 0 => EntryState::NotApplied,
        0 => EntryState::Compensated,
        1 => EntryState::InDoubt,
        2 => EntryState::PartlyApplied,
        3 | 4 => EntryState::Open,
        _ => EntryState::Applied(Payload::from("\"theirs\"")),
    };
    let cannot_go_on = blow.how >> 8 & 1 == 0;
    Held {
        state,
        same_request: blow.how >> 5 & 3 != 0,
        abandoned: cannot_go_on.then(|| ORIGIN + Millis::new(u64::from(blow.how >> 18))),
        has_landed: blow.how >> 9 & 1 == 0,
    }
}

pub(crate) const fn sure(blow: Blow) -> Sent {
    if blow.how >> 20 & 1 == 0 {
        Sent::NotSent
    } else {
        Sent::Answered
    }
}

/// A failure the table does not make a doubt of, unless it may have been sent.
pub(crate) fn failure(blow: Blow, sent: Sent, is_write: bool) -> Failure {
    let kinds: Vec<FailureKind> = FailureKind::ALL
        .into_iter()
        .filter(|kind| {
            let unsure = matches!(
                kind,
                FailureKind::EffectUnknown | FailureKind::ResultInvalid
            );
            // A reply to a write that cannot be read says nothing of what was done.
            !unsure || !is_write && *kind == FailureKind::ResultInvalid
        })
        .collect();
    let kind = kinds[usize::from(blow.whom >> 4) % kinds.len()];
    let failure = Failure::new(kind, sent);
    if blow.how >> 24 & 7 == 0 {
        failure.retry_after(Millis::new(2_000))
    } else {
        failure
    }
}

/// How long calls were seen to take.
fn forecast(draw: &Draw) -> Vec<(NodeId, Millis)> {
    let asked = draw
        .class
        .ids()
        .filter(|(_, node)| node.contract().is_some());
    let slow = draw.slow.iter().map(|&ms| Millis::new(u64::from(ms)));
    asked.map(|(id, _)| id).zip(slow).collect()
}

/// Volatile facts by the draw; most often nobody but the run sets a limit.
pub(crate) fn evidence(blow: Blow) -> Evidence {
    let limit = |shift: u32| {
        let bits = blow.how >> shift & 15;
        (bits < 3).then_some(bits)
    };
    let seen = blow.how >> 20 & 3 == 0;
    Evidence {
        draw: blow.how,
        dependency_capacity: limit(3),
        tenant_quota: limit(9),
        global_ratio: limit(15),
        predicted: seen.then(|| Millis::new(u64::from(blow.whom % 4_000))),
        predicted_cost: None,
    }
}
