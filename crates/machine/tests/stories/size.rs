//! A long list comes to its end: every item once, at what it costs.

use std::sync::Arc;

use crate::scenario::build;
use crate::scenario::fair::{self, Fate, Receiver};
use crate::scenario::parse::Script;
use crate::scenario::world::{Facts, World};

#[test]
fn three_hundred_items_are_three_hundred_effects() {
    let script = Script::parse(
        "
        each   ticket_write cost=0.01 max=300 scope=business
        start  concurrency=64 answer_by=1h
    ",
    );
    let mut facts = Facts::default();
    facts.lists.insert("ticket_write".to_owned(), 300);
    let mut world = World::new(Arc::new(build::class(&script)), facts);
    world.rehearse = false;
    world.begin();
    let mut receiver = Receiver::of(&world, Fate::Lost);
    assert!(fair::drive(&mut world, &mut receiver));
    let head = world.run.head().expect("started");
    let outcome = head.lap.outcome.as_ref().map(|outcome| outcome.kind);
    assert_eq!(outcome, Some(mainstay_machine::OutcomeKind::Completed));
    assert_eq!(head.lap.budget.spent, mainstay_types::CostUnits::units(3));
}
