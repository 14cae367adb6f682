//! What goes over the wire, and what does not.

use mainstay_dispatch::{FailureKind, Millis, Read, Sent};
use mainstay_model::{Model, ModelRead, Prompt};
use serde_json::json;

use crate::peer::{Act, Peer, header};
use crate::support::{
    DIGEST, Digest, SWORDFISH, ask, builder, completion, context, digest, model, prompt,
    structured, text, told, with_time,
};

#[tokio::test]
async fn a_structured_question_is_one_request_with_the_types_schema() {
    let peer = Peer::completing(&completion(DIGEST, "stop")).await;
    let asked = builder(&peer.url)
        .parameter("temperature", 0)
        .parameter("max_completion_tokens", 500);
    let model = asked.build().expect("a valid model");
    let answer = ask(&structured(&model)).await.expect("an answer");
    assert_eq!(answer.value, digest());
    let request = peer.requests().remove(0);
    assert!(
        request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{request}"
    );
    assert_eq!(header(&request, "authorization"), None);
    assert_eq!(header(&request, "idempotency-key"), None);
    let left: u64 = header(&request, "x-time-left-ms")
        .expect("told")
        .parse()
        .expect("a number");
    assert!(left < 20_000, "{left}");
    let body = peer.body();
    assert_eq!(body["model"], "small");
    assert_eq!(
        (&body["temperature"], &body["max_completion_tokens"]),
        (&json!(0), &json!(500))
    );
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": format!("the {SWORDFISH} mural")},
        ])
    );
    let form = &body["response_format"];
    assert_eq!(
        (&form["type"], &form["json_schema"]["name"]),
        (&json!("json_schema"), &json!("Digest"))
    );
    assert_eq!(
        form["json_schema"]["schema"]["properties"]["gist"]["type"],
        "string"
    );
    assert!(body.get("stream").is_none() && form["json_schema"].get("strict").is_none());
}

#[tokio::test]
async fn a_strict_schema_says_so() {
    let peer = Peer::completing(&completion(DIGEST, "stop")).await;
    ask(&structured(&model(&peer.url)).strict())
        .await
        .expect("an answer");
    assert_eq!(
        peer.body()["response_format"]["json_schema"]["strict"],
        true
    );
}

#[tokio::test]
async fn text_is_asked_for_without_a_form() {
    let peer = Peer::completing(&completion("It says:\n```", "stop")).await;
    let answer = ask(&text(&model(&peer.url))).await.expect("an answer");
    assert_eq!(answer.value, "It says:\n```");
    assert!(peer.body().get("response_format").is_none());
}

/// Cargo sets this variable for every test; its value is this package's name.
const VARIABLE: &str = "CARGO_PKG_NAME";

#[tokio::test]
async fn the_key_of_the_environment_is_sent_and_never_shown() {
    let peer = Peer::completing(&completion(DIGEST, "stop")).await;
    let builder = Model::builder(&peer.url, "small").key_variable(VARIABLE);
    let model = builder.build().expect("the variable is set");
    let read = structured(&model);
    ask(&read).await.expect("an answer");
    let request = peer.requests().remove(0);
    let key = std::env::var(VARIABLE).expect("set by cargo");
    assert_eq!(
        header(&request, "authorization"),
        Some(format!("Bearer {key}").as_str())
    );
    let shown = format!("{model:?} {read:?}");
    assert!(
        !shown.contains(&key) && shown.contains(&peer.url),
        "{shown}"
    );
}

#[tokio::test]
async fn a_refused_key_is_unauthorized_and_not_in_the_message() {
    let key = std::env::var(VARIABLE).expect("set by cargo");
    let body =
        json!({"error": {"message": format!("wrong key: {key}"), "code": "invalid_api_key"}});
    let peer = Peer::acting(Act::Say(crate::peer::reply(401, "", &body.to_string()))).await;
    let builder = Model::builder(&peer.url, "small").key_variable(VARIABLE);
    let read = structured(&builder.build().expect("the variable is set"));
    let failure = ask(&read).await.expect_err("refused");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::Unauthorized, Sent::Answered)
    );
    assert_eq!(
        failure.provider_code.as_deref(),
        Some("HTTP 401 invalid_api_key")
    );
    assert!(!format!("{failure:?}").contains(&key), "{failure:?}");
}

