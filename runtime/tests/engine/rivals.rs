//! Chaos between runs: two want the same effects, one may be canceled, the store is full at times,
//! processes die. Each effect is made once, and both runs end.

use mainstay_class::{Class, Extend, hours, secs};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::{Engine, RunHandle};
use mainstay_sim::SeededRng;
use mainstay_types::Millis;

use crate::chaos::{chaotic, draw};
use crate::world::classes::{meeting_as, walkthrough};
use crate::world::{Does, Find, Minutes, Report, World, minutes};

const SEEDS: u64 = 120;
const ACTIONS: usize = 4;

fn class(world: &World) -> Class<Minutes, Report> {
    meeting_as(&world.outside, |g| {
        g.budget(walkthrough().answer_by(secs(120)).retries(200).cost(500))
            .on_downtime(Extend(hours(1)));
    })
}

/// Starts or finds one of the rivals; `None` while the store is full.
async fn rival(
    engine: &Engine,
    class: &Class<Minutes, Report>,
    key: &str,
) -> Option<RunHandle<Report>> {
    let start = engine.start(class, minutes("M", ACTIONS)).key(key);
    start.await.ok()
}

/// One life of the rivals: started, perhaps one canceled, both waited for.
async fn live(engine: Engine, class: Class<Minutes, Report>, cancels: bool) {
    let one = rival(&engine, &class, "one").await;
    let two = rival(&engine, &class, "two").await;
    if let Some(one) = one.as_ref().filter(|_| cancels) {
        // It may have ended before.
        drop(one.cancel("somebody", "no reason").await);
    }
    for run in [one, two].into_iter().flatten() {
        run.outcome().await.expect("an outcome");
    }
}

/// The outcomes of both after lives with faults and one without.
fn live_through(world: &World) -> [OutcomeKind; 2] {
    let class = class(world);
    let rng = SeededRng::stream(world.seed, "rivals");
    let cancels = draw(&rng, 3) == 0;
    for _ in 0..2 + draw(&rng, 5) {
        world.ledger.full(draw(&rng, 5) == 0);
        let polls = 1 + draw(&rng, 120);
        let act = |engine| live(engine, class.clone(), cancels && draw(&rng, 2) == 0);
        if world.ledger.is_full() {
            // Nothing ends in a full store; its life is measured in time.
            let life = world.live(&[class.erased()]);
            life.run_for(draw(&rng, 4_000));
            life.crash();
        } else {
            world.live_for(polls, &[class.erased()], act);
        }
        world.must_be_sound();
        world.timers.advance(Millis::new(draw(&rng, 3_000)));
    }
    world.ledger.full(false);
    world.outside.script(|_| Does::Answer(10));
    world.outside.finds(|_| Find::Truth(5));
    let life = world.live(&[class.erased()]);
    ["one", "two"].map(|key| {
        let run = life.block_on(rival(&life.engine, &class, key));
        life.outcome(&run.expect("there is room")).kind
    })
}

#[test]
fn two_runs_that_want_the_same_effects_make_each_once_whatever_fails() {
    let (mut adopted, mut canceled, mut whole) = (0, 0, 0);
    for seed in 1..=SEEDS {
        let world = chaotic(seed);
        let kinds = live_through(&world);
        world.must_be_sound();
        let log: String = world.runs().iter().map(|&id| world.describe(id)).collect();
        for id in world.runs() {
            assert!(world.state(id).head().unwrap().closed, "seed {seed}: {log}");
        }
        let landed = world.outside.effects().len();
        assert!(landed <= ACTIONS, "seed {seed}: {landed} effects\n{log}");
        let done = |kind| matches!(kind, OutcomeKind::Completed | OutcomeKind::Degraded);
        if kinds.into_iter().any(done) {
            assert_eq!(landed, ACTIONS, "seed {seed}: {log}");
            whole += 1;
        }
        adopted += log.matches("ADOPTED_FROM_OTHER_RUN").count();
        canceled += kinds
            .iter()
            .filter(|&&kind| kind == OutcomeKind::Canceled)
            .count();
    }
    println!("{whole} of {SEEDS} whole, {adopted} effects adopted, {canceled} runs canceled");
    assert!(SEEDS / 2 < whole && 100 < adopted && 5 < canceled);
}
