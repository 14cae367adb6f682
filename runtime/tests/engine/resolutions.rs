//! What holds whatever a write is resolved by, in virtual time: F12 at each resolution, and keys
//! that their receiver has forgotten.

use mainstay_class::{Budget, Builder, Class, Extend, TaskClass, hours, secs};
use mainstay_dispatch::{Answer, AttemptContext, Found, Promise, Resolution, Write};
use mainstay_machine::{EffectStatus, OutcomeKind};
use mainstay_types::{CallId, Failure, FailureKind, Millis, Reason, Sent};

use crate::workers::{shared, stands_still};
use crate::world::classes::NewTicket;
use crate::world::outside::Writes;
use crate::world::script::maybe_sent;
use crate::world::{Does, Find, Minutes, Ticket, World, minutes};

macro_rules! resolved {
    ($($name:ident)*) => {$(
        #[derive(Clone)]
        struct $name(Writes);

        impl Write for $name {
            type Request = NewTicket;
            type Reply = Ticket;
            const RESOLUTION: Resolution = Resolution::$name;

            fn name(&self) -> &str {
                self.0.name()
            }

            async fn send(
                &self,
                made: NewTicket,
                cx: &AttemptContext,
            ) -> Result<Answer<Ticket>, Failure> {
                self.0.send(made, cx).await
            }

            async fn find(
                &self,
                made: NewTicket,
                cx: &AttemptContext,
            ) -> Result<Found<Ticket>, Failure> {
                self.0.find(made, cx).await
            }

            fn promise(&self) -> Promise {
                self.0.promise()
            }
        }
    )*};
}

resolved!(ByKey ByStatus ByBusinessKey ByUpsert ByLedger ByHuman);

fn class<W>(write: &W) -> Class<Minutes, Ticket>
where
    W: Write<Request = NewTicket, Reply = Ticket> + Clone,
{
    let mut g: Builder<Minutes> = TaskClass::define("resolved", 1);
    g.budget(Budget::new().answer_by(secs(300)));
    let made = |m: &Minutes, ()| NewTicket {
        title: m.id.clone(),
    };
    let written = g.write("order", write, (), made);
    let written = written.business_id(|m: &Minutes| &m.id).add();
    g.finish(written, |_, ticket| ticket.clone())
        .expect("a valid class")
}

/// F12: a lease expires while a call is out, another worker takes over, the first answers.
fn f12<W>(resolved: fn(Writes) -> W)
where
    W: Write<Request = NewTicket, Reply = Ticket> + Clone,
{
    let world = shared();
    world.outside.script(|_| Does::Answer(2_000));
    // Nobody else can tell what became of the order.
    world.outside.finds(|_| Find::CannotTell(5));
    let class = class(&resolved(world.outside.write("orders")));
    let (one, two, id) = stands_still(&world, &class);
    world.side_by_side(&[&one, &two], 1_000);
    let log = world.describe(id);
    let outcome = two.outcome_of(&class, id);
    let accepted = (outcome.kind, world.ledger.count("EffectApplied"));
    assert_eq!(accepted, (OutcomeKind::Completed, 1), "{log}");
    assert_eq!(world.ledger.count("LateResult"), 1, "{log}");
    assert_eq!(world.outside.requests("orders").len(), 1, "{log}");
    world.must_be_sound();
}

#[test]
fn f12_whatever_a_write_is_resolved_by_the_first_worker_s_answer_is_accepted_once_and_late() {
    f12(ByKey);
    f12(ByStatus);
    f12(ByBusinessKey);
    f12(ByUpsert);
    f12(ByLedger);
    f12(ByHuman);
}

/// One order at a receiver that remembers keys for 20 seconds.
fn forgetful(world: &World) -> Class<Minutes, Ticket> {
    // It does again what it has forgotten.
    world.outside.ignore_keys();
    let mut g = TaskClass::<Minutes>::define("forgetful", 1);
    g.budget(Budget::new().answer_by(secs(120)).retries(4))
        .on_downtime(Extend(hours(1)));
    let made = |m: &Minutes, ()| NewTicket {
        title: m.id.clone(),
    };
    let written = g.write("order", &world.outside.write("orders"), (), made);
    let written = written
        .business_id(|m: &Minutes| &m.id)
        .attempts(3)
        .receiver_key_ttl(Millis::from_secs(20))
        .add();
    g.finish(written, |_, ticket| ticket.clone())
        .expect("a valid class")
}

/// The order is in doubt for a person, and was sent once.
fn must_be_a_persons(world: &World, id: mainstay_types::RunId) {
    let state = world.state(id);
    let call = state.calls().get(CallId(0)).expect("the order");
    let status = call.effect.as_ref().map(|effect| &effect.status);
    let log = world.describe(id);
    assert!(matches!(status, Some(EffectStatus::InDoubt(_))), "{log}");
    assert_eq!(world.outside.requests("orders").len(), 1, "{log}");
    assert_eq!(world.outside.effects().len(), 1, "{log}");
}

#[test]
fn a_key_older_than_its_receivers_memory_is_not_sent_again_by_a_process_that_comes_back_late() {
    let world = World::new();
    world
        .outside
        .script(|_| Does::LandAndFail(0, 2_000, maybe_sent(FailureKind::TransientTransport)));
    let class = forgetful(&world);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    life.run_for(100);
    life.crash();
    world.timers.advance(Millis::from_secs(25));
    world.outside.finds(|_| Find::NotFound(5));
    let life = world.live(&[class.erased()]);
    life.run_for(60_000);
    must_be_a_persons(&world, id);
}

#[test]
fn a_key_that_grew_old_in_a_wait_is_asked_about_and_not_sent_again() {
    let world = World::new();
    world.outside.script(|_| {
        let busy = Failure::new(FailureKind::Overloaded, Sent::Answered);
        Does::LandAndFail(0, 10, busy.retry_after(Millis::from_secs(30)))
    });
    world.outside.finds(|_| Find::NotFound(5));
    let class = forgetful(&world);
    let life = world.live(&[class.erased()]);
    let id = life.start(&class, minutes("M", 1)).id();
    life.run_for(60_000);
    must_be_a_persons(&world, id);
    let history = world.history(id).join("\n");
    assert!(
        history.contains(Reason::WriteResponseLost.as_str()),
        "{history}"
    );
}

/// The same receiver, before it forgets.
#[test]
fn a_key_that_its_receiver_still_knows_is_sent_again_once_it_is_known_to_be_absent() {
    let world = World::new();
    world.outside.script(|ask| match ask.nth {
        1 => Does::Fail(10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(10),
    });
    let class = forgetful(&world);
    let life = world.live(&[class.erased()]);
    let outcome = life.outcome(&life.start(&class, minutes("M", 1)));
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(world.outside.requests("orders").len(), 2);
    world.must_be_sound();
}
