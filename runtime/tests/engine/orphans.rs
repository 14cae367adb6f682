//! Remote work that a run gave up: waited for as long as somebody has to, told, taken over, closed,
//! and heard of whoever drives the run.

use std::future::IntoFuture;

use mainstay_class::{Budget, Class, OnLate, TaskClass, mins, ms, secs};
use mainstay_ledger::{InboxCommand, Ledger};
use mainstay_machine::{AlertKind, OutcomeKind, RunState, SettleEnd, Stand};
use mainstay_runtime::{OrphanFilter, OrphanRow};
use mainstay_types::{
    AlertSeq, AttemptNo, CallId, Code, CostUnits, Failure, FailureKind, MessageId, Payload, RunId,
    Sent,
};

use crate::world::classes::{Question, Told};
use crate::world::witness::witnessed;
use crate::world::{Does, Life, Minutes, Moment, World, minutes};

const ANNA: (&str, &str) = ("anna (uid:1000)", "it is our search");
const TOLD: (&str, AttemptNo) = ("told", AttemptNo(1));

/// One read that may take two seconds and answers nothing, whose late answers are dealt with so.
fn class(world: &World, on_late: OnLate) -> Class<Minutes, String> {
    world.outside.script(|_| Does::Hang);
    let mut g = TaskClass::<Minutes>::define("late", 1);
    g.budget(Budget::new().answer_by(secs(60)));
    let question = |m: &Minutes, ()| -> Question { m.question() };
    let told = g
        .read("told", &world.outside.read("told"), (), question)
        .timeout(secs(2))
        .on_late(on_late)
        .orphan_ttl(mins(5))
        .add();
    g.finish(told, |_, told: &Told| told.by.clone())
        .expect("a valid class")
}

/// A run that was canceled after 100 ms.
fn canceled(life: &Life, class: &Class<Minutes, String>) -> RunId {
    let run = life.start(class, minutes("M", 0));
    life.run_for(100);
    let outcome = life.block_on(async {
        run.cancel("bob", "not needed").await.unwrap();
        run.outcome().await.unwrap()
    });
    assert_eq!(outcome.kind, OutcomeKind::Canceled);
    run.id()
}

fn listed(life: &Life, overdue: bool) -> Vec<OrphanRow> {
    let filter = OrphanFilter { run: None, overdue };
    let page = life.block_on(life.engine.orphans(filter, None)).unwrap();
    assert_eq!(page.next, None);
    page.rows
}

fn state(world: &World, run: RunId) -> RunState {
    mainstay_machine::view::state(&world.state(run)).unwrap()
}

fn stand(world: &World, run: RunId) -> Stand {
    let state = world.state(run);
    let made = state.calls().get(CallId(0)).unwrap().attempt(TOLD.1);
    made.unwrap().orphan().unwrap().stand
}

fn alerts(life: &Life, kind: AlertKind) -> usize {
    let page = life.block_on(life.engine.alerts(AlertSeq(0))).unwrap();
    let of_kind = page.rows.iter().filter(|stored| stored.alert.kind == kind);
    of_kind.count()
}

/// What another process learned of the attempt that is out comes into the run's inbox.
fn reports(life: &Life, world: &World, run: RunId, (nth, end): (u8, SettleEnd)) {
    let (call, attempt) = (CallId(0), TOLD.1);
    let command = InboxCommand::Settle { call, attempt, end };
    let message = MessageId::from_bytes([nth; 16]);
    let enqueued = life.block_on(world.ledger.enqueue(run, message, command));
    enqueued.expect("it is stored");
    life.run_for(1_000);
}

