//! Calls with their attempts and effects.
//!
//! Requests and values of reads are not shown here: they can be large, and what matters of them is
//! in the result or in the package. What a receiver answered to a write is: it names the effect.

use mainstay_graph::{Contract, Criticality, NodeKind};
use mainstay_machine::call::Doubt;
use mainstay_machine::run::Head;
use mainstay_machine::{
    Attempt, AttemptState, Call, Effect, EffectStatus, Phase, Run, SettledByHand, ToolsAsked,
};
use mainstay_types::{CallId, CostUnits, FailureKind, Millis, Reason, Rung, Sent};
use serde::Serialize;
use serde_json::value::RawValue;

use super::history::History;
use super::raw;

/// One call.
#[derive(Clone, Debug, Serialize)]
pub struct CallView {
    /// Its node's name, and for an item its place: `ticket_write[3]`.
    pub path: String,
    /// Its node's name.
    pub node: String,
    /// `read`, `write`, `each`, `tools`, `local`, `when`, or `item` for an item of an each and for
    /// what a model asked for.
    pub kind: &'static str,
    /// Whom it asks first; `None` for local work.
    pub dependency: Option<String>,
    /// `hard`, `soft` or `advisory`.
    pub criticality: &'static str,
    /// Where it stands, for example `in_doubt`.
    pub state: &'static str,
    /// Why it was omitted, failed or is in doubt.
    pub reason: Option<&'static str>,
    /// The failure kind of a failed call.
    pub failure: Option<&'static str>,
    /// The rung it is on: 0 is the primary, then the fallbacks in order.
    pub rung: u8,
    /// The dependency that gave its value.
    pub answered_by: Option<String>,
    /// The run that held its effect key when it last asked.
    pub key_holder: Option<String>,
    /// Its attempts, oldest first.
    pub attempts: Vec<AttemptView>,
    /// The effect it intends.
    pub effect: Option<EffectView>,
}

/// One dispatch of a call.
#[derive(Clone, Debug, Serialize)]
pub struct AttemptView {
    /// Its number in the call, from 1.
    pub no: u32,
    /// To which provider.
    pub rung: u8,
    /// Its name.
    pub dependency: Option<String>,
    /// When it was authorised.
    pub started_at: String,
    /// The same, from the run's start.
    pub at_ms: u64,
    /// When it was reported over; for an interrupted one, when that was noticed.
    pub ended_at: Option<String>,
    /// How long it took; `None` for an interrupted one, whose end nobody saw.
    pub took_ms: Option<u64>,
    /// How long it might take.
    pub timeout_ms: u64,
    /// `in_flight`, `answered`, `failed`, `interrupted` or `late`.
    pub state: &'static str,
    /// The failure kind.
    pub failure: Option<&'static str>,
    /// Whether the request may have left; `None` while it is out.
    pub sent: Option<&'static str>,
    /// The provider's own code.
    pub provider_code: Option<String>,
    /// One line from the provider or its adapter.
    pub message: Option<String>,
    /// What was reserved for it: its estimate.
    pub reserved_units: Box<RawValue>,
    /// What it cost; `None` while it is out.
    pub cost_units: Option<Box<RawValue>>,
    /// Retry tokens it used.
    pub retry_tokens: u32,
    /// The epoch of the owner that sent it.
    pub epoch: u32,
    /// Whose it is, for one that was given up while it may have left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orphan: Option<OrphanView>,
}

/// Remote work that its run does not wait for any more.
#[derive(Clone, Debug, Serialize)]
pub struct OrphanView {
    /// Who asked for the stop, or took it over since.
    pub owner: String,
    /// Until when it is waited for.
    pub until: String,
    /// `running`, `adopted`, `overdue`, `canceled`, `completed_late`, `failed` or `closed`.
    pub state: &'static str,
}

/// The effect of a write.
#[derive(Clone, Debug, Serialize)]
pub struct EffectView {
    /// Its key.
    pub key: String,
    /// How it stands, for example `applied`.
    pub state: &'static str,
    /// How that became known.
    pub reason: Option<&'static str>,
    /// When it was first sent.
    pub first_sent_at: Option<String>,
    /// Look-ups made for it over its life.
    pub lookups: u32,
    /// Since when nobody knows.
    pub in_doubt_since: Option<String>,
    /// When the receiver is asked next.
    pub next_lookup_at: Option<String>,
    /// From when "not found" is believed.
    pub absent_after: Option<String>,
    /// The person who settled it, if one did.
    pub settled_by: Option<SettledView>,
    /// What the receiver answered, once it is applied.
    pub result: Option<Box<RawValue>>,
}

