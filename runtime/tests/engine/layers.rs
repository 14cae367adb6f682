//! The user's own layers: they see every attempt, and cannot send one twice.

use std::sync::Arc;
use std::task::{Context, Poll};

use mainstay_dispatch::{AttemptRequest, AttemptService, RawAnswer, Stack};
use mainstay_machine::OutcomeKind;
use mainstay_types::{BoxFuture, Failure, FailureKind};
use parking_lot::Mutex;
use tower::layer::layer_fn;
use tower::{Service, ServiceExt};

use crate::world::classes::{meeting, single};
use crate::world::outside::panicked;
use crate::world::script::maybe_sent;
use crate::world::{Does, World, minutes};

/// Sends up to three times, as retry layers do.
#[derive(Clone)]
struct Retries(AttemptService);

impl Service<AttemptRequest> for Retries {
    type Response = RawAnswer;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<RawAnswer, Failure>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: AttemptRequest) -> Self::Future {
        let inner = self.0.clone();
        Box::pin(async move {
            let mut end = inner.clone().oneshot(request.clone()).await;
            for _ in 0..2 {
                if end.is_err() {
                    end = inner.clone().oneshot(request.clone()).await;
                }
            }
            end
        })
    }
}

/// F38: a retry layer of the user's.
#[test]
fn f38_a_layer_that_retries_sends_once_and_the_failure_stays_the_first_one() {
    let world = World::new();
    world.outside.script(|ask| match ask.nth {
        1 => Does::LandAndFail(0, 10, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(10),
    });
    let class = single(&world.outside);
    let stack = Stack::new(Arc::new(world.timers.clone())).layer(layer_fn(Retries));
    let life = world.live_with(|builder| builder.register(&class).stack(stack));
    let kind = life.outcome(&life.start(&class, minutes("M", 1))).kind;
    assert_eq!(kind, OutcomeKind::Completed);
    assert_eq!(
        world.outside.requests("orders").len(),
        1,
        "one permit, one send"
    );
    assert_eq!(
        world.ledger.count("EffectInDoubt"),
        1,
        "the first send is what counts"
    );
    world.must_be_sound();
}

#[derive(Clone)]
struct Watches(AttemptService, Arc<Mutex<Vec<String>>>);

impl Service<AttemptRequest> for Watches {
    type Response = RawAnswer;
    type Error = Failure;
    type Future = <AttemptService as Service<AttemptRequest>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: AttemptRequest) -> Self::Future {
        self.1
            .lock()
            .push(format!("{}/{}", request.cx().call, request.cx().attempt));
        self.0.call(request)
    }
}

#[test]
fn a_layer_sees_every_attempt_of_every_rung_and_no_lookup() {
    let world = World::new();
    world
        .outside
        .script(|ask| match (ask.dependency.as_str(), ask.nth) {
            ("policy", _) => Does::Fail(5, maybe_sent(FailureKind::PermanentProvider)),
            ("tickets", 1) => Does::LandAndFail(0, 5, maybe_sent(FailureKind::Overloaded)),
            _ => Does::Answer(10),
        });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let class = meeting(&world.outside);
    let stack = Stack::new(Arc::new(world.timers.clone()))
        .layer(layer_fn(move |inner| Watches(inner, Arc::clone(&log))));
    let life = world.live_with(|builder| builder.register(&class).stack(stack));
    life.block_on(async {
        let run = life.engine.start(&class, minutes("M", 1)).await.unwrap();
        run.outcome().await.unwrap();
    });
    let mut seen = seen.lock().clone();
    seen.sort();
    let wanted = [
        "draft/1",
        "policy_rag/1",
        "policy_rag/2",
        "related_tickets/1",
        "specialist/1",
        "ticket_write[0]/1",
    ];
    assert_eq!(seen, wanted);
    assert_eq!(world.outside.look_ups().len(), 1);
}

/// Panics with this text when it is called.
#[derive(Clone)]
pub(crate) struct Panics(pub(crate) &'static str);

impl Service<AttemptRequest> for Panics {
    type Response = RawAnswer;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<RawAnswer, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: AttemptRequest) -> Self::Future {
        panicked(self.0.to_owned())
    }
}

#[test]
fn a_layer_that_panics_fails_the_attempt_and_nothing_else() {
    let world = World::new();
    let class = single(&world.outside);
    let stack =
        Stack::new(Arc::new(world.timers.clone())).layer(layer_fn(|_| Panics("a layer panicked")));
    let life = world.live_with(|builder| builder.register(&class).stack(stack));
    let outcome = life.outcome(&life.start(&class, minutes("M", 1)));
    assert_eq!(outcome.kind, OutcomeKind::HandedOff);
    assert!(world.outside.asks().is_empty());
    assert_eq!(
        world.ledger.count("EffectInDoubt"),
        0,
        "nothing left, so nothing is in doubt"
    );
}
