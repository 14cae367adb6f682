//! A model that asks for tools: it is told definitely, and its own retries make no second effect.

use std::sync::Arc;

use mainstay_class::{Budget, Class, TaskClass, ToolOutcome, ToolRecord, days, secs};
use mainstay_machine::{OutcomeKind, Ruling};
use mainstay_runtime::{ToolAnswer, Tools};
use mainstay_types::{Code, EffectKey, Failure, FailureKind, Millis, Payload, RunId, Sent, Timers};

use crate::world::classes::NewTicket;
use crate::world::outside::Outside;
use crate::world::script::{maybe_sent, refused};
use crate::world::{Does, Find, Life, Minutes, World, minutes};

/// What a model gives when it orders.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Order {
    item: String,
    #[serde(default)]
    memo: String,
}

/// A model may look for things and order them; the receiver knows them by the minutes' id.
fn shop(outside: &Arc<Outside>) -> Class<Minutes, Vec<ToolRecord>> {
    let mut g = TaskClass::<Minutes>::define("shop", 1);
    g.budget(Budget::new().answer_by(secs(60)).doubt_wait(days(1)));
    let read = outside.read("catalog");
    let find = g
        .tool_read("find", "Finds an item", &read, |m: &Minutes, _: Order| {
            m.question()
        })
        .add();
    let made = |_: &Minutes, order: Order| NewTicket { title: order.item };
    let order = g
        .tool_write("order", "Orders an item", &outside.write("orders"), made)
        .business_id(|m| &m.id)
        .per_run_max(3)
        .add();
    let asked = g
        .tools("shop", (), |m, ()| m.actions.clone())
        .offer(&find)
        .offer(&order)
        .add();
    g.finish(asked, |_, asked| asked.clone())
        .expect("a valid class")
}

fn tools(life: &Life, run: RunId) -> Tools {
    life.block_on(life.engine.tools(run, "shop")).unwrap()
}

fn call(life: &Life, tools: &Tools, id: &str, item: &str) -> ToolAnswer {
    let arguments = format!(r#"{{"item":"{item}","memo":"for {id}"}}"#);
    life.block_on(tools.call(id, "order", &arguments)).unwrap()
}

/// In the world's own time.
async fn sleep(world: &World, ms: u64) {
    world.timers.sleep(Millis::new(ms)).await;
}

fn ticket(answer: &ToolAnswer) -> String {
    let ToolAnswer::Done(result) = answer else {
        panic!("{answer:?}");
    };
    let ticket: serde_json::Value = serde_json::from_slice(result.as_bytes()).unwrap();
    ticket["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_model_is_told_of_tools_without_keys_and_asks_for_them() {
    let world = World::new();
    let class = shop(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 2));
    let tools = tools(&life, run.id());
    let schemas = tools.schemas();
    let names: Vec<&str> = schemas.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["find", "order"]);
    assert!(schemas[1].arguments.contains("\"item\""), "{schemas:?}");
    assert!(!schemas[1].arguments.contains("key"), "{schemas:?}");
    assert_eq!(tools.brief().as_bytes()[0], b'[');
    let found = life.block_on(tools.call("c0", "find", r#"{"item":"desk"}"#));
    assert!(matches!(found, Ok(ToolAnswer::Done(_))), "{found:?}");
    let first = ticket(&call(&life, &tools, "c1", "desk"));
    // Told of the first, this one is a second order.
    let second = ticket(&call(&life, &tools, "c2", "desk"));
    assert_ne!(first, second);
    life.block_on(tools.done()).unwrap();
    let outcome = life.outcome(&run);
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    let asked = outcome.result.unwrap();
    let ids: Vec<&str> = asked.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["c0", "c1", "c2"]);
    let done = serde_json::json!({ "id": first });
    assert_eq!(asked[1].outcome, ToolOutcome::Done(done));
    assert_eq!(world.outside.effects().len(), 2);
    world.must_be_sound();
}

#[test]
fn while_a_reply_is_lost_whatever_the_model_tries_is_the_same_order() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "orders" => Does::LandAndFail(400, 10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(10),
    });
    let class = shop(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    let tools = tools(&life, run.id());
    let arguments = r#"{"item":"desk"}"#;
    let (first, second, other) = life.block_on(async {
        let first = tools.call("c1", "order", arguments);
        let second = tools.call(
            "c2",
            "order",
            r#"{"memo":"urgent (retry 1)","item":"desk"}"#,
        );
        let other = tools.call("c3", "order", r#"{"item":"lamp"}"#);
        tokio::join!(first, second, other)
    });
    assert_eq!(ticket(&first.unwrap()), ticket(&second.unwrap()));
    assert_eq!(other.unwrap_err().code(), Code::EffectInDoubt);
    assert_eq!(world.outside.effects().len(), 1);
    assert_eq!(world.outside.requests("orders").len(), 1);
    world.must_be_sound();
}

#[test]
fn an_answer_nobody_waited_for_was_not_told_so_the_next_call_gets_it() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(300));
    let class = shop(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    let tools = tools(&life, run.id());
    let arguments = r#"{"item":"desk"}"#;
    life.block_on(async {
        let called = tools.call("c1", "order", arguments);
        tokio::select! {
            biased;
            _ = called => panic!("it takes longer"),
            () = sleep(&world, 100) => {}
        }
    });
    life.run_for(1_000);
    let told = ticket(&call(&life, &tools, "c2", "desk"));
    assert_eq!(world.outside.effects().len(), 1);
    let second = ticket(&call(&life, &tools, "c3", "desk"));
    assert_ne!(told, second);
    assert_eq!(world.outside.effects().len(), 2);
}

