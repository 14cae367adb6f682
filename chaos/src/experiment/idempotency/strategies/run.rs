//! E: a key from the run, as in the source: the number of the purchase request, which was there
//! before the model saw anything. The result is saved under it; another item or quantity under the
//! same number is an error, not the first result.
//!
//! A purchase request is for one order, so a real second order comes with a request and a run of
//! its own: the source reports no order as swallowed here, which holds only so. In the *same* run
//! this strategy would answer it with the first result. It must never look at the call id, and at
//! the arguments only to compare.

use futures_core::future::BoxFuture;

use super::super::receiver::Placed;
use super::super::strategy::{OrdersPerRun, RunContext, Strategy, Wrapper};
use super::super::tool::{Line, ToolAnswer, ToolCall};

/// E.
pub struct KeyFromRun;

struct FromRun {
    run: RunContext,
    saved: Option<Placed>,
}

impl Strategy for KeyFromRun {
    fn name(&self) -> &'static str {
        "E"
    }

    fn title(&self) -> &'static str {
        "key from the run"
    }

    fn orders_per_run(&self) -> OrdersPerRun {
        OrdersPerRun::One
    }

    fn wrap(&self, run: RunContext) -> Box<dyn Wrapper> {
        Box::new(FromRun { run, saved: None })
    }
}

impl FromRun {
    async fn place(&mut self, call: &ToolCall, line: &Line) -> ToolAnswer {
        let order = call.arguments.order();
        if let Some(saved) = &self.saved {
            let first = &saved.request;
            if (&first.item, first.qty) != (&order.item, order.qty) {
                return ToolAnswer::Error {
                    error_code: "IDEMPOTENCY_MISMATCH",
                };
            }
            return Ok(saved.clone()).into();
        }
        let key = format!("po:{}", self.run.request_no);
        let sent = line.send(&order, Some(&key)).await;
        self.saved = sent.as_ref().ok().cloned();
        sent.into()
    }
}

impl Wrapper for FromRun {
    fn call<'a>(&'a mut self, call: &'a ToolCall, line: &'a Line) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(self.place(call, line))
    }
}
