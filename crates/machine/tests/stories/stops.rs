//! Calls that fail and fail: how many attempts a run makes in all, whatever dies meanwhile.
//!
//! The cases F08 and F13 and the amplification example, each over every place of a death.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_machine::{
    AttemptState, Decision, Event, Evidence, NextAction, OutcomeKind, Phase, SettleEnd,
};
use mainstay_types::{CallId, Code, Failure, FailureKind, Millis, Reason, Sent, Timestamp, Tokens};

use crate::budgets::bends::{Bend, contract_mut};
use crate::budgets::course::Course;
use crate::scenario::build;
use crate::scenario::check;
use crate::scenario::parse::Script;
use crate::scenario::world::Facts;

fn class(text: &str) -> TaskClass {
    build::class(&Script::parse(text))
}

fn begin(class: TaskClass, bend: Option<Bend>) -> Course {
    Course::begin(&Arc::new(class), Facts::default(), bend)
}

/// What is out fails in this kind; half of the wait that may follow does.
fn fail(course: &mut Course, kind: FailureKind) {
    let ghost = course.out().next().expect("it is out").0;
    let end = SettleEnd::Failed(Failure::new(kind, Sent::Answered));
    let evidence = Evidence {
        draw: 1 << 31,
        ..Evidence::default()
    };
    course.settle(&ghost, end, evidence);
}

/// F08, told as a scenario: the process dies in every wait between two attempts.
#[test]
fn a_failing_call_whose_process_dies_after_each_attempt_makes_its_attempts_and_no_more() {
    check(
        "
        read   a attempts=3 backoff=1s/1s
        start  retry=9 answer_by=60s -> out a
        fail   a OVERLOADED draw=2147483648 -> out
        crash  -> out, attempts a 1
        at     500ms -> out a, attempts a 2
        fail   a RATE_LIMITED draw=2147483648 -> out
        crash  -> out, attempts a 2
        at     1s -> out a, attempts a 3
        fail   a OVERLOADED -> CallFailed a ATTEMPTS_EXHAUSTED, attempts a 3, budget retry=2, handed_off
        crash  -> attempts a 3, handed_off
    ",
    );
}

/// What the process does around one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    /// It lives on.
    Nothing,
    /// It dies while the attempt is out; the attempt is paid with a token when it is made again.
    DiesInIt,
    /// It dies after the failure was written and before the next attempt.
    DiesAfter,
    /// It dies before the failure was written.
    DiesBeforeItIsWritten,
}

/// F08: a call that always fails stops after its N attempts in all, and after the run's tokens when
/// the deaths come in the attempts; whatever was replayed.
#[test]
fn a_failing_call_stops_after_its_attempts_in_total_wherever_its_process_dies() {
    use Around::{DiesAfter, DiesBeforeItIsWritten, DiesInIt, Nothing};
    let all = [Nothing, DiesInIt, DiesAfter, DiesBeforeItIsWritten];
    let mut seen = 0;
    for (most, tokens) in [(1, 9), (3, 9), (4, 9), (3, 2), (5, 3), (9, 0)] {
        for pattern in 0..4_usize.pow(5) {
            let around =
                |no: usize| all[pattern / 4_usize.pow(u32::try_from(no % 5).expect("five")) % 4];
            stops(most, tokens, around);
            seen += 1;
        }
    }
    assert_eq!(seen, 6 * 1_024);
}

