//! What leaves the process for a run: attempts and look-ups.
//!
//! An attempt leaves only after its intention is durable, within the send window of its decision;
//! else it is reported as not sent. Whatever happens to the future, a report comes back.

use std::sync::Arc;

use mainstay_dispatch::{
    AttemptContext, AttemptFacts, AttemptRequest, AttemptService, Found, Provider, RawAnswer,
    codes, look_up,
};
use mainstay_machine::{Command, EffectEntry, Evidence, Finding, LookedUp, Settle, SettleEnd};
use mainstay_types::{
    AttemptNo, BoxFuture, CallId, Code, EffectKey, Failure, FailureKind, Millis, Payload, Reason,
    RunId, Sent, Timestamp, limits,
};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};

use crate::evidence;
use crate::forecast::Watch;
use crate::mailbox::Mailbox;
use crate::marked::marked_polls;
use crate::shared::Shared;

/// An attempt that may leave.
pub(crate) struct Outgoing {
    pub(crate) call: CallId,
    pub(crate) attempt: AttemptNo,
    pub(crate) at: Timestamp,
    pub(crate) request: Payload,
    pub(crate) facts: AttemptFacts,
    pub(crate) service: AttemptService,
    /// What is seen of such attempts.
    pub(crate) watch: Option<Arc<Watch>>,
    /// When it has less time than its contract gives such attempts: the contract's estimate.
    pub(crate) is_short_of: Option<Millis>,
    pub(crate) cancel: CancellationToken,
}

/// A look-up that is due.
pub(crate) struct Asking {
    pub(crate) call: CallId,
    pub(crate) number: u32,
    pub(crate) request: Payload,
    pub(crate) facts: AttemptFacts,
    pub(crate) provider: Arc<dyn Provider>,
    /// What it asks about was sent before this engine was there: there may be many of these.
    pub(crate) is_of_crowd: bool,
    pub(crate) cancel: CancellationToken,
}

/// The future that makes the attempt and reports its end.
pub(crate) fn attempt(
    shared: Arc<Shared>,
    mailbox: Mailbox,
    out: Outgoing,
) -> BoxFuture<'static, ()> {
    let guard = shared.count_out();
    Box::pin(async move {
        let (call, attempt, evidence) = (out.call, out.attempt, shared.evidence());
        let settle = |end, evidence| {
            Command::Settle(Settle {
                call,
                attempt,
                end,
                evidence,
            })
        };
        let (run, watch, began) = (out.facts.run, out.watch.clone(), shared.now());
        let is_short_of = out.is_short_of;
        let mut report = Report {
            shared: Arc::clone(&shared),
            run,
            mailbox,
            lost: Some(settle(lost(), evidence)),
        };
        let end = marked_polls(&shared, run, send(&shared, out)).await;
        drop(guard);
        if let Some(watch) = &watch {
            note((watch, is_short_of), &end, (began, shared.now()));
        }
        let evidence = Evidence {
            predicted: watch.as_ref().and_then(|watch| watch.took(shared.now())),
            ..evidence
        };
        report.deliver(settle(settle_end(end), evidence)).await;
    })
}

/// What an attempt took is seen when it was answered, and when it took all of its time: how fast a
/// provider says no tells nothing about how long it works. One that was cut short by its run's time
/// would have taken longer, and makes nothing look faster than it was known to be.
fn note(
    (watch, is_short_of): (&Watch, Option<Millis>),
    end: &Result<RawAnswer, Failure>,
    (began, now): (Timestamp, Timestamp),
) {
    let took = now.since(began);
    match end {
        Ok(answer) => watch.note(now, took, answer.cost),
        Err(failure) if failure.provider_code.as_deref() == Some(codes::ATTEMPT_TIMEOUT) => {
            let known = is_short_of.map(|estimate| watch.took(now).unwrap_or(estimate));
            let least = known.unwrap_or(Millis::ZERO);
            watch.note(now, took.max(least), failure.cost);
        }
        Err(_) => {}
    }
}

async fn send(shared: &Shared, out: Outgoing) -> Result<RawAnswer, Failure> {
    let waited = shared.now().since(out.at);
    if Millis::new(limits::SEND_WINDOW_MS) < waited {
        return Err(Failure::new(FailureKind::TransientTransport, Sent::NotSent)
            .provider_code(Reason::SendWindowPassed.as_str())
            .message(format!("{waited} passed between its record and its send")));
    }
    let time_left = out.facts.time_left.less(waited);
    let facts = AttemptFacts {
        time_left,
        ..out.facts
    };
    let cx = AttemptContext::new(facts, Arc::clone(shared.time.clock()), &out.cancel);
    let mut service = out.service;
    let ready = service.ready().await?;
    ready.call(AttemptRequest::new(out.request, cx)).await
}

fn settle_end(end: Result<RawAnswer, Failure>) -> SettleEnd {
    match end {
        Ok(answer) => SettleEnd::Answered {
            result: answer.value,
            cost: answer.cost,
            client_retries: answer.client_retries,
        },
        Err(mut failure) => {
            failure.message = failure.message.map(bounded);
            failure.provider_code = failure.provider_code.map(bounded);
            SettleEnd::Failed(failure)
        }
    }
}

