//! What is counted: each fact once, when it is durable, under names that tell no user from another.

use std::collections::BTreeMap;

use mainstay_class::{Budget, Extend, TaskClass, hours, secs};
use mainstay_machine::OutcomeKind;
use mainstay_runtime::observe::{Fact, Kind, METRICS, Place};
use mainstay_types::{Code, Failure, FailureKind, RunId};

use crate::world::classes::{meeting, meeting_as, single, single_as, walkthrough};
use crate::world::script::{busy, maybe_sent, refused};
use crate::world::witness::{Told, witnessed};
use crate::world::{Does, Minutes, Moment, World, minutes};

/// A meeting that goes wrong in every way that is counted.
fn troubled(world: &World) -> RunId {
    world.outside.script(|ask| match ask.dependency.as_str() {
        "policy" => Does::Fail(5, busy(50)),
        "search" => Does::Fail(5, refused(FailureKind::PermanentProvider)),
        "expert" => Does::Panic(5),
        "tickets" if ask.call.ends_with("[1]") && ask.nth == 1 => {
            Does::LandAndFail(0, 50, maybe_sent(FailureKind::TransientTransport))
        }
        _ => Does::Answer(10),
    });
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 2));
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Degraded);
    life.run_for(5_000);
    run.id()
}

fn line(fact: &Fact) -> String {
    let at = |place: &Place| format!("{} {}", place.node, place.dependency);
    match fact {
        Fact::LapEnded { class, outcome } => format!("lap {class} {}", outcome.as_str()),
        Fact::AskEnded { place, ask, end } => format!("{} {} {end}", ask.as_str(), at(place)),
        Fact::ClientRetried { place, times } => format!("client {} {times}", at(place)),
        Fact::CallEnded { place, attempts } => format!("call {} {attempts}", at(place)),
        Fact::BudgetExhausted { class, reason } => format!("limit {class} {reason}"),
        Fact::EffectUnknown { place, reason } => format!("unknown {} {reason}", at(place)),
        Fact::Orphan { place, state } => format!("orphan {} {state}", at(place)),
        Fact::FellBack { place, outcome } => format!("instead {} {}", at(place), outcome.as_str()),
    }
}

#[test]
fn facts_follow_from_events_alone() {
    let world = World::new();
    let id = troubled(&world);
    let mut said: Vec<String> = world.facts(id).iter().map(line).collect();
    said.sort();
    let expected = "
        attempt draft model ANSWERED
        attempt policy_rag policy OVERLOADED
        attempt policy_rag policy OVERLOADED
        attempt policy_rag policy OVERLOADED
        attempt policy_rag snapshot ANSWERED
        attempt related_tickets search PERMANENT_PROVIDER
        attempt specialist expert PERMANENT_PROVIDER
        attempt specialist summary ANSWERED
        attempt ticket_write tickets ANSWERED
        attempt ticket_write tickets EFFECT_UNKNOWN
        call draft model 1
        call policy_rag policy 4
        call related_tickets search 1
        call specialist expert 2
        call ticket_write tickets 1
        call ticket_write tickets 1
        instead policy_rag snapshot answered
        instead related_tickets search omitted
        instead specialist summary answered
        lap meeting degraded
        look_up ticket_write tickets FOUND_APPLIED
        unknown ticket_write tickets WRITE_RESPONSE_LOST
    ";
    let expected = expected.lines().map(str::trim);
    let expected: Vec<&str> = expected.filter(|line| !line.is_empty()).collect();
    assert_eq!(said, expected, "{}", world.describe(id));
}

/// The facts of one order that goes as `does` says, and comes to this end.
fn of_order(does: impl Fn(usize) -> Does + Send + 'static, retries: u32) -> Vec<String> {
    let world = World::new();
    world.outside.script(move |ask| does(ask.nth));
    let class = single_as(&world.outside, |g| {
        g.budget(Budget::new().answer_by(secs(30)).retries(retries));
    });
    let life = world.live(&[class.erased()]);
    life.outcome(&life.start(&class, minutes("M", 1)));
    life.run_for(60_000);
    world.facts(world.only_run()).iter().map(line).collect()
}

#[test]
fn a_spent_budget_is_counted_with_the_limit_that_was_spent() {
    let facts = of_order(|_| Does::Fail(5, refused(FailureKind::RateLimited)), 0);
    let expected = [
        "attempt order orders RATE_LIMITED",
        "call order orders 1",
        "limit single RETRY_TOKENS_EXHAUSTED",
        "lap single handed_off",
    ];
    assert_eq!(facts, expected);
}

