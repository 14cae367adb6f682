//! Three writes, crashed at every append, under each of the six resolutions, with every fate their
//! receiver has for them: in every end the receiver's own count is right, and all agree with it.
//!
//! The receiver never looks at keys, so that nothing but the engine stands between a lost reply
//! and a second effect. CI runs the fates that tell most; `MAINSTAY_CAMPAIGN=full` runs all, and
//! `MAINSTAY_CASE` one case alone.

mod bends;
mod case;
mod oracle;
mod receiver;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mainstay_dispatch::Resolution;
use mainstay_machine::{Core, EffectStatus, Machine, Ruling};
use mainstay_runtime::Engine;
use mainstay_types::{EffectKey, Millis, Payload, RunId, Timers};

use crate::world::{Minutes, World, minutes};
use case::{Case, Fates, MOMENTS};
use oracle::contradictions;

/// How long a run is left alone before somebody looks after it.
const PATIENCE_MS: u64 = 10_000;
/// How often somebody looks after it until it must have ended.
const ROUNDS: usize = 60;

/// Failed cases that are printed whole.
const SHOWN: usize = 5;

/// What came of a case.
struct Course {
    /// Whether it got as far as its crash.
    crashed: bool,
    wrong: Vec<String>,
    world: World,
    id: RunId,
}

/// Plays a case with this core.
fn play(case: &Case, core: &dyn Fn() -> Arc<dyn Core>) -> Course {
    let world = World::new();
    world.outside.ignore_keys();
    let fates = case.fates;
    world
        .outside
        .script(move |ask| fate_of(fates, &ask.call).does(ask));
    let class = receiver::class(&world, case.resolution);
    let live = || world.live_with(|builder| builder.register(&class).core(core()));
    let mut life = live();
    let mut crashed = false;
    if let Some((append, moment)) = case.crash {
        world.ledger.trap(append, moment);
        crashed = life.block_on(async {
            tokio::select! {
                biased;
                () = world.ledger.crash() => true,
                _ = to_the_end(&world, &life.engine, case) => false,
            }
        });
        life.crash();
        world.ledger.disarm();
        life = live();
    }
    let id = life.block_on(to_the_end(&world, &life.engine, case));
    let mut wrong = contradictions(&world, id);
    let made = world.outside.effects().len();
    if made != 3 && case.fates.iter().all(|fate| fate.completes()) {
        wrong.push(format!("{made} effects, though each of 3 comes through"));
    }
    if life.block_on(parts_are_settled(&world, &life.engine, id)) {
        life.run_for(PATIENCE_MS);
        wrong.extend(contradictions(&world, id));
    }
    Course {
        crashed,
        wrong,
        world,
        id,
    }
}

fn fate_of([first, second, aside]: Fates, call: &str) -> case::Fate {
    match call {
        "first" => first,
        "second" => second,
        "aside" => aside,
        other => panic!("no write is called {other}"),
    }
}

/// Starts the run, or finds it, and looks after it until it owes nothing. Where only a person can
/// be asked, one is.
async fn to_the_end(world: &World, engine: &Engine, case: &Case) -> RunId {
    let class = receiver::class(world, case.resolution);
    let started: Result<mainstay_runtime::RunHandle<String>, _> = engine
        .start::<Minutes, String>(&class, minutes("M", 1))
        .key("K")
        .await;
    let id = started.expect("it is not refused").id();
    for _ in 0..ROUNDS {
        world.timers.sleep(Millis::new(PATIENCE_MS)).await;
        let run = world.state(id);
        if run.head().is_some_and(|head| head.closed) {
            break;
        }
        if case.resolution != Resolution::ByHuman {
            continue;
        }
        let effects = run
            .calls()
            .iter()
            .filter_map(|(_, call)| call.effect.as_ref());
        for effect in effects {
            if matches!(effect.status, EffectStatus::InDoubt(_)) {
                settle(world, engine, &effect.key).await;
            }
        }
    }
    id
}

