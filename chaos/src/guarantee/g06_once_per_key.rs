//! G6: one effect per key, and what the log says of it is what the receiver's table says.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_machine::{EffectStatus, Event, Run};
use mainstay_types::{CallId, EffectKey, Reason, RunId};

use super::{Breaches, Seen, Watch};
use crate::facts::Facts;
use crate::fault::Kind;

#[derive(Default)]
pub(super) struct G6 {
    /// Who says to have done it: by what was answered or found, not by what another one found.
    doers: BTreeMap<EffectKey, BTreeSet<(RunId, CallId)>>,
    /// What a person said is applied: who does so completes what was done in part.
    by_hand: BTreeSet<EffectKey>,
}

impl Watch for G6 {
    fn see(&mut self, seen: &Seen<'_>, breaches: &mut Breaches) {
        let Event::EffectApplied { call, reason, .. } = seen.event else {
            return;
        };
        if *reason == Reason::AdoptedFromOtherRun {
            return;
        }
        let effect = seen
            .run
            .calls()
            .get(*call)
            .and_then(|call| call.effect.as_ref());
        let Some(effect) = effect else {
            return;
        };
        if *reason == Reason::SettledByHand {
            self.by_hand.insert(effect.key.clone());
        }
        let doers = self.doers.entry(effect.key.clone()).or_default();
        doers.insert((seen.id, *call));
        if 1 < doers.len() {
            breaches.add(format_args!(
                "{} was done by {} calls",
                effect.key,
                doers.len()
            ));
        }
    }

    fn end(&mut self, facts: &Facts, runs: &BTreeMap<RunId, Run>, breaches: &mut Breaches) {
        for outside in facts.outside.iter().filter(|outside| outside.is_write) {
            let mut times: BTreeMap<&EffectKey, usize> = BTreeMap::new();
            for applied in outside.applied.iter().filter(|applied| !applied.in_part) {
                *times.entry(&applied.key).or_default() += 1;
            }
            // Whoever believes "not found" too early sends again.
            let is_judged = !is_early(facts);
            let twice = times.into_iter().filter(|(_, times)| 1 < *times);
            for (key, times) in twice.filter(|_| is_judged) {
                breaches.add(format_args!(
                    "{}: {key} was done {times} times",
                    outside.name
                ));
            }
        }
        for (id, run) in runs {
            for (call, of_it) in run.calls().iter() {
                if let Some(effect) = &of_it.effect {
                    let told = format!("{} of run {id}", run.path(call));
                    let by_hand = self.by_hand.contains(&effect.key);
                    let said = (*id, &effect.key, &effect.status, by_hand);
                    is_true(facts, said, &told, breaches);
                }
            }
        }
    }
}

fn is_true(
    facts: &Facts,
    (run, key, status, by_hand): (RunId, &EffectKey, &EffectStatus, bool),
    told: &str,
    breaches: &mut Breaches,
) {
    let whole = facts.outside.iter().flat_map(|outside| &outside.applied);
    let mut whole = whole.filter(|it| (by_hand || !it.in_part) && it.key == *key);
    // What another run did under the key later is that one's.
    let (is_done, did_it) = match whole.next() {
        Some(applied) => (true, applied.run == run),
        None => (false, false),
    };
    match status {
        EffectStatus::Applied(_) if !is_done => {
            breaches.add(format_args!(
                "{told} is said to be applied, its receiver did nothing"
            ));
        }
        // It is the other run's that is held to the truth.
        EffectStatus::Absent(Reason::KeyHeldByOtherRun) => {}
        EffectStatus::Absent(why) if did_it && !is_early(facts) => {
            breaches.add(format_args!(
                "{told} is said not to be applied ({why:?}), it was done"
            ));
        }
        EffectStatus::Dispatched | EffectStatus::InDoubt(_) if facts.ended => {
            breaches.add(format_args!("{told} is unknown in the end"));
        }
        EffectStatus::Intended
        | EffectStatus::Dispatched
        | EffectStatus::InDoubt(_)
        | EffectStatus::Applied(_)
        | EffectStatus::PartlyApplied
        | EffectStatus::Compensated
        | EffectStatus::Absent(_) => {}
    }
}

/// "Not found" is believed once nothing can land any more. A process that begins after somebody set
/// the clock forward takes the jump for time that has passed, and believes it too early.
fn is_early(facts: &Facts) -> bool {
    let jumps = facts.hits_of(&[Kind::ClockForward]);
    let jumped = jumps.map(|hit| hit.at).min();
    jumped.is_some_and(|jumped| facts.lives.iter().any(|begun| jumped <= *begun))
}