#[test]
fn a_model_whose_process_died_gets_recorded_answers_and_says_what_it_was_told() {
    let world = World::new();
    let class = shop(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1)).id();
    let first = ticket(&call(&life, &tools(&life, run), "c1", "desk"));
    life.crash();
    let life = world.live(&[class.erased()]);
    let tools = tools(&life, run);
    assert_eq!(
        ticket(&call(&life, &tools, "c1", "desk")),
        first,
        "the same call"
    );
    life.crash();
    let life = world.live(&[class.erased()]);
    let tools = self::tools(&life, run);
    let again = ticket(&call(&life, &tools, "c2", "desk"));
    assert_eq!(again, first, "nobody knows that it was told");
    life.crash();
    let life = world.live(&[class.erased()]);
    let tools = self::tools(&life, run);
    tools.was_told(["c1"]);
    assert_ne!(ticket(&call(&life, &tools, "c3", "desk")), first);
    assert_eq!(world.outside.effects().len(), 2);
    life.block_on(tools.done()).unwrap();
    assert_eq!(life.outcome_of(&class, run).kind, OutcomeKind::Completed);
}

#[test]
fn whatever_is_said_to_have_been_told_only_what_was_asked_for_counts() {
    let world = World::new();
    let class = shop(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1)).id();
    let first = ticket(&call(&life, &tools(&life, run), "c1", "desk"));
    life.crash();
    let life = world.live(&[class.erased()]);
    let tools = tools(&life, run);
    let others: Vec<String> = (0..50_000).map(|n| format!("other-{n}")).collect();
    tools.was_told(others.iter().map(String::as_str));
    tools.was_told(["", "x".repeat(1 << 20).as_str()]);
    assert_eq!(ticket(&call(&life, &tools, "c2", "desk")), first);
    tools.was_told(["c2"]);
    assert_ne!(ticket(&call(&life, &tools, "c3", "desk")), first);
    assert_eq!(world.outside.effects().len(), 2);
}