fn answer() -> SettleEnd {
    SettleEnd::Answered {
        result: Payload::from(r#"{"by":"told","actions":[]}"#),
        cost: Some(CostUnits::milli(300)),
        client_retries: 0,
    }
}

fn times(world: &World, run: RunId, event: &str) -> usize {
    world.history(run).join(", ").matches(event).count()
}

#[test]
fn what_is_reviewed_leaves_memory_comes_back_at_its_time_and_is_told_until_somebody_closes_it() {
    let world = World::new();
    let class = class(&world, OnLate::Review);
    let life = world.live(&[class.erased()]);
    let run = canceled(&life, &class);
    life.run_for(1_000);
    assert_eq!(life.in_memory(), 0, "{}", world.describe(run));
    assert_eq!(state(&world, run), RunState::Ended);
    let rows = listed(&life, false);
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(
        (row.run, row.call.as_str(), row.attempt, row.owner.as_str()),
        (run, "told", AttemptNo(1), "bob")
    );
    assert_eq!((row.state, row.on_late), ("running", OnLate::Review));
    assert_eq!(row.until.since(row.sent_at), ms(302_000));
    assert_eq!(listed(&life, true), []);
    life.run_for(300_800);
    assert_eq!(alerts(&life, AlertKind::OrphanOverdue), 0);
    life.run_for(200);
    assert_eq!(alerts(&life, AlertKind::OrphanOverdue), 1, "by itself");
    assert_eq!(listed(&life, true)[0].state, "overdue");
    life.run_for(3_600_000);
    assert_eq!(alerts(&life, AlertKind::OrphanOverdue), 1, "once");
    assert_eq!(state(&world, run), RunState::Ended);
    let view = life.block_on(life.engine.view(run)).unwrap();
    assert!(
        view.waiting_for[0].starts_with("told: bob to close"),
        "{view:?}"
    );
    let closed = life.block_on(life.engine.close_orphan(run, TOLD, ANNA));
    closed.expect("it is open");
    life.run_for(100);
    assert_eq!(state(&world, run), RunState::Closed);
    assert_eq!(listed(&life, false), []);
    world.must_be_sound();
}

#[test]
fn what_is_left_to_its_time_is_listed_until_then_and_nothing_is_appended_for_it() {
    let world = World::new();
    let class = class(&world, OnLate::Drop);
    let life = world.live(&[class.erased()]);
    let run = canceled(&life, &class);
    life.run_for(1_000);
    assert_eq!(state(&world, run), RunState::Closed);
    assert_eq!(listed(&life, false).len(), 1);
    let appends = world.ledger.appends();
    life.run_for(600_000);
    assert_eq!(listed(&life, false), []);
    assert_eq!(world.ledger.appends(), appends);
    for refused in [
        life.block_on(life.engine.close_orphan(run, TOLD, ANNA)),
        life.block_on(life.engine.close_orphan(run, ("told", AttemptNo(2)), ANNA)),
    ] {
        assert_eq!(refused.unwrap_err().code(), Code::OrphanNotThere);
    }
    let unknown = ("asked", AttemptNo(1));
    let refused = life.block_on(life.engine.close_orphan(run, unknown, ANNA));
    assert_eq!(refused.unwrap_err().code(), Code::CallUnknown);
}

#[test]
fn a_closed_run_is_open_again_while_a_person_waits_and_closes_when_it_is_heard_of() {
    let world = World::new();
    let class = class(&world, OnLate::Drop);
    let life = world.live(&[class.erased()]);
    let run = canceled(&life, &class);
    life.run_for(1_000);
    let too_long = life.block_on(life.engine.adopt_orphan(run, TOLD, mins(20_000), ANNA));
    assert_eq!(too_long.unwrap_err().code(), Code::InvalidInput);
    let adopted = life.block_on(life.engine.adopt_orphan(run, TOLD, mins(60), ANNA));
    let rows = listed(&life, false);
    assert_eq!(rows, [adopted.unwrap()]);
    assert_eq!(rows[0].state, "adopted");
    assert_eq!(rows[0].owner, ANNA.0);
    assert_eq!(state(&world, run), RunState::Ended);
    life.crash();

    let life = world.live(&[class.erased()]);
    life.run_for(3_600_000);
    assert_eq!(alerts(&life, AlertKind::OrphanOverdue), 1);
    reports(&life, &world, run, (1, answer()));
    reports(&life, &world, run, (2, answer()));
    assert_eq!(
        times(&world, run, "OrphanObserved"),
        2,
        "overdue, then heard"
    );
    assert_eq!(times(&world, run, "LateResult"), 1);
    assert_eq!(state(&world, run), RunState::Closed);
    let spent = world.state(run).head().unwrap().lap.budget.spent;
    assert_eq!(spent, CostUnits::milli(300), "paid once, at what it cost");
    world.must_be_sound();
}

#[test]
fn a_report_that_it_stopped_closes_a_run_that_nobody_has_in_memory() {
    let world = World::new();
    let class = class(&world, OnLate::Review);
    let life = world.live(&[class.erased()]);
    let run = canceled(&life, &class);
    life.run_for(1_000);
    let lost = Failure::new(FailureKind::TransientTransport, Sent::MaybeSent);
    reports(&life, &world, run, (1, SettleEnd::Failed(lost)));
    assert_eq!(state(&world, run), RunState::Ended, "it tells nothing");
    let stopped = Failure::new(FailureKind::Canceled, Sent::Answered);
    reports(&life, &world, run, (2, SettleEnd::Failed(stopped)));
    assert_eq!(state(&world, run), RunState::Closed);
    let view = life.block_on(life.engine.view(run)).unwrap();
    let told: Vec<&str> = view.timeline.iter().map(|row| row.text.as_str()).collect();
    let said = |words: &str| told.iter().any(|text| text.contains(words));
    assert!(said("bob asked the run to stop: not needed"), "{told:#?}");
    assert!(
        said("told attempt 1 was told to stop and may go on; it is bob's until +302.000 s"),
        "{told:#?}"
    );
    assert!(said("told attempt 1 was seen to have stopped"), "{told:#?}");
    let orphan = view.calls[0].attempts[0].orphan.as_ref().unwrap();
    assert_eq!((orphan.owner.as_str(), orphan.state), ("bob", "canceled"));
}

#[test]
fn a_kept_answer_is_the_value_in_the_next_lap_and_nobody_is_asked_again() {
    let world = World::new();
    let mut g = TaskClass::<Minutes>::define("late", 1);
    world.outside.script(|_| Does::Hang);
    g.budget(Budget::new().answer_by(secs(1)));
    let question = |m: &Minutes, ()| -> Question { m.question() };
    let told = g
        .read("told", &world.outside.read("told"), (), question)
        .timeout(secs(30))
        .on_late(OnLate::Keep)
        .add();
    let class = g
        .finish(told, |_, told: &Told| told.by.clone())
        .expect("a valid class");
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 0));
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
    reports(&life, &world, run.id(), (1, answer()));
    let asked = world.outside.asks().len();
    let lap = life.block_on(life.engine.continue_run(run.id(), ANNA.0, ANNA.1));
    assert_eq!(lap.unwrap().get(), 2);
    let outcome = life.outcome_of(&class, run.id());
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(outcome.result.as_deref(), Some("told"));
    assert_eq!(
        world.outside.asks().len(),
        asked,
        "{}",
        world.describe(run.id())
    );
    let view = life.block_on(life.engine.view(run.id())).unwrap();
    let kept = "told has its value from the late answer of attempt 1, which was kept";
    let mut told = view.timeline.iter();
    assert!(told.any(|row| row.text.starts_with(kept)), "{view:#?}");
    world.must_be_sound();
}

