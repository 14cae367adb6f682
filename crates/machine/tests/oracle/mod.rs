//! Random runs in virtual time, beside an oracle that knows what was drawn.
//!
//! A seed draws a class (draw.rs) and what happens to each attempt (truth.rs); a driver jumps
//! from one moment to the next (drive.rs). Asked is what no single scenario can say: that an
//! answer never comes late, that what could be completed is, that soft calls cost the hard path
//! nothing. bent.rs holds drivers that break one rule each, so that each check is seen to fail.
//!
//! A failing test names seeds: `MAINSTAY_SEED=n cargo nextest run -p mainstay-machine oracle
//! --no-capture` drives one alone and prints its log. `MAINSTAY_ORACLE_RUNS` says how many
//! seeds, from 1 on. Nothing here may read a clock; the times are the runs' own.

mod bent;
mod course;
mod dice;
mod draw;
mod drive;
mod place;
mod said;
mod search;
mod tally;
mod truth;
mod twin;

use bent::Bent;
use draw::Draw;
use drive::drive;
use place::compare;
use tally::{Places, Shares, say};

/// Seeds of each test.
const RUNS: u64 = 10_000;

/// What an engine that does not know the future has to complete of what an oracle completes.
const COMPLETED_PERMILLE: u64 = 950;

/// Completed runs for which the oracle, which counts failed attempts too high, may find nothing.
const UNFORESEEN_PERMILLE: u64 = 10;

/// Hard paths that need more than one attempt of each call at its estimate, and may be lost to
/// what soft calls spent: more is not kept for them.
const LOST_PERMILLE: u64 = 20;

/// No seeds.
const NONE: [u64; 0] = [];

const RECIPE: &str = "MAINSTAY_SEED=n cargo nextest run -p mainstay-machine oracle --no-capture \
                      shows what happened to one of these seeds";

#[expect(
    clippy::disallowed_methods,
    reason = "a test is told its seeds, the core is not"
)]
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok();
    text.map(|text| text.parse().expect("a number"))
}

/// The one seed that is looked at, or all.
fn draws(many: u64) -> impl Iterator<Item = Draw> {
    let seeds = match number("MAINSTAY_SEED") {
        Some(seed) => seed..=seed,
        None => 1..=number("MAINSTAY_ORACLE_RUNS").unwrap_or(many),
    };
    seeds.map(Draw::of)
}

fn is_one_seed() -> bool {
    number("MAINSTAY_SEED").is_some()
}

#[test]
fn every_answer_comes_in_time_and_what_an_oracle_could_complete_is_completed() {
    let mut shares = Shares::default();
    for draw in draws(RUNS) {
        let driven = shares.take(&draw, None);
        if is_one_seed() {
            say(&said::class(&draw, &course::courses(&draw)));
            say(&said::log(&driven));
        }
    }
    say(&shares.to_string());
    assert_eq!(shares.late, NONE, "answered after answer_by; {RECIPE}");
    let is_missed = shares.completed_permille() < COMPLETED_PERMILLE;
    assert!(!shares.are_enough() || !is_missed, "{shares}\n{RECIPE}");
    // An oracle that finds little is easily matched.
    let is_keen = shares.unforeseen_permille() <= UNFORESEEN_PERMILLE;
    assert!(!shares.are_enough() || is_keen, "{shares}");
    // A share of nothing, or of runs that nothing can go wrong in, would prove nothing.
    let is_mixed = (333..900).contains(&shares.feasible_permille());
    assert!(!shares.are_enough() || is_mixed, "{shares}");
}

#[test]
fn a_soft_call_never_costs_a_hard_call_its_place() {
    let (mut places, mut waiting) = (Places::default(), Places::default());
    for draw in draws(RUNS).filter(Draw::has_soft) {
        let places = match draw.stands_alone() {
            true => &mut places,
            false => &mut waiting,
        };
        let draw = draw.ample();
        places.take(draw.seed, compare(&draw, None));
        if is_one_seed() {
            say(&said::log(&drive(&draw, None)));
            say(&said::log(&drive(&draw.without_soft(), None)));
        }
    }
    say(&format!("with ample budgets, {places}"));
    say(&format!("that use values of soft calls, {waiting}"));
    assert_eq!(places.displaced, NONE, "soft calls did not yield; {RECIPE}");
    assert_eq!(places.lost, NONE, "hard paths are lost; {RECIPE}");
    assert_eq!(places.late, NONE, "hard calls waited; {RECIPE}");
}

#[test]
fn a_soft_call_leaves_the_hard_path_the_budget_of_one_attempt_each() {
    let (mut smooth, mut rough) = (Places::default(), Places::default());
    for draw in draws(RUNS).filter(Draw::is_comparable) {
        let compared = compare(&draw, None);
        let places = match compared.is_some_and(|it| it.is_smooth) {
            true => &mut smooth,
            false => &mut rough,
        };
        places.take(draw.seed, compared);
    }
    say(&format!("that need what was estimated, {smooth}"));
    say(&format!("that need more, {rough}"));
    assert_eq!(smooth.lost, NONE, "hard paths are lost; {RECIPE}");
    let lost = rough.permille(&rough.lost);
    assert!(
        !rough.are_enough() || lost <= LOST_PERMILLE,
        "{rough}\n{RECIPE}"
    );
}

#[test]
fn the_same_seed_is_driven_to_the_same_log() {
    for draw in draws(200) {
        let log = || said::log(&drive(&draw, None));
        assert_eq!(log(), log(), "seed {}", draw.seed);
    }
}

#[test]
fn a_driver_that_oversleeps_is_seen_to_answer_late() {
    let mut shares = Shares::default();
    for draw in draws(RUNS / 10) {
        shares.take(&draw, Some(Bent::Oversleeps));
    }
    say(&shares.to_string());
    assert!(!shares.are_enough() || !shares.late.is_empty(), "{shares}");
}

#[test]
fn a_driver_that_sends_one_attempt_at_a_time_is_seen_to_miss_the_oracles_share() {
    let mut shares = Shares::default();
    for draw in draws(RUNS / 10) {
        shares.take(&draw, Some(Bent::OneAtATime));
    }
    say(&shares.to_string());
    let is_missed = shares.completed_permille() < COMPLETED_PERMILLE;
    assert!(!shares.are_enough() || is_missed, "{shares}");
}

#[test]
fn a_driver_whose_soft_calls_do_not_yield_is_seen_to_cost_hard_calls_their_place() {
    let mut places = Places::default();
    for draw in draws(RUNS).filter(Draw::is_comparable) {
        let bent = Some(Bent::NeverYields);
        places.take(draw.seed, compare(&draw.ample(), bent));
    }
    say(&places.to_string());
    let is_seen = !places.displaced.is_empty() && !places.lost.is_empty();
    assert!(!places.are_enough() || is_seen, "{places}");
}
