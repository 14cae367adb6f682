//! The built-in model of the meeting class.

use mainstay_chaos::{Guarantees, meeting};

#[test]
fn the_meeting_class_holds_under_all_faults() {
    let seeds = std::env::var("SEEDS").map_or(300, |n| n.parse().expect("a number"));
    let report = meeting::campaign_of()
        .expect("a valid class")
        .check(Guarantees::all())
        .check(|world: &mainstay_chaos::World<'_>| {
            world.receiver("tickets").applied_per_key_at_most(1)
        })
        .seeds(seeds)
        .run();
    println!("{report}");
}
