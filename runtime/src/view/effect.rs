//! One effect for whoever has to find out what became of it: what was sent, what was asked, what
//! its receiver promises, and what may be said of it now.
//!
//! It is cut out of the run's view, so that both tell one story.

use mainstay_graph::{Contract, EffectContract};
use mainstay_machine::{EffectStatus, Run, compensate, effect};
use mainstay_types::{CallId, Millis, Timestamp};
use serde::Serialize;

use super::{CallView, ClassView, RunView, TimelineRow, call, raw};

/// One effect.
#[derive(Clone, Debug, Serialize)]
pub struct OneEffect {
    /// Its key.
    pub key: String,
    /// The run that intends it.
    pub run_id: String,
    /// The run's class.
    pub class: ClassView,
    /// Whose run.
    pub tenant: String,
    /// How the run stands, for example `waiting`.
    pub run_state: &'static str,
    /// How the run's newest lap ended; `None` while open.
    pub run_outcome: Option<&'static str>,
    /// Since how long nobody knows what became of it.
    pub in_doubt_for_ms: Option<u64>,
    /// Whether a person may settle it: it is in doubt, or was applied in part.
    pub may_be_settled: bool,
    /// For a doubt: from when "not applied" may be said, or that it is to be undone, since nothing
    /// can land any more.
    pub not_applied_from: Option<String>,
    /// Whether a person may have it undone: its class says how, it is or may be in the world, and
    /// nobody has asked for it yet or what was asked for has failed.
    pub may_be_compensated: bool,
    /// What undoes it, once somebody asked for it.
    pub undone_by: Option<OtherEffect>,
    /// What it undoes.
    pub undoes: Option<OtherEffect>,
    /// What the class and the receiver promise.
    pub promise: PromiseView,
    /// The call that writes, with its attempts and how the effect stands.
    pub call: CallView,
    /// What has happened to it, in order.
    pub timeline: Vec<TimelineRow>,
}

/// An effect that has to do with this one.
#[derive(Clone, Debug, Serialize)]
pub struct OtherEffect {
    /// Its key.
    pub key: String,
    /// Its call's path.
    pub call: String,
    /// How that call stands, for example `in_doubt`.
    pub call_state: &'static str,
    /// How it stands; `None` before it is sent for the first time.
    pub state: Option<&'static str>,
    /// The run whose undo of another effect has its key, when that was so the last time it asked.
    pub key_holder: Option<String>,
}

impl OtherEffect {
    fn of(run: &Run, id: CallId) -> Option<Self> {
        let call = run.calls().get(id)?;
        let effect = call.effect.as_ref();
        Some(Self {
            key: effect::key(run, id, call).ok()?.to_string(),
            call: run.path(id),
            call_state: call.phase.as_str(),
            state: effect.map(|effect| effect.status.as_str()),
            key_holder: call.key_holder.map(|run| run.to_string()),
        })
    }
}

/// What the class and the receiver promise about an effect.
#[derive(Clone, Debug, Serialize)]
pub struct PromiseView {
    /// How an unknown outcome is found: `by_key`, `by_status`, `by_business_key`, `by_upsert`,
    /// `by_ledger` or `by_human`.
    pub resolution: &'static str,
    /// `read_only` never; `write_idempotent_with_key` or `write_without_key`.
    pub semantics: &'static str,
    /// What a second request means: `per_run`, `per_slot` or `per_item`.
    pub rule: &'static str,
    /// Where the key is unique: `business` or `run`.
    pub scope: &'static str,
    /// How long the receiver may take to act on a request it accepted.
    pub receiver_bound_ms: u64,
    /// How long after a send a request may still land.
    pub horizon_ms: u64,
    /// How long the receiver remembers a key; `None`: for good.
    pub receiver_key_ttl_ms: Option<u64>,
    /// How long the key is remembered here after its outcome is known.
    pub key_memory_ms: u64,
    /// JSON pointers of what makes two requests the same; empty: everything.
    pub significant: Vec<String>,
}

impl PromiseView {
    fn of(contract: &Contract, effect: &EffectContract) -> Self {
        Self {
            resolution: effect.resolution.as_str(),
            semantics: contract.effect.as_str(),
            rule: effect.rule.as_str(),
            scope: effect.scope.as_str(),
            receiver_bound_ms: effect.receiver_bound.get(),
            horizon_ms: contract.horizon(effect).get(),
            receiver_key_ttl_ms: effect.receiver_key_ttl.map(Millis::get),
            key_memory_ms: effect.key_memory.get(),
            significant: effect.significant.clone(),
        }
    }
}

impl OneEffect {
    /// The effect of `id`, out of its run's view; `None` for a call that intends none.
    pub(crate) fn of(run: &Run, (view, id): (RunView, CallId), now: Timestamp) -> Option<Self> {
        let call = run.calls().get(id)?;
        let effect = call.effect.as_ref()?;
        let node = run.class().node(call.node);
        let path = run.path(id);
        let doubt = call::doubt(effect);
        let shown = view.calls.into_iter().find(|call| call.path == path)?;
        let since = doubt.and_then(|_| call.attempts.last()).map(|sent| sent.at);
        let rows = view.timeline.into_iter();
        let undo = compensate::of(run, id);
        Some(Self {
            key: effect.key.to_string(),
            run_id: view.run_id,
            class: view.class,
            tenant: view.tenant,
            run_state: view.state,
            run_outcome: view.outcome,
            in_doubt_for_ms: since.map(|since| now.since(since).get()),
            may_be_settled: may_be_settled(&effect.status),
            not_applied_from: doubt.map(|doubt| raw::time(doubt.absent_after)),
            may_be_compensated: may_be_compensated(run, id),
            undone_by: undo.and_then(|(undo, _)| OtherEffect::of(run, undo)),
            undoes: call
                .undoes
                .and_then(|undoes| OtherEffect::of(run, undoes.call)),
            promise: PromiseView::of(node.contract()?, node.effect()?),
            call: shown,
            timeline: rows
                .filter(|row| row.call.as_deref() == Some(&path))
                .collect(),
        })
    }
}

fn may_be_compensated(run: &Run, id: CallId) -> bool {
    let Some(call) = run.calls().get(id) else {
        return false;
    };
    let is_there = call
        .effect
        .as_ref()
        .is_some_and(|effect| match &effect.status {
            EffectStatus::InDoubt(_) | EffectStatus::Applied(_) | EffectStatus::PartlyApplied => {
                true
            }
            EffectStatus::Intended
            | EffectStatus::Dispatched
            | EffectStatus::Absent(_)
            | EffectStatus::Compensated => false,
        });
    let is_asked = compensate::of(run, id).is_some_and(|(_, undo)| !undo.phase.is_final());
    is_there && !is_asked && run.class().compensation_of(call.node).is_some()
}

fn may_be_settled(status: &EffectStatus) -> bool {
    match status {
        EffectStatus::InDoubt(_) | EffectStatus::PartlyApplied => true,
        EffectStatus::Intended
        | EffectStatus::Dispatched
        | EffectStatus::Applied(_)
        | EffectStatus::Absent(_)
        | EffectStatus::Compensated => false,
    }
}
