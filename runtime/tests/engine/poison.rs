//! One run whose class's code panics: quarantined with its message, out of the way of all others,
//! also after a restart.

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_ledger::RunFilter;
use mainstay_machine::{OutcomeKind, RunState};
use mainstay_types::{Code, RunId};

use crate::world::outside::panicked;
use crate::world::{Does, Life, Minutes, World, minutes};

/// Where the code of a class panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    First,
    Request,
    List,
    Local,
    When,
    Result,
}

/// A class whose code panics at `at`, for minutes with the id `bad` only.
pub(crate) fn class(world: &World, at: At) -> Class<Minutes, u32> {
    let bad = move |m: &Minutes, here: At| {
        if m.id == "bad" && at == here {
            panicked(format!("the code at {here:?} panicked"));
        }
    };
    let mut g = TaskClass::<Minutes>::define("fragile", 1);
    g.budget(Budget::new().answer_by(secs(20)));
    let read = world.outside.read("anything");
    let first = g
        .read("first", &read, (), move |m, ()| {
            bad(m, At::First);
            m.question()
        })
        .add();
    let second = g
        .read("second", &read, first, move |m, _| {
            bad(m, At::Request);
            m.question()
        })
        .add();
    let counted = g
        .local("counted", second, move |m, told| {
            bad(m, At::Local);
            u32::try_from(told.actions.len()).expect("few")
        })
        .add();
    let asked = g.when("asked", counted, move |m, _| {
        bad(m, At::When);
        true
    });
    let written = g
        .each(
            "written",
            &world.outside.write("tickets"),
            second,
            50,
            move |m, told| {
                bad(m, At::List);
                crate::world::classes::tickets(told)
            },
        )
        .when(&asked)
        .add();
    g.finish((counted, written), move |m, (counted, _)| {
        bad(m, At::Result);
        *counted
    })
    .expect("a valid class")
}

fn quarantined(life: &Life) -> Vec<RunId> {
    let filter = RunFilter {
        state: Some(RunState::Quarantined),
        ..RunFilter::default()
    };
    let page = life.block_on(life.engine.runs(filter, None)).unwrap();
    page.rows.iter().map(|summary| summary.run).collect()
}

pub(crate) fn message(world: &World, id: RunId) -> String {
    world
        .state(id)
        .head()
        .unwrap()
        .quarantined
        .as_ref()
        .expect("it is quarantined")
        .to_string()
}

#[test]
fn code_that_panics_quarantines_its_run_and_no_other_and_stays_so_after_a_restart() {
    for at in [At::Request, At::Local, At::When, At::List, At::Result] {
        let world = World::new();
        let class = class(&world, at);
        let life = world.live(&[class.erased()]);
        let bad = life.block_on(async {
            let bad = life
                .engine
                .start(&class, minutes("bad", 2))
                .key("bad")
                .await
                .unwrap();
            let good = life
                .engine
                .start(&class, minutes("good", 2))
                .key("good")
                .await
                .unwrap();
            assert_eq!(
                good.outcome().await.unwrap().kind,
                OutcomeKind::Completed,
                "{at:?}"
            );
            let error = bad.outcome().await.unwrap_err();
            assert_eq!(error.code(), Code::RunQuarantined, "{at:?}");
            assert!(error.to_string().contains("panicked"), "{at:?}: {error}");
            let cancel = bad.cancel("me", "why").await.unwrap_err();
            assert_eq!(cancel.code(), Code::RunQuarantined, "{at:?}");
            bad.id()
        });
        let said = format!("CLASS_PANICKED: the code at {at:?} panicked");
        assert_eq!(message(&world, bad), said);
        assert_eq!(quarantined(&life), [bad], "{at:?}");
        let (appends, asks) = (world.ledger.log_of(bad).len(), world.outside.asks().len());
        life.crash();

        let life = world.live(&[class.erased()]);
        life.run_for(30_000);
        assert_eq!(
            world.ledger.log_of(bad).len(),
            appends,
            "{at:?}: not driven any more"
        );
        assert_eq!(world.outside.asks().len(), asks, "{at:?}");
        assert_eq!(quarantined(&life), [bad], "{at:?}");
        assert!(
            life.engine.not_driven().is_empty(),
            "nobody has to drive it"
        );
        let again = life.block_on(async {
            life.engine
                .run(&class, bad)
                .await
                .unwrap()
                .answer()
                .await
                .unwrap_err()
        });
        assert_eq!(again.code(), Code::RunQuarantined, "{at:?}");
    }
}

#[test]
fn code_that_panics_before_a_run_is_durable_is_told_to_the_caller_and_leaves_nothing() {
    let world = World::new();
    let class = class(&world, At::First);
    let life = world.live_with(|builder| builder.register(&class).runs_max(1));
    life.block_on(async {
        for _ in 0..3 {
            let start = life
                .engine
                .start(&class, minutes("bad", 1))
                .key("bad")
                .await;
            let error = start.unwrap_err();
            assert_eq!(error.code(), Code::ClassPanicked);
            assert!(
                error.to_string().contains("the code at First panicked"),
                "{error}"
            );
        }
        let good = life
            .engine
            .start(&class, minutes("good", 1))
            .await
            .expect("a place is free");
        assert_eq!(good.outcome().await.unwrap().kind, OutcomeKind::Completed);
    });
    assert_eq!(world.runs().len(), 1);
}

#[test]
fn what_is_out_for_a_quarantined_run_disturbs_nobody() {
    let world = World::new();
    let mut g = TaskClass::<Minutes>::define("fragile", 1);
    g.budget(Budget::new().answer_by(secs(20)));
    let slow = g
        .read("slow", &world.outside.read("slow"), (), |m, ()| {
            m.question()
        })
        .add();
    let quick = g
        .read("quick", &world.outside.read("quick"), (), |m, ()| {
            m.question()
        })
        .add();
    let after = g.read("after", &world.outside.read("quick"), quick, |_, _| {
        panicked("no".into())
    });
    let after = after.add();
    let class = g
        .finish((slow, after), |_, _| 0_u32)
        .expect("a valid class");
    world
        .outside
        .script(|ask| Does::Answer(if ask.call == "slow" { 900 } else { 10 }));
    let life = world.live(&[class.erased()]);
    let id = life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        assert_eq!(
            run.outcome().await.unwrap_err().code(),
            Code::RunQuarantined
        );
        run.id()
    });
    let appends = world.ledger.log_of(id).len();
    life.run_for(5_000);
    assert_eq!(world.ledger.log_of(id).len(), appends);
    assert_eq!(
        life.executor.strands(),
        1,
        "the keeper; its read is not waited for"
    );
}
