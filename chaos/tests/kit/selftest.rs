//! Bugs on purpose are seen.

#[test]
fn every_bug_that_is_put_in_is_caught_by_the_property_that_should() {
    let seeds = std::env::var("SEEDS").map_or(300, |n| n.parse().expect("a number"));
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
}
