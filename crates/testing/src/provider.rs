//! A fake as a provider: what its script says happens to one request or look-up, in virtual time.
//!
//! A request counts from its arrival: what is to be done is done then, whatever becomes of the
//! attempt, as at a real receiver.

use std::future::pending;
use std::sync::Arc;

use mainstay_dispatch::{AttemptContext, Found, Provider, RawAnswer, codes};
use mainstay_types::{BoxFuture, Clock, Failure, FailureKind, Millis, Payload, Sent, Timers};

use crate::asked::{Applied, Asked};
use crate::fake::{Answers, Deed, Fake, Finding, State};

/// The time that fakes live in.
#[derive(Clone)]
pub(crate) struct Time {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timers: Arc<dyn Timers>,
}

pub(crate) struct FakeProvider {
    fake: Fake,
    is_write: bool,
    time: Time,
}

impl FakeProvider {
    pub(crate) fn shared(fake: &Fake, is_write: bool, time: &Time) -> Arc<dyn Provider> {
        Arc::new(Self {
            fake: fake.clone(),
            is_write,
            time: time.clone(),
        })
    }
}

impl Provider for FakeProvider {
    fn name(&self) -> &str {
        self.fake.name()
    }

    fn is_write(&self) -> bool {
        self.is_write
    }

    fn send(
        &self,
        request: Payload,
        cx: AttemptContext,
    ) -> BoxFuture<'static, Result<RawAnswer, Failure>> {
        let (fake, time) = (self.fake.clone(), self.time.clone());
        Box::pin(async move {
            let (end, takes) = arrives(&fake, time.asked(request, &cx));
            let Some(end) = end else {
                return pending().await;
            };
            time.timers.sleep(takes).await;
            end.map(|value| RawAnswer {
                value,
                cost: None,
                client_retries: 0,
            })
        })
    }

    fn look_up(
        &self,
        request: Payload,
        cx: AttemptContext,
    ) -> Option<BoxFuture<'static, Result<Found<Payload>, Failure>>> {
        if !self.is_write {
            return None;
        }
        let (fake, time) = (self.fake.clone(), self.time.clone());
        Some(Box::pin(async move {
            let (found, takes) = is_looked_up(&fake, time.asked(request, &cx));
            time.timers.sleep(takes).await;
            Ok(found)
        }))
    }

    /// What it answers is the script's own affair.
    fn check_reply(&self, _: &Payload) -> Result<(), Failure> {
        Ok(())
    }
}

impl Time {
    fn asked(&self, body: Payload, cx: &AttemptContext) -> Asked {
        Asked {
            at: self.clock.monotonic(),
            run: cx.run,
            call: cx.call.clone(),
            attempt: cx.attempt,
            key: cx.effect_key.as_ref().map(ToString::to_string),
            fence: cx.fence,
            time_left: cx.time_left,
            body,
        }
    }
}

/// What comes back of a request, `None` for nothing, and after how long.
fn arrives(fake: &Fake, asked: Asked) -> (Option<Result<Payload, Failure>>, Millis) {
    let state = &mut *fake.0.state.lock();
    let answers = Arc::clone(&state.answers);
    let deed = state.deeds.pop_front();
    let end = match deed.unwrap_or_else(|| Deed::Answer(Arc::clone(&answers))) {
        Deed::Answer(answers) => Some(act(state, &asked, &answers)),
        Deed::Fail(failure) => Some(Err(failure)),
        Deed::DoAndFail(failure) => Some(act(state, &asked, &answers).and(Err(failure))),
        Deed::LoseTheReply => act(state, &asked, &answers).err().map(Err),
        Deed::Hang => None,
        Deed::Panic => Some(Err(panicked())),
    };
    state.requests.push(asked);
    (end, state.takes)
}

/// What a look-up finds, and after how long.
fn is_looked_up(fake: &Fake, asked: Asked) -> (Found<Payload>, Millis) {
    let state = &mut *fake.0.state.lock();
    let found = match state.findings.pop_front() {
        Some(Finding::InProgress) => Found::InProgress,
        Some(Finding::Partly) => Found::Partly,
        Some(Finding::CannotTell) => Found::CannotTell,
        None => known(state, &asked).map_or(Found::NotFound, Found::Applied),
    };
    state.look_ups.push(asked);
    (found, state.takes)
}

/// Does what is asked for; one key changes the world once.
fn act(state: &mut State, asked: &Asked, answers: &Answers) -> Result<Payload, Failure> {
    let Some(key) = &asked.key else {
        return answers(&asked.body);
    };
    if let Some(reply) = known(state, asked) {
        return Ok(reply);
    }
    let reply = answers(&asked.body)?;
    state.applied.push(Applied {
        at: asked.at,
        key: key.clone(),
        request: asked.body.clone(),
        reply: reply.clone(),
    });
    Ok(reply)
}

/// The newest reply under the key of `asked`.
fn known(state: &State, asked: &Asked) -> Option<Payload> {
    let key = asked.key.as_ref()?;
    let mut newest_first = state.applied.iter().rev();
    newest_first
        .find(|applied| applied.key == *key)
        .map(|applied| applied.reply.clone())
}

/// What the engine makes of an adapter's panic.
fn panicked() -> Failure {
    Failure::new(FailureKind::PermanentProvider, Sent::MaybeSent)
        .provider_code(codes::CODE_PANICKED)
        .message("the fake was told to panic")
}
