//! A core with a bug that one run meets: that run is quarantined, whatever the bug makes
//! impossible, and no other run notices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mainstay_machine::{Action, Command, Core, Event, Machine, OutcomeKind, Run};
use mainstay_types::{CallId, Code, Corrupt, Refusal, RunId, Timestamp};
use parking_lot::Mutex;

use crate::poison::{At, class, message};
use crate::world::outside::panicked;
use crate::world::{Does, World, minutes};

/// Where the core itself is made to panic for one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum In {
    Decide,
    DecideAlways,
    Apply,
    /// At the very first event, so that the run cannot be folded at all.
    Fold,
    Pending,
    /// Only when it is asked outside of a turn: twice for one state.
    PendingAgain,
}

/// A core with a bug that one run meets from its `after`th settlement on.
pub(crate) struct Buggy {
    bad: Arc<Mutex<Option<RunId>>>,
    place: In,
    armed: AtomicBool,
    seen: AtomicU64,
}

impl Buggy {
    pub(crate) fn new(bad: &Arc<Mutex<Option<RunId>>>, place: In) -> Self {
        Self {
            bad: Arc::clone(bad),
            place,
            armed: AtomicBool::new(false),
            seen: AtomicU64::new(0),
        }
    }

    /// From the beginning, not from the first settlement on.
    pub(crate) fn armed(self) -> Self {
        self.armed.store(true, Ordering::SeqCst);
        self
    }

    /// Whether somebody met the bug at the first event.
    pub(crate) fn was_met(&self) -> bool {
        self.place == In::Fold && self.seen.load(Ordering::SeqCst) != 0
    }

    fn is_bad(&self, run: &Run) -> bool {
        run.head()
            .is_some_and(|head| Some(head.run) == *self.bad.lock())
    }
}

impl Core for Buggy {
    fn may_start(&self, run: &Run, call: CallId, now: Timestamp) -> Result<(), Refusal> {
        Machine.may_start(run, call, now)
    }

    fn decide(&self, run: &Run, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let is_end = matches!(command, Command::Settle(_));
        if self.is_bad(run)
            && (self.place == In::DecideAlways || self.place == In::Decide && is_end)
        {
            panicked("a bug in decide".to_owned());
        }
        if self.is_bad(run) && is_end {
            self.armed.store(true, Ordering::SeqCst);
        }
        Machine.decide(run, command, now)
    }

    fn apply(&self, run: &mut Run, event: &Event) -> Result<(), Corrupt> {
        let is_end = matches!(event, Event::AttemptSettled { .. });
        if self.is_bad(run) && self.place == In::Apply && is_end {
            panicked("a bug in apply".to_owned());
        }
        if self.place == In::Fold
            && let Event::RunStarted(started) = event
            && Some(started.run) == *self.bad.lock()
        {
            self.seen.store(1, Ordering::SeqCst);
            panicked("a bug in apply".to_owned());
        }
        Machine.apply(run, event)
    }

    fn pending(&self, run: &Run, now: Timestamp) -> Vec<Action> {
        if self.is_bad(run) && self.armed.load(Ordering::SeqCst) {
            let again = self.seen.swap(run.seq().get(), Ordering::SeqCst) == run.seq().get();
            if self.place == In::Pending || (self.place == In::PendingAgain && again) {
                panicked("a bug in pending".to_owned());
            }
        }
        Machine.pending(run, now)
    }
}

/// F33: state that makes the engine panic each time it is driven.
#[test]
fn f33_a_bug_in_the_core_that_one_run_meets_quarantines_that_run_alone() {
    for place in [
        In::Decide,
        In::DecideAlways,
        In::Apply,
        In::Pending,
        In::PendingAgain,
    ] {
        let world = World::new();
        let class = class(&world, At::First);
        let bad = Arc::new(Mutex::new(None));
        let core = || Buggy::new(&bad, place);
        let build = |core| world.live_with(|b| b.register(&class).core(Arc::new(core)));
        let life = build(core());
        let id = life.block_on(async {
            let run = life.engine.start(&class, minutes("one", 2)).await.unwrap();
            *bad.lock() = Some(run.id());
            let good = life.engine.start(&class, minutes("two", 2)).await.unwrap();
            let error = run.outcome().await.unwrap_err();
            assert_eq!(error.code(), Code::RunQuarantined, "{place:?}: {error}");
            assert_eq!(
                good.outcome().await.unwrap().kind,
                OutcomeKind::Completed,
                "{place:?}"
            );
            run.id()
        });
        assert!(
            message(&world, id).starts_with("TURN_PANICKED: a bug in"),
            "{place:?}"
        );
        let appends = world.ledger.log_of(id).len();
        life.crash();
        let life = build(core());
        life.run_for(30_000);
        assert_eq!(world.ledger.log_of(id).len(), appends, "{place:?}");
        let good = life.outcome(&life.start(&class, minutes("three", 1)));
        assert_eq!(good.kind, OutcomeKind::Completed, "{place:?}");
    }
}

#[test]
fn a_bug_that_a_run_meets_at_the_restart_quarantines_it_there() {
    for place in [In::DecideAlways, In::Pending, In::PendingAgain] {
        let world = World::new();
        world.outside.script(|_| Does::Answer(500));
        let class = class(&world, At::First);
        let life = world.live(&[class.erased()]);
        let ids = life.block_on(async {
            let one = life
                .engine
                .start(&class, minutes("one", 2))
                .await
                .unwrap()
                .id();
            let two = life
                .engine
                .start(&class, minutes("two", 2))
                .await
                .unwrap()
                .id();
            [one, two]
        });
        life.crash();
        let bad = Arc::new(Mutex::new(Some(ids[0])));
        let core = Arc::new(Buggy::new(&bad, place).armed());
        let life = world.live_with(|builder| builder.register(&class).core(core));
        life.block_on(async {
            let two = life.engine.run(&class, ids[1]).await.unwrap();
            assert_eq!(
                two.outcome().await.unwrap().kind,
                OutcomeKind::Completed,
                "{place:?}"
            );
        });
        assert!(message(&world, ids[0]).contains("a bug in"), "{place:?}");
    }
}

#[test]
fn a_log_that_the_core_cannot_fold_is_listed_and_holds_up_nobody() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(500));
    let class = class(&world, At::First);
    let life = world.live(&[class.erased()]);
    let ids = life.block_on(async {
        let one = life
            .engine
            .start(&class, minutes("one", 2))
            .await
            .unwrap()
            .id();
        let two = life
            .engine
            .start(&class, minutes("two", 2))
            .await
            .unwrap()
            .id();
        [one, two]
    });
    life.run_for(700);
    life.crash();
    let bad = Arc::new(Mutex::new(Some(ids[0])));
    let core = Arc::new(Buggy::new(&bad, In::Apply));
    let life = world.live_with(|builder| builder.register(&class).core(core));
    let listed = life.engine.not_driven();
    assert_eq!(
        listed.iter().map(|entry| entry.run).collect::<Vec<_>>(),
        [ids[0]]
    );
    assert!(listed[0].detail.contains("a bug in apply"), "{listed:?}");
    life.block_on(async {
        assert!(life.engine.run(&class, ids[0]).await.is_err());
        let two = life.engine.run(&class, ids[1]).await.unwrap();
        assert_eq!(two.outcome().await.unwrap().kind, OutcomeKind::Completed);
    });
}
