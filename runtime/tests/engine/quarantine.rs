//! Quarantine and the ways out of it: aborts that are counted, lifting, terminating; also when the
//! run cannot be folded or the core panics at its sight.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_ledger::{Ledger, RunFilter};
use mainstay_machine::{AlertKind, Core, OutcomeKind, RunState, StateReason, Summary};
use mainstay_types::{Code, LapNo, RunId};
use parking_lot::Mutex;

use crate::bugs::{Buggy, In};
use crate::poison::{self, At};
use crate::terminating::terminated;
use crate::world::classes::{NewTicket, chain};
use crate::world::outside::panicked;
use crate::world::{Does, Life, Minutes, World, minutes};

fn row(life: &Life, id: RunId) -> Summary {
    let page = life
        .block_on(life.engine.runs(RunFilter::default(), None))
        .unwrap();
    let row = page.rows.into_iter().find(|row| row.run == id);
    row.expect("it is listed")
}

fn is_quarantined(life: &Life, id: RunId, code: Code) -> bool {
    let row = row(life, id);
    row.state == RunState::Quarantined && row.reason == Some(StateReason::Code(code))
}

/// Two runs of a chain, both with a read out.
fn two_open(world: &World) -> (Class<Minutes, String>, Life, [RunId; 2]) {
    world.outside.script(|_| Does::Answer(500));
    let class = chain(&world.outside, 3);
    let life = world.live(&[class.erased()]);
    let ids = ["one", "two"].map(|id| life.start(&class, minutes(id, 0)).id());
    life.run_for(10);
    (class, life, ids)
}

fn with_core(world: &World, class: &Class<Minutes, String>, core: impl Core + 'static) -> Life {
    world.live_with(|builder| builder.register(class).core(Arc::new(core)))
}

/// F33: three aborts in a row while the same run was being executed.
#[test]
fn f33_a_run_that_was_executed_at_three_aborts_is_quarantined_before_it_is_folded() {
    let world = World::new();
    let (class, life, [bad, good]) = two_open(&world);
    life.crash();
    world.ledger.blame(bad, 3);
    // Whoever folds it meets the bug that aborts processes.
    let core = || Buggy::new(&Arc::new(Mutex::new(Some(bad))), In::Fold);
    let life = with_core(&world, &class, core());
    assert!(
        is_quarantined(&life, bad, Code::ProcessAborted),
        "{:?}",
        row(&life, bad)
    );
    assert_eq!(life.outcome_of(&class, good).kind, OutcomeKind::Completed);
    let alerts = world.alerts();
    assert_eq!(alerts.len(), 1);
    assert_eq!(
        (alerts[0].alert.run, alerts[0].alert.kind),
        (bad, AlertKind::Quarantined)
    );
    assert_eq!(alerts[0].alert.reason, "PROCESS_ABORTED");
    life.run_for(60_000);
    life.crash();

    let appends = world.ledger.log_of(bad).len();
    let life = with_core(&world, &class, core());
    life.run_for(60_000);
    assert_eq!(
        world.ledger.log_of(bad).len(),
        appends,
        "once, not once per life"
    );
    assert_eq!(world.alerts().len(), 1);
    world.rows_say_what_the_log_says();
}

#[test]
fn two_aborts_in_a_row_quarantine_nobody() {
    let world = World::new();
    let (class, life, ids) = two_open(&world);
    life.crash();
    world.ledger.blame(ids[0], 2);
    let life = world.live(&[class.erased()]);
    for id in ids {
        assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::Completed);
    }
    assert_eq!(world.alerts().len(), 0);
}

#[test]
fn a_store_without_room_does_not_let_a_run_be_folded_that_is_to_be_quarantined_first() {
    let world = World::new();
    let (class, life, [bad, good]) = two_open(&world);
    life.crash();
    world.ledger.blame(bad, 3);
    world.ledger.full(true);
    let executor = world.executor();
    let core = Arc::new(Buggy::new(&Arc::new(Mutex::new(Some(bad))), In::Fold));
    let folded = Arc::clone(&core);
    let builder = world.builder(&executor).register(&class).core(core);
    let engine = executor.block_on(async {
        let mut start = Box::pin(builder.start());
        tokio::select! {
            biased;
            engine = &mut start => engine,
            () = mainstay_types::Timers::sleep(&world.timers, secs(3)) => {
                world.ledger.full(false);
                start.await
            }
        }
    });
    let life = Life {
        engine: engine.expect("there is room in the end"),
        executor,
    };
    assert!(
        is_quarantined(&life, bad, Code::ProcessAborted),
        "{:?}",
        row(&life, bad)
    );
    assert!(!folded.was_met(), "it was never folded");
    assert_eq!(life.outcome_of(&class, good).kind, OutcomeKind::Completed);
}

