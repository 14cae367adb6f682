//! What a run is answered after it has lost its key: it is the other run's to know, it is not lost,
//! and the first one goes by what that one has.

use mainstay_class::{Budget, Class, TaskClass, days, mins};
use mainstay_ledger::{InboxCommand, Ledger};
use mainstay_machine::{AlertKind, Ruling, SettleEnd};
use mainstay_types::{AttemptNo, CallId, EffectKey, MessageId, Payload, RunId};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::taken_over::ordering;
use crate::undo::{key_of, state_of};
use crate::world::classes::NewTicket;
use crate::world::outside::panicked;
use crate::world::{Does, Find, Life, Minutes, Moment, Ticket, World, minutes};

const ANNA: (&str, &str) = ("anna (uid:1000)", "it is in their list");

/// The order of a first run is out when its process ends; a second run takes its key over.
struct Lost {
    world: World,
    classes: [Class<Minutes, Ticket>; 2],
    one: RunId,
    two: RunId,
    key: EffectKey,
}

impl Lost {
    /// `tells`: whether the receiver of orders can tell when it is asked.
    fn after(tells: bool) -> (Self, Life) {
        let world = World::new();
        world
            .outside
            .script(|ask| match (ask.dependency.as_str(), ask.at) {
                ("orders", at) if at < 100 => Does::Lose(0),
                _ => Does::Answer(10),
            });
        world
            .outside
            .finds(move |ask| match ask.dependency.as_str() {
                "orders" if !tells => Find::CannotTell(5),
                _ => Find::Truth(5),
            });
        let classes = ["a", "b"].map(|name| ordering(&world, name, None));
        let life = world.live(&[classes[0].erased()]);
        let one = life.start(&classes[0], minutes("M", 1)).id();
        life.run_for(50);
        life.crash();
        let life = world.live(&[classes[1].erased()]);
        let two = life.start(&classes[1], minutes("M", 1)).id();
        life.run_for(20_000);
        let key = key_of(&life, two, "order");
        let lost = Self {
            world,
            classes,
            one,
            two,
            key,
        };
        (lost, life)
    }