#[test]
fn what_is_refused_is_told_at_once_and_changes_nothing() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::Fail(5, refused(FailureKind::InvalidInput)));
    let class = shop(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    let tools = tools(&life, run.id());
    for (tool, arguments) in [
        ("steal", r#"{"item":"desk"}"#),
        ("order", r#"{"qty":1}"#),
        ("order", "no json"),
        ("shop", r#"{"item":"desk"}"#),
    ] {
        let refused = life
            .block_on(tools.call("c0", tool, arguments))
            .unwrap_err();
        assert_eq!(refused.code(), Code::InvalidInput, "{refused}");
    }
    assert!(world.outside.asks().is_empty());
    let answer = call(&life, &tools, "c1", "desk");
    assert!(matches!(
        answer,
        ToolAnswer::NotDone {
            kind: FailureKind::InvalidInput,
            ..
        }
    ));
    assert!(answer.to_json().contains("\"status\":\"not_done\""));
    let again = life.block_on(tools.call("c1", "order", r#"{"item":"lamp"}"#));
    assert_eq!(again.unwrap_err().code(), Code::IdempotencyMismatch);
    life.block_on(tools.done()).unwrap();
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Completed);
    let late = life.block_on(tools.call("c9", "order", r#"{"item":"desk"}"#));
    assert_eq!(late.unwrap_err().code(), Code::RunEnded);
}

#[test]
fn a_model_waits_for_a_person_where_no_machine_can_tell() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::LandAndFail(0, 10, maybe_sent(FailureKind::TransientTransport)));
    world.outside.finds(|_| Find::CannotTell(5));
    let class = shop(&world.outside);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1)).id();
    let tools = tools(&life, run);
    let filter = mainstay_runtime::EffectFilter {
        run: Some(run),
        in_doubt: true,
    };
    let answer = life.block_on(async {
        let called = tools.call("c1", "order", r#"{"item":"desk"}"#);
        let settled = async {
            sleep(&world, 2_000).await;
            let page = life.engine.effects(filter, None).await.unwrap();
            let ruling = (Ruling::Applied, Some(Payload::from(r#"{"id":"T-9"}"#)));
            let key = &page.rows[0].key;
            life.engine
                .settle_effect(key, ruling, ("anna", "seen"))
                .await
                .unwrap();
        };
        tokio::join!(called, settled).0
    });
    assert_eq!(ticket(&answer.unwrap()), "T-9");
}

#[test]
fn a_doubt_that_outlasts_the_run_is_handed_over_to_a_person() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::LandAndFail(0, 10, maybe_sent(FailureKind::TransientTransport)));
    world.outside.finds(|_| Find::CannotTell(5));
    let mut g = TaskClass::<Minutes>::define("short", 1);
    g.budget(Budget::new().answer_by(secs(5)).doubt_wait(secs(5)));
    let made = |_: &Minutes, order: Order| NewTicket { title: order.item };
    let order = g
        .tool_write("order", "Orders", &world.outside.write("orders"), made)
        .add();
    let asked = g.tools("shop", (), |_, ()| ()).offer(&order).add();
    let class = g.finish(asked, |_, asked| asked.len()).unwrap();
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    let answer = call(&life, &tools(&life, run.id()), "c1", "desk");
    let ToolAnswer::HandedOver { key: Some(key) } = answer else {
        panic!("{answer:?}");
    };
    assert!(key.to_string().ends_with(":order/slot:1"), "{key}");
    assert_eq!(life.outcome(&run).kind, OutcomeKind::HandedOff);
}

/// One tool, with an attempt for each of the model's calls.
fn one_attempt(outside: &Arc<Outside>, ttl: Option<Millis>) -> Class<Minutes, usize> {
    let mut g = TaskClass::<Minutes>::define("one_attempt", 1);
    g.budget(
        Budget::new()
            .answer_by(secs(300))
            .retries(4)
            .doubt_wait(days(1)),
    );
    let read = outside.read("catalog");
    let beside = g
        .read("beside", &read, (), |m: &Minutes, ()| m.question())
        .attempts(1)
        .add();
    let made = |_: &Minutes, order: Order| NewTicket { title: order.item };
    let write = outside.write("orders");
    let order = g.tool_write("order", "Orders an item", &write, made);
    let order = order.business_id(|m| &m.id).attempts(2);
    let order = match ttl {
        Some(ttl) => order.attempts(1).receiver_key_ttl(ttl),
        None => order,
    };
    let order = order.add();
    let asked = g
        .tools("shop", (), |m, ()| m.actions.clone())
        .offer(&order)
        .add();
    g.finish((beside, asked), |_, (_, asked)| asked.len())
        .expect("a valid class")
}

fn settle(life: &Life, key: &EffectKey, ruling: Ruling) -> Result<(), Code> {
    let result = (ruling == Ruling::Applied).then(|| Payload::from(r#"{"id":"T-9"}"#));
    let asked = life
        .engine
        .settle_effect(key, (ruling, result), ("ann", "their books"));
    life.block_on(asked).map(drop).map_err(|error| error.code())
}

#[test]
fn a_person_settles_what_is_in_doubt_also_where_an_earlier_call_has_the_key() {
    let world = World::new();
    world.outside.script(|ask| match ask.dependency.as_str() {
        "orders" => Does::Fail(10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(10),
    });
    world.outside.finds(|_| Find::CannotTell(5));
    let class = one_attempt(&world.outside, Some(days(30)));
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1)).id();
    let tools = tools(&life, run);
    let key: EffectKey = "default/order/id:M/slot:1".parse().unwrap();
    let after = |id: &'static str, ruling| {
        let arguments = r#"{"item":"desk"}"#;
        life.block_on(async {
            let called = tools.call(id, "order", arguments);
            let waited = sleep(&world, 60_000);
            tokio::pin!(called);
            tokio::select! {
                biased;
                early = &mut called => panic!("{early:?}"),
                () = waited => {}
            }
        });
        assert_eq!(settle(&life, &key, ruling), Ok(()), "{id}");
        life.block_on(tools.call(id, "order", arguments)).unwrap()
    };
    let first = after("c1", Ruling::NotApplied);
    assert!(matches!(first, ToolAnswer::NotDone { .. }), "{first:?}");
    let second = after("c2", Ruling::Applied);
    assert_eq!(ticket(&second), "T-9");
    // The other verdict is refused, and says why.
    let opposite = settle(&life, &key, Ruling::NotApplied);
    assert_eq!(opposite, Err(Code::SettleRefused));
}

#[test]
fn a_key_that_its_receiver_may_have_forgotten_is_too_old_for_the_models_next_call_too() {
    let world = World::new();
    world.outside.ignore_keys();
    // It acts far behind its bound, and its reply is lost.
    world.outside.script(|ask| match ask.call.as_str() {
        "order[0]" => Does::LandAndFail(19_000, 10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(10),
    });
    let class = one_attempt(&world.outside, Some(secs(20)));
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1)).id();
    let tools = tools(&life, run);
    let arguments = r#"{"item":"desk"}"#;
    let first = life.block_on(tools.call("c1", "order", arguments));
    assert!(matches!(first, Ok(ToolAnswer::NotDone { .. })), "{first:?}");
    life.run_for(60_000);
    let second = life.block_on(tools.call("c2", "order", arguments));
    let Ok(ToolAnswer::NotDone { reason, .. }) = second else {
        panic!("{second:?}");
    };
    assert_eq!(reason.as_str(), "KEY_TOO_OLD");
    assert_eq!(world.outside.requests("orders").len(), 1);
}

#[test]
fn a_write_that_a_next_lap_may_send_is_not_said_to_be_not_done() {
    let world = World::new();
    world.outside.script(|ask| {
        let limited = Failure::new(FailureKind::RateLimited, Sent::Answered);
        match (ask.dependency.as_str(), ask.attempt) {
            ("orders", 1) => Does::Fail(5, limited.retry_after(Millis::new(5_000))),
            ("catalog", 1) => Does::Fail(500, refused(FailureKind::PermanentProvider)),
            _ => Does::Answer(10),
        }
    });
    let class = one_attempt(&world.outside, None);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1)).id();
    let tools = tools(&life, run);
    let told = life.block_on(tools.call("c1", "order", r#"{"item":"desk"}"#));
    life.block_on(life.engine.continue_run(run, "ann", "again"))
        .unwrap();
    life.run_for(20_000);
    let sent = !world.outside.effects().is_empty();
    let told_not_done = matches!(told, Ok(ToolAnswer::NotDone { .. }));
    assert!(!(sent && told_not_done), "{told:?}");
    assert!(
        matches!(told, Ok(ToolAnswer::HandedOver { .. })),
        "{told:?}"
    );
}
