//! Timeout, cancel and layers of the user, alone and against each other.

use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use mainstay_dispatch::{
    AttemptRequest, AttemptService, Failure, FailureKind, Millis, RawAnswer, Sent,
};
use mainstay_types::Payload;
use tokio::sync::Semaphore;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::retry::{Policy, RetryLayer};
use tower::{Service, ServiceExt, layer::layer_fn};

use crate::doubles::{Bench, Does, Driven, Scripted, ending, reading, told, writing};

#[test]
fn a_read_that_hangs_ends_when_its_time_is_up() {
    let (bench, script) = (Bench::new(), Scripted::new([Does::Hang]));
    let request = bench.request();
    let token = request.cx().cancel().clone();
    let mut attempt = Driven::new(bench.stack().build(reading(&script)).oneshot(request));
    assert!(attempt.run().is_none());
    bench.time.advance(499);
    assert!(attempt.run().is_none());
    assert!(!token.is_cancelled());
    bench.time.advance(1);
    let end = told(attempt.run().expect("its time is up"));
    assert_eq!(
        end,
        ending("TRANSIENT_TRANSPORT", "MAYBE_SENT", "ATTEMPT_TIMEOUT")
    );
    assert!(token.is_cancelled(), "the adapter is told");
    assert!(!bench.cancel.is_cancelled(), "the run goes on");
}

#[test]
fn a_write_that_hangs_is_in_doubt_when_its_time_is_up() {
    let bench = Bench::new();
    let mut attempt = bench.write(&Scripted::new([Does::Hang]));
    assert!(attempt.run().is_none());
    bench.time.advance(500);
    let end = told(attempt.run().expect("its time is up"));
    assert_eq!(
        end,
        ending("EFFECT_UNKNOWN", "MAYBE_SENT", "ATTEMPT_TIMEOUT")
    );
}

#[test]
fn a_write_held_back_by_a_users_layer_is_not_sent_when_its_time_is_up() {
    let (bench, script) = (Bench::new(), Scripted::new([]));
    let full = Arc::new(Semaphore::new(0));
    let stack = bench
        .stack()
        .layer(GlobalConcurrencyLimitLayer::with_semaphore(full));
    let mut attempt = bench.send(stack.build(writing(&script)));
    assert!(attempt.run().is_none());
    bench.time.advance(500);
    let end = told(attempt.run().expect("its time is up"));
    assert_eq!(
        end,
        ending("TRANSIENT_TRANSPORT", "NOT_SENT", "ATTEMPT_TIMEOUT")
    );
    assert_eq!(script.sends(), 0);
}

#[test]
fn an_attempt_without_time_is_not_sent() {
    let (bench, script) = (Bench::new(), Scripted::new([]));
    let request = bench.request();
    bench.time.advance(500);
    let service = bench.stack().build(writing(&script));
    let end = told(Driven::new(service.oneshot(request)).end());
    assert_eq!(
        end,
        ending("TRANSIENT_TRANSPORT", "NOT_SENT", "ATTEMPT_TIMEOUT")
    );
    assert_eq!(script.sends(), 0);
}

#[test]
fn a_context_says_how_much_time_is_left_now() {
    let bench = Bench::new();
    let cx = bench.cx();
    bench.time.advance(180);
    assert_eq!(
        (cx.time_left, cx.time_left_now()),
        (Millis::new(500), Millis::new(320))
    );
    bench.time.advance(400);
    assert_eq!(cx.time_left_now(), Millis::ZERO);
}

#[test]
fn a_canceled_read_is_dropped_and_a_canceled_write_may_still_answer() {
    let bench = Bench::new();
    let mut read = bench.read(&Scripted::new([Does::Hang]));
    assert!(read.run().is_none());
    bench.cancel.cancel();
    let failure = read.run().expect("canceled").expect_err("canceled");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::Canceled, Sent::MaybeSent)
    );

    let bench = Bench::new();
    let mut write = bench.write(&Scripted::new([Does::Hang]));
    assert!(write.run().is_none());
    bench.cancel.cancel();
    assert!(
        write.run().is_none(),
        "on its way: it may still say how it ended"
    );
    bench.time.advance(500);
    let end = told(write.run().expect("its time is up"));
    assert_eq!(
        end,
        ending("EFFECT_UNKNOWN", "MAYBE_SENT", "ATTEMPT_TIMEOUT")
    );
}

#[test]
fn what_is_canceled_before_it_left_never_leaves() {
    let bench = Bench::new();
    let (early, held) = (Scripted::new([]), Scripted::new([]));
    let full = Arc::new(Semaphore::new(0));
    let stack = bench
        .stack()
        .layer(GlobalConcurrencyLimitLayer::with_semaphore(Arc::clone(
            &full,
        )));
    let mut waits = bench.send(stack.build(writing(&held)));
    assert!(waits.run().is_none());
    bench.cancel.cancel();
    let failure = waits.run().expect("dropped").expect_err("canceled");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::Canceled, Sent::NotSent)
    );
    full.add_permits(1);
    let failure = bench.write(&early).end().expect_err("canceled");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::Canceled, Sent::NotSent)
    );
    assert_eq!((early.sends(), held.sends()), (0, 0));
}