    /// What the first process had out is answered after all.
    fn answered(&self, ticket: &str) {
        let state = self.world.state(self.one);
        let mut calls = state.calls().iter().map(|(id, _)| id);
        let call: CallId = calls.find(|&id| state.path(id) == "order").unwrap();
        let end = SettleEnd::Answered {
            result: Payload::from(format!(r#"{{"id":"{ticket}"}}"#)),
            cost: None,
            client_retries: 0,
        };
        let attempt = AttemptNo(1);
        let told = InboxCommand::Settle { call, attempt, end };
        let message = MessageId::from_bytes([9; 16]);
        let told = self.world.ledger.enqueue(self.one, message, told);
        self.world.executor().block_on(told).unwrap();
    }

    fn rules(&self, life: &Life, ruling: Ruling) -> Result<String, String> {
        let told = life.engine.settle_effect(&self.key, (ruling, None), ANNA);
        let told = life.block_on(told);
        told.map(|state| state.as_str().to_owned())
            .map_err(|error| error.code().to_string())
    }

    /// Both are there, each with its code.
    fn both(&self, life: Life) -> Life {
        life.crash();
        let classes = self.classes.each_ref().map(Class::erased);
        let life = self.world.live(&classes);
        life.run_for(200_000);
        life
    }

    fn story(&self) -> String {
        let runs = [self.one, self.two].map(|run| self.world.describe(run));
        runs.concat()
    }

    /// Addenda that say that two orders may be there.
    fn told_twice(&self) -> usize {
        let alerts = self.world.alerts().into_iter();
        let is_it = |alert: &mainstay_machine::Alert| {
            alert.kind == AlertKind::Addendum && alert.reason == "DONE_TWICE"
        };
        alerts.filter(|stored| is_it(&stored.alert)).count()
    }
}

fn outcome(life: &Life, run: RunId) -> Option<String> {
    let view = life.block_on(life.engine.view(run)).unwrap();
    view.outcome.map(str::to_owned)
}

#[test]
fn what_the_first_owner_is_answered_ends_the_doubt_of_the_second() {
    let (lost, life) = Lost::after(false);
    assert_eq!(state_of(&life, &lost.key), "in_doubt");
    lost.answered("T-1");
    life.run_for(1_000);
    assert_eq!(state_of(&life, &lost.key), "applied", "{}", lost.story());
    assert_eq!(outcome(&life, lost.two).as_deref(), Some("completed"));
    let refused = lost.rules(&life, Ruling::NotApplied);
    assert_eq!(refused.unwrap_err(), "SETTLE_REFUSED");
    let life = lost.both(life);
    assert_eq!(outcome(&life, lost.one).as_deref(), Some("completed"));
    assert_eq!(lost.world.outside.requests("orders").len(), 1);
    assert_eq!(lost.told_twice(), 0);
    lost.world.must_be_sound();
}

#[test]
fn it_is_handed_over_once_wherever_the_process_ends_meanwhile() {
    for moment in [Moment::Before, Moment::Durable, Moment::Acknowledged] {
        for append in 1..=4 {
            let (lost, life) = Lost::after(false);
            lost.world.ledger.trap(append, moment);
            lost.answered("T-1");
            life.run_for(1_000);
            lost.world.ledger.disarm();
            let life = lost.both(life);
            let story = lost.story();
            for run in [lost.one, lost.two] {
                assert_eq!(outcome(&life, run).as_deref(), Some("completed"), "{story}");
            }
            let found = story.matches("FOUND_APPLIED").count();
            assert_eq!(
                (found, lost.told_twice()),
                (1, 0),
                "{moment:?} {append} {story}"
            );
            lost.world.must_be_sound();
        }
    }
}

#[test]
fn a_first_owner_does_not_complete_with_what_was_undone_under_its_key() {
    let (lost, life) = Lost::after(true);
    lost.world.outside.finds(|_| Find::Truth(5));
    let told = life
        .engine
        .settle_effect(&lost.key, (Ruling::Applied, None), ANNA);
    drop(life.block_on(told));
    lost.answered("T-1");
    life.run_for(20_000);
    let wanted = life.engine.compensate_effect(&lost.key, ANNA);
    life.block_on(wanted).unwrap();
    life.run_for(20_000);
    assert_eq!(state_of(&life, &lost.key), "compensated");
    lost.answered("T-1");
    let life = lost.both(life);
    let (outcome, story) = (outcome(&life, lost.one), lost.story());
    assert_eq!(outcome.as_deref(), Some("handed_off"), "{story}");
    assert_eq!(state_of(&life, &lost.key), "compensated");
    assert_eq!(lost.told_twice(), 0, "{story}");
}

#[test]
fn two_orders_under_one_key_are_told_to_people_and_neither_is_lost() {
    let (lost, life) = Lost::after(false);
    lost.world.outside.ignore_keys();
    // A person is wrong.
    lost.rules(&life, Ruling::NotApplied).unwrap();
    life.run_for(1_000);
    assert_eq!(outcome(&life, lost.two).as_deref(), Some("completed"));
    assert_eq!(lost.told_twice(), 0);
    lost.answered("T-9");
    life.run_for(1_000);
    assert_eq!(lost.told_twice(), 1, "{}", lost.story());
    let life = lost.both(life);
    assert_eq!(outcome(&life, lost.one).as_deref(), Some("completed"));
    assert_eq!(lost.told_twice(), 1, "once");
}

#[test]
fn what_nobody_has_any_more_the_first_owner_keeps() {
    // The second run was told that nothing came in, and is over without an order.
    let (lost, life) = Lost::after(false);
    life.crash();
    let neither = ordering(&lost.world, "c", None);
    let life = lost.world.live(&[neither.erased()]);
    lost.rules(&life, Ruling::NotApplied).unwrap();
    let ended = life.engine.terminate(lost.two, ANNA.0, ANNA.1);
    life.block_on(ended).unwrap();
    life.crash();
    let life = lost.world.live(&[lost.classes[1].erased()]);
    lost.answered("T-1");
    life.run_for(1_000);
    assert_eq!(state_of(&life, &lost.key), "applied", "{}", lost.story());
    let shown = life.block_on(life.engine.effect(&lost.key)).unwrap();
    assert_eq!(shown.run_id, lost.one.to_string(), "its entry is right");
    let life = lost.both(life);
    assert_eq!(outcome(&life, lost.one).as_deref(), Some("completed"));
    assert_eq!(lost.world.outside.requests("orders").len(), 1);
}

#[test]
fn of_a_run_that_is_gone_the_first_owner_has_the_key_again() {
    let (lost, life) = Lost::after(false);
    life.crash();
    lost.world.ledger.forget(lost.two);
    let life = lost.world.live(&[lost.classes[0].erased()]);
    lost.answered("T-1");
    life.run_for(200_000);
    let shown = life.block_on(life.engine.effect(&lost.key)).unwrap();
    let state = shown.call.effect.unwrap().state;
    let story = lost.world.describe(lost.one);
    assert_eq!(
        (shown.run_id, state),
        (lost.one.to_string(), "applied"),
        "{story}"
    );
    assert_eq!(outcome(&life, lost.one).as_deref(), Some("completed"));
    assert_eq!(lost.world.outside.requests("orders").len(), 1);
}

/// An order, and a branch beside it whose code is broken as long as that is said.
fn breaking(world: &World, broken: &Arc<AtomicBool>) -> Class<Minutes, Ticket> {
    let mut g = TaskClass::<Minutes>::define("breaking", 1);
    g.budget(Budget::new().answer_by(mins(60)).doubt_wait(days(1)));
    let order = g
        .write("order", &world.outside.write("orders"), (), |m, ()| {
            NewTicket {
                title: m.actions[0].clone(),
            }
        })
        .business_id(|m: &Minutes| &m.id)
        .add();
    let fast = g
        .read("fast", &world.outside.read("fast"), (), |m, ()| {
            m.question()
        })
        .add();
    let is_broken = Arc::clone(broken);
    let told = g
        .read("told", &world.outside.read("told"), fast, move |m, _| {
            if is_broken.load(Ordering::SeqCst) {
                panicked("the code is broken".to_owned());
            }
            m.question()
        })
        .add();
    g.finish((order, told), |_, (ticket, _)| ticket.clone())
        .expect("a valid class")
}

#[test]
fn a_run_that_was_quarantined_with_its_order_out_goes_by_who_took_it_over() {
    let world = World::new();
    world
        .outside
        .script(|ask| match (ask.dependency.as_str(), ask.at) {
            ("orders", at) if at < 100 => Does::Answer(2_500),
            _ => Does::Answer(100),
        });
    let broken = Arc::new(AtomicBool::new(true));
    let (a, b) = (breaking(&world, &broken), ordering(&world, "b", None));
    let life = world.live(&[a.erased(), b.erased()]);
    let one = life.start(&a, minutes("M", 1)).id();
    life.run_for(500);
    let two = life.start(&b, minutes("M", 1)).id();
    life.run_for(60_000);
    assert_eq!(outcome(&life, two).as_deref(), Some("completed"));
    let key = key_of(&life, two, "order");
    let wanted = life.engine.compensate_effect(&key, ANNA);
    life.block_on(wanted).unwrap();
    life.run_for(60_000);
    assert_eq!(state_of(&life, &key), "compensated");
    broken.store(false, Ordering::SeqCst);
    let lifted = life.engine.continue_run(one, ANNA.0, ANNA.1);
    life.block_on(lifted).unwrap();
    life.run_for(60_000);
    let story = world.describe(one);
    assert_eq!(
        outcome(&life, one).as_deref(),
        Some("handed_off"),
        "{story}"
    );
    assert!(!story.contains("EffectApplied order ANSWERED"), "{story}");
    world.must_be_sound();
}
