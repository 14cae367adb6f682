//! A random course with one death of the process in it: what is drawn, and what it does.
//!
//! Everything is data that shrinks. Nothing here checks a law.

use std::sync::Arc;

use mainstay_graph::{Budget, TaskClass};
use mainstay_machine::{AskRaise, AttemptState, Command, Finding, Quarantine, SettleEnd};
use mainstay_types::{
    Code, CostUnits, Failure, FailureKind, Millis, Payload, Sent, Timestamp, Tokens,
};
use proptest::prelude::*;

use super::bends::{Bend, contract_mut};
use super::course::{Course, Ghost};
use crate::random::draw::{Blow, Draw, runs_of};
use crate::random::storm::{evidence, facts_of, failure, sure};

/// How the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    /// Between two turns, and nothing is heard of what was out.
    Silent,
    /// Between two turns; what was out reports afterwards, some of it twice.
    Heard,
    /// Before the newest turn was written; what reported in it may report again.
    TurnLost,
    /// For a while; nobody drives the run meanwhile.
    Down,
}

/// A run, and where in it the process dies.
#[derive(Clone, Debug)]
pub(crate) struct Gale {
    draw: Draw,
    /// After so many parts of 2^16 of the blows.
    dies_at: u16,
    /// For how long, when nobody takes over at once.
    down: u32,
    /// What an attempt of a primary was seen to cost.
    seen: Option<u64>,
}

/// Blows of a run at most.
const BLOWS_MAX: usize = 40;

pub(crate) fn gales() -> impl Strategy<Value = Gale> {
    let seen = proptest::option::weighted(0.1, 0_u64..6_000);
    let parts = (runs_of(0..BLOWS_MAX), any::<u16>(), 0_u32..30_000, seen);
    parts.prop_map(|(mut draw, dies_at, down, seen)| {
        round(&mut draw.class);
        Gale {
            draw,
            dies_at,
            down,
            seen,
        }
    })
}

/// Costs in quarters of a unit, so that sums meet their limits exactly now and then.
fn round(class: &mut TaskClass) {
    let quarters =
        |cost: &mut CostUnits| *cost = CostUnits::micros(cost.as_micros() / 250_000 * 250_000);
    for contract in class.nodes.iter_mut().filter_map(contract_mut) {
        quarters(&mut contract.cost);
        contract
            .fallbacks
            .iter_mut()
            .for_each(|rung| quarters(&mut rung.cost));
    }
}

impl Gale {
    /// Drives the run to its end; the process dies once.
    #[track_caller]
    pub(crate) fn blow(&self, death: Death, bend: Option<Bend>) -> Course {
        let class = Arc::new(self.draw.class.clone());
        let mut facts = facts_of(&self.draw);
        facts.held.clear();
        facts.observed_cost = self.seen.map(CostUnits::milli);
        let mut course = Course::begin(&class, facts, bend);
        let blows = &self.draw.blows;
        // Most courses are at their end long before the last blow: early deaths hit more of them.
        let share = usize::from(self.dies_at) * usize::from(self.dies_at);
        let before = (blows.len() * share) >> 32;
        blows[..before].iter().for_each(|&it| blow(&mut course, it));
        self.die(&mut course, death);
        blows[before..].iter().for_each(|&it| blow(&mut course, it));
        let ghosts = course.ghosts.clone();
        let last = blows.last().copied().unwrap_or(Blow::NONE);
        for ghost in ghosts {
            haunt(&mut course, &ghost, last);
        }
        course.end();
        course
    }

    fn die(&self, course: &mut Course, death: Death) {
        let known = course.ghosts.len();
        if death == Death::TurnLost {
            course.lose_turn();
        }
        let down = match death {
            Death::Down => self.down,
            Death::Silent | Death::Heard | Death::TurnLost => 0,
        };
        course.die(Millis::new(u64::from(down)));
        if death == Death::Silent {
            course.ghosts.truncate(known);
        }
    }
}

/// One thing happens.
fn blow(course: &mut Course, blow: Blow) {
    match blow.what {
        0..=139 => report(course, blow),
        140..=164 => look_up(course, blow),
        165..=184 => {
            let at = usize::from(blow.whom) % course.ghosts.len().max(1);
            if let Some(ghost) = course.ghosts.get(at).cloned() {
                haunt(course, &ghost, blow);
            }
        }
        185..=219 => pass(course, blow),
        220..=233 => raise(course, blow),
        234..=243 => {
            let from = course.run.head().expect("started").lap.no;
            let (by, why) = ("ann".to_owned(), "gale".to_owned());
            course.turn(Some(Command::Continue { from, by, why }));
        }
        244..=247 => {
            course.facts.gates_closed = !course.facts.gates_closed;
            course.turn(None);
        }
        248..=250 => {
            let (by, why) = ("ann".to_owned(), "gale".to_owned());
            course.turn(Some(Command::Cancel { by, why }));
        }
        251 | 252 => course.turn(Some(Command::Quarantine(Quarantine {
            code: Code::TurnPanicked,
            message: "gale".to_owned(),
        }))),
        253 => {
            let (by, why) = ("ann".to_owned(), "gale".to_owned());
            course.turn(Some(Command::Terminate { by, why }));
        }
        254.. => course.turn(None),
    }
}