#[test]
fn two_who_take_it_over_at_once_are_told_apart() {
    let world = World::new();
    let class = class(&world, OnLate::Review);
    let life = world.live(&[class.erased()]);
    let run = canceled(&life, &class);
    let (one, two) = life.block_on(async {
        tokio::join!(
            life.engine.adopt_orphan(run, TOLD, mins(10), ANNA),
            life.engine
                .adopt_orphan(run, TOLD, mins(20), ("eve", "mine")),
        )
    });
    let refused = [one, two].into_iter().filter_map(Result::err);
    let refused: Vec<Code> = refused.map(|error| error.code()).collect();
    assert_eq!(refused, [Code::OrphanNotThere]);
    assert_eq!(times(&world, run, "OrphanAdopted"), 1);
}

#[test]
fn a_wish_is_durable_once_it_is_taken_and_heard_after_any_crash_on_the_way() {
    let appends = closed_by_crash(&World::new(), None);
    assert!(0 < appends, "{appends}");
    for at in 1..=appends {
        for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
            closed_by_crash(&World::new(), Some((at, moment)));
        }
    }
}

/// Has an orphan closed while the process dies at such an append from then on. How many there
/// were.
fn closed_by_crash(world: &World, dies: Option<(usize, Moment)>) -> usize {
    let class = class(world, OnLate::Review);
    let mut life = world.live(&[class.erased()]);
    let run = canceled(&life, &class);
    life.run_for(1_000);
    let before = world.ledger.appends();
    if let Some((at, moment)) = dies {
        world.ledger.trap(at, moment);
        let close = life.engine.close_orphan(run, TOLD, ANNA).into_future();
        life.block_on(async {
            tokio::select! {
                biased;
                () = world.ledger.crash() => {}
                _ = close => {}
            }
        });
        life.crash();
        world.ledger.disarm();
        life = world.live(&[class.erased()]);
        life.run_for(1_000);
    }
    // Whoever was not told asks again.
    let closed = life.block_on(life.engine.close_orphan(run, TOLD, ANNA));
    closed.expect("it is closed, or was");
    life.run_for(1_000);
    assert_eq!(stand(world, run), Stand::Closed);
    assert_eq!(times(world, run, "OrphanClosed"), 1);
    assert_eq!(times(world, run, "RunClosed"), 1);
    world.must_be_sound();
    usize::try_from(world.ledger.appends() - before).expect("few")
}

