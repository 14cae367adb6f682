//! What may happen around an undo: another wish, a person's word, another lap, a late answer, a
//! budget that others have used up. An undone effect is never taken for done, and none is lost.

use mainstay_class::{Budget, Class, TaskClass, days, secs};
use mainstay_ledger::{InboxCommand, Ledger};
use mainstay_machine::{AlertKind, OutcomeKind, Ruling, SettleEnd};
use mainstay_runtime::RunHandle;
use mainstay_types::{
    AttemptNo, Code, CostUnits, EffectKey, FailureKind, MessageId, Millis, Payload,
};

use crate::undo::{key_of, state_of};
use crate::world::classes::NewTicket;
use crate::world::script::{maybe_sent, refused};
use crate::world::{Ask, Does, Find, Life, Minutes, World, minutes};

const ANNA: (&str, &str) = ("anna (uid:1000)", "the customer changed their mind");

/// An order that can be undone for 1 cost unit, then a read; 1 cost unit for all of it.
fn class(world: &World) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("returns", 1);
    let budget = Budget::new()
        .answer_by(secs(30))
        .cost(CostUnits::milli(1_000));
    g.budget(budget.doubt_wait(days(1)));
    let mut cancels = world.outside.write("cancels");
    cancels.promise.cost = CostUnits::milli(1_000);
    let order = g
        .write("order", &world.outside.write("orders"), (), |m, ()| {
            NewTicket {
                title: m.actions[0].clone(),
            }
        })
        .business_id(|m: &Minutes| &m.id)
        .compensate_with(&cancels, |m, order| {
            let reply = order.reply.map_or("nothing", |ticket| &ticket.id);
            NewTicket {
                title: format!("{}: undo {reply}", m.id),
            }
        })
        .cost(CostUnits::milli(100))
        .add();
    let told = g
        .read("told", &world.outside.read("told"), order, |m, _| {
            m.question()
        })
        .attempts(1)
        .cost(CostUnits::milli(100))
        .add();
    g.finish((order, told), |_, (ticket, _)| ticket.id.clone())
        .expect("a valid class")
}

/// One run of the class, in a world where this happens to requests.
struct Undoing {
    world: World,
    life: Life,
    run: RunHandle<String>,
}

impl Undoing {
    fn begin(does: impl FnMut(&Ask) -> Does + Send + 'static) -> Self {
        let world = World::new();
        world.outside.script(does);
        world.outside.finds(|ask| match ask.dependency.as_str() {
            "orders" => Find::CannotTell(5),
            _ => Find::Truth(5),
        });
        let class = class(&world);
        let life = world.live(&[class.erased()]);
        let run = life.start(&class, minutes("M", 1));
        Self { world, life, run }
    }

    /// The same, after 20 s.
    fn lived(does: impl FnMut(&Ask) -> Does + Send + 'static) -> Self {
        let made = Self::begin(does);
        made.life.run_for(20_000);
        made
    }

    fn key(&self, call: &str) -> EffectKey {
        key_of(&self.life, self.run.id(), call)
    }

    fn state(&self, call: &str) -> String {
        state_of(&self.life, &self.key(call))
    }

    fn wish(&self) {
        let key = self.key("order");
        let wanted = self
            .life
            .block_on(self.life.engine.compensate_effect(&key, ANNA));
        wanted.unwrap();
    }

