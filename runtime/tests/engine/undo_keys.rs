//! The keys of what undoes effects. Two orders may have been under one business id, one after the
//! other; what undid the first did not undo the second, and nobody waits for it for ever.

use std::sync::Arc;

use mainstay_class::{Budget, Class, TaskClass, ToolRecord, days, secs};
use mainstay_ledger::{InboxCommand, Ledger};
use mainstay_machine::{AlertKind, Ruling, SettleEnd};
use mainstay_runtime::{ToolAnswer, Tools};
use mainstay_types::{
    AttemptNo, Code, EffectKey, FailureKind, MessageId, Millis, Payload, RunId, Timers,
};

use crate::taken_over::ordering;
use crate::undo::{key_of, state_of};
use crate::world::classes::NewTicket;
use crate::world::outside::Outside;
use crate::world::script::{busy, maybe_sent, refused};
use crate::world::{Does, Find, Life, Minutes, World, minutes};

const ANNA: (&str, &str) = ("anna (uid:1000)", "it is in their list");

fn rule(life: &Life, key: &EffectKey, ruling: Ruling) {
    let result = Payload::from(r#"{"id":"T-1"}"#);
    let ruling = (ruling, (ruling == Ruling::Applied).then_some(result));
    life.block_on(life.engine.settle_effect(key, ruling, ANNA))
        .unwrap();
}

fn wish(life: &Life, key: &EffectKey) -> Result<String, Code> {
    let wanted = life.block_on(life.engine.compensate_effect(key, ANNA));
    wanted
        .map(|state| state.as_str().to_owned())
        .map_err(|error| error.code())
}

/// How often people were told that an effect of the run is still there.
fn told(world: &World, run: RunId) -> usize {
    let alerts = world.alerts().into_iter().map(|stored| stored.alert);
    let failed = alerts.filter(|alert| alert.kind == AlertKind::CompensationFailed);
    failed.filter(|alert| alert.run == run).count()
}

/// How the undo of a first order came out, which was never there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    Undone,
    UndoneInPart,
}

/// A first run's order does not arrive, and what undoes it comes out like this; a second run's
/// order under the same business id does arrive, and somebody wants it undone.
fn second_of(first: First) -> (World, Life, [RunId; 2], EffectKey) {
    let world = World::new();
    world
        .outside
        .script(|ask| match (ask.dependency.as_str(), ask.at) {
            ("orders", at) if at < 10_000 => Does::Fail(10, lost()),
            ("cancels", at) if at < 40_000 => Does::LandInPart(10, lost()),
            _ => Does::Answer(10),
        });
    world.outside.finds(|ask| match ask.dependency.as_str() {
        "cancels" => Find::Truth(5),
        _ => Find::CannotTell(5),
    });
    let class = ordering(&world, "a", None);
    let life = world.live(&[class.erased()]);
    let one = life.start(&class, minutes("M", 1)).id();
    life.run_for(20_000);
    let key = key_of(&life, one, "order");
    wish(&life, &key).unwrap();
    life.run_for(10_000);
    rule(&life, &key, Ruling::NotApplied);
    let undo = key_of(&life, one, "order-undo");
    if first == First::Undone {
        world.outside.complete(&undo.to_string());
        rule(&life, &undo, Ruling::Applied);
    }
    life.run_for(20_000);
    let two = life.start(&class, minutes("M", 1)).id();
    life.run_for(5_000);
    assert_eq!(state_of(&life, &key), "applied", "{}", world.describe(two));
    wish(&life, &key).unwrap();
    (world, life, [one, two], key)
}

fn lost() -> mainstay_types::Failure {
    maybe_sent(FailureKind::TransientTransport)
}

