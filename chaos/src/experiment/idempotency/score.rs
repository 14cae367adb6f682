//! What a strategy did to people's orders: what models were told, held against the receiver's
//! table.
//!
//! It must never ask the strategy.

use serde::Serialize;

use super::receiver::Truth;
use super::session::Told;
use super::tool::ToolAnswer;

/// One strategy's row. The keys are relied upon. What is counted is sessions, if not said
/// otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Its letter.
    pub strategy: &'static str,
    /// A wanted order was executed more than once.
    pub duplicates: u64,
    /// A wanted order was never executed, and the model was told that it failed.
    pub never_placed: u64,
    /// A wanted order was executed, and the model was told that it failed.
    pub placed_but_reported_failed: u64,
    /// Orders, not sessions: wanted, never executed, and the model was told that they are done.
    pub real_orders_swallowed: u64,
    /// Nobody could tell, and a person was asked to see to it.
    pub handed_to_people: u64,
    /// A wanted order was executed again by a request that was sent after the model had been told
    /// that it is done. They are duplicates, too.
    pub reordered_after_confirmation: u64,
    /// Requests to place an order that arrived at the receiver, per session.
    pub sends_per_session: f64,
}

/// How one wanted order went.
struct Course {
    times_applied: usize,
    reordered: bool,
    failed: bool,
    done: bool,
    handed_over: bool,
}

/// The row of a strategy.
pub(crate) fn score(strategy: &'static str, sessions: &[Vec<Told>], truth: &Truth) -> Score {
    let sessions: Vec<Vec<Course>> = sessions
        .iter()
        .map(|told| told.iter().map(|told| course(told, truth)).collect())
        .collect();
    let count = |is: fn(&Course) -> bool| {
        let any = sessions.iter().filter(|orders| orders.iter().any(is));
        any.count() as u64
    };
    let orders = sessions.iter().flatten();
    let swallowed = orders.filter(|order| order.times_applied == 0 && order.done);
    Score {
        strategy,
        duplicates: count(|order| 1 < order.times_applied),
        never_placed: count(|order| order.times_applied == 0 && order.failed),
        placed_but_reported_failed: count(|order| 0 < order.times_applied && order.failed),
        real_orders_swallowed: swallowed.count() as u64,
        handed_to_people: count(|order| order.handed_over),
        reordered_after_confirmation: count(|order| order.reordered),
        sends_per_session: thousandths(truth.sends as f64 / sessions.len().max(1) as f64),
    }
}

fn course(told: &Told, truth: &Truth) -> Course {
    let applied: Vec<_> = truth.of(told.intent).collect();
    let after_done = |done| applied.iter().any(|one| done < one.arrived);
    Course {
        times_applied: applied.len(),
        reordered: told.done_at.is_some_and(after_done) && 1 < applied.len(),
        failed: matches!(told.answer, ToolAnswer::Error { .. }),
        done: matches!(told.answer, ToolAnswer::Done { .. }),
        handed_over: matches!(told.answer, ToolAnswer::HandedOver { .. }),
    }
}

/// More digits would say that they mean something.
fn thousandths(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}