#[tokio::test]
async fn what_cannot_be_sent_or_has_no_time_never_leaves() {
    let peer = Peer::completing(&completion(DIGEST, "stop")).await;
    let model = model(&peer.url);
    let mute = ModelRead::<String, Digest>::structured("digest", &model, |_| Prompt::new());
    let mute = mute.expect("an object");
    let unsendable = (
        FailureKind::InvalidInput,
        Sent::NotSent,
        "REQUEST_UNSENDABLE".to_owned(),
        None,
    );
    assert_eq!(told(ask(&mute).await), unsendable);
    let chatty = ModelRead::<String, Digest>::structured("digest", &model, |_| {
        (0..2_000).fold(Prompt::new(), |prompt, _| prompt.user(SWORDFISH))
    });
    assert_eq!(told(ask(&chatty.expect("an object")).await), unsendable);
    let long = structured(&model);
    let huge = SWORDFISH.repeat(1 << 20);
    assert_eq!(told(long.call(huge, &context()).await), unsendable);
    let late = long.call("x".to_owned(), &with_time(Millis::ZERO)).await;
    let exhausted = (
        FailureKind::DeadlineExhausted,
        Sent::NotSent,
        "NO_TIME_LEFT".to_owned(),
        None,
    );
    assert_eq!(told(late), exhausted);
    assert!(peer.requests().is_empty());
}

#[tokio::test]
async fn nobody_there_is_not_sent() {
    let read = structured(&model("http://127.0.0.1:9"));
    let (kind, sent, code, cost) = told(ask(&read).await);
    assert_eq!(
        (kind, sent, cost),
        (FailureKind::TransientTransport, Sent::NotSent, None)
    );
    assert_eq!(code, "CONNECT_FAILED");
}

#[tokio::test]
async fn a_slow_answer_ends_with_the_attempts_time_and_may_have_been_worked_on() {
    for bytes in [
        "",
        "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{\"choices\":[",
    ] {
        let peer = Peer::acting(Act::Stall(bytes.to_owned())).await;
        let read = structured(&model(&peer.url));
        let slow = read
            .call("x".to_owned(), &with_time(Millis::new(400)))
            .await;
        let (kind, sent, code, cost) = told(slow);
        assert_eq!(
            (kind, sent),
            (FailureKind::TransientTransport, Sent::MaybeSent),
            "{bytes}"
        );
        assert_eq!((code.as_str(), cost), ("ATTEMPT_TIMEOUT", None), "{bytes}");
        assert_eq!(peer.requests().len(), 1, "{bytes}");
    }
}

#[tokio::test]
async fn an_answer_cut_at_any_byte_may_have_been_worked_on_and_is_asked_for_once() {
    let whole = crate::peer::reply(200, "", &completion(DIGEST, "stop"));
    for at in [1, 20, whole.len() / 2, whole.len() - 1] {
        let peer = Peer::acting(Act::Close(whole[..at].to_owned())).await;
        let cut = ask(&structured(&model(&peer.url))).await;
        let (kind, sent, code, cost) = told(cut);
        assert_eq!(
            (kind, sent),
            (FailureKind::TransientTransport, Sent::MaybeSent),
            "{at}"
        );
        assert_eq!((code.as_str(), cost), ("CONNECTION_LOST", None), "{at}");
        assert_eq!(peer.requests().len(), 1, "{at}");
    }
}

#[tokio::test]
async fn a_canceled_question_is_given_up() {
    let peer = Peer::acting(Act::Stall(String::new())).await;
    let read: ModelRead<String, Digest> = structured(&model(&peer.url));
    let cx = context();
    let cancel = async {
        peer.arrival().await;
        cx.cancel().cancel();
    };
    let (ended, ()) = tokio::join!(read.call("x".to_owned(), &cx), cancel);
    let (kind, sent, ..) = told(ended);
    assert_eq!((kind, sent), (FailureKind::Canceled, Sent::MaybeSent));
}

#[tokio::test]
async fn the_prompt_is_a_function_of_the_request_alone() {
    let peer = Peer::completing(&completion(DIGEST, "stop")).await;
    let read = ModelRead::<String, Digest>::structured("digest", &model(&peer.url), prompt);
    let read = read.expect("an object");
    for _ in 0..2 {
        ask(&read).await.expect("an answer");
    }
    let bodies: Vec<_> = peer.requests();
    let body = |request: &str| request.split_once("\r\n\r\n").expect("a body").1.to_owned();
    assert_eq!(body(&bodies[0]), body(&bodies[1]));
}
