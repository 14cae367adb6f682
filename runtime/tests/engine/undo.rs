//! Undoing an effect: asked for at any time, done as any write is, once, whatever dies on the way.

use mainstay_class::{Budget, Class, TaskClass, secs};
use mainstay_ledger::Ledger;
use mainstay_machine::{AlertKind, OutcomeKind};
use mainstay_runtime::EffectFilter;
use mainstay_types::{Code, EffectKey, FailureKind, RunId};

use crate::world::classes::NewTicket;
use crate::world::script::{maybe_sent, refused};
use crate::world::{Does, Life, Minutes, Moment, Ticket, World, minutes};

const ANNA: (&str, &str) = ("anna (uid:1000)", "the customer changed their mind");

/// One order that can be undone.
fn class(world: &World) -> Class<Minutes, Ticket> {
    let mut g = TaskClass::<Minutes>::define("returns", 1);
    g.budget(Budget::new().answer_by(secs(30)).cost(1));
    let order = g
        .write("order", &world.outside.write("orders"), (), |m, ()| {
            NewTicket {
                title: m.actions[0].clone(),
            }
        })
        .business_id(|m: &Minutes| &m.id)
        .compensate_with(&world.outside.write("cancels"), |m, order| {
            let reply = order.reply.map_or("nothing", |ticket| &ticket.id);
            let title = format!("{}: {}, {reply}, {}", m.id, order.request.title, order.key);
            NewTicket { title }
        })
        .add();
    g.finish(order, |_, ticket| ticket.clone())
        .expect("a valid class")
}

pub(crate) fn key_of(life: &Life, run: RunId, call: &str) -> EffectKey {
    let filter = EffectFilter {
        run: Some(run),
        in_doubt: false,
    };
    let page = life.block_on(life.engine.effects(filter, None)).unwrap();
    let row = page.rows.iter().find(|row| row.call == call);
    row.expect("it is intended").key.clone()
}

pub(crate) fn state_of(life: &Life, key: &EffectKey) -> String {
    let view = life.block_on(life.engine.effect(key)).unwrap();
    view.call.effect.unwrap().state.to_owned()
}

#[test]
fn a_completed_run_s_order_is_undone_by_what_it_did_and_its_key_is_used_up() {
    let world = World::new();
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    let made = life.outcome(&run).result.unwrap();
    let key = key_of(&life, run.id(), "order");
    let shown = life.block_on(life.engine.effect(&key)).unwrap();
    assert!(shown.may_be_compensated && shown.undone_by.is_none());
    let wanted = life.block_on(life.engine.compensate_effect(&key, ANNA));
    assert_eq!(wanted.unwrap().as_str(), "applied");
    life.run_for(50);
    assert_eq!(state_of(&life, &key), "compensated");
    let sent = world.outside.requests("cancels");
    assert_eq!(sent.len(), 1);
    let asked = format!("M: action 0 of M, {}, {key}", made.id);
    assert!(sent[0].body.contains(&asked), "{}", sent[0].body);
    let undo = key_of(&life, run.id(), "order-undo");
    assert_eq!(sent[0].key.as_deref(), Some(undo.to_string().as_str()));
    let shown = life.block_on(life.engine.effect(&key)).unwrap();
    assert_eq!(shown.undone_by.unwrap().key, undo.to_string());
    assert!(!shown.may_be_compensated);
    // The run ended as it ended, and owes nothing.
    assert_eq!(
        (shown.run_state, shown.run_outcome),
        ("closed", Some("completed"))
    );
    // Said again, it is done; and the next run under this id does not take it for done.
    let again = life.block_on(life.engine.compensate_effect(&key, ANNA));
    assert_eq!(again.unwrap().as_str(), "compensated");
    let second = life.start(&class, minutes("M", 1));
    assert_eq!(life.outcome(&second).kind, OutcomeKind::HandedOff);
    assert_eq!(world.outside.requests("orders").len(), 1);
    assert_eq!(world.outside.requests("cancels").len(), 1);
    world.must_be_sound();
}

