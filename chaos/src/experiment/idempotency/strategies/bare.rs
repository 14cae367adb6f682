//! A and B: the order is sent as it is, without retries, and with both layers retrying.
//!
//! They must never send a key: they are what people have before they think of keys.

use futures_core::future::BoxFuture;

use super::super::strategy::{Retries, RunContext, Strategy, Wrapper};
use super::super::tool::{Line, ToolAnswer, ToolCall};

/// A: nobody tries again; a person is told "failed" and asks once more.
pub struct NoRetries;

/// B: both layers try again, and the receiver sees orders it has never seen.
pub struct RetriesWithoutKeys;

struct Bare;

impl Strategy for NoRetries {
    fn name(&self) -> &'static str {
        "A"
    }

    fn title(&self) -> &'static str {
        "no retries"
    }

    fn retries(&self) -> Retries {
        Retries::Neither
    }

    fn wrap(&self, _run: RunContext) -> Box<dyn Wrapper> {
        Box::new(Bare)
    }
}

impl Strategy for RetriesWithoutKeys {
    fn name(&self) -> &'static str {
        "B"
    }

    fn title(&self) -> &'static str {
        "retries without keys"
    }

    fn wrap(&self, _run: RunContext) -> Box<dyn Wrapper> {
        Box::new(Bare)
    }
}

impl Wrapper for Bare {
    fn call<'a>(&'a mut self, call: &'a ToolCall, line: &'a Line) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async { line.send(&call.arguments.order(), None).await.into() })
    }
}
