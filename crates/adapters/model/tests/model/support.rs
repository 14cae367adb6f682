//! Contexts, models and dependencies that the tests share.

use std::sync::Arc;

use mainstay_dispatch::{Answer, AttemptContext, AttemptFacts, Failure, FailureKind, Read, Sent};
use mainstay_model::{Model, ModelBuilder, ModelRead, Price, Prompt};
use mainstay_sim::Sim;
use mainstay_types::{AttemptNo, Clock, CostUnits, Epoch, IdSource, Millis, Rung, Tenant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Time enough for everything that is to end by itself.
pub(crate) const PLENTY: Millis = Millis::from_secs(20);

/// In every prompt, answer and error of the tests, and in no message.
pub(crate) const SWORDFISH: &str = "swordfish";

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Digest {
    pub(crate) gist: String,
    pub(crate) votes: u8,
}

pub(crate) const DIGEST: &str = r#"{"gist":"repaint","votes":3}"#;

pub(crate) fn digest() -> Digest {
    Digest {
        gist: "repaint".to_owned(),
        votes: 3,
    }
}

/// An attempt with this much time.
pub(crate) fn with_time(time_left: Millis) -> AttemptContext {
    let sim = Sim::new(1);
    let facts = AttemptFacts {
        run: sim.ids().run_id(mainstay_sim::START),
        tenant: Tenant::new("acme").expect("a valid tenant"),
        call: "digest".to_owned(),
        attempt: AttemptNo(1),
        rung: Rung(0),
        control: false,
        time_left,
        effect_key: None,
        fence: Epoch(3),
        traceparent: None,
    };
    let clock: Arc<dyn Clock> = Arc::new(sim.clock());
    AttemptContext::new(facts, clock, &CancellationToken::new())
}

pub(crate) fn context() -> AttemptContext {
    with_time(PLENTY)
}

/// 1,000 tokens of a prompt cost 1 unit, those of an answer 10.
pub(crate) const PRICE: Price = Price::per_thousand(CostUnits::units(1), CostUnits::units(10));

pub(crate) fn builder(url: &str) -> ModelBuilder {
    Model::builder(url, "small").keyless().price(PRICE)
}

pub(crate) fn model(url: &str) -> Model {
    builder(url).build().expect("a valid model")
}

pub(crate) fn prompt(minutes: &String) -> Prompt {
    Prompt::new().system("Be brief.").user(minutes)
}

pub(crate) fn structured(model: &Model) -> ModelRead<String, Digest> {
    ModelRead::structured("digest", model, prompt).expect("an object")
}

pub(crate) fn text(model: &Model) -> ModelRead<String, String> {
    ModelRead::text("digest", model, prompt)
}

/// A completion with this answer, for 100 tokens of a prompt and 20 of an answer.
pub(crate) fn completion(content: &str, finish: &str) -> String {
    json!({
        "id": "c-1",
        "object": "chat.completion",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": content, "refusal": null},
            "finish_reason": finish,
        }],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    })
    .to_string()
}

/// What 100 and 20 tokens cost.
pub(crate) const COST: CostUnits = CostUnits::milli(300);

pub(crate) async fn ask<R: mainstay_dispatch::Value>(
    read: &ModelRead<String, R>,
) -> Result<Answer<R>, Failure> {
    read.call(format!("the {SWORDFISH} mural"), &context())
        .await
}

/// The failure, after a look that it keeps every prompt, answer and key to itself.
pub(crate) fn failed<T: std::fmt::Debug>(result: Result<T, Failure>) -> Failure {
    let failure = result.expect_err("a failure");
    let text = format!("{failure:?} {failure}");
    assert!(!text.contains(SWORDFISH), "{text}");
    assert_eq!(failure.client_retries, 0, "{text}");
    failure
}

/// Kind, sent, provider code and cost of a failure.
pub(crate) fn told<T: std::fmt::Debug>(result: Result<T, Failure>) -> Told {
    let failure = failed(result);
    let code = failure.provider_code.expect("the adapter always gives one");
    (failure.kind, failure.sent, code, failure.cost)
}

pub(crate) type Told = (FailureKind, Sent, String, Option<CostUnits>);

/// What [`told`] is to be of an answer that came.
pub(crate) fn is(kind: FailureKind, code: &str, cost: Option<CostUnits>) -> Told {
    (kind, Sent::Answered, code.to_owned(), cost)
}
