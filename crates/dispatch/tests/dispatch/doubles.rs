//! Doubles: virtual time, a future driven by hand, and dependencies that do as they are told. They
//! never look at the real clock.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use mainstay_dispatch::{
    Answer, AttemptContext, AttemptFacts, AttemptRequest, AttemptService, Failure, Found, Keys,
    Promise, Provider, RawAnswer, Read, ReadProvider, Resolution, Stack, Write, WriteProvider,
};
use mainstay_types::{
    AttemptNo, BoxFuture, BusinessId, Clock, EffectKey, EffectName, Epoch, Millis, Payload,
    Position, RunId, Rung, Scope, Tenant, Timers, Timestamp,
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Virtual time as both ports.
#[derive(Default)]
pub(crate) struct Time {
    now: Mutex<Millis>,
    sleepers: Mutex<Vec<Waker>>,
}

impl Time {
    pub(crate) fn advance(&self, by: u64) {
        *self.now.lock().expect("no test panics holding it") = self.monotonic() + Millis::new(by);
        self.sleepers
            .lock()
            .expect("no test panics holding it")
            .drain(..)
            .for_each(Waker::wake);
    }
}

impl Clock for Time {
    fn wall(&self) -> Timestamp {
        Timestamp::from_millis(0) + self.monotonic()
    }

    fn monotonic(&self) -> Millis {
        *self.now.lock().expect("no test panics holding it")
    }
}

/// Virtual time as somebody who can be asked to wait.
#[derive(Clone)]
pub(crate) struct VirtualTimers(pub(crate) Arc<Time>);

struct Sleep {
    time: Arc<Time>,
    until: Millis,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.until <= self.time.monotonic() {
            return Poll::Ready(());
        }
        self.time
            .sleepers
            .lock()
            .expect("no test panics holding it")
            .push(cx.waker().clone());
        Poll::Pending
    }
}

impl Timers for VirtualTimers {
    fn sleep(&self, length: Millis) -> BoxFuture<'static, ()> {
        let until = self.0.monotonic() + length;
        Box::pin(Sleep {
            time: Arc::clone(&self.0),
            until,
        })
    }
}

/// A future in the test's hands.
pub(crate) struct Driven<T> {
    future: Option<BoxFuture<'static, T>>,
    woken: Arc<Woken>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl<T> Driven<T> {
    pub(crate) fn new(future: impl Future<Output = T> + Send + 'static) -> Self {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        Self {
            future: Some(Box::pin(future)),
            woken,
        }
    }

    /// Polls until it ends or nothing wakes it.
    pub(crate) fn run(&mut self) -> Option<T> {
        let waker = Waker::from(Arc::clone(&self.woken));
        while self.woken.0.swap(false, Ordering::SeqCst) {
            let future = self.future.as_mut().expect("not ended");
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                self.future = None;
                return Some(output);
            }
        }
        None
    }

    /// Its output; panics when it still waits for something.
    pub(crate) fn end(mut self) -> T {
        self.run().expect("the future ends without more time")
    }
}

/// What a dependency does with its next request.
#[derive(Clone)]
pub(crate) enum Does {
    Reply(f64),
    Fail(Failure),
    Panic,
    Hang,
}

/// A dependency that does as it is told and counts what reached it.
#[derive(Default)]
pub(crate) struct Scripted {
    does: Mutex<VecDeque<Does>>,
    pub(crate) sent: AtomicUsize,
    pub(crate) found: Mutex<Option<Result<Found<f64>, Failure>>>,
}

impl Scripted {
    pub(crate) fn new(does: impl IntoIterator<Item = Does>) -> Arc<Self> {
        let does = Mutex::new(does.into_iter().collect());
        Arc::new(Self {
            does,
            ..Self::default()
        })
    }

    pub(crate) fn finds(finding: Option<Result<Found<f64>, Failure>>) -> Arc<Self> {
        Arc::new(Self {
            found: Mutex::new(finding),
            ..Self::default()
        })
    }

    pub(crate) fn sends(&self) -> usize {
        self.sent.load(Ordering::SeqCst)
    }

    async fn act(&self) -> Result<Answer<f64>, Failure> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        let does = self
            .does
            .lock()
            .expect("no test panics holding it")
            .pop_front()
            .expect("a scripted send");
        match does {
            Does::Reply(value) => Ok(Answer::new(value).client_retries(2)),
            Does::Fail(failure) => Err(failure),
            Does::Panic => panic!("the client's own bug"),
            Does::Hang => std::future::pending().await,
        }
    }
}

