//! Parts that break their word: adapters that panic where none may, a core that asks for what it
//! then refuses. One attempt suffers, or one second passes; never the engine.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mainstay_dispatch::{AttemptContext, Found, Provider, RawAnswer};
use mainstay_machine::{Action, Command, Core, Event, Machine, OutcomeKind, Run};
use mainstay_runtime::Ports;
use mainstay_sim::LocalSpawner;
use mainstay_types::{
    BoxFuture, CallId, Corrupt, DependencyName, Failure, FailureKind, Payload, Refusal, Spawner,
    Timestamp,
};
use parking_lot::Mutex;

use crate::world::classes::single;
use crate::world::outside::panicked;
use crate::world::script::maybe_sent;
use crate::world::{World, minutes};

/// As tokio does: a task that panics is dropped, and the others go on.
pub(crate) struct Catching(pub(crate) LocalSpawner);

struct Caught(Option<BoxFuture<'static, ()>>);

impl Future for Caught {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(future) = self.0.as_mut() else {
            return Poll::Ready(());
        };
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(polled) => polled,
            Err(_) => {
                self.0 = None;
                Poll::Ready(())
            }
        }
    }
}

impl Spawner for Catching {
    fn spawn(&self, future: BoxFuture<'static, ()>) {
        self.0.spawn(Box::pin(Caught(Some(future))));
    }
}

/// An order that is always done and never answered; its look-ups panic for a while.
struct Rude {
    asked: Mutex<u32>,
}

impl Provider for Rude {
    fn check_reply(&self, _: &Payload) -> Result<(), Failure> {
        Ok(())
    }

    fn name(&self) -> &str {
        "orders"
    }

    fn is_write(&self) -> bool {
        true
    }

    fn send(
        &self,
        _: Payload,
        _: AttemptContext,
    ) -> BoxFuture<'static, Result<RawAnswer, Failure>> {
        Box::pin(async { Err(maybe_sent(FailureKind::TransientTransport)) })
    }

    fn look_up(
        &self,
        _: Payload,
        _: AttemptContext,
    ) -> Option<BoxFuture<'static, Result<Found<Payload>, Failure>>> {
        let mut asked = self.asked.lock();
        *asked += 1;
        match *asked {
            1 => panicked("at the call".to_owned()),
            2 => Some(Box::pin(async { panicked("in the future".to_owned()) })),
            3 => None,
            _ => Some(Box::pin(async {
                Ok(Found::Applied(Payload::from(r#"{"id":"T-1"}"#)))
            })),
        }
    }
}

#[test]
fn a_look_up_that_panics_outside_of_every_guard_is_made_again() {
    let world = World::new();
    let class = single(&world.outside);
    let rude: Arc<dyn Provider> = Arc::new(Rude {
        asked: Mutex::new(0),
    });
    let class = class
        .replace(&DependencyName::new("orders").unwrap(), &rude)
        .unwrap();
    let executor = world.executor();
    let ports = world.ports(&executor);
    let ports = Ports {
        spawner: Arc::new(Catching(executor.spawner())),
        ..ports
    };
    let builder = world.builder_on(ports).register(&class);
    let outcome = executor.block_on(async {
        let engine = builder.start().await.unwrap();
        let run = engine.start(&class, minutes("M", 1)).await.unwrap();
        run.outcome().await.unwrap()
    });
    assert_eq!(outcome.kind, OutcomeKind::Completed);
    assert_eq!(
        world.ledger.count("ControlSettled"),
        3,
        "three that could not tell"
    );
}

/// A core that always has something to be done, which then changes nothing.
struct Restless;

impl Core for Restless {
    fn may_start(&self, run: &Run, call: CallId, now: Timestamp) -> Result<(), Refusal> {
        Machine.may_start(run, call, now)
    }

    fn decide(&self, run: &Run, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        Machine.decide(run, command, now)
    }

    fn apply(&self, run: &mut Run, event: &Event) -> Result<(), Corrupt> {
        Machine.apply(run, event)
    }

    fn pending(&self, run: &Run, now: Timestamp) -> Vec<Action> {
        let mut actions = Machine.pending(run, now);
        if !actions.is_empty() {
            actions.insert(0, Action::Advance);
        }
        actions
    }
}

#[test]
fn a_core_that_asks_for_what_it_then_refuses_costs_a_look_a_second_and_no_delay() {
    let world = World::new();
    world.outside.script(|_| crate::world::Does::Answer(5_300));
    let class = crate::world::classes::chain(&world.outside, 2);
    let executor = world.executor().polls_max(200);
    let builder = world
        .builder(&executor)
        .register(&class)
        .core(Arc::new(Restless));
    let outcome = executor.try_block_on(async {
        let engine = builder.start().await.unwrap();
        let run = engine.start(&class, minutes("M", 1)).await.unwrap();
        run.outcome().await.unwrap()
    });
    // The reads time out after three seconds each, retries included; nothing spins meanwhile.
    assert_eq!(
        outcome.expect("it does not spin").kind,
        OutcomeKind::HandedOff
    );
}