/// Cuts a text for people to its bound, at a character.
pub(crate) fn bounded(mut text: String) -> String {
    if limits::TEXT_BYTES_MAX < text.len() {
        let mut end = limits::TEXT_BYTES_MAX - '\u{2026}'.len_utf8();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('\u{2026}');
    }
    text
}

/// Makes sure that whatever is out reports: a future that is dropped or panics reports what is
/// known then.
struct Report {
    shared: Arc<Shared>,
    run: RunId,
    mailbox: Mailbox,
    lost: Option<Command>,
}

impl Report {
    async fn deliver(&mut self, end: Command) {
        if let Err(end) = self.mailbox.report(end).await {
            evidence::keep(&self.shared, self.run, &end);
        }
        self.lost = None;
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        let Some(lost) = self.lost.take() else { return };
        let mailbox = self.mailbox.clone();
        self.shared.ports.spawner.spawn(Box::pin(async move {
            // A run that is gone assumes what this says.
            drop(mailbox.report(lost).await);
        }));
    }
}

/// The future that asks and reports what was found.
pub(crate) fn asking(shared: Arc<Shared>, mailbox: Mailbox, ask: Asking) -> BoxFuture<'static, ()> {
    let guard = shared.count_out();
    Box::pin(async move {
        let (call, number, evidence) = (ask.call, ask.number, shared.evidence());
        let looked_up = |asked_at, finding| {
            Command::LookedUp(LookedUp {
                call,
                number,
                asked_at,
                finding,
                evidence,
            })
        };
        let lost = looked_up(shared.now(), Finding::CannotTell);
        let run = ask.facts.run;
        let mut report = Report {
            shared: Arc::clone(&shared),
            run,
            mailbox,
            lost: Some(lost),
        };
        let turn = its_turn(&shared, ask.is_of_crowd);
        let place = tokio::select! {
            biased;
            // Nobody waits for it any more, or the engine is to end soon.
            () = ask.cancel.cancelled() => return,
            () = shared.stopped.cancelled() => return,
            place = turn => place,
        };
        let asked_at = shared.now();
        if let Some(entry) = held_elsewhere(&shared, run, &ask.facts).await {
            drop((place, guard));
            let held = Finding::Held(Box::new(entry));
            report.deliver(looked_up(asked_at, held)).await;
            return;
        }
        let clock = Arc::clone(shared.time.clock());
        let cx = AttemptContext::new(ask.facts, clock, &ask.cancel);
        let found = look_up(&ask.provider, ask.request, cx, &shared.ports.timers);
        let found = marked_polls(&shared, run, found).await;
        drop((place, guard));
        report.deliver(looked_up(asked_at, finding(found))).await;
    })
}

/// The entry of what is asked about, when another run has taken it over; what cannot be read is
/// asked about.
async fn held_elsewhere(shared: &Shared, run: RunId, facts: &AttemptFacts) -> Option<EffectEntry> {
    let key = facts.effect_key.clone().filter(EffectKey::is_shared)?;
    let entry = shared.ledger.effect(key).await.ok().flatten();
    let entry = entry.map(|(entry, _)| entry);
    entry.filter(|entry| entry.run != run)
}

/// The places that a look-up holds in the pool, once it is its turn.
async fn its_turn(shared: &Shared, is_of_crowd: bool) -> Vec<OwnedSemaphorePermit> {
    let mut pools = vec![&shared.control];
    if is_of_crowd {
        let now = shared.time.clock().monotonic();
        let wait = shared.pace.wait(now, || shared.ports.rng.next_u64());
        if wait != Millis::ZERO {
            shared.ports.timers.sleep(wait).await;
        }
        pools.insert(0, &shared.control_crowd);
    }
    let mut places = Vec::with_capacity(pools.len());
    for pool in pools {
        let place = Arc::clone(pool).acquire_owned().await;
        places.push(place.expect("the pools are never closed"));
    }
    places
}

fn finding(found: Found<Payload>) -> Finding {
    match found {
        Found::Applied(result) => Finding::Applied(result),
        Found::Partly => Finding::Partly,
        Found::InProgress => Finding::InProgress,
        Found::NotFound => Finding::NotFound,
        Found::CannotTell => Finding::CannotTell,
    }
}

/// The end of an attempt that nobody can report any more.
pub(crate) fn lost() -> SettleEnd {
    let failure = Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent);
    SettleEnd::Failed(failure.message("the attempt ended without a report"))
}

/// An attempt that has nobody to go to: its class has no provider on that rung.
pub(crate) fn no_provider() -> SettleEnd {
    SettleEnd::Failed(
        Failure::new(FailureKind::PermanentProvider, Sent::NotSent)
            .provider_code(Code::ClassUnknown.as_str())
            .message("the class has no provider on this rung"),
    )
}
