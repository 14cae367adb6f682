//! What attempts were seen to cost is reserved for them when it is more than the contract says, as
//! far as so much is left: a run whose contracts are too hopeful passes its limit by what one
//! attempt costs more than that, and not by what all of them do. It never refuses what the contract
//! allows.

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_machine::{BudgetState, OutcomeKind};
use mainstay_types::{CostUnits, limits};

use crate::world::{Does, Life, Minutes, World, minutes};

/// Reads in one run, all at once.
const READS: usize = 10;

/// Soft reads of one model in a run that may spend `limit` units, each of `contract` units.
fn class(world: &World, name: &str, (contract, limit): (u64, u64)) -> Class<Minutes, u64> {
    let mut g = TaskClass::<Minutes>::define(name, 1);
    let most = u32::try_from(READS).unwrap();
    let budget = Budget::new().answer_by(secs(30)).concurrency(most);
    g.budget(budget.cost(limit));
    let model = world.outside.read("model");
    let told: Vec<_> = (0..READS)
        .map(|n| {
            let call = g.read(&format!("told_{n}"), &model, (), |m, ()| m.question());
            call.cost(contract)
                .soft(format!("part {n} is missing"))
                .add()
        })
        .collect();
    g.finish(told[0], |_, _| 0).expect("a valid class")
}

/// Every answer costs so many units.
fn costs(world: &World, units: u64) {
    world
        .outside
        .script(move |_| Does::Bill(10, CostUnits::units(units), 0));
}

/// Twenty answers are seen by runs that can afford them.
fn see(world: &World, life: &Life, rich: &Class<Minutes, u64>) {
    let enough = usize::try_from(limits::SEEN_ATTEMPTS_MIN).unwrap();
    let before = world.outside.asks().len();
    while world.outside.asks().len() < before + enough {
        life.outcome(&life.start(rich, minutes("M", 0)));
    }
}

/// The newest run, once it is over.
fn spent(world: &World, life: &Life, class: &Class<Minutes, u64>) -> (OutcomeKind, BudgetState) {
    let run = life.start(class, minutes("M", 0));
    let kind = life.outcome(&run).kind;
    (kind, world.state(run.id()).head().unwrap().lap.budget)
}

#[test]
fn a_cost_seen_above_the_contracts_is_reserved_so_that_no_more_begin_than_can_be_paid() {
    let world = World::new();
    costs(&world, 3);
    let rich = class(&world, "rich", (1, 1_000));
    let poor = class(&world, "poor", (1, 10));
    let life = world.live(&[rich.erased(), poor.erased()]);

    // By the contract alone all ten are begun, and what they cost is known too late.
    let (kind, budget) = spent(&world, &life, &poor);
    assert_eq!(kind, OutcomeKind::Completed);
    assert_eq!(budget.spent, CostUnits::units(30));

    see(&world, &life, &rich);
    let asks = world.outside.asks().len();
    let run = life.start(&poor, minutes("M", 0));
    let begun = world.state(run.id()).head().unwrap().lap.budget;
    // What was seen is kept to two digits: nine units and a little. A fourth has what is left
    // later.
    assert!(CostUnits::units(9) <= begun.reserved, "{begun:?}");
    assert!(begun.reserved <= CostUnits::milli(9_100), "{begun:?}");
    let outcome = life.outcome(&run);
    assert_eq!(outcome.kind, OutcomeKind::Degraded);
    assert_eq!(outcome.notices.len(), READS - 4, "{outcome:?}");
    assert_eq!(world.outside.asks().len() - asks, 4);
    let budget = world.state(run.id()).head().unwrap().lap.budget;
    assert_eq!(budget.spent, CostUnits::units(12));
}

#[test]
fn a_cost_seen_below_the_contracts_reserves_no_less_than_the_contract_says() {
    let world = World::new();
    costs(&world, 1);
    let rich = class(&world, "rich", (3, 1_000));
    let poor = class(&world, "poor", (3, 10));
    let life = world.live(&[rich.erased(), poor.erased()]);
    see(&world, &life, &rich);
    let run = life.start(&poor, minutes("M", 0));
    let begun = world.state(run.id()).head().unwrap().lap.budget;
    assert_eq!(begun.reserved, CostUnits::units(9));
    // What is given back pays for the others, one after the other.
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Degraded);
    let budget = world.state(run.id()).head().unwrap().lap.budget;
    assert_eq!(budget.spent, CostUnits::units(8));
    world.must_be_sound();
}

#[test]
fn what_does_not_fit_by_what_was_seen_has_all_that_is_left_and_nothing_more_begins() {
    let world = World::new();
    costs(&world, 30);
    let rich = class(&world, "rich", (1, 1_000));
    let poor = class(&world, "poor", (1, 10));
    let life = world.live(&[rich.erased(), poor.erased()]);
    see(&world, &life, &rich);
    let asks = world.outside.asks().len();
    let (kind, budget) = spent(&world, &life, &poor);
    assert_eq!(kind, OutcomeKind::Degraded);
    assert_eq!(budget.spent, CostUnits::units(30));
    assert_eq!(world.outside.asks().len(), asks + 1);
}
