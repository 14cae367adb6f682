//! A campaign that cannot begin says what to write instead.

use mainstay_chaos::{
    Blast, Campaign, Fault, Faults, Guarantees, Kind, Schedule, SimModel, SimReceiver, campaign,
};

use crate::classes::{over, purchase};

fn told(campaign: Campaign<String, String>) -> String {
    campaign.report().expect_err("it cannot begin").to_string()
}

#[test]
fn each_misuse_names_the_fix() {
    let bare = || campaign(purchase()).check(Guarantees::all());
    let ready = || over(purchase());
    let cases: Vec<(Campaign<String, String>, &str)> = vec![
        (bare(), "no workload: say .workload(|rng| ..)"),
        (ready().seeds(0), "zero seeds try nothing: say .seeds(1)"),
        (ready().runs(0), "zero runs try nothing: say .runs(1)"),
        (
            ready().runs(65),
            "65 runs in one world are too many: at most 64",
        ),
        (
            ready().dependency("price", SimModel::new()),
            "asks no dependency `price`: .dependency(..) takes one of `orders`, `prices`",
        ),
        (
            ready().dependency("prices", SimModel::new()),
            "dependency `prices` is told twice",
        ),
        (
            bare()
                .workload(|_| String::new())
                .dependency("orders", SimModel::new()),
            "dependency `orders` is written to: its double is a SimReceiver, not a SimModel",
        ),
        (
            bare()
                .workload(|_| String::new())
                .dependency("prices", SimReceiver::new()),
            "dependency `prices` is read: its double is a SimModel, not a SimReceiver",
        ),
        (
            ready().faults(Faults::only([Kind::PartialReply])),
            "fault `partial_reply` has no target in this class: it is for dependencies that are \
             read and whose double has .cut_to(..)",
        ),
        (
            ready().faults(Faults::planned(Schedule {
                faults: vec![Fault {
                    nth: Some(1),
                    ..Fault::of(Kind::ReplyLost)
                }],
            })),
            "fault `reply_lost` names no target: say `dependency = \"..\"`; it can befall `orders`",
        ),
        (
            ready().blast(Blast::everything().runs_per_mille(0)),
            "a share of 0 of 1,000 runs is none",
        ),
        (
            ready().blast(Blast::everything().dependencies(["ordres"])),
            "asks no dependency `ordres`",
        ),
        (
            campaign(purchase()).workload(|_| String::new()),
            "nothing is checked: say .check(Guarantees::all())",
        ),
    ];
    for (campaign, wanted) in cases {
        let told = told(campaign);
        assert!(told.contains(wanted), "{told}\nis not\n{wanted}");
    }
}

#[test]
fn a_dependency_that_waits_for_something_real_is_told_to_reply() {
    let bare = campaign(purchase()).workload(|_| String::new());
    let told = told(bare.check(Guarantees::all()).steady_state(
        |world: &mainstay_chaos::World<'_>| {
            let runs = world.runs();
            match runs.iter().find(|run| run.result.is_none()) {
                Some(run) => Err(format!("{:?}", run.outcome)),
                None => Ok(()),
            }
        },
    ));
    assert!(told.contains("no steady state"), "{told}");
}
