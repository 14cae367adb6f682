//! Task classes that tests run: the meeting of the design, chains, single writes.

use std::sync::Arc;

use mainstay_class::{Budget, Builder, Class, Reserve, TaskClass, mins, ms, secs};
use mainstay_types::CostUnits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::outside::Outside;

/// A run's input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Minutes {
    pub(crate) id: String,
    pub(crate) actions: Vec<String>,
}

/// What is read with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Question {
    pub(crate) about: String,
    pub(crate) actions: Vec<String>,
}

/// What a read answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Told {
    pub(crate) by: String,
    pub(crate) actions: Vec<String>,
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NewTicket {
    pub(crate) title: String,
}

/// What a write answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ticket {
    pub(crate) id: String,
}

/// A run's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Report {
    pub(crate) policy_by: String,
    pub(crate) related: bool,
    pub(crate) tickets: Vec<String>,
}

/// Minutes with so many actions.
pub(crate) fn minutes(id: &str, actions: usize) -> Minutes {
    let actions = (0..actions)
        .map(|n| format!("action {n} of {id}"))
        .collect();
    Minutes {
        id: id.to_owned(),
        actions,
    }
}

impl Minutes {
    pub(crate) fn question(&self) -> Question {
        Question {
            about: self.id.clone(),
            actions: self.actions.clone(),
        }
    }
}

pub(crate) fn tickets(told: &Told) -> Vec<NewTicket> {
    told.actions
        .iter()
        .map(|action| NewTicket {
            title: action.clone(),
        })
        .collect()
}

/// The budget of the design's walkthrough.
pub(crate) fn walkthrough() -> Budget {
    Budget::new()
        .answer_by(secs(12))
        .retries(4)
        .concurrency(5)
        .cost(18)
}

/// The main job's shape, under the walkthrough's budget.
pub(crate) fn meeting(outside: &Arc<Outside>) -> Class<Minutes, Report> {
    meeting_as(outside, |g| {
        g.budget(walkthrough());
    })
}

/// The main job's shape, with the class's own settings.
pub(crate) fn meeting_as(
    outside: &Arc<Outside>,
    settings: impl FnOnce(&mut Builder<Minutes>),
) -> Class<Minutes, Report> {
    let mut g = TaskClass::<Minutes>::define("meeting", 1);
    g.reserve(
        Reserve::new()
            .synthesis(ms(200))
            .reconcile(ms(1_200))
            .deliver(ms(400)),
    );
    settings(&mut g);
    let policy = g
        .read("policy_rag", &outside.read("policy"), (), |m, ()| {
            m.question()
        })
        .fallback(&outside.read("snapshot"), mins(20))
        .add();
    let related = g
        .read("related_tickets", &outside.read("search"), (), |m, ()| {
            m.question()
        })
        .soft("related tickets not searched")
        .add();
    let specialist = g
        .read("specialist", &outside.read("expert"), policy, |m, _| {
            m.question()
        })
        .soft("no specialist summary")
        .fallback_local(&outside.read("summary"))
        .add();
    let refs = (policy, related, specialist);
    let draft = g
        .read("draft", &outside.read("model"), refs, |m, _| m.question())
        .cost(4)
        .attempts(2)
        .add();
    let written = g
        .each(
            "ticket_write",
            &outside.write("tickets"),
            draft,
            50,
            |_, d| tickets(d),
        )
        .effect("ticket")
        .business_id(|m: &Minutes| &m.id)
        .cost(CostUnits::milli(100))
        .add();
    g.finish(
        (policy, related, written),
        |_, (policy, related, written)| Report {
            policy_by: policy.by.clone(),
            related: related.is_some(),
            tickets: written.iter().map(|ticket| ticket.id.clone()).collect(),
        },
    )
    .expect("a valid class")
}

/// `n` reads, each after the one before it.
pub(crate) fn chain(outside: &Arc<Outside>, n: usize) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("chain", 1);
    g.budget(Budget::new().answer_by(secs(60)));
    let link = outside.read("link");
    let mut last = g.read("link_1", &link, (), |m, ()| m.question()).add();
    for at in 2..=n {
        last = g
            .read(&format!("link_{at}"), &link, last, |m, _| m.question())
            .add();
    }
    g.finish(last, |_, told| told.by.clone())
        .expect("a valid class")
}

/// One write under the minutes' id.
pub(crate) fn single(outside: &Arc<Outside>) -> Class<Minutes, Ticket> {
    single_as(outside, |g| {
        g.budget(Budget::new().answer_by(secs(30)));
    })
}

/// One write under the minutes' id, with the class's own settings.
pub(crate) fn single_as(
    outside: &Arc<Outside>,
    settings: impl FnOnce(&mut Builder<Minutes>),
) -> Class<Minutes, Ticket> {
    let mut g = TaskClass::<Minutes>::define("single", 1);
    settings(&mut g);
    let written = g
        .write("order", &outside.write("orders"), (), |m, ()| NewTicket {
            title: title(m),
        })
        .business_id(|m: &Minutes| &m.id)
        .add();
    g.finish(written, |_, ticket| ticket.clone())
        .expect("a valid class")
}

fn title(minutes: &Minutes) -> String {
    minutes.actions.first().cloned().unwrap_or_default()
}

/// A read and a write that do not need each other.
pub(crate) fn both(outside: &Arc<Outside>) -> Class<Minutes, String> {
    let mut g = TaskClass::<Minutes>::define("both", 1);
    let read = outside.read("slow");
    let told = g.read("told", &read, (), |m, ()| m.question()).add();
    let made = |m: &Minutes, ()| NewTicket { title: title(m) };
    let written = g.write("order", &outside.write("orders"), (), made).add();
    g.finish((told, written), |_, (_, ticket)| ticket.id.clone())
        .expect("a valid class")
}
