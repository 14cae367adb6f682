//! D: a key made of the arguments, memo included. Another memo is another key, so the order is
//! executed again; the same arguments are the same key, so a second order is swallowed.
//!
//! It must never look at anything but the tool's name and the arguments.

use futures_core::future::BoxFuture;

use super::super::strategy::{RunContext, Strategy, Wrapper};
use super::super::tool::{Arguments, Line, ToolAnswer, ToolCall};

/// D.
pub struct KeyFromArguments;

struct FromArguments;

impl Strategy for KeyFromArguments {
    fn name(&self) -> &'static str {
        "D"
    }

    fn title(&self) -> &'static str {
        "key from the arguments"
    }

    fn wrap(&self, _run: RunContext) -> Box<dyn Wrapper> {
        Box::new(FromArguments)
    }
}

impl Wrapper for FromArguments {
    fn call<'a>(&'a mut self, call: &'a ToolCall, line: &'a Line) -> BoxFuture<'a, ToolAnswer> {
        let key = key(call);
        Box::pin(async move { line.send(&call.arguments.order(), Some(&key)).await.into() })
    }
}

fn key(call: &ToolCall) -> String {
    let Arguments { item, qty, memo } = &call.arguments;
    let mut hasher = blake3::Hasher::new();
    // Each part with its length, so that no two calls read alike.
    for part in [
        call.tool,
        item.as_str(),
        qty.to_string().as_str(),
        memo.as_str(),
    ] {
        hasher.update(&part.len().to_le_bytes());
        hasher.update(part.as_bytes());
    }
    format!("arguments:{}", hasher.finalize().to_hex())
}
