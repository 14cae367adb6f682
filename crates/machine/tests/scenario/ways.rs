//! The other ways to run a scenario that was played live.
//!
//! Replay and undo must give the live state; a crash must give an outcome that the class allows,
//! and never an effect twice. (Every command is delivered twice by the world itself.)

use std::sync::Arc;

use mainstay_graph::{Criticality, OnFailure, OnLimit};
use mainstay_machine::{Event, OutcomeKind, Parts, Phase, Run, RunParts, apply, pending, view};
use mainstay_types::{CostUnits, Reason, Tokens};

use super::fair::{self, Fate, Receiver};
use super::parse::Script;
use super::world::{Stamped, World};

/// Events that are undone at each prefix: enough for any turn of a scenario.
const UNDONE: usize = 40;

/// Retry tokens a crash finds left, and cost units for what it makes assumed.
const SPARE: u32 = 64;

/// Folds the log: every prefix can be undone to, and the whole is the live state.
pub(crate) fn replayed(live: &World) {
    let mut run = Run::unborn(Arc::clone(live.run.class()));
    for (at, stamped) in live.log.iter().enumerate() {
        let before = run.clone();
        run.begin();
        for ahead in live.log[at..].iter().take(UNDONE) {
            apply(&mut run, &ahead.event).expect("the log was applied before");
        }
        run.undo();
        assert!(
            run == before,
            "undo at event {at} does not give the earlier state"
        );
        run.begin();
        apply(&mut run, &stamped.event).expect("the log was applied before");
        run.keep();
    }
    assert!(run == live.run, "replay does not give the live state");
    kept(live);
    assert_eq!(pending(&run, live.now), pending(&live.run, live.now));
}

/// The state after each event, taken apart and put together again, is the same state and goes on
/// in the same way to the end.
pub(crate) fn kept(live: &World) {
    let mut whole = Run::unborn(Arc::clone(live.run.class()));
    let mut kept: Vec<Run> = Vec::new();
    for (at, stamped) in live.log.iter().enumerate() {
        for run in kept.iter_mut().chain([&mut whole]) {
            apply(run, &stamped.event).expect("the log was applied before");
        }
        let again = put_together(&whole);
        assert!(again == whole, "the state after event {at}");
        assert_eq!(pending(&again, stamped.at), pending(&whole, stamped.at));
        kept.push(again);
    }
    for (at, run) in kept.iter().enumerate() {
        assert!(
            *run == live.run,
            "the state after event {at} and what follows"
        );
    }
}

fn put_together(run: &Run) -> Run {
    let Parts { seq, head, calls } = run.parts().expect("it has started");
    let parts = RunParts {
        seq,
        head: head.clone(),
        calls: calls.to_vec(),
    };
    Run::from_parts(Arc::clone(run.class()), parts).expect("they are parts of a run")
}

/// At every place where an append may end: another worker takes over and finishes.
pub(crate) fn crashed(live: &World, script: &Script) {
    let only_answers = script.lines.iter().all(|line| {
        !matches!(
            line.verb.as_str(),
            "fail"
                | "lose"
                | "find"
                | "at"
                | "crash"
                | "down"
                | "cancel"
                | "quarantine"
                | "terminate"
                | "continue"
        )
    });
    for &cut in live.cuts.iter().filter(|&&cut| 0 < cut) {
        for fate in Fate::ALL {
            let (world, ended) = after_crash(live, cut, fate);
            let told = format!("crash after event {cut}, requests {fate:?}");
            assert_explained(&world, ended, &told);
            if only_answers && fate == Fate::Landed {
                assert_same_outcome(live, &world, &told);
            }
        }
    }
}