/// Fails every attempt of a call with so many attempts in a run with so many tokens.
fn stops(most: u32, tokens: u32, around: impl Fn(usize) -> Around) {
    let mut class = class("read a backoff=1s/1s\nstart answer_by=600s cost=100");
    class.budget.retry_tokens = Tokens::new(tokens);
    let contract = contract_mut(&mut class.nodes[0]).expect("a read");
    contract.max_attempts = most;
    let mut course = begin(class, None);
    for _ in 0..100 {
        let call = course.run.calls().get(CallId(0)).expect("the read");
        let no = call.attempts.len();
        // Kinds take turns: repeats of one would take attempts away.
        let last = call.last_failure();
        let kind = match last.map(|failure| failure.kind) {
            Some(FailureKind::Overloaded) => FailureKind::RateLimited,
            Some(_) | None => FailureKind::Overloaded,
        };
        if course.run.head().expect("started").lap.outcome.is_some() {
            break;
        }
        if course.out().next().is_none() {
            course.now = course.wake().expect("it waits for something");
            course.turn(None);
            continue;
        }
        attempt(&mut course, around(no), kind);
    }
    let call = course.run.calls().get(CallId(0)).expect("the read");
    let made = u32::try_from(call.attempts.len()).expect("few");
    let cut = call
        .attempts
        .iter()
        .filter(|made| matches!(made.state, AttemptState::Interrupted { .. }));
    let cut = u32::try_from(cut.count()).expect("few");
    assert!(course.broken.is_none(), "{:?}", course.broken);
    assert!(
        matches!(call.phase, Phase::Failed { .. }),
        "it goes on: {call:#?}"
    );
    assert_eq!(
        made,
        (most + cut).min(1 + tokens),
        "{most} attempts, {tokens} tokens, {cut} cut off"
    );
}

/// One attempt, which fails, and what its process does around it.
fn attempt(course: &mut Course, around: Around, kind: FailureKind) {
    match around {
        Around::Nothing => fail(course, kind),
        Around::DiesInIt => course.die(Millis::ZERO),
        Around::DiesAfter => {
            fail(course, kind);
            course.die(Millis::ZERO);
        }
        Around::DiesBeforeItIsWritten => {
            fail(course, kind);
            course.lose_turn();
            course.die(Millis::ZERO);
        }
    }
}

/// Copies of attempts at a tool that ignores every cancel: each lives from its start to the end of
/// the time it was given, whoever still waits for it. That bound is the contract's.
fn live_copies(course: &Course, now: Timestamp) -> usize {
    let lives = |event: &Event| {
        let Event::AttemptStarted(made) = event else {
            return false;
        };
        made.at <= now && now < made.at + made.timeout
    };
    course
        .log
        .iter()
        .filter(|stamped| lives(&stamped.event))
        .count()
}

/// A run of two calls of a tool that hangs; its process dies each time so much time has passed.
fn hang(dies_each: u64, bend: Option<Bend>) -> (Course, usize) {
    let class = class(
        "
        read   a attempts=9 timeout=2s
        read   b attempts=9 timeout=3s
        result a b
        start  concurrency=2 retry=12 cost=100 answer_by=60s
        ",
    );
    let most = 2;
    let mut course = begin(class, bend);
    let (origin, tick, mut worst) = (course.now, Millis::new(100), 0);
    let mut ms = 0;
    let goes_on = |course: &Course| {
        let head = course.run.head().expect("started");
        head.lap.outcome.is_none() && course.broken.is_none()
    };
    while goes_on(&course) {
        let due = course
            .out()
            .find(|(_, made)| made.at + made.timeout <= course.now);
        if let Some((ghost, _)) = due {
            // As the dispatcher reports a time that is over.
            let failure = Failure::new(FailureKind::TransientTransport, Sent::MaybeSent);
            course.settle(&ghost, SettleEnd::Failed(failure), Evidence::default());
        } else {
            ms += tick.get();
            course.now = origin + Millis::new(ms);
            match dies_each != 0 && ms % dies_each == 0 {
                true => course.die(Millis::ZERO),
                false => course.turn(None),
            }
        }
        worst = worst.max(live_copies(&course, course.now));
    }
    (course, worst.saturating_sub(most))
}

/// F13: a tool ignores cancellation and its attempts time out again and again, and processes die:
/// never more live copies than the run has concurrency tokens.
#[test]
fn a_tool_that_ignores_every_cancel_never_has_more_copies_than_the_run_has_tokens() {
    for dies_each in (0..=4_000).step_by(100) {
        let (course, beyond) = hang(dies_each, None);
        let made: usize = course
            .run
            .calls()
            .iter()
            .map(|(_, call)| call.attempts.len())
            .sum();
        assert_eq!(beyond, 0, "the process dies each {dies_each} ms");
        assert!(course.broken.is_none(), "{:?}", course.broken);
        assert!((8..=2 + 12).contains(&made), "again and again: {made}");
    }
}

