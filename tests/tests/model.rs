//! The model adapter against a real OpenAI-compatible server. What such a server cannot be made to
//! do is tested in the adapter's own crate.

use std::sync::Arc;

use mainstay::dispatch::{AttemptContext, AttemptFacts, Read as _};
use mainstay::engine::system;
use mainstay::model::{Model, ModelRead, Price, Prompt};
use mainstay::types::{AttemptNo, Epoch, IdSource as _, Rung, Tenant};
use mainstay::{CostUnits, Failure, FailureKind, Millis, Reply, Sent};
use mainstay_sim::Sim;
use mainstay_tests::aimock::{Aimock, fixture};
use mainstay_tests::http::block_on;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Time enough for everything that is to end by itself.
const PLENTY: Millis = Millis::from_secs(20);

/// What the adapter is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Digest {
    gist: String,
    votes: u8,
}

/// Must be in no failure.
const CANARY: &str = "swordfish";

fn digest(url: &str) -> ModelRead<String, Digest> {
    let model = Model::builder(url, "small")
        .keyless()
        .price(Price::per_thousand(
            CostUnits::units(1),
            CostUnits::units(10),
        ))
        .build()
        .expect("a valid model");
    ModelRead::structured("digest", &model, |words: &String| Prompt::new().user(words))
        .expect("an object")
}

fn ask(
    read: &ModelRead<String, Digest>,
    words: &str,
    time_left: Millis,
) -> Result<Reply<Digest>, Failure> {
    block_on(async {
        let facts = AttemptFacts {
            run: Sim::new(1).ids().run_id(mainstay_sim::START),
            tenant: Tenant::new("acme").expect("a valid tenant"),
            call: "digest".to_owned(),
            attempt: AttemptNo(1),
            rung: Rung(0),
            control: false,
            time_left,
            effect_key: None,
            fence: Epoch(1),
            traceparent: None,
        };
        let clock = Arc::clone(&system::ports().clock);
        let cx = AttemptContext::new(facts, clock, &CancellationToken::new());
        read.call(words.to_owned(), &cx).await
    })
}

#[test]
fn a_real_server_answers_with_usage_and_is_asked_with_the_schema() {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120});
    let content = r#"{"gist":"repaint","votes":3}"#;
    let Some(server) = Aimock::serving(&[fixture(
        "mural",
        &json!({"content": content, "usage": usage}),
    )]) else {
        return;
    };
    let answer = ask(&digest(server.url()), "the mural", PLENTY).expect("an answer");
    assert_eq!(
        (answer.value.gist.as_str(), answer.value.votes),
        ("repaint", 3)
    );
    assert_eq!(answer.cost, Some(CostUnits::milli(300)));
    let [request] = &server.requests()[..] else {
        panic!("one request");
    };
    let body = &request["body"];
    assert_eq!(body["model"], "small");
    assert_eq!(body["response_format"]["json_schema"]["name"], "Digest");
    assert_eq!(request["path"], "/v1/chat/completions");
}

/// Words of a prompt; kind, sent and provider code of what becomes of it.
const MISHAPS: [(&str, FailureKind, Sent, &str); 8] = {
    use FailureKind::{RateLimited, ResultInvalid, TransientTransport, Unauthorized};
    use Sent::{Answered, MaybeSent};
    [
        (
            "limited",
            RateLimited,
            Answered,
            "HTTP 429 rate_limit_exceeded",
        ),
        ("denied", Unauthorized, Answered, "HTTP 401 invalid_api_key"),
        ("length", ResultInvalid, Answered, "ANSWER_CUT_SHORT"),
        ("prose", ResultInvalid, Answered, "ANSWER_MALFORMED"),
        ("shape", ResultInvalid, Answered, "ANSWER_BREAKS_SCHEMA"),
        ("garbled", ResultInvalid, Answered, "REPLY_INVALID"),
        ("dropped", TransientTransport, MaybeSent, "CONNECTION_LOST"),
        ("late", TransientTransport, MaybeSent, "ATTEMPT_TIMEOUT"),
    ]
};

/// How the server is made to do these.
fn mishaps() -> Vec<Value> {
    let limited = json!({
        "error": {"message": CANARY, "type": "rate_limit_error", "code": "rate_limit_exceeded"},
        "status": 429, "retryAfter": 7,
    });
    let denied = json!({"error": {"message": CANARY, "code": "invalid_api_key"}, "status": 401});
    let cut = json!({"content": r#"{"gist":"swordf"#, "finishReason": "length"});
    let says = |words: &str, content: &str| fixture(words, &json!({"content": content}));
    let chaos = |words: &str, chaos: Value| {
        let mut fixture = says(words, CANARY);
        fixture["chaos"] = chaos;
        fixture
    };
    vec![
        fixture("limited", &limited),
        fixture("denied", &denied),
        fixture("length", &cut),
        says("prose", "swordfish, of course"),
        says("shape", r#"{"gist":"swordfish","votes":"three"}"#),
        chaos("garbled", json!({"malformedRate": 1})),
        chaos("dropped", json!({"disconnectRate": 1})),
        chaos("late", json!({"latencyMs": 30_000})),
    ]
}

#[test]
fn a_real_servers_refusals_and_mishaps_have_their_kinds() {
    let Some(server) = Aimock::serving(&mishaps()) else {
        return;
    };
    let read = digest(server.url());
    for (words, kind, sent, code) in MISHAPS {
        let is_late = words == "late";
        let time = if is_late { Millis::new(700) } else { PLENTY };
        let failure = ask(&read, words, time).expect_err(words);
        assert_eq!((failure.kind, failure.sent), (kind, sent), "{failure:?}");
        assert_eq!(failure.provider_code.as_deref(), Some(code), "{failure:?}");
        let wait = (words == "limited").then_some(Millis::from_secs(7));
        assert_eq!(failure.retry_after, wait, "{failure:?}");
        assert!(
            !format!("{failure:?} {failure}").contains(CANARY),
            "{failure:?}"
        );
    }
    // One request for each attempt; one that its asker gave up may have no entry yet.
    let asked = server.requests().len();
    let attempts = MISHAPS.len();
    assert!(
        (attempts - 1..=attempts).contains(&asked),
        "{asked} requests"
    );
}

#[test]
fn a_real_server_wants_the_key_of_the_environment() {
    // Cargo sets this variable for tests: a key that is there without being written anywhere.
    const VARIABLE: &str = "CARGO_PKG_NAME";
    let key = std::env::var(VARIABLE).expect("set by cargo");
    let answer = json!({"content": r#"{"gist":"repaint","votes":3}"#});
    let Some(server) = Aimock::wanting_key(&key, &[fixture("mural", &answer)]) else {
        return;
    };
    let refused = ask(&digest(server.url()), "the mural", PLENTY).expect_err("no key");
    assert_eq!(refused.kind, FailureKind::Unauthorized, "{refused:?}");
    let model = Model::builder(server.url(), "small")
        .key_variable(VARIABLE)
        .build();
    let with_key = ModelRead::<String, Digest>::structured("digest", &model.expect("it is set"), {
        |words: &String| Prompt::new().user(words)
    });
    ask(&with_key.expect("an object"), "the mural", PLENTY).expect("an answer");
}
