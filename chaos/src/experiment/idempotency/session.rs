//! A session: a scripted stand-in for the model, which wants an order and calls the tool for it.
//!
//! It must never see more than the tool's answers, and it decides by draws alone, so that every
//! strategy meets the same sessions.

use std::sync::Arc;
use std::time::Instant;

use super::draw::{Draws, Intent};
use super::faults::Model;
use super::receiver::Receiver;
use super::strategy::{OrdersPerRun, Retries, RunContext, Strategy, Wrapper};
use super::tool::{Arguments, Line, ToolAnswer, ToolCall, ToolClient};

/// The name under which the model knows the tool.
const TOOL: &str = "create_purchase_order";

/// What a model was told last about an order that was wanted.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) intent: Intent,
    pub(crate) answer: ToolAnswer,
    /// When it was first told that the order is done.
    pub(crate) done_at: Option<Instant>,
}

/// Everything that the sessions of one strategy share.
pub(crate) struct Stage {
    pub(crate) strategy: Arc<dyn Strategy>,
    pub(crate) receiver: Receiver,
    pub(crate) client: Arc<ToolClient>,
    pub(crate) draws: Draws,
    pub(crate) model: Model,
}

impl Stage {
    /// One session, from its first call to the last answer: what was told about each wanted order.
    pub(crate) async fn session(&self, session: u32) -> Vec<Told> {
        let first = Intent { session, order: 0 };
        let mut calls = Calls { session, made: 0 };
        let mut wrapper = self.wrapper(first);
        let mut told = vec![self.pursue(first, &mut calls, &mut *wrapper).await];
        if told[0].done_at.is_some() && self.draws.wants_second(first) {
            let second = Intent { session, order: 1 };
            if self.strategy.orders_per_run() == OrdersPerRun::One {
                wrapper = self.wrapper(second);
            }
            told.push(self.pursue(second, &mut calls, &mut *wrapper).await);
        }
        told
    }

    fn wrapper(&self, intent: Intent) -> Box<dyn Wrapper> {
        let Intent { session, order } = intent;
        self.strategy.wrap(RunContext {
            session,
            request_no: format!("PR-{session}-{}", order + 1),
        })
    }

    /// Calls the tool for one order, and again while the model does so.
    async fn pursue(&self, intent: Intent, calls: &mut Calls, wrapper: &mut dyn Wrapper) -> Told {
        let line = Line::new(self.receiver.base(intent), Arc::clone(&self.client));
        let mut call = calls.next(None);
        let mut answer = wrapper.call(&call, &line).await;
        for nth in 0..self.calls_again_max() {
            let failed = matches!(answer, ToolAnswer::Error { .. });
            if !failed || !self.draws.calls_again(intent, nth) {
                break;
            }
            let changed = self.draws.changes_memo(intent, nth).then_some(nth + 1);
            call = calls.next(changed);
            answer = wrapper.call(&call, &line).await;
        }
        let is_done = matches!(answer, ToolAnswer::Done { .. });
        let done_at = is_done.then(Instant::now);
        if is_done && self.draws.calls_again_after_done(intent) {
            // It was told already; what it is told now changes nothing of that.
            let again = calls.with_arguments_of(&call);
            let _ = wrapper.call(&again, &line).await;
        }
        Told {
            intent,
            answer,
            done_at,
        }
    }

    fn calls_again_max(&self) -> u32 {
        match self.strategy.retries() {
            Retries::BothLayers => self.model.calls_again_max,
            Retries::Neither => 0,
        }
    }
}

/// The calls that the model of a session makes.
struct Calls {
    session: u32,
    made: u32,
}

impl Calls {
    /// Its next call. The item is the session's own, so that no other session's order is like it;
    /// a second order says the same as the first one did.
    fn next(&mut self, retry: Option<u32>) -> ToolCall {
        self.with_arguments(Arguments {
            item: format!("filter-{}", self.session),
            qty: 3,
            memo: retry.map_or_else(String::new, |nth| format!("urgent (retry {nth})")),
        })
    }

    fn with_arguments_of(&mut self, call: &ToolCall) -> ToolCall {
        self.with_arguments(call.arguments.clone())
    }

    fn with_arguments(&mut self, arguments: Arguments) -> ToolCall {
        self.made += 1;
        ToolCall {
            tool: TOOL,
            call_id: format!("call_{}_{}", self.session, self.made),
            arguments,
        }
    }
}