/// What a person said became of an effect.
#[derive(Clone, Debug, Serialize)]
pub struct SettledView {
    /// `applied` or `not_applied`.
    pub ruling: &'static str,
    /// Who, with the user number of their process.
    pub by: String,
    /// How they knew.
    pub why: String,
    /// When.
    pub at: String,
}

impl SettledView {
    fn of(settled: &SettledByHand) -> Self {
        Self {
            ruling: settled.ruling.as_str(),
            by: settled.by.clone(),
            why: settled.why.clone(),
            at: raw::time(settled.at),
        }
    }
}

/// Every call in the class's order, items after their each.
pub(super) fn all(run: &Run, head: &Head, history: &History) -> Vec<CallView> {
    let mut views = Vec::with_capacity(run.calls().len());
    // What a model or a person may ask for has calls only once they do.
    let is_asked = |call: &Call| run.class().node(call.node).is_of_graph() || call.is_undo();
    let nodes = run.calls().iter();
    let nodes = nodes.filter(|(_, call)| call.item.is_none() && is_asked(call));
    for (id, call) in nodes {
        let viewer = Viewer { run, head, history };
        views.push(viewer.call(id, call));
        let items = call.items.iter().flat_map(|items| items.calls());
        let asked = call.asked.iter().flat_map(ToolsAsked::made);
        let items = items.chain(asked);
        let items = items.filter_map(|item| Some((item, run.calls().get(item)?)));
        views.extend(items.map(|(id, item)| viewer.call(id, item)));
    }
    views
}

/// The name of the provider behind a rung.
pub(super) fn dependency(contract: &Contract, rung: Rung) -> Option<String> {
    contract.asked(rung).map(ToString::to_string)
}

/// What is not known about an effect.
pub(super) fn doubt(effect: &Effect) -> Option<&Doubt> {
    match &effect.status {
        EffectStatus::InDoubt(doubt) => Some(doubt),
        EffectStatus::Intended
        | EffectStatus::Dispatched
        | EffectStatus::Applied(_)
        | EffectStatus::PartlyApplied
        | EffectStatus::Absent(_)
        | EffectStatus::Compensated => None,
    }
}

struct Viewer<'a> {
    run: &'a Run,
    head: &'a Head,
    history: &'a History,
}

impl Viewer<'_> {
    fn call(&self, id: CallId, call: &Call) -> CallView {
        let node = self.run.class().node(call.node);
        let contract = node.contract();
        let (reason, failure) = why(call);
        CallView {
            path: self.run.path(id),
            node: node.name.to_string(),
            kind: kind(&node.kind, call),
            dependency: contract.map(|contract| contract.dependency.to_string()),
            criticality: criticality(&node.criticality),
            state: call.phase.as_str(),
            reason: reason.map(Reason::as_str),
            failure: failure.map(FailureKind::as_str),
            rung: rung(call).get(),
            answered_by: contract.and_then(|contract| answered_by(contract, call)),
            key_holder: call.key_holder.map(|run| run.to_string()),
            attempts: call
                .attempts
                .iter()
                .map(|made| self.attempt(id, contract, made))
                .collect(),
            effect: call.effect.as_ref().map(|effect| self.effect(id, effect)),
        }
    }

    fn attempt(&self, id: CallId, contract: Option<&Contract>, made: &Attempt) -> AttemptView {
        let ended = self.history.ended(id, made.no);
        let end = End::of(&made.state);
        AttemptView {
            no: made.no.get(),
            rung: made.rung.get(),
            dependency: contract.and_then(|contract| dependency(contract, made.rung)),
            started_at: raw::time(made.at),
            at_ms: made.at.since(self.head.started_at).get(),
            ended_at: ended.map(raw::time),
            took_ms: ended
                .filter(|_| end.seen)
                .map(|at| at.since(made.at))
                .map(Millis::get),
            timeout_ms: made.timeout.get(),
            state: end.state,
            failure: end.failure.map(FailureKind::as_str),
            sent: end.sent.map(Sent::as_str),
            provider_code: end.provider_code,
            message: end.message,
            reserved_units: raw::units(made.reserved),
            cost_units: end.cost.map(raw::units),
            retry_tokens: made.retry_tokens.get(),
            epoch: made.epoch.get(),
            orphan: made.orphan().map(|orphan| OrphanView {
                owner: orphan.owner.clone(),
                until: raw::time(orphan.until),
                state: orphan.stand.as_str(),
            }),
        }
    }

    fn effect(&self, id: CallId, effect: &Effect) -> EffectView {
        let doubt = doubt(effect);
        let reason = match &effect.status {
            EffectStatus::InDoubt(doubt) => Some(doubt.reason),
            EffectStatus::Applied(reason) | EffectStatus::Absent(reason) => Some(*reason),
            EffectStatus::Compensated => Some(Reason::Compensated),
            EffectStatus::Intended | EffectStatus::Dispatched | EffectStatus::PartlyApplied => None,
        };
        EffectView {
            key: effect.key.to_string(),
            state: effect.status.as_str(),
            reason: reason.map(Reason::as_str),
            first_sent_at: effect.first_sent_at.map(raw::time),
            lookups: effect.lookups,
            in_doubt_since: doubt.and_then(|_| self.history.doubted(id)).map(raw::time),
            next_lookup_at: doubt.map(|doubt| raw::time(doubt.lookup_at)),
            absent_after: doubt.map(|doubt| raw::time(doubt.absent_after)),
            settled_by: self.history.settled_by_hand(id).map(SettledView::of),
            result: self
                .run
                .calls()
                .get(id)
                .and_then(Call::value)
                .map(raw::json),
        }
    }
}