/// An attempt that is out ends: with a value, a failure, or without a word.
fn report(course: &mut Course, blow: Blow) {
    let out: Vec<Ghost> = course.out().map(|(ghost, _)| ghost).collect();
    let Some(ghost) = out.get(usize::from(blow.whom) % out.len().max(1)) else {
        return course.turn(None);
    };
    let is_write = writes(course, ghost);
    let end = match blow.how % 8 {
        0..=2 => answer(course, ghost, blow),
        3 => {
            let failure = failure(blow, sure(blow), is_write);
            SettleEnd::Failed(priced(course, ghost, (failure, blow)))
        }
        4 | 5 => {
            let kind = match is_write || blow.how % 8 == 4 {
                true => FailureKind::Overloaded,
                false => FailureKind::ResultInvalid,
            };
            let failure = Failure::new(kind, sure(blow));
            SettleEnd::Failed(priced(course, ghost, (failure, blow)))
        }
        _ => {
            course.ghosts.push(ghost.clone());
            let kind = match is_write {
                true => FailureKind::EffectUnknown,
                false => FailureKind::TransientTransport,
            };
            SettleEnd::Failed(Failure::new(kind, Sent::MaybeSent))
        }
    };
    course.settle(ghost, end, evidence(blow));
}

fn writes(course: &Course, ghost: &Ghost) -> bool {
    let call = course.run.calls().get(ghost.call);
    call.is_some_and(|call| call.effect.is_some())
}

/// A value, cheaper or dearer than what was reserved, perhaps with retries nobody asked for.
fn answer(course: &Course, ghost: &Ghost, blow: Blow) -> SettleEnd {
    let reserved = course.attempt(ghost).map(|made| made.reserved);
    let reserved = reserved.unwrap_or_default();
    let cost = match blow.how >> 8 & 15 {
        0 | 1 => Some(reserved.times(2)),
        2 => Some(reserved + CostUnits::micros(1)),
        3..=5 => Some(reserved.less(CostUnits::milli(100))),
        6 => Some(CostUnits::ZERO),
        _ => None,
    };
    SettleEnd::Answered {
        result: Payload::from("\"late\""),
        cost,
        client_retries: client_retries(blow),
    }
}

const fn client_retries(blow: Blow) -> u32 {
    match blow.how >> 12 & 15 {
        0 => 1,
        1 => 3,
        _ => 0,
    }
}

/// A failure that says what it cost, and what its client library tried.
fn priced(course: &Course, ghost: &Ghost, (mut failure, blow): (Failure, Blow)) -> Failure {
    let reserved = course.attempt(ghost).map(|made| made.reserved);
    let reserved = reserved.unwrap_or_default();
    failure.client_retries = client_retries(blow);
    failure.cost = match blow.how >> 27 & 7 {
        0 => Some(reserved.times(2)),
        1 => Some(reserved.less(CostUnits::milli(50))),
        _ => None,
    };
    failure
}

/// Somebody reports an attempt that nobody waits for: what is true of it, once or again.
fn haunt(course: &mut Course, ghost: &Ghost, blow: Blow) {
    let Some(made) = course.attempt(ghost) else {
        return;
    };
    let is_out = made.state == AttemptState::InFlight;
    let is_write = writes(course, ghost);
    let end = match blow.how >> 3 & 3 {
        _ if is_out => return,
        0 => SettleEnd::Failed(failure(blow, sure(blow), is_write)),
        _ => answer(course, ghost, blow),
    };
    course.settle(ghost, end.clone(), evidence(blow));
    if blow.how & 1 == 0 {
        course.settle(ghost, end, evidence(blow));
    }
}

/// A receiver answers a look-up that is due.
fn look_up(course: &mut Course, blow: Blow) {
    let due = course.due();
    let Some(&due) = due.get(usize::from(blow.whom) % due.len().max(1)) else {
        return course.turn(None);
    };
    let finding = match blow.how % 8 {
        0 => Finding::CannotTell,
        1 => Finding::InProgress,
        2 if blow.how >> 3 & 3 == 0 => Finding::Partly,
        2..=4 => Finding::Applied(Payload::from("\"found\"")),
        _ => Finding::NotFound,
    };
    course.look_up(due, finding);
}

/// Time passes, most often to the next moment at which something is due.
fn pass(course: &mut Course, blow: Blow) {
    let target = match blow.how % 16 {
        0..=7 => course.wake().unwrap_or(course.now),
        8..=11 => course.now + Millis::new(u64::from(blow.how >> 22)),
        12..=14 => course.now + Millis::new(u64::from(blow.how >> 19)),
        _ => course.now + Millis::new(u64::from(blow.how >> 12)),
    };
    pass_until(course, target);
}

/// Turns at every moment the core named, as its driver has to.
fn pass_until(course: &mut Course, target: Timestamp) {
    while let Some(wake) = course.wake().filter(|&wake| wake < target) {
        if course.broken.is_some() || course.run.head().is_some_and(|head| head.closed) {
            break;
        }
        course.now = wake;
        course.turn(None);
        // A look-up that nobody answers stays due, and is no moment to wait for.
    }
    course.now = course.now.max(target);
    course.turn(None);
}

fn raise(course: &mut Course, blow: Blow) {
    let lap = &course.run.head().expect("started").lap;
    let more = Budget {
        retry_tokens: Tokens::new(u32::from(blow.whom % 3)),
        concurrency_tokens: Tokens::new(u32::from(blow.whom / 3 % 2)),
        cost_units: CostUnits::units(u64::from(blow.how % 4)),
    };
    let ask = AskRaise {
        lap: lap.no,
        after: u32::try_from(lap.raises.len()).expect("few"),
        more,
        by: "ann".to_owned(),
        why: "gale".to_owned(),
    };
    course.turn(Some(Command::Raise(ask)));
}