#[test]
fn a_run_that_was_quarantined_for_aborts_is_lifted_and_driven_to_its_end() {
    let world = World::new();
    let (class, life, [bad, _]) = two_open(&world);
    life.crash();
    world.ledger.blame(bad, 3);
    let life = world.live(&[class.erased()]);
    world.ledger.blame_nobody();
    assert!(is_quarantined(&life, bad, Code::ProcessAborted));
    let lap = life.block_on(life.engine.continue_run(bad, "me", "deployed a fix"));
    assert_eq!(lap.unwrap(), LapNo(1), "in the lap it was in");
    assert_eq!(life.outcome_of(&class, bad).kind, OutcomeKind::Completed);
    world.must_be_sound();
}

/// A write, then code that panics while `broken` says so.
fn fixable(world: &World, broken: &Arc<AtomicBool>) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("fixable", 1);
    g.budget(Budget::new().answer_by(secs(60)));
    let made = |m: &Minutes, ()| NewTicket {
        title: m.id.clone(),
    };
    let write = world.outside.write("orders");
    let written = g.write("order", &write, (), made).add();
    let broken = Arc::clone(broken);
    let read = world.outside.read("after");
    let after = g.read("after", &read, written, move |m, _| {
        if broken.load(Ordering::SeqCst) {
            panicked("the code is broken".to_owned());
        }
        m.question()
    });
    let after = after.add();
    g.finish((written, after), |_, (ticket, _)| ticket.id.clone())
        .expect("a valid class")
}

fn quarantined_by_its_code(world: &World, broken: &Arc<AtomicBool>) -> (Life, RunId) {
    let class = fixable(world, broken);
    let life = world.live(&[class.erased()]);
    let run = life.start_keyed(&class, minutes("M", 0));
    let error = life.block_on(run.outcome()).unwrap_err();
    assert_eq!(error.code(), Code::RunQuarantined);
    (life, run.id())
}

#[test]
fn what_was_answered_in_the_turn_that_panicked_is_kept() {
    let world = World::new();
    let broken = Arc::new(AtomicBool::new(true));
    let (_, id) = quarantined_by_its_code(&world, &broken);
    let history = world.history(id).join("\n");
    assert!(
        history.contains("EffectApplied order ANSWERED"),
        "{history}"
    );
    assert!(!history.contains("EffectInDoubt"), "{history}");
    world.must_be_sound();
}

#[test]
fn a_lifted_run_goes_on_where_it_was_once_its_code_is_mended() {
    let world = World::new();
    let broken = Arc::new(AtomicBool::new(true));
    let (life, id) = quarantined_by_its_code(&world, &broken);
    life.run_for(5_000);
    broken.store(false, Ordering::SeqCst);
    let lap = life.block_on(life.engine.continue_run(id, "me", "mended"));
    assert_eq!(lap.unwrap(), LapNo(1));
    let class = fixable(&world, &broken);
    assert_eq!(life.outcome_of(&class, id).kind, OutcomeKind::Completed);
    assert_eq!(world.outside.requests("orders").len(), 1);
    assert_eq!(world.ledger.count("QuarantineLifted"), 1);
    world.must_be_sound();
}

/// F33: lifted, and it panics again.
#[test]
fn f33_a_lifted_run_that_panics_again_is_quarantined_again_once_and_the_command_is_taken() {
    let world = World::new();
    let broken = Arc::new(AtomicBool::new(true));
    let (life, id) = quarantined_by_its_code(&world, &broken);
    for lifts in 1..4 {
        let lap = life.block_on(life.engine.continue_run(id, "me", "perhaps"));
        assert_eq!(lap.unwrap(), LapNo(1));
        life.run_for(10_000);
        let log = world.describe(id);
        assert_eq!(world.ledger.count("QuarantineLifted"), lifts, "{log}");
        assert_eq!(world.ledger.count("RunQuarantined"), lifts + 1, "{log}");
        assert!(is_quarantined(&life, id, Code::ClassPanicked));
        let inbox = life.block_on(world.ledger.inbox(id)).unwrap();
        assert!(inbox.is_empty(), "{inbox:?}");
    }
    let appends = world.ledger.log_of(id).len();
    life.crash();
    let class = fixable(&world, &broken);
    let life = world.live(&[class.erased()]);
    life.run_for(10_000);
    assert_eq!(
        world.ledger.log_of(id).len(),
        appends,
        "a restart lifts nothing"
    );
    world.must_be_sound();
}