#[test]
fn it_is_undone_once_whatever_append_the_process_dies_at() {
    let appends = undone_by_crash(&World::new(), (usize::MAX, Moment::Durable));
    assert_eq!(appends, 2, "what is sent, and what came of it");
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        for at in 1..=appends {
            undone_by_crash(&World::new(), (at, moment));
        }
    }
}

/// Has an order undone while its process dies at its `at`-th append from then on. How many there
/// were.
fn undone_by_crash(world: &World, (at, moment): (usize, Moment)) -> usize {
    let class = class(world);
    let mut life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    life.outcome(&run);
    let run = run.id();
    let key = key_of(&life, run, "order");
    let before = world.ledger.appends();
    if at != usize::MAX {
        world.ledger.trap(at, moment);
        life.block_on(async {
            let undo = async {
                drop(life.engine.compensate_effect(&key, ANNA).await);
                std::future::pending::<()>().await;
            };
            tokio::select! {
                biased;
                () = world.ledger.crash() => {}
                () = undo => {}
            }
        });
        life.crash();
        world.ledger.disarm();
        life = world.live(&[class.erased()]);
        life.run_for(10_000);
    }
    // Whoever was not told asks again; what is under way by then is not begun twice.
    match life.block_on(life.engine.compensate_effect(&key, ANNA)) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.code(), Code::SettleRefused),
    }
    life.run_for(10_000);
    let history = world.history(run).join("\n");
    assert_eq!(state_of(&life, &key), "compensated", "{at}\n{history}");
    assert_eq!(
        history.matches("CompensationWanted").count(),
        1,
        "{history}"
    );
    let undone = world.outside.effects().into_iter();
    let undone = undone.filter(|effect| effect.key.contains("order-undo"));
    assert_eq!(undone.count(), 1, "{history}");
    world.must_be_sound();
    usize::try_from(world.ledger.appends() - before).expect("a few")
}

#[test]
fn what_undoes_it_is_asked_about_when_its_reply_is_lost() {
    let world = World::new();
    let class = class(&world);
    world.outside.script(|ask| match ask.dependency.as_str() {
        "cancels" => Does::LandAndFail(0, 10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(10),
    });
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    life.outcome(&run);
    let key = key_of(&life, run.id(), "order");
    life.block_on(life.engine.compensate_effect(&key, ANNA))
        .unwrap();
    life.run_for(1_000);
    assert_eq!(state_of(&life, &key), "compensated");
    assert_eq!(world.outside.requests("cancels").len(), 1);
    assert!(!world.outside.look_ups().is_empty());
    world.must_be_sound();
}

#[test]
fn one_that_is_refused_is_told_to_people_and_done_when_it_is_wanted_again() {
    let world = World::new();
    let class = class(&world);
    world
        .outside
        .script(|ask| match (ask.dependency.as_str(), ask.nth) {
            ("cancels", 1) => Does::Fail(10, refused(FailureKind::PermanentProvider)),
            _ => Does::Answer(10),
        });
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    life.outcome(&run);
    let key = key_of(&life, run.id(), "order");
    let want = || life.block_on(life.engine.compensate_effect(&key, ANNA));
    want().unwrap();
    life.run_for(100);
    assert_eq!(state_of(&life, &key), "applied");
    let alerts = world.alerts().into_iter();
    let failed = alerts.filter(|stored| stored.alert.kind == AlertKind::CompensationFailed);
    let failed: Vec<_> = failed.map(|stored| stored.alert.call).collect();
    assert_eq!(failed, [Some("order-undo".to_owned())]);
    want().unwrap();
    life.run_for(100);
    assert_eq!(state_of(&life, &key), "compensated");
    world.must_be_sound();
}

#[test]
fn an_engine_without_the_code_takes_the_wish_and_the_next_one_carries_it_out() {
    let world = World::new();
    let class = class(&world);
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 1));
    life.outcome(&run);
    let key = key_of(&life, run.id(), "order");
    life.crash();
    let life = world.live(&[]);
    life.block_on(life.engine.compensate_effect(&key, ANNA))
        .unwrap();
    life.run_for(1_000);
    assert_eq!(state_of(&life, &key), "applied");
    assert_eq!(world.outside.requests("cancels").len(), 0);
    life.crash();
    let life = world.live(&[class.erased()]);
    life.run_for(1_000);
    assert_eq!(state_of(&life, &key), "compensated");
    assert_eq!(world.outside.requests("cancels").len(), 1);
    world.must_be_sound();
}

