//! One effect for whoever has to find out what became of it: what was sent, what was asked, what
//! its receiver promises, and what may be said of it now.
//!
//! It is cut out of the run's view, so that both tell one story.

use mainstay_graph::{Contract, EffectContract};
use mainstay_machine::{EffectStatus, Run};
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
    /// For a doubt: from when "not applied" may be said, since nothing can land any more.
    pub not_applied_from: Option<String>,
    /// What the class and the receiver promise.
    pub promise: PromiseView,
    /// The call that writes, with its attempts and how the effect stands.
    pub call: CallView,
    /// What has happened to it, in order.
    pub timeline: Vec<TimelineRow>,
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
            promise: PromiseView::of(node.contract()?, node.effect()?),
            call: shown,
            timeline: rows
                .filter(|row| row.call.as_deref() == Some(&path))
                .collect(),
        })
    }
}

fn may_be_settled(status: &EffectStatus) -> bool {
    match status {
        EffectStatus::InDoubt(_) | EffectStatus::PartlyApplied => true,
        EffectStatus::Intended
        | EffectStatus::Dispatched
        | EffectStatus::Applied(_)
        | EffectStatus::Absent(_) => false,
    }
}
