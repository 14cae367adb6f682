//! The run that holds a key which another wants: whether it can go on with it by itself.
//!
//! One that is quarantined, that is gone, or whose class nobody here has code for, asks no receiver
//! and sends nothing. What it sent may still land, so what is known of that goes with the answer.

use mainstay_machine::{Abandoned, Attempt, Call, EffectEntry, Run, effect};
use mainstay_types::{Millis, Timestamp, limits};

use crate::listing::waits_for_code;
use crate::load;
use crate::not_driven::NotDrivenReason;
use crate::shared::Shared;

/// What is known of the requests under `entry`, when its run cannot go on by itself; `None` when it
/// can, or when nobody can tell.
pub(crate) async fn abandoned(shared: &Shared, entry: &EffectEntry) -> Option<Abandoned> {
    let listed = shared.not_driven_run(entry.run);
    let is_unreadable = listed
        .as_ref()
        .is_some_and(|listed| listed.reason == NotDrivenReason::Corrupt);
    match load::load(shared, entry.run).await {
        Ok(Some(loaded)) => {
            let head = loaded.run.head()?;
            let waits = listed.is_some_and(|listed| waits_for_code(&listed));
            let is_stuck = waits || head.quarantined.is_some();
            is_stuck.then(|| of_run(&loaded.run, entry))
        }
        Ok(None) => Some(unknown()),
        Err(_) => is_unreadable.then(unknown),
    }
}

/// From the run's own record of what it sent.
fn of_run(run: &Run, entry: &EffectEntry) -> Abandoned {
    let calls = run.calls().iter().map(|(_, call)| call);
    let has_it = |call: &&Call| call.effect.as_ref().is_some_and(|e| e.key == entry.key);
    let calls: Vec<&Call> = calls.filter(has_it).collect();
    // It may have taken the key over itself: what was sent before that is older than what it sent.
    let taken = calls.iter().filter_map(|call| call.effect.as_ref());
    let taken = taken.filter_map(|effect| effect.first_sent_at);
    let doubts = calls.iter().filter_map(|call| effect::doubt(call));
    let made = calls.iter().flat_map(|call| {
        let effect = run.class().node(call.node).effect();
        let bound = effect.map_or(Millis::ZERO, |effect| effect.receiver_bound);
        call.attempts
            .iter()
            .map(move |made| (made.at, lands_by(made, bound)))
    });
    let made: Vec<(Timestamp, Timestamp)> = made.collect();
    let first = made.iter().map(|&(at, _)| at).chain(taken).min();
    let landed = doubts.map(|doubt| doubt.absent_after);
    let last = made.iter().map(|&(_, landed)| landed).chain(landed).max();
    Abandoned {
        sent_at: first.unwrap_or(entry.at),
        absent_after: last,
    }
}

fn lands_by(made: &Attempt, bound: Millis) -> Timestamp {
    made.at + Millis::new(limits::SEND_WINDOW_MS) + made.timeout + bound
}

/// Nothing but the entry is there, and that says when it changed last. The first request is taken
/// to be as old as can be: a receiver that forgets keys is believed to have forgotten this one.
const fn unknown() -> Abandoned {
    Abandoned {
        sent_at: Timestamp::from_millis(0),
        absent_after: None,
    }
}
