//! Effects by their keys: how one stands, and what a person says became of it.
//!
//! A key tells its run, or the ledger does. What is said is a command in that run's inbox like any
//! other: whoever drives the run takes it, and the run goes on by itself.

use std::sync::Arc;

use mainstay_ledger::InboxCommand;
use mainstay_machine::{
    AskCompensate, AskSettle, Command, EffectStatus, Ruling, Run, by_hand, compensate, effect,
};
use mainstay_types::{
    AttemptNo, CallId, Code, EffectKey, Payload, Reason, Refusal, RunId, Rung, Scope, json, limits,
};

use crate::answer::load_run;
use crate::control::{Asks, allowed, refused_after_all, taken};
use crate::error::EngineError;
use crate::shared::Shared;
use crate::view::OneEffect;

/// A run, and the call in it that an effect is known by.
type Place = (RunId, Arc<Run>, CallId);

/// Which run intends the effect under `key`, and in which call.
async fn find(shared: &Shared, key: &EffectKey) -> Result<Place, EngineError> {
    let id = match &key.scope {
        Scope::Run { run, .. } => Some(*run),
        Scope::Business(_) => {
            let entry = shared.ledger.effect(key.clone()).await?;
            entry.map(|(entry, _)| entry.run)
        }
    };
    let id = id.ok_or_else(|| not_there(key))?;
    let loaded = match load_run(shared, id).await {
        Err(error) if error.code() == Code::RunUnknown => {
            return Err(not_there(key));
        }
        loaded => loaded?,
    };
    let run = Arc::new(loaded.run);
    let call = effect::under(&run, key).ok_or_else(|| not_there(key))?;
    Ok((id, run, call))
}

fn not_there(key: &EffectKey) -> EngineError {
    Refusal::new(Code::EffectNotThere)
        .about(key.to_string())
        .into()
}

/// One effect with everything that is known of it.
pub(crate) async fn view(shared: &Shared, key: &EffectKey) -> Result<OneEffect, EngineError> {
    let (id, _, _) = find(shared, key).await?;
    let loaded = load_run(shared, id).await?;
    let run = crate::view::of_loaded(&*shared.ledger, &loaded).await?;
    let call = effect::under(&loaded.run, key).ok_or_else(|| not_there(key))?;
    OneEffect::of(&loaded.run, (run, call), shared.now()).ok_or_else(|| not_there(key))
}

/// What became of the effect under `key`, as a person says; durable once this returns. How it
/// stands by that.
pub(crate) async fn settle(
    shared: &Arc<Shared>,
    key: &EffectKey,
    (ruling, result): (Ruling, Option<Payload>),
    asks: Asks,
) -> Result<EffectStatus, EngineError> {
    let said = |place| {
        let said = (ruling, result.clone());
        settle_in(shared, place, said, &asks)
    };
    where_it_is(shared, key, said).await
}

/// Says it to the run that has the effect; again to the one that took its key over before the run
/// that had it took what was said.
async fn where_it_is<F>(
    shared: &Arc<Shared>,
    key: &EffectKey,
    say: impl Fn(Place) -> F,
) -> Result<EffectStatus, EngineError>
where
    F: Future<Output = Result<EffectStatus, EngineError>>,
{
    let mut place = find(shared, key).await?;
    for _ in 1..limits::TAKE_TRIES_MAX {
        let before = place.0;
        match say(place).await {
            Err(error) if error.code() == Code::RunNotLive => {
                place = went(shared, key, (before, error)).await?;
            }
            said => return said,
        }
    }
    say(place).await
}

/// Where an effect is by now, whose key another run took over before the run that had it took what
/// was said; else why that one did not.
async fn went(
    shared: &Shared,
    key: &EffectKey,
    (before, why): (RunId, EngineError),
) -> Result<Place, EngineError> {
    let place = find(shared, key).await?;
    match place.0 == before {
        true => Err(why),
        false => Ok(place),
    }
}

async fn settle_in(
    shared: &Arc<Shared>,
    (id, run, call): Place,
    (ruling, result): (Ruling, Option<Payload>),
    Asks { by, why }: &Asks,
) -> Result<EffectStatus, EngineError> {
    let (by, why) = (by.clone(), why.clone());
    let mut ask = AskSettle {
        call,
        attempt: newest(&run, call)?,
        ruling,
        result: canonical(result.clone()).unwrap_or_else(|_| Payload::from("null")),
        by,
        why,
    };
    if ruling == Ruling::Applied {
        // What is known already needs neither a result nor the code that could read it.
        allowed(shared, &run, || Command::SettleByHand(ask.clone()))?;
    }
    ask.result = checked(shared, &run, call, (ruling, result))?;
    allowed(shared, &run, || Command::SettleByHand(ask.clone()))?;
    let run = taken(shared, id, InboxCommand::SettleByHand(ask.clone())).await?;
    match run.calls().get(call).and_then(|call| call.effect.as_ref()) {
        Some(effect) if is_by_hand(&effect.status, ruling) => Ok(effect.status.clone()),
        // It has gone on since: its next attempt is out, or has been answered.
        Some(effect) if newest(&run, call)? != ask.attempt => Ok(effect.status.clone()),
        Some(_) | None => Err(refused_after_all(shared, &run, Command::SettleByHand(ask))),
    }
}