fn after_crash(live: &World, cut: usize, fate: Fate) -> (World, bool) {
    let mut log: Vec<Stamped> = live.log[..cut].to_vec();
    let mut spare = live.log[0].clone();
    if let Event::RunStarted(started) = &mut spare.event {
        started.budget.retry_tokens = started.budget.retry_tokens + Tokens::new(SPARE);
        started.budget.cost_units = started.budget.cost_units + CostUnits::units(SPARE.into());
    }
    log[0] = spare;
    let mut facts = live.facts.clone();
    (facts.gates_closed, facts.code_absent) = (false, false);
    let mut world = World::loaded(Arc::clone(live.run.class()), facts, &log);
    let mut receiver = Receiver::of(&world, fate);
    world.rehearse = false;
    world.take_over();
    let ended = fair::drive(&mut world, &mut receiver);
    (world, ended)
}

/// What completed live is completed after a crash that finds tokens and cost to spare.
fn assert_same_outcome(live: &World, world: &World, told: &str) {
    let outcome = |world: &World| {
        world
            .run
            .head()
            .and_then(|head| head.lap.outcome.as_ref())
            .map(|outcome| outcome.kind)
    };
    if outcome(live) == Some(OutcomeKind::Completed) {
        assert_eq!(outcome(world), Some(OutcomeKind::Completed), "{told}");
    }
}

/// Every outcome has a ground in the log, and its notices where it needs them.
#[track_caller]
pub(crate) fn assert_explained(world: &World, ended: bool, told: &str) {
    let head = world.run.head().expect("the run has started");
    if head.quarantined.is_some() {
        return;
    }
    let ends = world
        .log
        .iter()
        .filter(|s| matches!(s.event, Event::LapEnded { .. }))
        .count();
    let laps = head.past.len() + 1;
    assert_eq!(ends, laps, "{told}: each lap ends once");
    let outcome = head.lap.outcome.as_ref().expect("it ended");
    let out_of_time = matches!(
        outcome.reason,
        Reason::AnswerTimeReached | Reason::Expired | Reason::DoubtWaitOver
    );
    let lost = head.lap.lost.is_some();
    let explained = match outcome.kind {
        OutcomeKind::Completed => !lost && head.cancel.is_none() && lacks_nothing(&world.run),
        OutcomeKind::Degraded => !lost && !view::notices(&world.run).is_empty(),
        OutcomeKind::HandedOff => lost || out_of_time,
        OutcomeKind::Failed => {
            let at_limits = world.run.class().on_limit == OnLimit::Fail && lost;
            let by_failure = head.lap.on_failure == OnFailure::Fail && (lost || out_of_time);
            let by_class = by_failure || at_limits;
            by_class || outcome.reason == Reason::SameInputFails
        }
        OutcomeKind::Canceled => head.cancel.is_some(),
        OutcomeKind::Terminated => head.terminated.is_some(),
        OutcomeKind::Rejected => {
            let admission = head.lap.admission.as_ref();
            admission.is_some_and(|admission| admission.left < admission.need())
                && world
                    .run
                    .calls()
                    .iter()
                    .all(|(_, call)| call.attempts.is_empty())
        }
    };
    assert!(
        explained,
        "{told}: {outcome:?} without a ground in\n{:#?}",
        head.lap
    );
    assert_eq!(
        head.closed, ended,
        "{told}: closed exactly when nothing is owed"
    );
    assert_eq!(
        world.run.calls().in_flight().count(),
        0,
        "{told}: an attempt is out after the end"
    );
}

/// Nothing that was wanted is missing.
fn lacks_nothing(run: &Run) -> bool {
    run.calls().iter().all(|(_, call)| {
        let is_advisory = matches!(
            run.class().node(call.node).criticality,
            Criticality::Advisory { .. }
        );
        match &call.phase {
            // The result was there before it.
            _ if call.is_undo() => true,
            Phase::Settled { rung, .. } => rung.get() == 0 || is_advisory,
            Phase::Omitted { .. } => is_advisory,
            Phase::Skipped | Phase::Failed { .. } => true,
            Phase::Waiting
            | Phase::Preparing
            | Phase::Ready { .. }
            | Phase::InFlight(_)
            | Phase::InDoubt
            | Phase::Items => false,
        }
    })
}
