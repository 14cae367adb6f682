//! Bugs on purpose are seen.

use crate::size;

#[test]
fn every_bug_that_is_put_in_is_caught_by_the_property_that_should() {
    let seeds = size(150, 1_000);
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
    // The search stops by itself after this time, which a debug build on a busy machine takes.
    let is_whole = |ms: &u64| *ms < 8_000;
    let whole = tested.bugs.iter();
    for bug in whole.filter(|bug| bug.shrunk_in_ms.as_ref().is_none_or(is_whole)) {
        let few = bug.shortest.is_some_and(|shortest| shortest <= 3);
        assert!(
            bug.faults >= Some(20) && few,
            "more than a person follows: {bug:?}"
        );
    }
}
