//! A small model of the meeting class: the shape and contracts of the worked example, with code
//! that answers at once.
//!
//! Source: mission A26. It is what the program tries when it is given no class of its own.

use mainstay_class::{Budget, Class, Extend, Problems, Reserve, TaskClass, hours, ms, secs};
use mainstay_dispatch::{Answer, AttemptContext, Failure, Found, Promise, Read, Resolution, Write};
use mainstay_types::{CostUnits, FailureKind, Millis, Sent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rng::Rng;
use crate::{Campaign, SimModel, SimReceiver, campaign};

/// The class's name.
pub const NAME: &str = "meeting-analysis-model";

/// What a run is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Minutes {
    /// Which meeting: the business id of its tickets.
    pub id: String,
    /// What was said.
    pub title: String,
    /// What is to be done: a ticket each.
    pub actions: Vec<String>,
}

/// A ticket to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ticket {
    /// What is to be done.
    pub title: String,
}

/// What a run gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The draft.
    pub draft: String,
    /// The tickets.
    pub tickets: Vec<String>,
    /// Whether related tickets were searched.
    pub is_complete: bool,
}

/// Something that is read, and answers with what it was asked.
#[derive(Clone)]
struct Echo {
    name: &'static str,
    timeout: Millis,
    estimate: Millis,
    cost: CostUnits,
}

impl Read for Echo {
    type Request = String;
    type Reply = String;

    fn name(&self) -> &str {
        self.name
    }

    async fn call(&self, request: String, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        Ok(format!("{} of {request}", self.name).into())
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .timeout(self.timeout)
            .estimate(self.estimate)
            .min_useful(ms(20))
            .cost(self.cost)
    }
}

/// The ticket service.
#[derive(Clone)]
struct Tickets;

impl Write for Tickets {
    type Request = Ticket;
    type Reply = String;

    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "tickets"
    }

    async fn send(&self, request: Ticket, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        Ok(format!("T of {}", request.title).into())
    }

    async fn find(&self, _: Ticket, _: &AttemptContext) -> Result<Found<String>, Failure> {
        // Only its double is ever asked.
        Err(Failure::new(FailureKind::PermanentProvider, Sent::Answered))
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .timeout(secs(2))
            .estimate(ms(300))
            .cost(CostUnits::milli(100))
            .honours_keys(None)
            .receiver_bound(ms(500))
    }
}

/// The class.
///
/// # Errors
/// All problems of the class at once.
pub fn class() -> Result<Class<Minutes, Report>, Problems> {
    let echo = |name, timeout: u64, estimate: u64, cost| Echo {
        name,
        timeout: ms(timeout),
        estimate: ms(estimate),
        cost,
    };
    let mut g = TaskClass::<Minutes>::define(NAME, 1);
    let budget = Budget::new().answer_by(secs(12)).retries(4);
    g.budget(budget.concurrency(5).cost(18));
    g.reserve(
        Reserve::new()
            .synthesis(ms(1_800))
            .reconcile(ms(1_200))
            .deliver(ms(400)),
    );
    g.on_downtime(Extend(hours(1)));
    let search = echo("policy_search", 2_500, 400, CostUnits::units(1));
    let snapshot = echo("policy_snapshot", 500, 50, CostUnits::milli(10));
    let policy = g
        .read("policy_rag", &search, (), |m, ()| m.title.clone())
        .attempts(2)
        .fallback(&snapshot, mainstay_class::mins(20))
        .add();
    let search = echo("ticket_search", 1_500, 300, CostUnits::units(1));
    let related = g
        .read("related_tickets", &search, (), |m, ()| m.title.clone())
        .attempts(2)
        .soft("related tickets not searched")
        .add();
    let agent = echo("specialist", 2_500, 600, CostUnits::units(2));
    let local = echo("local_summary", 1_500, 200, CostUnits::milli(100));
    let specialist = g
        .read("specialist", &agent, (), |m, ()| m.title.clone())
        .attempts(2)
        .soft("no specialist summary")
        .fallback_local(&local)
        .add();
    let model = echo("model", 6_000, 800, CostUnits::units(4));
    let needs = (related, specialist);
    let draft = g
        .read("draft", &model, needs, |m, (_, specialist)| {
            specialist.cloned().unwrap_or_else(|| m.title.clone())
        })
        .attempts(2)
        .add();
    let tickets = g
        .each("ticket_write", &Tickets, (policy, draft), 8, |m, _| {
            let titles = m.actions.iter().cloned();
            titles.map(|title| Ticket { title }).collect()
        })
        .effect("ticket")
        .business_id(|m| &m.id)
        .attempts(3)
        .cost(CostUnits::milli(100))
        .add();
    let result = (draft, related, tickets);
    g.finish(result, |_, (draft, related, tickets)| Report {
        draft: draft.clone(),
        tickets: tickets.to_vec(),
        is_complete: related.is_some(),
    })
}

/// Minutes of a meeting.
#[must_use]
pub fn minutes(rng: &Rng) -> Minutes {
    let actions = 2 + rng.below(6);
    Minutes {
        // Now and then two runs are over the same minutes.
        id: format!("M{}", rng.below(4)),
        title: format!("meeting {}", rng.below(1_000)),
        actions: (0..actions).map(|n| format!("action {n}")).collect(),
    }
}

/// The campaign over the class, with doubles like the services of the example.
///
/// # Errors
/// All problems of the class at once.
pub fn campaign_of() -> Result<Campaign<Minutes, Report>, Problems> {
    let reads = |p50, p95| SimModel::new().p50(p50).p95(p95);
    Ok(campaign(class()?)
        .dependency("policy_search", reads(300, 900).cut_to(cut).stale_to(old))
        .dependency("policy_snapshot", reads(20, 60))
        .dependency("ticket_search", reads(200, 700))
        .dependency("specialist", reads(500, 1_500))
        .dependency("local_summary", reads(50, 150))
        .dependency("model", reads(800, 2_000))
        .dependency("tickets", SimReceiver::new().p50(120).p95(400))
        .runs(2)
        .workload(minutes))
}

fn old(reply: String) -> String {
    format!("{reply}, as it was last year")
}

fn cut(reply: String) -> String {
    let half = reply.chars().count() / 2;
    reply.chars().take(half).collect()
}
