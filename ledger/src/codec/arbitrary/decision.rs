//! Strategies for what was decided, and on which numbers.

use mainstay_machine::{
    Admission, Allowed, Decision, Event, NextAction, Numbers, Refused, Verdict,
};
use mainstay_types::{Code, Sent};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::leaf::*;

pub(super) fn of_decisions() -> impl Strategy<Value = Event> {
    prop_oneof![
        decision().prop_map(|decision| Event::NextDecided(Box::new(decision))),
        (call(), attempt()).prop_map(|(call, of)| Event::RepairWanted { call, of }),
        admission().prop_map(Event::AdmissionDecided),
    ]
}

pub(super) fn admission() -> impl Strategy<Value = Admission> {
    let verdict = select(&[Verdict::Admitted, Verdict::Later, Verdict::Rejected][..]);
    let needs = (millis(), millis(), millis(), millis(), millis());
    (verdict, needs, millis(), any::<u32>()).prop_map(|(verdict, needs, left, observed)| {
        let (queue, path, synthesis, reconcile, deliver) = needs;
        Admission {
            verdict,
            queue,
            path,
            synthesis,
            reconcile,
            deliver,
            left,
            observed,
        }
    })
}

fn decision() -> impl Strategy<Value = Decision> {
    let sent = select(&[Sent::NotSent, Sent::MaybeSent, Sent::Answered][..]);
    let about = (call(), option::of(attempt()), kind(), option::of(sent));
    let what = (next(), reason(), numbers(), option::of(refused()));
    (about, what).prop_map(
        |((call, attempt, kind, sent), (next, reason, numbers, refused))| Decision {
            call,
            attempt,
            kind,
            sent,
            next,
            reason,
            numbers,
            refused,
        },
    )
}

fn next() -> impl Strategy<Value = NextAction> {
    prop_oneof![
        at().prop_map(|at| NextAction::Retry { at }),
        Just(NextAction::Repair),
        rung().prop_map(|rung| NextAction::Fallback { rung }),
        Just(NextAction::Reconcile),
        Just(NextAction::Wait),
        Just(NextAction::Omit),
        Just(NextAction::Fail),
    ]
}

fn numbers() -> impl Strategy<Value = Numbers> {
    let limit = || option::of(any::<u32>());
    let allowed = (any::<u32>(), limit(), limit(), limit());
    let counts = (any::<u32>(), any::<u32>());
    let waits = (millis(), millis(), option::of(millis()));
    (counts, allowed, waits, millis(), millis()).prop_map(
        |(counts, allowed, (wait, wait_max, retry_after), predicted, left)| {
            let (in_a_row, attempts_left) = counts;
            let (run, dependency, tenant, global) = allowed;
            Numbers {
                in_a_row,
                attempts_left,
                allowed: Allowed {
                    run,
                    dependency,
                    tenant,
                    global,
                },
                wait,
                wait_max,
                retry_after,
                predicted,
                left,
            }
        },
    )
}

fn refused() -> impl Strategy<Value = Refused> {
    (select(Code::ALL), vec((text(), any::<i64>()), 0..4))
        .prop_map(|(code, numbers)| Refused { code, numbers })
}