    fn rule(&self, call: &str, ruling: Ruling) {
        let result = Payload::from(r#"{"id":"T-1"}"#);
        let ruling = (ruling, (ruling == Ruling::Applied).then_some(result));
        let key = self.key(call);
        let told = self.life.engine.settle_effect(&key, ruling, ANNA);
        self.life.block_on(told).unwrap();
    }

    fn go_on(&self) {
        let (id, (by, why)) = (self.run.id(), ANNA);
        let lap = self
            .life
            .block_on(self.life.engine.continue_run(id, by, why));
        lap.unwrap();
    }

    fn run_state(&self) -> (String, Option<String>) {
        let view = self.life.block_on(self.life.engine.view(self.run.id()));
        let view = view.unwrap();
        (view.state.to_owned(), view.outcome.map(str::to_owned))
    }

    fn alerts(&self, kind: AlertKind) -> usize {
        let alerts = self.world.alerts();
        alerts
            .iter()
            .filter(|alert| alert.alert.kind == kind)
            .count()
    }

    fn story(&self) -> String {
        self.world.describe(self.run.id())
    }

    /// What its receiver was asked to undo, in order.
    fn asked_to_undo(&self) -> Vec<String> {
        let asked = self.world.outside.requests("cancels");
        asked.into_iter().map(|ask| ask.body).collect()
    }
}

/// A write lands, and its reply is lost.
fn lost() -> Does {
    Does::LandAndFail(0, 10, maybe_sent(FailureKind::TransientTransport))
}

fn no() -> Does {
    Does::Fail(10, refused(FailureKind::PermanentProvider))
}

fn costly(units: u64) -> Does {
    let mut failure = refused(FailureKind::Overloaded);
    failure.cost = Some(CostUnits::milli(1_000 * units));
    Does::Fail(10, failure)
}

#[test]
fn another_wish_is_made_of_what_is_known_by_then() {
    let made = Undoing::lived(|ask| match (ask.dependency.as_str(), ask.nth) {
        ("orders", _) => lost(),
        ("cancels", 1) => no(),
        _ => Does::Answer(10),
    });
    made.wish();
    made.life.run_for(5_000);
    made.rule("order", Ruling::Applied);
    made.wish();
    made.life.run_for(5_000);
    let asked = made.asked_to_undo();
    let [first, second] = &asked[..] else {
        panic!("{asked:?}")
    };
    assert!(
        first.contains("nothing") && second.contains("T-1"),
        "{asked:?}"
    );
    assert_eq!(made.state("order"), "compensated");
    made.world.must_be_sound();
}

#[test]
fn an_order_that_was_made_anew_is_undone_by_what_names_the_new_one() {
    let made = Undoing::lived(|ask| match (ask.dependency.as_str(), ask.nth) {
        ("orders", 1) => Does::Fail(10, maybe_sent(FailureKind::TransientTransport)),
        ("cancels", 1) => no(),
        _ => Does::Answer(10),
    });
    made.wish();
    made.life.run_for(5_000);
    made.rule("order", Ruling::NotApplied);
    made.go_on();
    made.life.run_for(5_000);
    assert_eq!(made.state("order"), "applied");
    made.wish();
    made.life.run_for(5_000);
    let asked = made.asked_to_undo();
    assert!(asked[1].contains("undo T-"), "{asked:?}");
    assert_eq!(made.state("order"), "compensated");
    made.world.must_be_sound();
}

#[test]
fn an_undo_that_is_found_done_of_an_order_that_is_not_there_is_only_recorded() {
    let of_part = |ask: &Ask| match (ask.dependency.as_str(), ask.nth) {
        ("orders", 1) => Does::Fail(10, maybe_sent(FailureKind::TransientTransport)),
        ("cancels", 1) => Does::LandInPart(10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(10),
    };
    for goes_on in [false, true] {
        let made = Undoing::lived(of_part);
        made.wish();
        made.life.run_for(10_000);
        made.rule("order", Ruling::NotApplied);
        if goes_on {
            made.go_on();
            made.life.run_for(2_000);
        }
        let undo = made.key("order-undo").to_string();
        made.world.outside.complete(&undo);
        made.rule("order-undo", Ruling::Applied);
        made.life.run_for(1_000);
        let stands = match goes_on {
            true => "applied",
            // Nobody asked for it any more.
            false => "absent",
        };
        assert_eq!(made.state("order"), stands, "{}", made.story());
        assert_eq!(made.run_state().0, "closed", "{}", made.story());
        let (key, engine) = (made.key("order"), &made.life.engine);
        let again = made.life.block_on(engine.compensate_effect(&key, ANNA));
        let refused = again.expect_err("what undoes it has its key used up");
        assert_eq!(refused.code(), Code::SettleRefused);
        made.world.must_be_sound();
    }
}

#[test]
fn a_late_answer_of_an_undo_is_recorded_whatever_was_said_of_its_order_meanwhile() {
    let made = Undoing::lived(|ask| match (ask.dependency.as_str(), ask.nth) {
        ("orders", 1) => Does::Fail(10, maybe_sent(FailureKind::TransientTransport)),
        ("cancels", 1) => {
            Does::LandAndFail(60_000, 10, maybe_sent(FailureKind::TransientTransport))
        }
        ("cancels", _) => no(),
        _ => Does::Answer(10),
    });
    made.wish();
    made.life.run_for(30_000);
    made.rule("order", Ruling::NotApplied);
    made.life.run_for(60_000);
    let state = made.world.state(made.run.id());
    let mut calls = state.calls().iter();
    let (call, _) = calls.find(|(_, call)| call.is_undo()).unwrap();
    let end = SettleEnd::Answered {
        result: Payload::from(r#"{"id":"T-1"}"#),
        cost: None,
        client_retries: 0,
    };
    let told = InboxCommand::Settle {
        call,
        attempt: AttemptNo(1),
        end,
    };
    let id = MessageId::from_bytes([7; 16]);
    let told = made.world.ledger.enqueue(made.run.id(), id, told);
    made.life.block_on(told).unwrap();
    made.life.run_for(1_000);
    let story = made.story();
    assert_eq!(story.matches("LateResult order-undo").count(), 1, "{story}");
    assert_eq!(made.run_state().0, "closed", "{story}");
    assert_eq!(made.state("order-undo"), "applied");
    made.world.must_be_sound();
}

#[test]
fn a_run_that_goes_on_does_not_complete_with_what_was_undone() {
    let made = Undoing::lived(|ask| match (ask.dependency.as_str(), ask.nth) {
        ("told", 1) => no(),
        _ => Does::Answer(10),
    });
    made.wish();
    made.life.run_for(1_000);
    assert_eq!(made.state("order"), "compensated");
    made.go_on();
    let outcome = made.life.outcome(&made.run);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff, "{}", made.story());
    assert_eq!(outcome.result, None);
    made.world.must_be_sound();
}

#[test]
fn a_lap_that_is_open_is_lost_when_what_it_needs_is_undone() {
    let made = Undoing::begin(|ask| match ask.dependency.as_str() {
        "told" => Does::Answer(1_500),
        _ => Does::Answer(10),
    });
    made.life.run_for(100);
    made.wish();
    let outcome = made.life.outcome(&made.run);
    assert_eq!(outcome.kind, OutcomeKind::HandedOff, "{}", made.story());
    assert_eq!(made.state("order"), "compensated");
    made.world.must_be_sound();
}

#[test]
fn what_a_person_says_of_an_order_that_is_being_undone_does_not_bring_it_back() {
    let made = Undoing::lived(|ask| match ask.dependency.as_str() {
        "orders" => lost(),
        "cancels" => Does::Answer(400),
        _ => Does::Answer(10),
    });
    made.wish();
    made.rule("order", Ruling::Applied);
    made.go_on();
    made.life.run_for(60_000);
    assert_eq!(made.state("order"), "compensated");
    let ended = made.run_state().1;
    assert_ne!(ended.as_deref(), Some("completed"), "{}", made.story());
    made.world.must_be_sound();
}

#[test]
fn an_undo_does_not_need_what_the_run_has_left() {
    // The order took fifty times of all that there was; and the first try to undo it, too.
    let made = Undoing::lived(|ask| match (ask.dependency.as_str(), ask.nth) {
        ("orders", _) => Does::Bill(10, CostUnits::milli(50_000), 0),
        ("cancels", 1) => costly(50),
        _ => Does::Answer(10),
    });
    made.wish();
    made.life.run_for(60_000);
    assert_eq!(made.state("order"), "compensated", "{}", made.story());
    assert_eq!(made.alerts(AlertKind::CompensationFailed), 0);
}

#[test]
fn another_lap_takes_nothing_from_an_undo_that_waits() {
    let made = Undoing::lived(|ask| match (ask.dependency.as_str(), ask.nth) {
        ("cancels", 1 | 2) => {
            let busy = refused(FailureKind::Overloaded);
            Does::Fail(10, busy.retry_after(Millis::new(20_000)))
        }
        ("told", _) => costly(50),
        _ => Does::Answer(10),
    });
    made.wish();
    made.life.run_for(1_000);
    made.go_on();
    made.life.run_for(120_000);
    assert_eq!(made.state("order"), "compensated", "{}", made.story());
}

#[test]
fn people_are_told_once_when_nobody_can_say_for_long_whether_it_is_undone() {
    let made = Undoing::lived(|ask| match ask.dependency.as_str() {
        "cancels" => lost(),
        _ => Does::Answer(10),
    });
    assert_eq!(made.run_state().1.as_deref(), Some("completed"));
    made.world.outside.finds(|_| Find::CannotTell(5));
    made.wish();
    made.life.run_for(2_000);
    assert_eq!(made.alerts(AlertKind::InDoubt), 0, "a moment is no alert");
    made.life.run_for(10 * 86_400_000);
    assert_eq!(made.alerts(AlertKind::InDoubt), 1);
    made.rule("order-undo", Ruling::Applied);
    assert_eq!(made.state("order"), "compensated");
    made.world.must_be_sound();
}

#[test]
fn a_second_wish_that_the_run_refuses_is_not_acknowledged() {
    let made = Undoing::lived(|ask| match ask.dependency.as_str() {
        "orders" => Does::Fail(10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Fail(10, refused(FailureKind::PermanentProvider)),
    });
    made.wish();
    made.life.run_for(5_000);
    let key = made.key("order");
    let (told, wanted) = made.life.block_on(async {
        let told = made
            .life
            .engine
            .settle_effect(&key, (Ruling::NotApplied, None), ANNA);
        let wanted = made.life.engine.compensate_effect(&key, ANNA);
        tokio::join!(told, wanted)
    });
    assert_eq!(told.unwrap().as_str(), "absent");
    assert_eq!(wanted.unwrap_err().code(), Code::SettleRefused);
    assert_eq!(made.story().matches("CompensationWanted").count(), 1);
}
