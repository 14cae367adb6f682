//! C: a key per call id. The client's resends are one order; a call that the model makes again has
//! another id, and is an order the receiver has never seen.
//!
//! It must never look at anything but the call id.

use futures_core::future::BoxFuture;

use super::super::strategy::{RunContext, Strategy, Wrapper};
use super::super::tool::{Line, ToolAnswer, ToolCall};

/// C.
pub struct KeyPerCallId;

struct PerCallId;

impl Strategy for KeyPerCallId {
    fn name(&self) -> &'static str {
        "C"
    }

    fn title(&self) -> &'static str {
        "key per call id"
    }

    fn wrap(&self, _run: RunContext) -> Box<dyn Wrapper> {
        Box::new(PerCallId)
    }
}

impl Wrapper for PerCallId {
    fn call<'a>(&'a mut self, call: &'a ToolCall, line: &'a Line) -> BoxFuture<'a, ToolAnswer> {
        let key = format!("call:{}", call.call_id);
        Box::pin(async move { line.send(&call.arguments.order(), Some(&key)).await.into() })
    }
}