/// Fifty tickets, each of which can be undone; `undo` makes the request.
fn many(
    world: &World,
    undo: impl Fn(&str) -> String + Send + Sync + 'static,
) -> Class<Minutes, Vec<String>> {
    let mut g = TaskClass::<Minutes>::define("many", 1);
    g.budget(Budget::new().answer_by(secs(30)).concurrency(4));
    let tickets = g
        .each(
            "tickets",
            &world.outside.write("orders"),
            (),
            50,
            |m, ()| {
                let new = |title: &String| NewTicket {
                    title: title.clone(),
                };
                m.actions.iter().map(new).collect()
            },
        )
        .compensate_with(&world.outside.write("cancels"), move |_, ticket| {
            NewTicket {
                title: undo(&ticket.request.title),
            }
        })
        .add();
    g.finish(tickets, |_, tickets| {
        tickets.iter().map(|ticket| ticket.id.clone()).collect()
    })
    .expect("a valid class")
}

#[test]
fn fifty_items_are_undone_at_once_each_once_and_within_the_run_s_concurrency() {
    let world = World::new();
    let class = many(&world, |title| format!("undo {title}"));
    let life = world.live(&[class.erased()]);
    let run = life.start(&class, minutes("M", 50));
    assert_eq!(life.outcome(&run).kind, OutcomeKind::Completed);
    for item in 0..50 {
        let key = key_of(&life, run.id(), &format!("tickets[{item}]"));
        let wanted = life.block_on(life.engine.compensate_effect(&key, ANNA));
        wanted.unwrap();
    }
    life.run_for(5_000);
    let filter = EffectFilter {
        run: Some(run.id()),
        in_doubt: false,
    };
    let rows = life
        .block_on(life.engine.effects(filter, None))
        .unwrap()
        .rows;
    let stands = |state: &str| rows.iter().filter(|row| row.state == state).count();
    assert_eq!((stands("compensated"), stands("applied")), (50, 50));
    assert_eq!(world.outside.requests("cancels").len(), 50);
    let key = key_of(&life, run.id(), "tickets-undo[7]");
    let twice = life.block_on(life.engine.compensate_effect(&key, ANNA));
    assert_eq!(twice.unwrap_err().code(), Code::CannotBeUndone);
    let shown = life.block_on(life.engine.effect(&key)).unwrap();
    assert_eq!(shown.run_state, "closed");
    world.must_be_sound();
}

#[test]
fn code_that_panics_while_it_undoes_quarantines_the_run_and_goes_on_once_it_is_mended() {
    let world = World::new();
    let broken = many(&world, |title| panic!("cannot undo {title}"));
    let life = world.live(&[broken.erased()]);
    let run = life.start(&broken, minutes("M", 2));
    life.outcome(&run);
    let key = key_of(&life, run.id(), "tickets[1]");
    let asked = life.block_on(life.engine.compensate_effect(&key, ANNA));
    asked.expect("the wish is written down before the code is asked");
    life.run_for(1_000);
    let shown = life.block_on(life.engine.effect(&key)).unwrap();
    assert_eq!(shown.run_state, "quarantined");
    assert_eq!(world.outside.requests("cancels").len(), 0);
    life.crash();
    let mended = many(&world, |title| format!("undo {title}"));
    let life = world.live(&[mended.erased()]);
    let lifted = life.block_on(life.engine.continue_run(run.id(), ANNA.0, ANNA.1));
    lifted.unwrap();
    life.run_for(1_000);
    assert_eq!(state_of(&life, &key), "compensated");
    assert_eq!(world.outside.requests("cancels").len(), 1);
    let shown = life.block_on(life.engine.effect(&key)).unwrap();
    assert_eq!(shown.run_state, "closed");
    world.must_be_sound();
}