#[test]
fn what_undid_another_run_s_order_did_not_undo_this_one_s() {
    for first in [First::Undone, First::UndoneInPart] {
        let (world, life, [one, two], key) = second_of(first);
        life.run_for(1_000);
        let story = world.describe(two);
        assert_eq!(state_of(&life, &key), "applied", "{first:?} {story}");
        assert_eq!(told(&world, two), 1, "{first:?} {story}");
        let view = life.block_on(life.engine.view(two)).unwrap();
        assert_eq!(view.state, "closed", "{story}");
        let shown = life.block_on(life.engine.effect(&key)).unwrap();
        let undo = shown.undone_by.clone().unwrap();
        assert_eq!(undo.key_holder, Some(one.to_string()));
        let text = mainstay_runtime::view::text::render_effect(&shown);
        assert!(text.contains("by hand, at its receiver"), "{text}");
        let sent = world.outside.requests("cancels").into_iter();
        assert!(sent.into_iter().all(|ask| ask.run != two.to_string()));
    }
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Order {
    item: String,
}

/// A model may order; whether under the minutes' id, or under the run's.
fn shop(outside: &Arc<Outside>, is_business: bool) -> Class<Minutes, Vec<ToolRecord>> {
    let mut g = TaskClass::<Minutes>::define("shop", 1);
    let budget = Budget::new().answer_by(secs(600)).retries(9);
    g.budget(budget.doubt_wait(days(1)));
    let made = |_: &Minutes, order: Order| NewTicket { title: order.item };
    let order = g.tool_write("order", "Orders an item", &outside.write("orders"), made);
    let order = match is_business {
        true => order.business_id(|m| &m.id),
        false => order,
    };
    let order = order
        .attempts(2)
        .compensate_with(&outside.write("cancels"), |m, _| NewTicket {
            title: format!("undo {}", m.id),
        })
        .add();
    let asked = g
        .tools("shop", (), |m, ()| m.actions.clone())
        .offer(&order)
        .add();
    g.finish(asked, |_, asked| asked.clone())
        .expect("a valid class")
}

fn call(life: &Life, tools: &Tools, id: &str) -> ToolAnswer {
    let arguments = r#"{"item":"desk"}"#;
    life.block_on(tools.call(id, "order", arguments)).unwrap()
}

/// Asks, and does not wait for the end.
fn ask(world: &World, life: &Life, (tools, id): (&Tools, &str), ms: u64) {
    life.block_on(async {
        let called = tools.call(id, "order", r#"{"item":"desk"}"#);
        tokio::pin!(called);
        tokio::select! {
            biased;
            answer = &mut called => panic!("{answer:?}"),
            () = world.timers.sleep(Millis::new(ms)) => {}
        }
    });
}

#[test]
fn what_undid_a_models_first_order_does_not_undo_its_second() {
    for is_business in [true, false] {
        let world = World::new();
        world
            .outside
            .script(|ask| match (ask.call.as_str(), ask.dependency.as_str()) {
                ("order[0]", "orders") => Does::Fail(10, lost()),
                (_, "cancels") if ask.at < 60_000 => Does::LandInPart(10, lost()),
                _ => Does::Answer(10),
            });
        world.outside.finds(|ask| match ask.dependency.as_str() {
            "orders" => Find::CannotTell(5),
            _ => Find::Truth(5),
        });
        let class = shop(&world.outside, is_business);
        let life = world.live(&[class.erased()]);
        let run = life.start(&class, minutes("M", 1)).id();
        let tools = life.block_on(life.engine.tools(run, "shop")).unwrap();
        ask(&world, &life, (&tools, "c1"), 20_000);
        let key = key_of(&life, run, "order[0]");
        wish(&life, &key).unwrap();
        life.run_for(10_000);
        rule(&life, &key, Ruling::NotApplied);
        let undo = key_of(&life, run, "order-undo[0]");
        world.outside.complete(&undo.to_string());
        rule(&life, &undo, Ruling::Applied);
        life.run_for(5_000);
        assert!(matches!(call(&life, &tools, "c2"), ToolAnswer::Done(_)));
        let story = || world.describe(run);
        assert_eq!(wish(&life, &key), Err(Code::SettleRefused), "{}", story());
        life.run_for(20_000);
        assert_eq!(state_of(&life, &key), "applied", "{}", story());
    }
}

/// A model's first order is given up as absent and answered late after all, when a second one under
/// its key waits for its retry, or was refused for good.
fn answered_late(is_refused: bool) {
    let world = World::new();
    world.outside.script(
        move |ask| match (ask.call.as_str(), ask.dependency.as_str()) {
            ("order[0]", _) => Does::LandAndFail(60_000, 10, lost()),
            ("order[1]", "orders") if is_refused => {
                Does::Fail(10, refused(FailureKind::InvalidInput))
            }
            ("order[1]", "orders") => Does::Fail(10, busy(20_000)),
            _ => Does::Answer(10),
        },
    );
    world.outside.finds(|_| Find::NotFound(5));
    let class = shop(&world.outside, true);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1)).id();
    let tools = life.block_on(life.engine.tools(run, "shop")).unwrap();
    call(&life, &tools, "c1");
    let key = key_of(&life, run, "order[0]");
    match is_refused {
        true => drop(call(&life, &tools, "c2")),
        false => ask(&world, &life, (&tools, "c2"), 1_000),
    }
    late_answer(&world, run);
    life.run_for(1_000);
    life.block_on(tools.done()).unwrap();
    life.run_for(5_000);
    assert_eq!(state_of(&life, &key), "applied", "{}", world.describe(run));
    wish(&life, &key).unwrap();
    life.run_for(5_000);
    assert_eq!(state_of(&life, &key), "compensated");
    world.must_be_sound();
}