/// A user's retry layer, as the documentation of tower shows it.
#[derive(Clone)]
struct Twice(u8);

impl Policy<AttemptRequest, RawAnswer, Failure> for Twice {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut AttemptRequest,
        result: &mut Result<RawAnswer, Failure>,
    ) -> Option<Ready<()>> {
        if result.is_ok() || self.0 == 0 {
            return None;
        }
        self.0 -= 1;
        Some(ready(()))
    }

    fn clone_request(&mut self, request: &AttemptRequest) -> Option<AttemptRequest> {
        Some(request.clone())
    }
}

#[test]
fn a_write_that_a_users_retry_layer_sends_again_leaves_once_and_is_in_doubt() {
    let lost = Failure::new(FailureKind::TransientTransport, Sent::MaybeSent);
    let script = Scripted::new([
        Does::Fail(lost.provider_code("ECONNRESET")),
        Does::Reply(1.0),
    ]);
    let bench = Bench::new();
    let stack = bench.stack().layer(RetryLayer::new(Twice(1)));
    let end = told(bench.send(stack.build(writing(&script))).end());
    assert_eq!(end, ending("EFFECT_UNKNOWN", "MAYBE_SENT", "ECONNRESET"));
    assert_eq!(script.sends(), 1);
}

#[test]
fn a_read_that_a_users_retry_layer_sends_again_is_settled_by_its_one_send() {
    let busy = Failure::new(FailureKind::RateLimited, Sent::Answered);
    let busy = busy.provider_code("429").retry_after(Millis::new(900));
    let script = Scripted::new([Does::Fail(busy.clone()), Does::Reply(1.0)]);
    let bench = Bench::new();
    let stack = bench.stack().layer(RetryLayer::new(Twice(5)));
    let end = bench.send(stack.build(reading(&script))).end();
    assert_eq!(end, Err(busy));
    assert_eq!(script.sends(), 1);
}

/// A layer that answers or fails without ever sending.
#[derive(Clone)]
struct Shortcut(Result<RawAnswer, &'static str>);

impl Service<AttemptRequest> for Shortcut {
    type Response = RawAnswer;
    type Error = mainstay_dispatch::BoxError;
    type Future = Ready<Result<RawAnswer, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: AttemptRequest) -> Self::Future {
        ready(self.0.clone().map_err(Into::into))
    }
}

#[test]
fn a_cache_layer_may_answer_a_read_and_never_a_write() {
    let cached = RawAnswer {
        value: Payload::from("2"),
        cost: None,
        client_retries: 0,
    };
    let (bench, script) = (Bench::new(), Scripted::new([]));
    let own = Shortcut(Ok(cached.clone()));
    let stack = bench
        .stack()
        .layer(layer_fn(move |_: AttemptService| own.clone()));
    assert_eq!(bench.send(stack.build(reading(&script))).end(), Ok(cached));
    let end = told(bench.send(stack.build(writing(&script))).end());
    assert_eq!(
        end,
        ending("PERMANENT_PROVIDER", "NOT_SENT", "ANSWERED_WITHOUT_SENDING")
    );
}

#[test]
fn a_layer_that_fails_before_sending_proves_that_nothing_was_sent() {
    let (bench, script) = (Bench::new(), Scripted::new([]));
    let own = Shortcut(Err("quota of the day"));
    let stack = bench
        .stack()
        .layer(layer_fn(move |_: AttemptService| own.clone()));
    let end = told(bench.send(stack.build(writing(&script))).end());
    assert_eq!(
        end,
        ending("PERMANENT_PROVIDER", "NOT_SENT", "UNCLASSIFIED")
    );
}

#[test]
fn a_layer_that_panics_fails_its_attempt_only() {
    let (bench, script) = (Bench::new(), Scripted::new([Does::Reply(1.0)]));
    let stack = bench.stack().layer(layer_fn(|inner: AttemptService| {
        inner.map_request(|_: AttemptRequest| -> AttemptRequest { panic!("in the layer") })
    }));
    let end = told(bench.send(stack.build(writing(&script))).end());
    assert_eq!(
        end,
        ending("PERMANENT_PROVIDER", "NOT_SENT", "CODE_PANICKED")
    );
    assert!(bench.write(&script).end().is_ok());
}

#[test]
fn layers_of_the_user_are_passed_in_the_order_they_were_added() {
    let passed = Arc::new(std::sync::Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let passed = Arc::clone(&passed);
        layer_fn(move |inner: AttemptService| {
            let passed = Arc::clone(&passed);
            inner.map_request(move |request: AttemptRequest| {
                passed.lock().unwrap().push(name);
                request
            })
        })
    };
    let bench = Bench::new();
    let stack = bench.stack().layer(note("first")).layer(note("second"));
    bench
        .send(stack.build(reading(&Scripted::new([Does::Reply(1.0)]))))
        .end()
        .expect("an answer");
    assert_eq!(*passed.lock().unwrap(), ["first", "second"]);
}