/// The script as a read of doubles by name.
pub(crate) struct Reading(pub(crate) Arc<Scripted>);

impl Read for Reading {
    type Request = String;
    type Reply = f64;

    fn name(&self) -> &str {
        "policy"
    }

    async fn call(&self, _: String, _: &AttemptContext) -> Result<Answer<f64>, Failure> {
        self.0.act().await
    }
}

/// The script as a write.
pub(crate) struct Writing(pub(crate) Arc<Scripted>);

impl Write for Writing {
    type Request = String;
    type Reply = f64;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "tickets"
    }

    async fn send(&self, _: String, _: &AttemptContext) -> Result<Answer<f64>, Failure> {
        self.0.act().await
    }

    async fn find(&self, _: String, _: &AttemptContext) -> Result<Found<f64>, Failure> {
        let finding = self
            .0
            .found
            .lock()
            .expect("no test panics holding it")
            .clone();
        match finding {
            Some(finding) => finding,
            None => std::future::pending().await,
        }
    }

    fn promise(&self) -> Promise {
        Promise {
            keys: Keys::Honoured,
            ..Promise::new()
        }
    }
}

/// Everything one attempt needs, and the handles to look at it afterwards.
pub(crate) struct Bench {
    pub(crate) time: Arc<Time>,
    pub(crate) cancel: CancellationToken,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            time: Arc::default(),
            cancel: CancellationToken::new(),
        }
    }

    pub(crate) fn stack(&self) -> Stack {
        Stack::new(self.timers())
    }

    pub(crate) fn timers(&self) -> Arc<dyn Timers> {
        Arc::new(VirtualTimers(Arc::clone(&self.time)))
    }

    /// A context of 500 ms.
    pub(crate) fn cx(&self) -> AttemptContext {
        let tenant = Tenant::new("acme").expect("a valid name");
        let effect_key = EffectKey {
            tenant: tenant.clone(),
            effect: EffectName::new("ticket").expect("a valid name"),
            scope: Scope::Business(BusinessId::new("secret-4711").expect("a valid name")),
            position: Position::Slot(1),
        };
        let facts = AttemptFacts {
            run: RunId::from_bytes([7; 16]),
            tenant,
            call: "ticket_write[3]".to_owned(),
            attempt: AttemptNo(2),
            rung: Rung(0),
            control: false,
            time_left: Millis::new(500),
            effect_key: Some(effect_key),
            fence: Epoch(1),
            traceparent: None,
        };
        AttemptContext::new(
            facts,
            Arc::clone(&self.time) as Arc<dyn Clock>,
            &self.cancel,
        )
    }

    pub(crate) fn request(&self) -> AttemptRequest {
        AttemptRequest::new(Payload::from("\"to whom it may concern\""), self.cx())
    }

    pub(crate) fn send(&self, service: AttemptService) -> Driven<Result<RawAnswer, Failure>> {
        Driven::new(service.oneshot(self.request()))
    }

    /// One attempt of a read without layers of the user.
    pub(crate) fn read(&self, script: &Arc<Scripted>) -> Driven<Result<RawAnswer, Failure>> {
        self.send(self.stack().build(reading(script)))
    }

    /// One attempt of a write without layers of the user.
    pub(crate) fn write(&self, script: &Arc<Scripted>) -> Driven<Result<RawAnswer, Failure>> {
        self.send(self.stack().build(writing(script)))
    }
}

pub(crate) fn reading(script: &Arc<Scripted>) -> Arc<dyn Provider> {
    Arc::new(ReadProvider::new(Reading(Arc::clone(script))))
}

pub(crate) fn writing(script: &Arc<Scripted>) -> Arc<dyn Provider> {
    Arc::new(WriteProvider::new(Writing(Arc::clone(script))))
}

/// Kind, sent and provider code of a failed attempt.
pub(crate) fn told(end: Result<RawAnswer, Failure>) -> (String, String, Option<String>) {
    let failure = end.expect_err("the attempt failed");
    (
        failure.kind.to_string(),
        failure.sent.to_string(),
        failure.provider_code,
    )
}

/// What [`told`] should be.
pub(crate) fn ending(kind: &str, sent: &str, code: &str) -> (String, String, Option<String>) {
    (kind.to_owned(), sent.to_owned(), Some(code.to_owned()))
}