/// A run that meets a bug in the core, quarantined for it or not even that.
fn bugged(world: &World, place: In) -> (Class<Minutes, String>, Life, RunId) {
    let (class, life, [bad, good]) = two_open(world);
    life.crash();
    let id = Arc::new(Mutex::new(Some(bad)));
    let life = with_core(world, &class, Buggy::new(&id, place).armed());
    life.run_for(1_000);
    assert_eq!(
        life.outcome_of(&class, good).kind,
        OutcomeKind::Completed,
        "{place:?}"
    );
    (class, life, bad)
}

const BUGS: [In; 5] = [
    In::Decide,
    In::DecideAlways,
    In::Fold,
    In::Pending,
    In::PendingAgain,
];

/// F33: terminate works on every one of them, and what is over stays over.
#[test]
fn f33_a_run_that_the_core_panics_at_is_terminated_and_stays_so_once_the_bug_is_gone() {
    for place in BUGS {
        let world = World::new();
        let (class, life, bad) = bugged(&world, place);
        terminated(&life, bad);
        life.run_for(5_000);
        // What the core panics at whenever it looks at the run cannot even be closed.
        let state = match place {
            In::Pending | In::PendingAgain => RunState::Quarantined,
            In::Decide | In::DecideAlways | In::Apply | In::Fold => RunState::Closed,
        };
        let wanted = (state, Some(OutcomeKind::Terminated));
        let listed = row(&life, bad);
        assert_eq!((listed.state, listed.outcome), wanted, "{place:?}");
        assert!(life.engine.not_driven().is_empty(), "{place:?}");
        if state == RunState::Closed {
            let again = life.block_on(life.engine.terminate(bad, "me", "again"));
            assert_eq!(again.unwrap_err().code(), Code::RunEnded, "{place:?}");
        }
        let asks = world.outside.asks().len();
        life.crash();

        let life = world.live(&[class.erased()]);
        life.run_for(10_000);
        let outcome = life.outcome_of(&class, bad);
        assert_eq!(
            outcome.kind,
            OutcomeKind::Terminated,
            "{place:?}: {}",
            world.describe(bad)
        );
        life.run_for(10_000);
        assert_eq!(
            world.outside.asks().len(),
            asks,
            "{place:?}: it is not driven on"
        );
        let listed = row(&life, bad);
        assert_eq!((listed.state, listed.outcome), wanted, "{place:?}");
        world.must_be_sound();
    }
}

#[test]
fn a_run_that_the_core_panicked_at_is_lifted_once_the_bug_is_gone() {
    for place in BUGS {
        let world = World::new();
        let (class, life, bad) = bugged(&world, place);
        life.crash();
        let life = world.live(&[class.erased()]);
        if row(&life, bad).state == RunState::Quarantined {
            let lap = life.block_on(life.engine.continue_run(bad, "me", "mended"));
            assert_eq!(lap.unwrap(), LapNo(1), "{place:?}");
        }
        let outcome = life.outcome_of(&class, bad);
        assert_eq!(
            outcome.kind,
            OutcomeKind::Completed,
            "{place:?}: {}",
            world.describe(bad)
        );
        world.must_be_sound();
    }
}

/// A command that the core panics at must not be taken again and again.
#[test]
fn a_command_that_the_core_panics_at_is_taken_once() {
    let world = World::new();
    let (class, life, [bad, _]) = two_open(&world);
    life.crash();
    let id = Arc::new(Mutex::new(None));
    let life = with_core(&world, &class, Buggy::new(&id, In::DecideAlways).armed());
    life.run_for(10);
    *id.lock() = Some(bad);
    let message = mainstay_types::MessageId::from_bytes([3; 16]);
    let cancel = mainstay_ledger::InboxCommand::Cancel {
        by: "me".into(),
        why: "no more".into(),
    };
    life.block_on(world.ledger.enqueue(bad, message, cancel))
        .unwrap();
    life.run_for(10_000);
    let inbox = life.block_on(world.ledger.inbox(bad)).unwrap();
    assert!(inbox.is_empty(), "{inbox:?}");
    let quarantined = world.ledger.count("RunQuarantined");
    assert_eq!(quarantined, 1);
    life.crash();
    let life = with_core(&world, &class, Buggy::new(&id, In::DecideAlways).armed());
    life.run_for(10_000);
    assert_eq!(world.ledger.count("RunQuarantined"), quarantined);
}

#[test]
fn what_was_left_of_a_code_that_panics_at_the_result_is_lifted_too() {
    let world = World::new();
    let class = poison::class(&world, At::Result);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("bad", 2));
    assert!(life.block_on(run.outcome()).is_err());
    let effects = world.outside.effects().len();
    life.block_on(life.engine.continue_run(run.id(), "me", "again"))
        .unwrap();
    life.run_for(5_000);
    assert_eq!(
        world.outside.effects().len(),
        effects,
        "what was written is not written again"
    );
    terminated(&life, run.id());
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Terminated);
    world.must_be_sound();
}
