//! Every course to a depth: whatever may happen next happens, eight times in a row, and each branch
//! is driven to its end.
//!
//! Nothing is drawn. A class says which moves its courses are made of; the death of the process is
//! one of them in every class, so that it comes at every place, also twice and more.

use std::sync::Arc;

use mainstay_graph::Budget;
use mainstay_machine::{AskRaise, Command, Evidence, Finding, SettleEnd};
use mainstay_types::{CostUnits, Failure, FailureKind, Millis, Payload, Sent, Tokens};

use super::bends::Bend;
use super::course::{Course, Ghost};
use crate::scenario::build;
use crate::scenario::fair::answered;
use crate::scenario::parse::Script;
use crate::scenario::world::Facts;

/// Steps of each course.
const DEPTH: usize = 8;

/// Something that may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// An attempt answers, at its estimate.
    Answer,
    /// It answers at twice its estimate, after a retry of its client library's.
    Dear,
    /// Its provider has too much to do.
    Overloaded,
    /// Its provider will never do it.
    Refused,
    /// Its reply does not keep its schema.
    Invalid,
    /// It never left.
    NotSent,
    /// Nobody knows what became of it.
    Lost,
    /// One that nobody waits for answers at twice its estimate.
    Late,
    /// One that nobody waits for turns out to have never left.
    LateNotSent,
    /// A receiver that is asked has it.
    Found,
    /// A receiver that is asked does not have it.
    Absent,
    /// Time passes to the next moment at which something is due.
    Pass,
    /// Somebody raises the budget.
    Raise,
    /// Somebody has the run go on after its outcome.
    Continue,
    /// The process dies, and the next takes over at once.
    Die,
    /// The process dies, and the next takes over after half a second.
    DieForLong,
}

/// A class with its start, and the moves of its courses.
pub(crate) struct Tree {
    pub(crate) class: &'static str,
    pub(crate) moves: &'static [Move],
}

/// What was walked.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Courses that were driven to their end.
    pub(crate) branches: u64,
    /// Steps that were taken, the ends not counted.
    pub(crate) moves: u64,
    /// Branches in which the process died at least once.
    pub(crate) died: u64,
    /// Courses that a bent core broke a law in; they are not walked on.
    pub(crate) broken: u64,
}

/// A move, and which of those that may make it.
type Taken = (Move, usize);

/// Walks the tree; stops at a broken law, unless the core is bent.
#[track_caller]
pub(crate) fn walk(tree: &Tree, bend: Option<Bend>) -> Walked {
    let script = Script::parse(tree.class);
    let class = Arc::new(build::class(&script));
    let mut facts = Facts::default();
    for line in script.class().filter(|line| line.verb == "list") {
        let items = line.word(1).parse().expect("a number");
        facts.lists.insert(line.word(0).to_owned(), items);
    }
    let root = Course::begin(&class, facts, bend);
    let mut walked = Walked::default();
    branch(tree, &root, &mut Vec::new(), &mut walked);
    walked
}

fn branch(tree: &Tree, course: &Course, path: &mut Vec<Taken>, walked: &mut Walked) {
    let mut is_leaf = true;
    if path.len() < DEPTH {
        for &chosen in tree.moves {
            for which in 0..ways(course, chosen) {
                is_leaf = false;
                let mut next = course.clone();
                path.push((chosen, which));
                take(&mut next, (chosen, which));
                next.forget();
                walked.moves += 1;
                if is_kept(&next, path, walked) {
                    branch(tree, &next, path, walked);
                }
                path.pop();
            }
        }
    }
    if is_leaf {
        let mut last = course.clone();
        last.end();
        walked.branches += 1;
        walked.died += u64::from(path.iter().any(|(chosen, _)| is_death(*chosen)));
        is_kept(&last, path, walked);
    }
}

const fn is_death(chosen: Move) -> bool {
    matches!(chosen, Move::Die | Move::DieForLong)
}

/// Whether the laws hold so far.
#[track_caller]
fn is_kept(course: &Course, path: &[Taken], walked: &mut Walked) -> bool {
    let Some(broken) = &course.broken else {
        return true;
    };
    assert!(course.is_bent(), "{broken} after {path:?}");
    walked.broken += 1;
    false
}

