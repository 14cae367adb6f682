//! The process dies at every append of a run, at three points of each, and again at the appends of
//! its recovery: every action has one ticket, nothing settled is asked again, the log is the state.
//!
//! The runs die by their own hand (`mainstay_tests::failpoints`), so that each moment can be had
//! again: a failing case says how.

use std::sync::atomic::{AtomicUsize, Ordering};

use mainstay_tests::campaign::{Campaign, is_full, name_of};
use mainstay_tests::failpoints::{Failpoint, Point};
use mainstay_tests::scenario::Scenario;
use mainstay_tests::seed::Draw;
use mainstay_tests::seen::Seen;
use mainstay_tests::ways::{Deaths, Reference, crashed, live_and_replayed};

/// More than there are concurrency tokens, so that some writes wait for others.
const ACTIONS: usize = 6;
/// Second deaths that are drawn when not all are asked for.
const SECOND_DEATHS: usize = 12;

fn scenario<F: Fn()>(test: F) -> Scenario {
    Scenario::of(test, ACTIONS, must_be_undisturbed)
}

/// Nobody was asked twice, and nothing is missing.
fn must_be_undisturbed(seen: &Seen<'_>) {
    assert_eq!(seen.outcome(), "completed", "{}", seen.told());
    assert_eq!(seen.tickets().len(), ACTIONS, "{}", seen.told());
    for call in seen.calls() {
        assert_eq!(seen.asked_of(&call).len(), 1, "{call}\n{}", seen.told());
    }
}

/// Every append of the run, at every point.
fn every_point(reference: &Reference) -> Vec<Failpoint> {
    let appends = 1..=reference.appends;
    appends
        .flat_map(|append| Point::ALL.map(|point| Failpoint { append, point }))
        .collect()
}

#[test]
fn killed_at_each_point_of_every_append_a_run_keeps_one_ticket_per_action() {
    let test = killed_at_each_point_of_every_append_a_run_keeps_one_ticket_per_action;
    // With a receiver that ignores keys: what is sent twice is there twice.
    let scenario = scenario(test).tickets(&["no_dedupe"]);
    let reference = live_and_replayed(&scenario);
    let deaths = every_point(&reference)
        .into_iter()
        .map(|at| Deaths(vec![at]));
    let ran = Campaign::of(name_of(test)).run(deaths.collect(), |deaths, told| {
        let reached = crashed(&scenario, &reference, deaths, told);
        assert_eq!(reached, 1, "{told}: it did not die");
    });
    println!("{ran} deaths at {} appends", reference.appends);
}

/// The last append of the run records the end of its last write: before it, the effect is in the
/// world and nobody has written that down. The receiver ignores keys, so a second send would show.
#[test]
fn f09_killed_after_an_effect_and_before_its_record_the_effect_happens_once() {
    let test = f09_killed_after_an_effect_and_before_its_record_the_effect_happens_once;
    let scenario = scenario(test).tickets(&["no_dedupe"]);
    let reference = live_and_replayed(&scenario);
    let death = Failpoint {
        append: reference.appends,
        point: Point::BeforeAppend,
    };
    Campaign::of(name_of(test)).run(vec![Deaths(vec![death])], |deaths, told| {
        let reached = crashed(&scenario, &reference, deaths, told);
        assert_eq!(reached, 1, "{told}: it did not die");
    });
}

#[test]
fn killed_again_at_its_recovery_s_own_appends_a_run_keeps_one_ticket_per_action() {
    let test = killed_again_at_its_recovery_s_own_appends_a_run_keeps_one_ticket_per_action;
    let scenario = scenario(test);
    let reference = live_and_replayed(&scenario);
    let draw = Draw::new("second deaths");
    let deaths = second_deaths(&reference, &draw);
    let twice = AtomicUsize::new(0);
    let campaign = Campaign::of(name_of(test)).drawn_from(draw.seed());
    let ran = campaign.run(deaths, |deaths, told| {
        let reached = crashed(&scenario, &reference, deaths, told);
        twice.fetch_add(usize::from(1 < reached), Ordering::SeqCst);
    });
    let twice = twice.into_inner();
    println!("{ran} runs died once, {twice} of them twice");
    assert!(ran <= 2 * twice, "seed {}: few died twice", draw.seed());
}

/// A first death at each append, and a second at an append of the recovery: all of them when they
/// are asked for, else as many as there is time for.
fn second_deaths(reference: &Reference, draw: &Draw) -> Vec<Deaths> {
    // Taking over and going on takes an append more than what was left, about.
    let appends = reference.appends;
    let second = |first: Failpoint| {
        (1..=appends + 1 - first.append)
            .flat_map(|append| Point::ALL.map(|point| Failpoint { append, point }))
            .map(move |second| Deaths(vec![first, second]))
    };
    let mut all: Vec<Deaths> = every_point(reference)
        .into_iter()
        .flat_map(second)
        .collect();
    if !is_full() {
        while SECOND_DEATHS < all.len() {
            let left_out = draw.below(u64::try_from(all.len()).expect("few"));
            all.swap_remove(usize::try_from(left_out).expect("few"));
        }
    }
    all
}