/// A person looks at what the receiver has, does what is missing of it, and says so. While a
/// request may still land that is refused; then somebody comes again.
async fn settle(world: &World, engine: &Engine, key: &EffectKey) -> bool {
    let ruling = match world.outside.complete(&key.to_string()) {
        Some(ticket) => (
            Ruling::Applied,
            Some(Payload::from(format!(r#"{{"id":"{ticket}"}}"#))),
        ),
        None => (Ruling::NotApplied, None),
    };
    let by = ("anna (uid:1000)", "looked it up");
    engine.settle_effect(key, ruling, by).await.is_ok()
}

/// What was done in part is undone, or done whole, by a person; whether there was anything.
async fn parts_are_settled(world: &World, engine: &Engine, id: RunId) -> bool {
    let run = world.state(id);
    let effects = run
        .calls()
        .iter()
        .filter_map(|(_, call)| call.effect.as_ref());
    let parts = effects.filter(|effect| effect.status == EffectStatus::PartlyApplied);
    let keys: Vec<&EffectKey> = parts.map(|effect| &effect.key).collect();
    for (nth, key) in keys.iter().enumerate() {
        if nth == 0 && key.effect.as_str() != "aside" {
            world.outside.undo(&key.to_string());
        }
        settle(world, engine, key).await;
    }
    !keys.is_empty()
}

fn machine() -> Arc<dyn Core> {
    Arc::new(Machine)
}

/// What was seen of all cases.
#[derive(Default)]
struct Seen {
    cases: usize,
    failures: Vec<String>,
    /// How often each thing happened that a case may hold.
    reached: BTreeMap<&'static str, usize>,
}

impl Seen {
    fn note(&mut self, course: &Course) {
        self.cases += 1;
        let mut reach = |what| *self.reached.entry(what).or_insert(0) += 1;
        let names = [
            "EffectInDoubt",
            "EffectPartlyApplied",
            "EffectSettledByHand",
            "AttemptInterrupted",
        ];
        let events = course.world.ledger.events_of(course.id);
        for name in events.iter().map(mainstay_machine::Event::name) {
            names
                .into_iter()
                .filter(|wanted| *wanted == name)
                .for_each(&mut reach);
        }
        let run = course.world.state(course.id);
        for effect in run
            .calls()
            .iter()
            .filter_map(|(_, call)| call.effect.as_ref())
        {
            reach(effect.status.as_str());
        }
        if 0 < course.world.re_requests(course.id) {
            reach("sent again");
        }
    }
}

impl Seen {
    /// The cases hold what they are about: a test whose cases are all smooth shows nothing.
    fn must_have_reached(&self, resolution: Resolution) {
        let by_machine = ["absent", "applied", "EffectPartlyApplied", "sent again"];
        let by_hand = ["absent", "applied", "EffectSettledByHand", "sent again"];
        let everywhere = ["EffectInDoubt", "AttemptInterrupted"];
        let wanted = match resolution == Resolution::ByHuman {
            true => by_hand,
            false => by_machine,
        };
        for what in wanted.into_iter().chain(everywhere) {
            let reached = &self.reached;
            assert!(reached.contains_key(what), "{what}: {reached:?}");
        }
    }
}

/// Plays a case and says what is wrong; whether it got as far as its crash.
fn checked(case: &Case, seen: &mut Seen) -> bool {
    let course = play(case, &machine);
    seen.note(&course);
    let sound = catch_unwind(AssertUnwindSafe(|| course.world.must_be_sound()));
    if !course.wrong.is_empty() || sound.is_err() {
        let log = course.world.describe(course.id);
        seen.failures.push(format!(
            "case {case}; alone:\n  MAINSTAY_CASE='{case}' cargo nextest run -p mainstay-runtime \
             -E 'test(=exhaustive::{})'\n  {}\n{log}",
            case.resolution.as_str(),
            course.wrong.join("\n  ")
        ));
    }
    course.crashed
}

/// A run without a crash, and then one crashed at each append until there are no more.
fn at_every_append(resolution: Resolution, fates: Fates, seen: &mut Seen) {
    let crashed_at = |crash| Case {
        resolution,
        fates,
        crash,
    };
    checked(&crashed_at(None), seen);
    for moment in MOMENTS {
        let mut append = 1;
        while checked(&crashed_at(Some((append, moment))), seen) {
            append += 1;
        }
        assert!(3 <= append, "{resolution:?} {fates:?}: a run has appends");
    }
}

/// Every case of a resolution that is asked for.
fn check(resolution: Resolution) {
    let mut seen = Seen::default();
    let alone = std::env::var("MAINSTAY_CASE").ok();
    match &alone {
        Some(alone) => {
            let alone: Case = alone.parse().expect("a case");
            if alone.resolution == resolution {
                checked(&alone, &mut seen);
            }
        }
        None => {
            let whole = std::env::var("MAINSTAY_CAMPAIGN").is_ok_and(|size| size == "full");
            for fates in case::fates(whole) {
                at_every_append(resolution, fates, &mut seen);
            }
            seen.must_have_reached(resolution);
        }
    }
    let Seen {
        cases, failures, ..
    } = &seen;
    println!("{}: {cases} cases, {:?}", resolution.as_str(), seen.reached);
    let shown: Vec<_> = failures.iter().take(SHOWN).cloned().collect();
    assert!(
        failures.is_empty(),
        "{} of {cases} cases failed\n\n{}",
        failures.len(),
        shown.join("\n\n")
    );
}

#[test]
fn by_key() {
    check(Resolution::ByKey);
}

#[test]
fn by_status() {
    check(Resolution::ByStatus);
}

#[test]
fn by_business_key() {
    check(Resolution::ByBusinessKey);
}

#[test]
fn by_upsert() {
    check(Resolution::ByUpsert);
}

#[test]
fn by_ledger() {
    check(Resolution::ByLedger);
}

#[test]
fn by_human() {
    check(Resolution::ByHuman);
}

#[test]
fn a_case_is_printed_as_it_is_read() {
    for text in ["by_key:DdN", "by_human:lPa:12:durable"] {
        let case: Case = text.parse().unwrap();
        assert_eq!(case.to_string(), text);
    }
    for text in [
        "by_key",
        "by_magic:DDD",
        "by_key:DDDD",
        "by_key:DDD:x:before",
    ] {
        assert!(text.parse::<Case>().is_err(), "{text}");
    }
    assert_eq!(case::fates(true).len(), 9 * 9 * 9);
}