#[test]
fn retries_inside_a_client_library_are_load_too() {
    let told = Failure {
        client_retries: 3,
        ..refused(FailureKind::PermanentProvider)
    };
    let facts = of_order(move |_| Does::Fail(5, told.clone()), 4);
    assert_eq!(
        facts[..2],
        [
            "attempt order orders PERMANENT_PROVIDER",
            "client order orders 3"
        ]
    );
}

#[test]
fn a_doubt_is_no_spent_budget() {
    let facts = of_order(|_| Does::Lose(600_000), 4);
    assert!(facts.contains(&"unknown order orders WRITE_RESPONSE_LOST".to_owned()));
    assert!(
        !facts
            .iter()
            .any(|fact| fact.starts_with("limit single RETRY")),
        "{facts:?}"
    );
}

#[test]
fn a_fallback_that_fails_too_is_counted_as_failed() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "policy" => Does::Hang,
        "snapshot" => Does::Fail(5, refused(FailureKind::PermanentProvider)),
        _ => Does::Answer(10),
    });
    let class = meeting(&world.outside);
    let life = world.live(&[class.erased()]);
    life.outcome(&life.start(&class, minutes("M", 1)));
    let facts: Vec<_> = world.facts(world.only_run()).iter().map(line).collect();
    let about: Vec<_> = facts
        .iter()
        .filter(|fact| !fact.contains("related"))
        .collect();
    let expected = [
        "attempt policy_rag policy TRANSIENT_TRANSPORT",
        "attempt policy_rag policy TRANSIENT_TRANSPORT",
        "attempt policy_rag policy TRANSIENT_TRANSPORT",
        "attempt policy_rag snapshot PERMANENT_PROVIDER",
        "call policy_rag policy 4",
        "instead policy_rag snapshot failed",
        "instead specialist expert omitted",
        "lap meeting handed_off",
    ];
    assert_eq!(about, expected);
}

#[test]
fn a_lap_without_time_is_counted_with_time_as_its_limit() {
    let world = World::new();
    world.outside.script(|_| Does::Fail(900, busy(0)));
    let mut g = TaskClass::<Minutes>::define("hasty", 1);
    g.budget(Budget::new().answer_by(secs(2)).retries(9));
    let read = world.outside.read("slow");
    let told = g.read("told", &read, (), |m, ()| m.question()).attempts(9);
    let told = told.add();
    let class = g
        .finish(told, |_, told| told.by.clone())
        .expect("a valid class");
    let life = world.live(&[class.erased()]);
    life.outcome(&life.start(&class, minutes("M", 1)));
    let facts: Vec<_> = world.facts(world.only_run()).iter().map(line).collect();
    let expected = [
        "attempt told slow OVERLOADED",
        "attempt told slow OVERLOADED",
        "call told slow 2",
        "limit hasty DEADLINE_EXHAUSTED",
        "lap hasty handed_off",
    ];
    assert_eq!(facts, expected);
}

/// How many facts of the log are asks.
fn asks(world: &World, id: RunId) -> u64 {
    let facts = world.facts(id);
    let asks = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::AskEnded { .. }));
    u64::try_from(asks.count()).unwrap()
}

#[test]
fn what_is_counted_is_what_is_in_the_log() {
    let world = World::new();
    let (id, told) = witnessed(|| troubled(&world));
    assert_eq!(
        told.count("mainstay_dependency_attempt_total", ""),
        asks(&world, id)
    );
    assert_eq!(
        told.count(
            "mainstay_logical_run_total",
            "class=meeting,outcome=degraded"
        ),
        1
    );
    let at = "class=meeting,node=ticket_write,dependency=tickets,reason=WRITE_RESPONSE_LOST";
    assert_eq!(told.count("mainstay_effect_unknown_total", at), 1);
    let at = "class=meeting,node=policy_rag,dependency=snapshot,outcome=answered";
    assert_eq!(told.count("mainstay_fallback_outcome_total", at), 1);
    let at = "mainstay_retry_amplification_ratio{class=meeting,node=policy_rag,dependency=policy}";
    assert_eq!(told.samples[at], [4.0]);
}