/// How an attempt ended, as far as it did.
struct End {
    state: &'static str,
    /// Whether somebody saw the end.
    seen: bool,
    sent: Option<Sent>,
    cost: Option<CostUnits>,
    failure: Option<FailureKind>,
    provider_code: Option<String>,
    message: Option<String>,
}

impl End {
    fn of(state: &AttemptState) -> Self {
        let plain = |state, sent, cost| Self {
            state,
            seen: true,
            sent,
            cost,
            failure: None,
            provider_code: None,
            message: None,
        };
        match state {
            AttemptState::InFlight => plain("in_flight", None, None),
            AttemptState::Answered { cost } => plain("answered", Some(Sent::Answered), Some(*cost)),
            AttemptState::Failed { failure, cost } => Self {
                failure: Some(failure.kind),
                provider_code: failure.provider_code.clone(),
                message: failure.message.clone(),
                ..plain("failed", Some(failure.sent), Some(*cost))
            },
            AttemptState::Interrupted { cost } => Self {
                seen: false,
                ..plain("interrupted", Some(Sent::MaybeSent), Some(*cost))
            },
            AttemptState::Late { cost } => plain("late", Some(Sent::Answered), Some(*cost)),
        }
    }
}

fn kind(kind: &NodeKind, call: &Call) -> &'static str {
    match call.item {
        Some(_) => "item",
        None => kind.as_str(),
    }
}

fn criticality(criticality: &Criticality) -> &'static str {
    match criticality {
        Criticality::Hard => "hard",
        Criticality::Soft { .. } => "soft",
        Criticality::Advisory { .. } => "advisory",
    }
}

fn why(call: &Call) -> (Option<Reason>, Option<FailureKind>) {
    match &call.phase {
        Phase::Omitted { reason } => (Some(*reason), None),
        Phase::Failed { kind, reason } => (Some(*reason), Some(*kind)),
        Phase::Skipped => (Some(Reason::PredicateFalse), None),
        Phase::InDoubt => (
            call.effect
                .as_ref()
                .and_then(doubt)
                .map(|doubt| doubt.reason),
            None,
        ),
        Phase::Waiting
        | Phase::Preparing
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::Items
        | Phase::Settled { .. } => (None, None),
    }
}

fn rung(call: &Call) -> Rung {
    match &call.phase {
        Phase::Settled { rung, .. } => *rung,
        Phase::Waiting
        | Phase::Preparing
        | Phase::Ready { .. }
        | Phase::InFlight(_)
        | Phase::InDoubt
        | Phase::Items
        | Phase::Omitted { .. }
        | Phase::Skipped
        | Phase::Failed { .. } => call.rung,
    }
}

/// Nobody answered an each as a whole, nor a write whose result another run's entry gave.
fn answered_by(contract: &Contract, call: &Call) -> Option<String> {
    if call.attempts.is_empty() {
        return None;
    }
    call.value().and_then(|_| dependency(contract, rung(call)))
}