#[test]
fn a_core_that_takes_a_dead_process_s_attempts_for_dead_is_seen_to_have_more_copies() {
    let seen = (100..=4_000).step_by(100).filter(|&dies_each| {
        let (_, beyond) = hang(dies_each, Some(Bend::ForgetsHeld));
        0 < beyond
    });
    assert!(0 < seen.count(), "more copies than tokens are never seen");
}

/// Four branches, three tries each at two providers: 24 attempts, if nobody counts.
fn branches(tokens: u32) -> TaskClass {
    let mut class = class(
        "
        soft   a attempts=3 fallback=provider
        soft   b attempts=3 fallback=provider
        soft   c attempts=3 fallback=provider
        soft   d attempts=3 fallback=provider
        local  report needs=a,b,c,d
        start  cost=100 concurrency=4 answer_by=600s
        ",
    );
    class.budget.retry_tokens = Tokens::new(tokens);
    for node in &mut class.nodes {
        if let Some(contract) = contract_mut(node) {
            contract.fallbacks[0].max_attempts = 3;
        }
    }
    class
}

/// The amplification example: at most 4 + tokens attempts, and each try that was refused is in the
/// log, with what refused it and its numbers.
#[test]
fn four_branches_with_three_tries_at_two_providers_make_four_attempts_and_a_token_each() {
    for tokens in 0..=24 {
        let mut course = begin(branches(tokens), None);
        while course.out().next().is_some() {
            fail(&mut course, FailureKind::Overloaded);
        }
        let made: usize = course
            .run
            .calls()
            .iter()
            .map(|(_, call)| call.attempts.len())
            .sum();
        let made = u32::try_from(made).expect("few");
        assert_eq!(made, (4 + tokens).min(24), "{tokens} tokens");
        assert!(course.broken.is_none(), "{:?}", course.broken);
        let outcome = course.run.head().and_then(|head| head.lap.outcome.as_ref());
        assert_eq!(
            outcome.map(|outcome| outcome.kind),
            Some(OutcomeKind::Degraded)
        );
        assert_refusals(&course, tokens);
    }
}

/// Every branch that ended before its six tries says so: for the provider it was with, and for each
/// one below.
fn assert_refusals(course: &Course, tokens: u32) {
    let mut refused: BTreeMap<CallId, Vec<&Decision>> = BTreeMap::new();
    for stamped in &course.log {
        if let Event::NextDecided(decision) = &stamped.event
            && let Some(no) = &decision.refused
        {
            let numbers = [("need", 1), ("left", 0), ("limit", i64::from(tokens))];
            let numbers = numbers.map(|(name, number)| (name.to_owned(), number));
            assert_eq!(no.code, Code::RetryTokensExhausted, "{decision:?}");
            assert_eq!(no.numbers, numbers, "{decision:?}");
            assert_eq!(decision.reason, Reason::RetryTokensExhausted);
            refused.entry(decision.call).or_default().push(decision);
        }
    }
    for (id, call) in course.run.calls().iter().take(4) {
        let last = call.attempts.last().expect("each has its first").rung.get();
        let here = call
            .attempts
            .iter()
            .filter(|made| made.rung.get() == last)
            .count();
        let said: Vec<NextAction> = refused
            .remove(&id)
            .unwrap_or_default()
            .iter()
            .map(|it| it.next)
            .collect();
        let falls = |next: &NextAction| matches!(next, NextAction::Fallback { .. });
        match (last, here) {
            // A third try at the first provider ends it without a refusal; the second is refused.
            (0, 3) => assert_eq!(said, [NextAction::Omit], "{id}"),
            (0, _) => assert!(
                falls(&said[0]) && said[1..] == [NextAction::Omit],
                "{id}: {said:?}"
            ),
            (_, 3) => assert!(said.is_empty(), "{id}: {said:?}"),
            (_, _) => assert_eq!(said, [NextAction::Omit], "{id}"),
        }
    }
    assert!(refused.is_empty(), "{refused:?}");
}