#[test]
fn what_happens_to_an_orphan_is_counted_by_place_and_state_and_by_nothing_that_names_a_user() {
    let world = World::new();
    let class = class(&world, OnLate::Review);
    let (_, told) = witnessed(|| {
        let life = world.live(&[class.erased()]);
        let run = canceled(&life, &class);
        life.run_for(400_000);
        let adopted = life.block_on(life.engine.adopt_orphan(run, TOLD, mins(60), ANNA));
        adopted.expect("it is overdue, and so open");
        reports(&life, &world, run, (1, answer()));
        let second = canceled(&life, &class);
        let closed = life.block_on(life.engine.close_orphan(second, TOLD, ANNA));
        closed.expect("it is open");
    });
    let count = |state: &str| told.count("mainstay_orphan_task_total", &format!("state={state}"));
    let states = [
        "given_up",
        "still_running",
        "adopted",
        "completed_late",
        "closed",
        "failed",
    ];
    assert_eq!(states.map(count), [2, 1, 1, 1, 1, 0]);
    let labels: Vec<&String> = told.counters.keys().collect();
    let named = labels
        .iter()
        .any(|label| label.contains("anna") || label.contains("bob"));
    assert!(!named, "{labels:?}");
}

#[test]
fn what_is_overdue_is_listed_though_nobody_has_the_code_that_drives_its_run() {
    let world = World::new();
    let class = class(&world, OnLate::Review);
    let life = world.live(&[class.erased()]);
    let run = canceled(&life, &class);
    life.crash();
    let life = world.live(&[]);
    let taken = life.engine.adopt_orphan(run, TOLD, mins(1), ANNA);
    life.block_on(taken).unwrap();
    assert_eq!(listed(&life, true), []);
    life.run_for(61_000);
    let rows = listed(&life, true);
    assert_eq!(rows.len(), 1, "{}", world.describe(run));
    assert_eq!((rows[0].run, rows[0].owner.as_str()), (run, ANNA.0));
    let filter = OrphanFilter {
        run: Some(RunId::from_bytes([9; 16])),
        overdue: false,
    };
    let unknown = life.block_on(life.engine.orphans(filter, None));
    assert_eq!(unknown.unwrap_err().code(), Code::RunUnknown);
}
