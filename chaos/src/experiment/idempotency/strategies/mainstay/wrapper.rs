//! A run as a model sees it: each of its calls goes to the run, and the run's answer to the model.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use mainstay_runtime::{EngineError, ToolAnswer as Answer, Tools};
use mainstay_types::{Code, RunId};

use super::super::super::receiver::Placed;
use super::super::super::strategy::{RunContext, Wrapper};
use super::super::super::tool::{Line, ToolAnswer, ToolCall};
use super::class::{ASKED, Purchase};
use super::house::House;

/// A run that begins with the first call.
pub(super) struct Asks {
    house: Arc<House>,
    run: RunContext,
    begun: Option<(RunId, Tools)>,
}

impl Asks {
    pub(super) fn new(house: Arc<House>, run: RunContext) -> Self {
        let begun = None;
        Self { house, run, begun }
    }

    async fn ask(&mut self, call: &ToolCall, line: &Line) -> Result<ToolAnswer, EngineError> {
        let house = Arc::clone(&self.house);
        let (run, tools) = self.begun().await?;
        house.lines.set(*run, line);
        let arguments = serde_json::to_string(&call.arguments).expect("plain data");
        let answer = tools.call(&call.call_id, call.tool, &arguments).await?;
        Ok(told(answer))
    }

    async fn begun(&mut self) -> Result<&(RunId, Tools), EngineError> {
        if self.begun.is_none() {
            let request_no = self.run.request_no.clone();
            let engine = &self.house.engine;
            let input = Purchase { request_no };
            let started = engine.start(&self.house.class, input);
            let run = started.key(&self.run.request_no).await?.id();
            self.begun = Some((run, engine.tools(run, ASKED).await?));
        }
        Ok(self.begun.as_ref().expect("just begun"))
    }
}

/// What a run refuses a model; anything else is no answer of the tool.
fn is_for_the_model(error: &EngineError) -> bool {
    matches!(
        error.code(),
        Code::IdempotencyMismatch | Code::EffectInDoubt | Code::CapReached | Code::RunEnded
    )
}

fn told(answer: Answer) -> ToolAnswer {
    match answer {
        Answer::Done(reply) => match serde_json::from_slice::<Placed>(reply.as_bytes()) {
            Ok(Placed { order_no, .. }) => ToolAnswer::Done { order_no },
            Err(error) => unreachable!("the engine checks replies: {error}"),
        },
        Answer::NotDone { reason, .. } => ToolAnswer::Error {
            error_code: reason.as_str(),
        },
        Answer::HandedOver { key } => ToolAnswer::HandedOver {
            note: key.map_or_else(String::new, |key| key.to_string()),
        },
        other => unreachable!("an answer of a newer engine: {other:?}"),
    }
}

impl Wrapper for Asks {
    fn call<'a>(&'a mut self, call: &'a ToolCall, line: &'a Line) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let told = self.ask(call, line).await;
            told.unwrap_or_else(|error| {
                let error_code = error.code().as_str();
                if !is_for_the_model(&error) {
                    self.house.failed.lock().get_or_insert(error);
                }
                ToolAnswer::Error { error_code }
            })
        })
    }
}

impl Drop for Asks {
    /// The model asks for nothing any more: the run comes to its end by itself.
    fn drop(&mut self) {
        let Some((run, tools)) = self.begun.take() else {
            return;
        };
        let house = Arc::clone(&self.house);
        self.house.endings.spawn(async move {
            // A run that is over already, or a stopping engine, needs no ending.
            drop(tools.done().await);
            drop((house, run));
        });
    }
}