/// Has the effect under `key` undone; that it is wanted is durable once this returns. How it stands
/// by then.
pub(crate) async fn compensate(
    shared: &Arc<Shared>,
    key: &EffectKey,
    asks: Asks,
) -> Result<EffectStatus, EngineError> {
    let wanted = |place| compensate_in(shared, place, &asks);
    where_it_is(shared, key, wanted).await
}

async fn compensate_in(
    shared: &Arc<Shared>,
    (id, run, call): Place,
    Asks { by, why }: &Asks,
) -> Result<EffectStatus, EngineError> {
    let ask = AskCompensate {
        call,
        after: wanted(&run, call),
        by: by.clone(),
        why: why.clone(),
    };
    allowed(shared, &run, || Command::Compensate(ask.clone()))?;
    let run = taken(shared, id, InboxCommand::Compensate(ask.clone())).await?;
    let made = run.calls().get(call).and_then(|call| call.effect.as_ref());
    match made {
        Some(effect) if ask.after < wanted(&run, call) => Ok(effect.status.clone()),
        // Somebody else wanted it first, and it is done.
        Some(effect) if effect.status == EffectStatus::Compensated => Ok(effect.status.clone()),
        Some(_) | None => Err(refused_after_all(shared, &run, Command::Compensate(ask))),
    }
}

/// How often somebody wanted the effect undone.
fn wanted(run: &Run, call: CallId) -> u32 {
    let undo = compensate::of(run, call).and_then(|(_, undo)| undo.undoes);
    undo.map_or(0, |undoes| undoes.wanted)
}

fn is_by_hand(status: &EffectStatus, ruling: Ruling) -> bool {
    match status {
        EffectStatus::Applied(reason) => {
            *reason == Reason::SettledByHand && ruling == Ruling::Applied
        }
        EffectStatus::Absent(reason) => {
            *reason == Reason::SettledByHand && ruling == Ruling::NotApplied
        }
        EffectStatus::Intended
        | EffectStatus::Dispatched
        | EffectStatus::InDoubt(_)
        | EffectStatus::PartlyApplied
        | EffectStatus::Compensated => false,
    }
}

fn newest(run: &Run, call: CallId) -> Result<AttemptNo, EngineError> {
    let sent = run.calls().get(call);
    let sent = sent.filter(|call| call.effect.is_some());
    sent.map(by_hand::newest).ok_or_else(|| {
        let about = format!("{}: nothing of it was sent", run.path(call));
        Refusal::new(Code::SettleRefused).about(about).into()
    })
}

/// The result of an effect that is applied, in canonical form and as the class's code can read it.
/// What cannot be read would be the call's value for good, so it is refused here, while somebody
/// can correct it.
fn checked(
    shared: &Shared,
    run: &Run,
    call: CallId,
    (ruling, result): (Ruling, Option<Payload>),
) -> Result<Payload, EngineError> {
    let path = run.path(call);
    let refused = |code: Code, what: &str| -> EngineError {
        Refusal::new(code).about(format!("{path}: {what}")).into()
    };
    let is_given = result.is_some();
    let result = canonical(result).map_err(|what| refused(Code::InvalidInput, &what))?;
    match ruling {
        Ruling::NotApplied if is_given => {
            let what = "only what was applied has a result";
            return Err(refused(Code::InvalidInput, what));
        }
        Ruling::NotApplied => return Ok(result),
        Ruling::Applied => {}
    }
    let head = run.head().ok_or_else(|| Refusal::new(Code::RunUnknown))?;
    let Some(class) = shared.registry.find(&head.class) else {
        let what = "only the class's code knows what a result of it is";
        return Err(refused(Code::WaitingForCode, what));
    };
    let node = run.calls().get(call).map(|call| call.node);
    let provider = node.and_then(|node| class.class.provider(node, Rung(0)));
    match provider.map(|provider| provider.check_reply(&result)) {
        Some(Ok(())) | None => Ok(result),
        Some(Err(failure)) => {
            let said = failure.message.unwrap_or_default();
            let needed = if is_given { "" } else { "a result is needed: " };
            Err(refused(Code::InvalidInput, &format!("{needed}{said}")))
        }
    }
}

/// A result in canonical form; `null` when none was given.
fn canonical(result: Option<Payload>) -> Result<Payload, String> {
    let Some(result) = result else {
        return Ok(Payload::from("null"));
    };
    if limits::PAYLOAD_BYTES_MAX < result.len() {
        let bytes = limits::PAYLOAD_BYTES_MAX;
        return Err(format!("its result has more than {bytes} bytes"));
    }
    let text = std::str::from_utf8(result.as_bytes()).map_err(|error| error.to_string())?;
    let value = json::parse(text).map_err(|error| format!("its result is no JSON: {error}"))?;
    Ok(Payload::from(value.to_canonical()))
}
