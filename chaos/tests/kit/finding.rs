//! What a campaign finds: the seed, the shortest schedule, the timeline; and what it lets pass.

use std::sync::atomic::{AtomicU64, Ordering};

use mainstay_chaos::{Blast, Faults, Kind, World};

use crate::classes::{over, purchase, purchase_by};

#[test]
fn a_check_that_fails_prints_its_seed_the_shortest_schedule_and_the_timeline() {
    let no_retry = |world: &World<'_>| match world.receiver("prices").requests() {
        0 | 1 => Ok(()),
        requests => Err(format!("{requests} requests for one price")),
    };
    let campaign = over(purchase()).seeds(200).check(no_retry);
    let report = campaign.report().expect("it can begin");
    let violation = report
        .violations
        .first()
        .expect("some price is asked twice");
    assert!(violation.schedule.faults.len() <= 2, "{report}");
    assert!(
        violation.schedule.faults.len() < violation.faults,
        "{report}"
    );
    assert!(!violation.timeline.is_empty());
    let text = report.to_string();
    for wanted in [
        &format!("seed {}", violation.seed),
        "shortest schedule found",
        "requests for one price",
        "timeline",
        &format!("again: MAINSTAY_SEED={}", violation.seed),
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let again = over(purchase())
        .seeds(1)
        .from(violation.seed)
        .check(no_retry);
    let again = again.report().expect("it can begin");
    assert_eq!(again.violations[0].breaches, violation.breaches);
    assert_eq!(again.violations[0].schedule, violation.schedule);
}

#[test]
fn code_that_depends_on_something_else_than_its_input_is_found_by_its_first_other_event() {
    let calls = AtomicU64::new(0);
    let counts = purchase_by(move |item| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        format!("{item} {call}")
    });
    let report = over(counts).seeds(16).report().expect("it can begin");
    let breach = &report.violations.first().expect("it is found").breaches[0];
    assert_eq!(breach.property, "G12", "{report}");
    assert!(
        breach
            .what
            .contains("the same seed gave another log: event"),
        "{report}"
    );
    assert!(breach.what.contains("CallPrepared"), "{report}");
}

#[test]
fn what_threads_there_are_makes_no_difference() {
    let with = |threads| {
        over(purchase())
            .threads(threads)
            .report()
            .expect("it can begin")
    };
    let (one, three) = (with(1), with(3));
    assert_eq!(one.log_hash, three.log_hash);
    assert_eq!(one.coverage, three.coverage);
}

#[test]
fn faults_stay_within_their_radius() {
    let blast = Blast::everything().dependencies(["prices"]);
    let faults = Faults::only([Kind::Refused, Kind::Slow]);
    let report = over(purchase())
        .faults(faults.clone())
        .blast(blast)
        .seeds(60)
        .run();
    assert!(
        report.coverage.iter().all(|row| row.call == "price"),
        "{report}"
    );
    let tenants = over(purchase())
        .tenants(["acme", "zeta"])
        .runs(2)
        .faults(faults.clone())
        .blast(Blast::everything().tenants(["nobody"]))
        .seeds(20);
    let report = tenants.report().expect("it can begin");
    assert!(
        report.violations.is_empty() && report.coverage.is_empty(),
        "{report}"
    );
    let half = over(purchase()).faults(faults.clone()).seeds(200);
    let half = half
        .blast(Blast::everything().runs_per_mille(500))
        .report()
        .expect("it begins");
    let all = over(purchase())
        .faults(faults)
        .seeds(200)
        .report()
        .expect("it begins");
    let hits = |report: &mainstay_chaos::Report| report.hits.values().sum::<u64>();
    assert!(hits(&half) * 4 < hits(&all) * 3, "{half}{all}");
}

#[test]
fn a_world_recovers_or_the_gate_says_that_it_does_not() {
    over(purchase()).recovers_within(30_000).run();
    let told = over(purchase()).recovers_within(1).report();
    let told = told.expect_err("nothing ends in a millisecond").to_string();
    assert!(
        told.contains("no steady state") && told.contains("recovery gate"),
        "{told}"
    );
    // So tight that it holds in the first world without faults, and not in all with some.
    let tight = over(purchase()).recovers_within(700).seeds(300).report();
    let tight = tight.expect("it holds without faults");
    let violation = tight.violations.first().expect("some double takes longer");
    let mut breaches = violation.breaches.iter();
    assert!(
        breaches.all(|breach| breach.property == "recovery gate"),
        "{tight}"
    );
}

/// A process that begins when everybody has heard everything is not there yet when the gate opens.
#[test]
fn the_gate_waits_for_an_engine_that_has_only_just_begun() {
    let deaths = [
        Kind::Killed,
        Kind::PowerLoss,
        Kind::FailedSync,
        Kind::Usurped,
    ];
    let often = over(purchase()).faults(Faults::only(deaths)).seeds(600);
    often.recovers_within(30_000).run();
}

#[test]
fn no_world_is_tried_after_so_many_violations() {
    let never = |_: &World<'_>| false;
    let report = over(purchase()).seeds(1).check(never).report();
    assert!(report.is_err(), "it does not even hold without faults");
    let few = |world: &World<'_>| world.receiver("orders").requests() <= 1;
    let report = over(purchase())
        .seeds(400)
        .threads(1)
        .abort_after(2)
        .check(few);
    let report = report.report().expect("it can begin");
    assert_eq!(report.violations.len(), 2, "{report}");
    assert!(report.schedules < 400, "{report}");
}
