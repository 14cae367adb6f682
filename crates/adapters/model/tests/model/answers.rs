//! What becomes of an answer that came with a good status.

use mainstay_dispatch::{CostUnits, FailureKind};
use mainstay_model::{Model, ModelRead};
use serde_json::{Value, json};

use crate::peer::{Act, Peer, reply};
use crate::support::{
    COST, DIGEST, Digest, SWORDFISH, ask, builder, completion, digest, failed, is, model, prompt,
    structured, text, told,
};

#[tokio::test]
async fn counted_tokens_are_the_cost_and_uncounted_ones_what_was_expected() {
    let counted = completion(DIGEST, "stop");
    let mut uncounted: Value = serde_json::from_str(&counted).expect("it is JSON");
    for (usage, cost) in [
        (
            json!({"prompt_tokens": 100, "completion_tokens": 20}),
            Some(COST),
        ),
        (
            json!({"prompt_tokens": 0, "completion_tokens": 0}),
            Some(CostUnits::ZERO),
        ),
        (
            json!({"prompt_tokens": 1, "completion_tokens": 0}),
            Some(CostUnits::milli(1)),
        ),
        (
            json!({"prompt_tokens": "100", "completion_tokens": 20}),
            None,
        ),
        (json!({"total_tokens": 120}), None),
        (json!(null), None),
    ] {
        uncounted["usage"] = usage.clone();
        let peer = Peer::completing(&uncounted.to_string()).await;
        let answer = ask(&structured(&model(&peer.url)))
            .await
            .expect("an answer");
        assert_eq!((answer.value, answer.cost), (digest(), cost), "{usage}");
    }
    let peer = Peer::completing(&counted).await;
    let free = Model::builder(&peer.url, "small")
        .keyless()
        .build()
        .expect("a valid model");
    let answer = ask(&structured(&free)).await.expect("an answer");
    assert_eq!(
        answer.cost, None,
        "without a price the contract's estimate counts"
    );
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_is_paid_for_and_told_without_its_words() {
    let invalid = |code| is(FailureKind::ResultInvalid, code, Some(COST));
    for (content, finish, told_as) in [
        ("swordfish", "stop", invalid("ANSWER_MALFORMED")),
        (
            r#"{"gist":"swordfish","#,
            "stop",
            invalid("ANSWER_MALFORMED"),
        ),
        (
            r#"{"gist":"swordfish","votes":"three"}"#,
            "stop",
            invalid("ANSWER_BREAKS_SCHEMA"),
        ),
        (
            r#"{"gist":"swordfish","votes":300}"#,
            "stop",
            invalid("ANSWER_BREAKS_SCHEMA"),
        ),
        (
            r#"{"swordfish":1}"#,
            "stop",
            invalid("ANSWER_BREAKS_SCHEMA"),
        ),
        (r#"{"gist":"swordf"#, "length", invalid("ANSWER_CUT_SHORT")),
        (DIGEST, "length", invalid("ANSWER_CUT_SHORT")),
        ("", "stop", invalid("ANSWER_MISSING")),
        (
            DIGEST,
            "content_filter",
            is(
                FailureKind::PermanentProvider,
                "ANSWER_FILTERED",
                Some(COST),
            ),
        ),
    ] {
        let peer = Peer::completing(&completion(content, finish)).await;
        assert_eq!(
            told(ask(&structured(&model(&peer.url))).await),
            told_as,
            "{content} {finish}"
        );
        assert_eq!(peer.requests().len(), 1, "mending it is not ours");
    }
}

#[tokio::test]
async fn a_broken_schema_is_told_with_its_place() {
    let content = r#"{"gist":"swordfish","votes":"three"}"#;
    let peer = Peer::completing(&completion(content, "stop")).await;
    let failure = failed(ask(&structured(&model(&peer.url))).await);
    let place = format!("POST {}/v1/chat/completions: ", peer.url);
    let message = failure.message.expect("a message");
    assert_eq!(
        message,
        format!("{place}the answer breaks its schema at /properties/votes/type")
    );
}

#[tokio::test]
async fn half_a_text_is_no_text() {
    let peer = Peer::completing(&completion("It sa", "length")).await;
    let cut = is(FailureKind::ResultInvalid, "ANSWER_CUT_SHORT", Some(COST));
    assert_eq!(told(ask(&text(&model(&peer.url))).await), cut);
}

#[tokio::test]
async fn a_refusal_is_the_models_last_word() {
    let mut refusal: Value = serde_json::from_str(&completion("", "stop")).expect("it is JSON");
    refusal["choices"][0]["message"] =
        json!({"role": "assistant", "content": null, "refusal": "no swordfish"});
    let peer = Peer::completing(&refusal.to_string()).await;
    let refused = is(FailureKind::PermanentProvider, "ANSWER_REFUSED", Some(COST));
    assert_eq!(told(ask(&structured(&model(&peer.url))).await), refused);
}

#[tokio::test]
async fn a_call_of_a_tool_instead_of_an_answer_is_no_answer() {
    let mut tools: Value = serde_json::from_str(&completion("", "tool_calls")).expect("it is JSON");
    tools["choices"][0]["message"] = json!({"content": null, "tool_calls": [{"id": "1"}]});
    let peer = Peer::completing(&tools.to_string()).await;
    let missing = is(FailureKind::ResultInvalid, "ANSWER_MISSING", Some(COST));
    assert_eq!(told(ask(&structured(&model(&peer.url))).await), missing);
}

#[tokio::test]
async fn what_is_no_completion_is_invalid_and_costs_what_was_expected() {
    for (body, code) in [
        ("{swordfish: <<<", "REPLY_INVALID"),
        ("", "REPLY_INVALID"),
        ("7", "REPLY_INVALID"),
        (
            r#"{"choices":[{"message":{"content":["swordfish"]}}]}"#,
            "REPLY_INVALID",
        ),
        (r#"{"choices":[]}"#, "ANSWER_MISSING"),
        ("{}", "ANSWER_MISSING"),
        (r#"{"choices":[{}]}"#, "ANSWER_MISSING"),
        (r#"{"error":{"message":"swordfish"}}"#, "ERROR_IN_REPLY"),
    ] {
        let peer = Peer::completing(body).await;
        let told_as = is(FailureKind::ResultInvalid, code, None);
        assert_eq!(
            told(ask(&structured(&model(&peer.url))).await),
            told_as,
            "{body}"
        );
    }
}

#[tokio::test]
async fn an_error_under_a_good_status_means_what_the_status_it_names_means() {
    for (status, kind, code, cost) in [
        (
            429,
            FailureKind::RateLimited,
            "HTTP 429",
            Some(CostUnits::ZERO),
        ),
        (502, FailureKind::TransientTransport, "HTTP 502", None),
    ] {
        let body = json!({"error": {"code": status, "message": "swordfish"}}).to_string();
        let peer = Peer::acting(Act::Say(reply(200, "Retry-After: 4\r\n", &body))).await;
        let failure = failed(ask(&structured(&model(&peer.url))).await);
        assert_eq!((failure.kind, failure.cost), (kind, cost), "{status}");
        assert_eq!(failure.provider_code.as_deref(), Some(code));
        assert_eq!(
            failure.retry_after,
            Some(mainstay_dispatch::Millis::from_secs(4))
        );
    }
}

#[tokio::test]
async fn a_reply_beyond_the_bound_is_refused() {
    let peer = Peer::completing(&completion(&"x".repeat(5_000), "stop")).await;
    let small = builder(&peer.url)
        .reply_bytes_max(4_096)
        .build()
        .expect("a valid model");
    let too_large = is(FailureKind::ResultInvalid, "REPLY_TOO_LARGE", None);
    assert_eq!(told(ask(&text(&small)).await), too_large);
    let peer = Peer::completing(&completion(&"x".repeat(2 << 20), "stop")).await;
    let unbounded = builder(&peer.url)
        .reply_bytes_max(usize::MAX)
        .build()
        .expect("a valid model");
    assert_eq!(told(ask(&text(&unbounded)).await), too_large);
}

#[tokio::test]
async fn a_check_of_the_users_own_puts_right_or_refuses() {
    let peer = Peer::completing(&completion(DIGEST, "stop")).await;
    let read = || ModelRead::<String, Digest>::structured("digest", &model(&peer.url), prompt);
    let right = read()
        .expect("an object")
        .grounded(|request: &String, mut reply| {
            reply.gist = request.split(' ').next().unwrap_or_default().to_owned();
            Ok(reply)
        });
    let answer = ask(&right).await.expect("an answer");
    assert_eq!(
        (answer.value.gist.as_str(), answer.cost),
        ("the", Some(COST))
    );
    let wrong = read()
        .expect("an object")
        .grounded(|request, reply: Digest| {
            let named = request.contains(&reply.gist);
            named
                .then_some(reply)
                .ok_or("the gist does not stand in the minutes")
        });
    let failure = failed(ask(&wrong).await);
    assert_eq!(
        (failure.kind, failure.cost),
        (FailureKind::ResultInvalid, Some(COST))
    );
    assert_eq!(failure.provider_code.as_deref(), Some("ANSWER_UNGROUNDED"));
    let message = failure.message.expect("a message");
    assert!(
        message.ends_with("the gist does not stand in the minutes"),
        "{message}"
    );
    assert!(!message.contains(SWORDFISH));
}