fn late_answer(world: &World, run: RunId) {
    let state = world.state(run);
    let mut calls = state.calls().iter().map(|(id, _)| id);
    let call = calls.find(|&id| state.path(id) == "order[0]").unwrap();
    let end = SettleEnd::Answered {
        result: Payload::from(r#"{"id":"T-1"}"#),
        cost: None,
        client_retries: 0,
    };
    let attempt = AttemptNo(1);
    let told = InboxCommand::Settle { call, attempt, end };
    let message = MessageId::from_bytes([7; 16]);
    let told = world.ledger.enqueue(run, message, told);
    world.executor().block_on(told).unwrap();
}

#[test]
fn what_a_model_did_is_undone_by_its_key_whatever_came_after_it() {
    answered_late(true);
    answered_late(false);
}

/// An order, then a read that is needed.
fn then_told(world: &World) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("a", 1);
    g.budget(Budget::new().answer_by(secs(60)).doubt_wait(days(1)));
    let order = g
        .write("order", &world.outside.write("orders"), (), |m, ()| {
            NewTicket {
                title: m.actions[0].clone(),
            }
        })
        .business_id(|m: &Minutes| &m.id)
        .compensate_with(&world.outside.write("cancels"), |m, _| NewTicket {
            title: format!("undo {}", m.id),
        })
        .add();
    let told = g
        .read("told", &world.outside.read("told"), order, |m, _| {
            m.question()
        })
        .attempts(1)
        .add();
    g.finish((order, told), |_, (ticket, _)| ticket.id.clone())
        .expect("a valid class")
}

#[test]
fn a_run_that_adopted_an_order_does_not_complete_with_it_once_it_is_undone() {
    // While its lap is open; and when it is continued an hour after it was handed off.
    for is_continued in [false, true] {
        let world = World::new();
        world
            .outside
            .script(move |ask| match (ask.dependency.as_str(), ask.at) {
                ("told", at) if at < 3_000 && is_continued => {
                    Does::Fail(10, refused(FailureKind::PermanentProvider))
                }
                ("told", 500..) if !is_continued => Does::Answer(1_500),
                _ => Does::Answer(10),
            });
        let class = then_told(&world);
        let life = world.live(&[class.erased()]);
        let one = life.start(&class, minutes("M", 1)).id();
        life.run_for(500);
        let two = life.start(&class, minutes("M", 1)).id();
        life.run_for(500);
        let key = key_of(&life, one, "order");
        wish(&life, &key).unwrap();
        life.run_for(2_000);
        assert_eq!(state_of(&life, &key), "compensated");
        if is_continued {
            life.run_for(3_600_000);
            let again = life.engine.continue_run(two, ANNA.0, ANNA.1);
            life.block_on(again).unwrap();
        }
        life.run_for(60_000);
        let view = life.block_on(life.engine.view(two)).unwrap();
        let story = world.describe(two);
        assert_eq!(view.outcome, Some("handed_off"), "{story}");
        assert!(story.contains("EffectCompensated order"), "{story}");
        assert_eq!(
            state_of(&life, &key),
            "compensated",
            "its entry stays the doer's"
        );
        world.must_be_sound();
    }
}
