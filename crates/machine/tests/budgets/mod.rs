//! The budget's laws at every prefix of a log, under one random death of the process.
//!
//! The books (books.rs) are kept from the log alone and know nothing of the core's counters; the
//! laws (laws.rs) are asked after every event of every course, and bends.rs holds a core or a log
//! that breaks each of them. 100,000 courses in CI, in four tests by the kind of death.
//!
//! A failing test prints its smallest course and keeps its seed in `proptest-regressions`, from
//! where it is tried first. `PROPTEST_RNG_SEED=n` draws the same courses every time,
//! `PROPTEST_CASES=n` so many of them in each test.

pub(crate) mod bends;
mod books;
pub(crate) mod course;
mod every;
mod gale;
mod laws;
mod reach;
mod reserve;
mod trees;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use bends::Bend;
use gale::{Death, Gale, gales};
use laws::Law;
use reach::{NEEDED, Tally};

use crate::random::cases;

/// Courses of each of the four tests.
const COURSES: u32 = 25_000;

fn holds(gale: &Gale, death: Death) -> Result<(), TestCaseError> {
    let broken = gale.blow(death, None).broken;
    match broken {
        None => Ok(()),
        Some(broken) => Err(TestCaseError::fail(broken.to_string())),
    }
}

proptest! {
    #![proptest_config(cases(COURSES))]

    #[test]
    fn the_budget_holds_when_nothing_is_heard_of_what_was_out(gale in gales()) {
        holds(&gale, Death::Silent)?;
    }

    #[test]
    fn the_budget_holds_when_what_was_out_reports_to_the_next_process(gale in gales()) {
        holds(&gale, Death::Heard)?;
    }

    #[test]
    fn the_budget_holds_when_the_newest_turn_was_not_written(gale in gales()) {
        holds(&gale, Death::TurnLost)?;
    }

    #[test]
    fn the_budget_holds_when_nobody_drives_for_a_while(gale in gales()) {
        holds(&gale, Death::Down)?;
    }
}

/// Courses that are the same in every build.
fn sample(count: usize) -> impl Iterator<Item = Gale> {
    let mut runner = TestRunner::deterministic();
    let gales = gales();
    (0..count).map(move |_| {
        gales
            .new_tree(&mut runner)
            .expect("a valid class")
            .current()
    })
}

#[test]
fn each_law_is_broken_by_a_core_or_a_log_that_is_bent_against_it() {
    let mut unseen: Vec<(Bend, Law)> = Bend::ALL.to_vec();
    let laws: BTreeSet<Law> = unseen.iter().map(|(_, law)| *law).collect();
    assert!(
        laws.iter()
            .eq(&Law::ALL.into_iter().collect::<BTreeSet<_>>()),
        "a law nobody breaks"
    );
    for gale in sample(6_000) {
        unseen.retain(|&(bend, law)| {
            let broken = gale.blow(Death::Heard, Some(bend)).broken;
            broken.is_none_or(|broken| broken.law != law)
        });
        if unseen.is_empty() {
            return;
        }
    }
    panic!("not seen: {unseen:?}");
}

#[test]
fn the_courses_reach_what_the_laws_are_about() {
    let mut tally = Tally::new();
    for gale in sample(1_000) {
        for death in [Death::Silent, Death::Heard, Death::TurnLost, Death::Down] {
            reach::count(&gale.blow(death, None), &mut tally);
        }
    }
    for what in NEEDED {
        let often = tally.get(what).copied().unwrap_or(0);
        assert!(5 <= often, "{what} happens {often} times: {tally:#?}");
    }
}
