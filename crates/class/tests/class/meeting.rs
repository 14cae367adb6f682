//! The worked example as a class, with dependencies that do as little as they can. The other tests
//! bend it; this one holds what the builder makes of it.

use std::sync::Arc;

use mainstay_class::*;
use mainstay_dispatch::{Answer, AttemptContext, Failure, Found, Keys, Resolution};
use mainstay_graph::{
    Criticality, EffectSemantics, FallbackKind, NodeKind, OnDowntime, SameRequestRule, ScopeKind,
};
use mainstay_types::{CostUnits, Millis, NodeId, Payload, Tokens};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Meeting {
    pub(crate) digest: String,
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Draft {
    pub(crate) summary: String,
    pub(crate) actions: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NewTicket {
    pub(crate) title: String,
    pub(crate) note: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Report {
    pub(crate) summary: String,
    pub(crate) tickets: Vec<u64>,
    pub(crate) related: Option<Vec<String>>,
}

/// A read from a text to `Reply` that answers with nothing.
pub(crate) struct Asks<Reply>(pub(crate) &'static str, pub(crate) fn(String) -> Reply);

impl<Reply> Clone for Asks<Reply> {
    fn clone(&self) -> Self {
        Self(self.0, self.1)
    }
}

impl<Reply: Value> Read for Asks<Reply> {
    type Request = String;
    type Reply = Reply;

    fn name(&self) -> &str {
        self.0
    }

    async fn call(&self, request: String, _: &AttemptContext) -> Result<Answer<Reply>, Failure> {
        Ok(self.1(request).into())
    }
}

#[derive(Clone)]
pub(crate) struct Tickets;

impl Write for Tickets {
    type Request = NewTicket;
    type Reply = u64;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "tickets"
    }

    async fn send(&self, _: NewTicket, _: &AttemptContext) -> Result<Answer<u64>, Failure> {
        Ok(17.into())
    }

    async fn find(&self, _: NewTicket, _: &AttemptContext) -> Result<Found<u64>, Failure> {
        Ok(Found::CannotTell)
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .operation("create_ticket")
            .timeout(secs(2))
            .cost(CostUnits::milli(100))
            .honours_keys(Some(days(1)))
            .receiver_bound(ms(100))
    }
}

pub(crate) fn policy(name: &'static str) -> Arc<Asks<Vec<String>>> {
    Arc::new(Asks(name, |_| Vec::new()))
}

pub(crate) fn model() -> Asks<Draft> {
    Asks("model", |text| Draft {
        summary: text,
        actions: Vec::new(),
    })
}

/// The example, with `title` making a ticket's title from an action.
pub(crate) fn meeting(title: fn(&str) -> String) -> Result<Class<Meeting, Report>, Problems> {
    let mut g = TaskClass::<Meeting>::define("meeting-analysis-draft", 3);
    g.budget(
        Budget::new()
            .answer_by(secs(12))
            .retries(4)
            .concurrency(5)
            .cost(18),
    )
    .on_downtime(Extend(hours(1)));
    g.reserve(
        Reserve::new()
            .synthesis(ms(1800))
            .reconcile(ms(1200))
            .deliver(ms(400)),
    );
    let policies = g
        .read("policy_rag", &policy("policy"), (), |m, ()| m.text.clone())
        .fallback(&policy("snapshot"), mins(20))
        .cost(2)
        .add();
    let related = g
        .read("related_tickets", &policy("search"), (), |m, ()| {
            m.text.clone()
        })
        .soft("related tickets not searched")
        .timeout(ms(900))
        .add();
    let draft = g
        .read("draft", &model(), (policies, related), |m, (p, r)| {
            format!("{} {} {}", m.text, p.len(), r.map_or(0, Vec::len))
        })
        .attempts(2)
        .estimate(secs(2))
        .cost(4)
        .add();
    let any = g.when("has_actions", draft, |_, d| !d.actions.is_empty());
    let tickets = g
        .each("ticket_write", &Tickets, draft, 50, move |_, d| {
            let ticket = |a: &String| NewTicket {
                title: title(a),
                note: None,
            };
            d.actions.iter().map(ticket).collect()
        })
        .effect("ticket")
        .business_id(|m| &m.digest)
        .significant(&["/title"])
        .when(&any)
        .add();
    g.finish((draft, tickets, related), |_, (d, t, r)| Report {
        summary: d.summary.clone(),
        tickets: t.cloned().unwrap_or_default(),
        related: r.cloned(),
    })
}

pub(crate) fn built() -> Class<Meeting, Report> {
    meeting(str::to_owned).unwrap_or_else(|problems| panic!("{problems}"))
}

pub(crate) fn input() -> Payload {
    Payload::from(r#"{"digest":"d1","text":"we met"}"#)
}

#[test]
fn settings_of_the_class_become_data() {
    let class = built();
    let data = class.data();
    assert_eq!(
        (data.name.as_str(), data.version.0),
        ("meeting-analysis-draft", 3)
    );
    assert_eq!(data.budget.retry_tokens, Tokens::new(4));
    assert_eq!(data.budget.concurrency_tokens, Tokens::new(5));
    assert_eq!(data.budget.cost_units, CostUnits::units(18));
    assert_eq!(data.times.answer_by, Millis::from_secs(12));
    assert_eq!(data.reserve.synthesis, Millis::new(1800));
    assert_eq!(
        data.on_downtime,
        OnDowntime::Extend {
            max: Millis::from_hours(1)
        }
    );
    assert_eq!(data.result, [NodeId(2), NodeId(4), NodeId(1)]);
}

#[test]
fn refs_become_edges_and_knobs_become_contracts() {
    let class = built();
    let data = class.data();
    let (_, draft) = data.find("draft").expect("a node");
    assert_eq!(draft.inputs, [NodeId(0), NodeId(1)]);
    let contract = draft.contract().expect("a read");
    assert_eq!(
        (contract.dependency.as_str(), contract.max_attempts),
        ("model", 2)
    );
    assert_eq!((contract.timeout, contract.estimate), (secs(5), secs(2)));
    assert_eq!(contract.operation, "model");
    assert_eq!(contract.effect, EffectSemantics::ReadOnly);

    let (_, policies) = data.find("policy_rag").expect("a node");
    let [fallback] = &policies.contract().expect("a read").fallbacks[..] else {
        panic!("one fallback");
    };
    assert_eq!(
        fallback.kind,
        FallbackKind::ApprovedSnapshot { max_age: mins(20) }
    );
    assert_eq!(
        fallback.dependency.as_ref().map(|d| d.as_str()),
        Some("snapshot")
    );

    let (_, related) = data.find("related_tickets").expect("a node");
    let notice = "related tickets not searched".to_owned();
    assert_eq!(related.criticality, Criticality::Soft { notice });
    let contract = related.contract().expect("a read");
    assert_eq!((contract.timeout, contract.estimate), (ms(900), ms(180)));
}

#[test]
fn an_each_has_its_bound_its_effect_and_its_predicate() {
    let class = built();
    let (_, tickets) = class.data().find("ticket_write").expect("a node");
    assert_eq!(tickets.when, Some(NodeId(3)));
    let NodeKind::Each {
        contract,
        effect,
        items_max,
    } = &tickets.kind
    else {
        panic!("an each");
    };
    assert_eq!((*items_max, contract.cost), (50, CostUnits::milli(100)));
    assert_eq!(contract.effect, EffectSemantics::WriteIdempotentWithKey);
    assert_eq!(Tickets.promise().keys, Keys::Honoured);
    assert_eq!(
        (effect.name.as_str(), effect.scope),
        ("ticket", ScopeKind::Business)
    );
    assert_eq!(
        (effect.rule, effect.resolution),
        (SameRequestRule::PerItem, Resolution::ByKey)
    );
    assert_eq!(
        (effect.receiver_key_ttl, effect.receiver_bound),
        (Some(days(1)), ms(100))
    );
    assert_eq!(
        (effect.key_memory, &effect.significant[..]),
        (days(400), &["/title".to_owned()][..])
    );
    assert!(
        tickets.output.0.contains("array"),
        "the replies: {}",
        tickets.output.0
    );
}

#[test]
fn a_class_has_all_its_limits() {
    let mut g = TaskClass::<Meeting>::define("order", 1);
    g.on_limit(OnLimit::Pause);
    let tickets = Cap::new().retries(2).concurrency(3).cost(4);
    g.caps(
        Caps::new()
            .attempts(9)
            .branches(8)
            .depth(7)
            .parallel_cost(6)
            .dependency("tickets", tickets),
    );
    let ticket = |m: &Meeting, ()| NewTicket {
        title: m.text.clone(),
        note: None,
    };
    let order = g.write("order", &Tickets, (), ticket).add();
    let class = g.finish(order, |_, order| *order);
    let class = class.unwrap_or_else(|problems| panic!("{problems}"));
    let data = class.data();
    assert_eq!(data.on_limit, OnLimit::Pause);
    let caps = &data.caps;
    assert_eq!(
        (caps.attempts, caps.branches, caps.depth),
        (Some(9), Some(8), Some(7))
    );
    assert_eq!(caps.parallel_cost, Some(CostUnits::units(6)));
    let cap = &caps.dependencies[0];
    assert_eq!(cap.dependency.as_str(), "tickets");
    assert_eq!(
        (cap.retry_tokens, cap.concurrency_tokens, cap.cost_units),
        (
            Some(Tokens::new(2)),
            Some(Tokens::new(3)),
            Some(CostUnits::units(4))
        )
    );
}

#[test]
fn one_write_has_all_its_knobs() {
    let mut g = TaskClass::<Meeting>::define("order", 1);
    g.budget(
        Budget::new()
            .answer_by(mins(2))
            .work_by(mins(1))
            .expires_at(hours(1))
            .doubt_wait(secs(9)),
    );
    g.on_failure(Fail);
    let ticket = |m: &Meeting, ()| NewTicket {
        title: m.text.clone(),
        note: None,
    };
    let order = g
        .write("order", &Tickets, (), ticket)
        .rule(PerRun)
        .key_memory(days(30))
        .receiver_key_ttl(days(2))
        .receiver_bound(ms(7))
        .deadline_reserve(ms(8))
        .backoff(ms(1), ms(2))
        .retry_cap(1)
        .min_useful(ms(3))
        .operation("order_parts")
        .or_human()
        .add();
    let class = g
        .finish(order, |_, order| *order)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let data = class.data();
    assert_eq!(
        (data.times.work_by, data.times.expires_at),
        (Some(mins(1)), Some(hours(1)))
    );
    assert_eq!((data.times.doubt_wait, data.on_failure), (secs(9), Fail));
    let NodeKind::Write { contract, effect } = &data.nodes[0].kind else {
        panic!("a write")
    };
    assert_eq!(
        (effect.name.as_str(), effect.scope),
        ("order", ScopeKind::Run)
    );
    assert_eq!((effect.rule, effect.key_memory), (PerRun, days(30)));
    assert_eq!(
        (effect.receiver_key_ttl, effect.receiver_bound),
        (Some(days(2)), ms(7))
    );
    assert_eq!(
        (contract.deadline_reserve, contract.min_useful),
        (ms(8), ms(3))
    );
    assert_eq!(
        (contract.backoff.base, contract.backoff.max),
        (ms(1), ms(2))
    );
    assert_eq!(
        (contract.retry_cap, contract.operation.as_str()),
        (Some(Tokens::new(1)), "order_parts")
    );
    assert_eq!(contract.fallbacks[0].kind, FallbackKind::Human);
}