/// How many may make the move now.
fn ways(course: &Course, chosen: Move) -> usize {
    let head = course.run.head().expect("started");
    match chosen {
        Move::Answer
        | Move::Dear
        | Move::Overloaded
        | Move::Refused
        | Move::Invalid
        | Move::NotSent
        | Move::Lost => course.out().count(),
        Move::Late | Move::LateNotSent => course.ghosts.len(),
        Move::Found | Move::Absent => course.due().len(),
        Move::Pass => usize::from(course.wake().is_some()),
        Move::Raise => usize::from(head.lap.outcome.is_none() && head.lap.raises.is_empty()),
        Move::Continue => usize::from(head.lap.outcome.is_some() && head.past.is_empty()),
        Move::Die | Move::DieForLong => usize::from(!head.closed),
    }
}

fn take(course: &mut Course, (chosen, which): Taken) {
    match chosen {
        Move::Answer => report(course, which, |_| answered()),
        Move::Dear => report(course, which, dear),
        Move::Overloaded => fail(course, which, (FailureKind::Overloaded, Sent::Answered)),
        Move::Refused => fail(
            course,
            which,
            (FailureKind::PermanentProvider, Sent::Answered),
        ),
        Move::Invalid => fail(course, which, (FailureKind::ResultInvalid, Sent::Answered)),
        Move::NotSent => fail(
            course,
            which,
            (FailureKind::TransientTransport, Sent::NotSent),
        ),
        Move::Lost => {
            let ghost = course.out().nth(which).expect("it may be taken").0;
            course.ghosts.push(ghost);
            fail(
                course,
                which,
                (FailureKind::TransientTransport, Sent::MaybeSent),
            );
        }
        Move::Late => {
            let ghost = course.ghosts.remove(which);
            let end = dear(
                course
                    .attempt(&ghost)
                    .map_or(CostUnits::ZERO, |made| made.reserved),
            );
            course.settle(&ghost, end, Evidence::default());
        }
        Move::LateNotSent => {
            let ghost = course.ghosts.remove(which);
            let failure = Failure::new(FailureKind::TransientTransport, Sent::NotSent);
            course.settle(&ghost, SettleEnd::Failed(failure), Evidence::default());
        }
        Move::Found => {
            let due = course.due()[which];
            course.look_up(due, Finding::Applied(Payload::from("\"found\"")));
        }
        Move::Absent => course.look_up(course.due()[which], Finding::NotFound),
        Move::Pass => {
            course.now = course.wake().expect("it may be taken");
            course.turn(None);
        }
        Move::Raise => raise(course),
        Move::Continue => {
            let from = course.run.head().expect("started").lap.no;
            let (by, why) = ("ann".to_owned(), "mended".to_owned());
            course.turn(Some(Command::Continue { from, by, why }));
        }
        Move::Die => course.die(Millis::ZERO),
        Move::DieForLong => course.die(Millis::new(500)),
    }
}

/// An attempt that is out ends; what was reserved for it is known.
fn report(course: &mut Course, which: usize, end: impl Fn(CostUnits) -> SettleEnd) {
    let out = course
        .out()
        .nth(which)
        .map(|(ghost, made)| (ghost, made.reserved));
    let (ghost, reserved): (Ghost, _) = out.expect("it may be taken");
    course.settle(&ghost, end(reserved), Evidence::default());
}

fn fail(course: &mut Course, which: usize, (kind, sent): (FailureKind, Sent)) {
    report(course, which, |_| {
        SettleEnd::Failed(Failure::new(kind, sent))
    });
}

fn dear(reserved: CostUnits) -> SettleEnd {
    SettleEnd::Answered {
        result: Payload::from("\"dear\""),
        cost: Some(reserved.times(2)),
        client_retries: 1,
    }
}

fn raise(course: &mut Course) {
    let lap = &course.run.head().expect("started").lap;
    let ask = AskRaise {
        lap: lap.no,
        after: 0,
        more: Budget {
            retry_tokens: Tokens::new(1),
            concurrency_tokens: Tokens::ZERO,
            cost_units: CostUnits::units(1),
        },
        by: "ann".to_owned(),
        why: "worth it".to_owned(),
    };
    course.turn(Some(Command::Raise(ask)));
}
