//! Who speaks which protocol, and what an engine answers to those it understands.

use mainstay_socket::{Ask, Client, CommandAsk, CommandVerb, Form, RunAsk, RunsAsk, Version};
use mainstay_types::Code;
use mainstay_types::code::RetryHelps;

use crate::support::{Raw, Served, answer, get, impostor, version};

async fn refused_by(answers: Vec<String>) -> mainstay_socket::Failure {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    impostor(path.clone(), answers);
    match Client::connect(&path).await {
        Err(failure) => failure,
        Ok(client) => client.unwrap().ask(&Ask::Classes).await.unwrap_err(),
    }
}

#[tokio::test]
async fn both_ends_know_each_other_before_anything_is_asked() {
    let served = Served::new().await;
    let mut client = served.client().await;
    assert_eq!(client.version(), &Version::own());
    let reply = client.ask(&Ask::Runs(RunsAsk::default())).await.unwrap();
    assert!(reply.is_json);
    assert_eq!(reply.body, r#"{"runs":[],"next_cursor":null}"#);
    let reply = client.ask(&Ask::Classes).await.unwrap();
    assert_eq!(reply.body, r#"{"classes":[]}"#);
}

#[tokio::test]
async fn one_connection_serves_question_after_question_also_after_a_refusal() {
    let served = Served::new().await;
    let mut client = served.client().await;
    let run = "0192f0c4-7d1e-7c55-9d0a-5b7c1a2f3e44".parse().unwrap();
    let show = Ask::Run(RunAsk {
        run,
        payloads: false,
        form: Form::Text,
    });
    let stop = |verb| {
        let (by, why) = ("anna".to_owned(), "a test".to_owned());
        Ask::Command(CommandAsk {
            run,
            verb,
            by,
            why,
            more: None,
        })
    };
    for ask in [
        show,
        stop(CommandVerb::Cancel),
        stop(CommandVerb::Terminate),
    ] {
        let failure = client.ask(&ask).await.unwrap_err();
        assert_eq!(failure.code, Code::RunUnknown, "{failure}");
        assert!(failure.message.contains(&run.to_string()), "{failure}");
    }
    client.ask(&Ask::Runs(RunsAsk::default())).await.unwrap();
}

#[tokio::test]
async fn an_engine_of_another_protocol_is_named_with_both_versions() {
    let other = answer("200 OK", r#"{"protocol":2,"mainstay":"0.3.0","pid":4182}"#);
    let failure = refused_by(vec![other]).await;
    assert_eq!(failure.code, Code::SocketProtocol);
    for part in ["protocol 2", "mainstay 0.3.0, pid 4182", "speaks 1"] {
        assert!(failure.message.contains(part), "{failure}");
    }
}

#[tokio::test]
async fn an_asker_of_another_protocol_is_told_so_and_may_still_ask_for_the_version() {
    let served = Served::new().await;
    let head = "host: engine\r\nmainstay-protocol: 2\r\n";
    let mut raw = Raw::connect(&served.path()).await;
    raw.say(format!("GET /status HTTP/1.1\r\n{head}\r\n")).await;
    let told = raw.until("\"retry_helps\":\"no\"}").await;
    assert!(told.starts_with("HTTP/1.1 426 "), "{told}");
    assert!(told.contains("\"code\":\"SOCKET_PROTOCOL\""), "{told}");
    raw.say(format!("GET /version HTTP/1.1\r\n{head}\r\n"))
        .await;
    let told = raw.until("\"protocol\":1").await;
    assert!(told.starts_with("HTTP/1.1 200 "), "{told}");
    assert!(told.contains("mainstay-protocol: 1\r\n"), "{told}");
}

#[tokio::test]
async fn a_person_with_curl_needs_no_header() {
    let served = Served::new().await;
    let mut raw = Raw::connect(&served.path()).await;
    raw.say(get("/runs?limit=1")).await;
    let told = raw.until("\"next_cursor\":null}").await;
    assert!(told.starts_with("HTTP/1.1 200 "), "{told}");
    assert!(
        told.contains("content-type: application/json\r\n"),
        "{told}"
    );
}

#[tokio::test]
async fn what_is_no_answer_is_not_believed() {
    let body = "HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{\"runs\":";
    for answers in [
        vec!["no HTTP at all\r\n\r\n".to_owned()],
        vec![answer("200 OK", "{}")],
        vec![answer("200 OK", "<html>")],
        vec![version()],
        vec![version(), body.to_owned()],
        vec![version(), answer("500 Oops", "<html>")],
        vec![version(), answer("503 Busy", "{\"code\":1}")],
    ] {
        let failure = refused_by(answers.clone()).await;
        assert_eq!(failure.code, Code::SocketFailed, "{answers:?}: {failure}");
        assert!(!failure.hint.is_empty(), "{failure}");
    }
}

#[tokio::test]
async fn whoever_hangs_up_before_anything_was_asked_is_busy() {
    let failure = refused_by(vec![String::new()]).await;
    assert_eq!(failure.code, Code::SocketBusy, "{failure}");
    assert_eq!(failure.code.retry_helps(), RetryHelps::Yes);
}

#[tokio::test]
async fn a_code_of_a_newer_version_is_said_and_not_taken_for_another() {
    let newer = r#"{"code":"NEWER_CODE","message":"m","hint":"h","retry_helps":"no"}"#;
    let failure = refused_by(vec![version(), answer("409 Conflict", newer)]).await;
    assert_eq!(failure.code, Code::SocketProtocol);
    assert!(failure.message.contains("NEWER_CODE: m"), "{failure}");
}
