//! Bugs on purpose are seen.

use crate::size;

#[test]
fn every_bug_that_is_put_in_is_caught_by_the_property_that_should() {
    let seeds = size(100, 1_000);
    let tested = mainstay_chaos::selftest(seeds, |bug| println!("{bug:?}"));
    let missed: Vec<&str> = tested
        .bugs
        .iter()
        .filter(|bug| !bug.caught)
        .map(|bug| bug.name)
        .collect();
    assert!(
        missed.is_empty(),
        "not caught within {seeds} seeds: {missed:?}"
    );
    for bug in &tested.bugs {
        let few = bug.shortest.is_some_and(|shortest| shortest <= 3);
        assert!(
            bug.faults >= Some(20) && few,
            "more than a person follows: {bug:?}"
        );
    }
}