/// One meeting, crashed at its `append`th append and driven on by a second process; `None` when it
/// has not that many.
fn crashed_at(append: usize, moment: Moment) -> Option<(World, Told)> {
    let world = World::seeded(u64::try_from(append).unwrap());
    let class = meeting_as(&world.outside, |g| {
        let budget = walkthrough().answer_by(secs(60)).retries(30);
        g.budget(budget).on_downtime(Extend(hours(1)));
    });
    world.ledger.trap(append, moment);
    let (crashed, told) = witnessed(|| {
        let life = world.live(&[class.erased()]);
        let crashed = world.springs(life, &class, minutes("M", 2));
        let life = world.live(&[class.erased()]);
        life.outcome(&life.start_keyed(&class, minutes("M", 2)));
        life.run_for(60_000);
        crashed
    });
    crashed.then_some((world, told))
}

#[test]
fn a_restarted_process_counts_nothing_twice() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        let mut crashes = 0;
        for append in 1.. {
            let Some((world, told)) = crashed_at(append, moment) else {
                break;
            };
            crashes += 1;
            let all = asks(&world, world.only_run());
            let counted = told.count("mainstay_dependency_attempt_total", "");
            assert!(
                counted <= all,
                "append {append}, {moment:?}: {counted} of {all}"
            );
            let runs = told.count("mainstay_logical_run_total", "");
            assert!(runs <= 1, "append {append}, {moment:?}");
            if moment == Moment::Before {
                assert_eq!(
                    (counted, runs),
                    (all, 1),
                    "append {append}: none is missed either"
                );
            }
        }
        assert!(3 < crashes, "{moment:?}: {crashes} crashes");
    }
}

#[test]
fn a_start_without_room_is_counted_and_one_that_is_wrong_is_not() {
    let world = World::new();
    world.outside.script(|_| Does::Hang);
    let class = single(&world.outside);
    let (_, told) = witnessed(|| {
        let life = world.live_with(|builder| builder.register(&class).runs_max(1));
        life.start_keyed(&class, minutes("M", 1));
        life.block_on(async {
            let start = |id: &str| life.engine.start(&class, minutes(id, 1));
            for _ in 0..2 {
                let full = start("M").await.unwrap_err();
                assert_eq!(full.code(), Code::EngineFull);
            }
            let other = start("other").key("K").await.unwrap_err();
            assert_eq!(other.code(), Code::StartKeyMismatch);
            let invalid = start("M").tenant("").await.unwrap_err();
            assert_eq!(invalid.code(), Code::InvalidInput);
        });
    });
    let expected = [(
        "mainstay_queue_rejected_total{class=single,reason=ENGINE_FULL}".to_owned(),
        2,
    )];
    let rejected = told.counters.into_iter();
    let rejected = rejected.filter(|(name, _)| name.contains("rejected"));
    assert_eq!(rejected.collect::<BTreeMap<_, _>>(), expected.into());
}

#[test]
fn a_store_without_room_rejects_starts_too() {
    let world = World::new();
    let class = single(&world.outside);
    world.ledger.full(true);
    let (_, told) = witnessed(|| {
        let life = world.live(&[class.erased()]);
        let start = life.engine.start(&class, minutes("M", 1));
        let full = life.block_on(async { start.await.unwrap_err() });
        assert_eq!(full.code(), Code::StoreFull);
    });
    assert_eq!(
        told.count("mainstay_queue_rejected_total", "reason=STORE_FULL"),
        1
    );
}

#[test]
fn every_metric_is_described_and_has_the_labels_of_the_table() {
    let world = World::new();
    let (_, told) = witnessed(|| troubled(&world));
    let described: Vec<&str> = told
        .described
        .iter()
        .map(|(name, _, _)| name.as_str())
        .collect();
    let mut names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
    names.sort_unstable();
    assert_eq!(described, names);
    for (name, unit, help) in &told.described {
        assert_eq!(unit, "count", "{name}");
        assert!(help.len() > 20, "{name}: {help}");
    }
    let counted = told.counters.keys().map(|name| (name, Kind::Counter));
    let sampled = told.samples.keys().map(|name| (name, Kind::Histogram));
    for (told, kind) in counted.chain(sampled) {
        let (name, labels) = told.trim_end_matches('}').split_once('{').unwrap();
        let metric = METRICS.iter().find(|metric| metric.name == name);
        let metric = metric.unwrap_or_else(|| panic!("{name} is in no table"));
        let labels = labels
            .split(',')
            .map(|label| label.split_once('=').unwrap().0);
        assert_eq!(labels.collect::<Vec<_>>(), metric.labels, "{name}");
        assert_eq!(kind, metric.kind, "{name}");
        let is_good =
            name.starts_with("mainstay_") && (kind == Kind::Histogram || name.ends_with("_total"));
        assert!(is_good, "{name}");
    }
}
