//! Many runs at once: how many appends they take, and that a crash costs few more.

use mainstay_class::{Class, Extend, hours, secs};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::Engine;
use mainstay_types::{FailureKind, RunId};

use crate::world::classes::{meeting_as, walkthrough};
use crate::world::script::refused;
use crate::world::{Does, Minutes, Report, World, minutes};

const RUNS: usize = 64;
const ITEMS: usize = 4;
/// policy_rag, related_tickets, specialist, draft, ticket_write.
const CALLS: usize = 5;

fn class(world: &World) -> Class<Minutes, Report> {
    meeting_as(&world.outside, |g| {
        g.budget(walkthrough().answer_by(secs(60)).retries(30))
            .on_downtime(Extend(hours(1)));
    })
}

/// Every request takes another time, some fail and are retried, some replies of writes are lost.
fn busy_outside(world: &World) {
    let mut n = 0_u64;
    world.outside.script(move |ask| {
        n += 1;
        match (ask.dependency.as_str(), n % 11) {
            (_, 3) if ask.nth == 1 => Does::Fail(20, refused(FailureKind::Overloaded)),
            ("tickets", 7) if ask.nth == 1 => Does::Lose(n % 500),
            _ => Does::Answer(5 + (n * 37) % 400),
        }
    });
}

async fn start_all(engine: &Engine, class: &Class<Minutes, Report>) -> Vec<RunId> {
    let mut ids = Vec::new();
    for n in 0..RUNS {
        let key = format!("K{n}");
        let run = engine
            .start(class, minutes(&key, ITEMS))
            .key(&key)
            .await
            .expect("started");
        ids.push(run.id());
    }
    ids
}

async fn all_end(engine: &Engine, class: &Class<Minutes, Report>, ids: &[RunId]) {
    for &id in ids {
        let outcome = engine
            .run(class, id)
            .await
            .unwrap()
            .outcome()
            .await
            .unwrap();
        assert!(
            matches!(outcome.kind, OutcomeKind::Completed | OutcomeKind::Degraded),
            "{outcome:?}"
        );
    }
}

fn all_written_once(world: &World) {
    world.must_be_sound();
    assert_eq!(world.outside.effects().len(), RUNS * ITEMS);
}

#[test]
fn sixty_four_runs_take_an_append_per_call_item_run_and_retry_at_most() {
    let world = World::new();
    busy_outside(&world);
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    let ids = life.block_on(async {
        let ids = start_all(&life.engine, &class).await;
        all_end(&life.engine, &class, &ids).await;
        ids
    });
    let retries: usize = ids.iter().map(|&id| world.retries(id)).sum();
    assert!(10 < retries, "the outside has failed: {retries}");
    let bound = RUNS * (CALLS + ITEMS + 1) + retries + changed_controls(&world);
    let appends = usize::try_from(life.engine.appends()).unwrap();
    assert!(appends <= bound, "{appends} appends, bound {bound}");
    assert_eq!(appends, world.ledger.log().len());
    all_written_once(&world);
}

#[test]
fn after_a_crash_all_finish_with_one_append_more_per_open_run() {
    for crash_after in [0, 30, 150, 400, 900, 1_600] {
        let world = World::new();
        busy_outside(&world);
        let class = class(&world);
        let life = world.live(&[class.erased()]);
        let ids = life.block_on(start_all(&life.engine, &class));
        life.run_for(crash_after);
        let closed = world.ledger.count("RunClosed");
        life.crash();
        let life = world.live(&[class.erased()]);
        life.block_on(all_end(&life.engine, &class, &ids));
        let retries: usize = ids.iter().map(|&id| world.retries(id)).sum();
        let open = RUNS - closed;
        assert_eq!(
            world.ledger.count("LeaseTaken"),
            open,
            "one take-over per open run"
        );
        let bound = RUNS * (CALLS + ITEMS + 1) + retries + open + changed_controls(&world);
        let appends = world.ledger.log().len();
        assert!(
            appends <= bound,
            "crash at {crash_after}: {appends} appends, bound {bound}"
        );
        all_written_once(&world);
        for &id in &ids {
            let failed: usize = failures(&world, id);
            assert!(world.re_requests(id) <= world.interrupted(id) + failed);
        }
    }
}

/// Control attempts that changed something: found, absent, or asked to come back later.
fn changed_controls(world: &World) -> usize {
    let log = world.ledger.log();
    let events = log.iter().flat_map(|append| &append.events);
    let changed = events.filter(|stamped| {
        let text = format!("{:?}", stamped.event);
        stamped.event.name() == "ControlSettled"
            || text.contains("FoundApplied")
            || text.contains("AbsentAfterHorizon")
    });
    changed.count()
}

/// Attempts that failed for a reason of the outside's own.
fn failures(world: &World, id: RunId) -> usize {
    let events = world.ledger.events_of(id);
    let failed = events.iter().filter(|event| {
        matches!(
            event,
            mainstay_machine::Event::AttemptSettled {
                end: mainstay_machine::AttemptEnd::Failed(_),
                ..
            }
        )
    });
    failed.count()
}
