//! A process is killed at random moments, many of them while it opens its store: what it was told
//! is durable is there byte for byte, and what it was not told is there whole or not at all.

use std::sync::Mutex;

use mainstay_tests::campaign::{Campaign, name_of};
use mainstay_tests::ordeal::case::Seeded;
use mainstay_tests::ordeal::house::SEGMENT_BYTES_SMALL;
use mainstay_tests::ordeal::series::{Series, Tally};
use mainstay_tests::ordeal::writer::{Load, Programs};
use mainstay_tests::seed::Draw;

use crate::{count, programs};

/// Deaths of one store.
const DEATHS: u64 = 10;

#[test]
fn after_each_of_many_kills_what_was_acknowledged_is_there_and_nothing_is_half_there() {
    let test = after_each_of_many_kills_what_was_acknowledged_is_there_and_nothing_is_half_there;
    let draw = Draw::new("kills");
    let cases = Seeded::many(&draw, count(60, 500) / DEATHS);
    let all = Mutex::new(Tally::default());
    let campaign = Campaign::of(name_of(test)).drawn_from(draw.seed());
    campaign.run(cases, |case, told| {
        let tally = one_store(case.0, told);
        all.lock().expect("nobody panics with it").add(&tally);
    });
    let all = all.into_inner().expect("nobody panics with it");
    println!("{all:?}");
    assert!(
        0 < all.found && all.found < all.unanswered,
        "only one kind of end: {all:?}"
    );
}

fn one_store(seed: u64, told: &str) -> Tally {
    // Small segments are filled, sealed and freed within a few rounds.
    let programs = Programs {
        segment_bytes: seed.is_multiple_of(2).then_some(SEGMENT_BYTES_SMALL),
        ..programs()
    };
    let mut series = Series::new(&programs, seed);
    while !series.is_over(usize::try_from(DEATHS).expect("few")) {
        let lanes = *series.dice.one(&[1, 4, 12]);
        let load = Load {
            lanes,
            deeds: 2_400 / lanes,
            limit_per_mille: 2,
        };
        let moment = series.moment();
        series.die(moment, load);
        series.check(told);
    }
    series.tally
}
