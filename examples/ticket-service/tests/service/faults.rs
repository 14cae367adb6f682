//! The faults a test may ask for, over HTTP: what each does, to whom, how often.
//!
//! It must never take a fault's word: what happened is read from the tickets and the request log.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{Running, answer, payload};
use reqwest::{Method, StatusCode};
use serde_json::json;
use service_kit::{Fault, FaultKind};
use ticket_service::{Options, Status};

async fn running(dir: &tempfile::TempDir) -> Running {
    Running::start(Options::new(dir.path().join("tickets.db"))).await
}

/// Everything the server says on a fresh connection, until it closes it.
async fn raw(url: &str, request: String) -> Vec<u8> {
    let address = url.strip_prefix("http://").unwrap().to_owned();
    let talk = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        // A server that is down may reset the connection before or while we write.
        let _ = stream.write_all(request.as_bytes());
        let mut said = Vec::new();
        match stream.read_to_end(&mut said) {
            Ok(_) => {}
            Err(e) => assert_eq!(e.kind(), std::io::ErrorKind::ConnectionReset, "{e}"),
        }
        said
    };
    tokio::task::spawn_blocking(talk).await.unwrap()
}

#[tokio::test]
async fn commit_then_drop_commits_and_closes_without_a_byte() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    service.arm(Fault::new(FaultKind::CommitThenDrop).times(2).position(3));
    assert_eq!(
        service.post("k2", &payload(2, "a")).await.status,
        StatusCode::CREATED
    );

    let lost = service.try_post("k3", &payload(3, "b")).await.unwrap_err();
    assert!(
        !lost.is_connect() && !lost.is_timeout() && !lost.is_status(),
        "{lost:?}"
    );
    let found = service.get("/tickets/by-key/k3").await;
    assert_eq!(
        (found.status, found.ticket().title.as_str()),
        (StatusCode::OK, "b")
    );

    let body = payload(3, "b").to_string();
    let request = format!(
        "POST /tickets HTTP/1.1\r\nHost: x\r\nIdempotency-Key: \"k3\"\r\nContent-Length: {}\r\n\r\n\
         {body}",
        body.len()
    );
    assert_eq!(raw(&service.url, request).await, b"");
    let again = service.post("k3", &payload(3, "b")).await;
    assert_eq!((again.status, again.replayed), (StatusCode::OK, true));
    let log = service.log("?method=POST&path_prefix=/tickets").await;
    let statuses: Vec<_> = log
        .requests
        .iter()
        .map(|e| (e.status, e.replayed))
        .collect();
    let expected = [
        (Status::Code(201), false),
        (Status::DROPPED, false),
        (Status::DROPPED, false),
        (Status::Code(200), true),
    ];
    assert_eq!(statuses, expected);
    service.stop().await;
}

#[tokio::test]
async fn a_drop_before_the_commit_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    service.arm(Fault::new(FaultKind::DropBeforeCommit).times(1));
    assert_eq!(service.get("/tickets").await.status, StatusCode::OK);
    assert!(service.try_post("k", &payload(1, "a")).await.is_err());
    assert_eq!(
        service.get("/tickets/by-key/k").await.status,
        StatusCode::NOT_FOUND
    );
    let again = service.post("k", &payload(1, "a")).await;
    assert_eq!(
        (again.status, again.ticket().id.as_str()),
        (StatusCode::CREATED, "T-1")
    );
    service.stop().await;
}

#[tokio::test]
async fn without_dedupe_two_posts_make_two_tickets_and_look_up_finds_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    service.arm(Fault::new(FaultKind::NoDedupe));
    assert_eq!(service.post("k", &payload(1, "a")).await.ticket().id, "T-1");
    let second = service.post("k", &payload(1, "a")).await;
    assert_eq!(
        (second.status, second.ticket().id.as_str()),
        (StatusCode::CREATED, "T-2")
    );
    assert_eq!(service.get("/tickets/by-key/k").await.ticket().id, "T-1");
    let found = service.get("/tickets?source=minutes-1&position=1").await;
    assert_eq!(found.body.as_array().unwrap().len(), 2);
    service.stop().await;
}

#[tokio::test]
async fn refusals_strike_the_matching_requests_as_often_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    for fault in [
        json!({"kind": "rate_limited", "times": 1, "retry_after_s": 7,
               "match": {"method": "GET", "path_prefix": "/tickets"}}),
        json!({"kind": "unavailable", "times": 2, "match": {"position": 5}}),
    ] {
        let armed = service
            .request(Method::POST, "/faults")
            .json(&fault)
            .send()
            .await
            .unwrap();
        assert_eq!(armed.status(), StatusCode::CREATED);
    }
    assert_eq!(
        service.post("k4", &payload(4, "a")).await.status,
        StatusCode::CREATED
    );
    let limited = service.get("/tickets").await;
    assert_eq!(
        (limited.status, limited.code()),
        (StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED")
    );
    assert_eq!(limited.retry_after.as_deref(), Some("7"));
    assert_eq!(service.get("/tickets").await.status, StatusCode::OK);
    for _ in 0..2 {
        let away = service.post("k5", &payload(5, "a")).await;
        assert_eq!(
            (away.status, away.code()),
            (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE")
        );
        assert_eq!(away.retry_after, None);
    }
    assert_eq!(
        service.post("k5", &payload(5, "a")).await.status,
        StatusCode::CREATED
    );
    assert_eq!(service.get("/faults").await.body, json!({"faults": []}));
    service.stop().await;
}

#[tokio::test]
async fn faults_are_listed_with_their_use_and_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    service.arm("unavailable:9@2".parse().unwrap());
    service.post("k", &payload(2, "a")).await;
    let listed = service.get("/faults").await.body;
    let expected = json!({"faults": [{
        "id": 1, "kind": "unavailable", "match": {"position": 2}, "times": 9, "used": 1, "left": 8
    }]});
    assert_eq!(listed, expected);
    let cleared = service
        .request(Method::DELETE, "/faults")
        .send()
        .await
        .unwrap();
    assert_eq!(cleared.status(), StatusCode::NO_CONTENT);
    assert_eq!(
        service.post("k", &payload(2, "a")).await.status,
        StatusCode::CREATED
    );
    let silly = service
        .request(Method::POST, "/faults")
        .json(&json!({"kind": "slow"}));
    assert_eq!(
        answer(silly.send().await.unwrap()).await.code(),
        "FAULT_INVALID"
    );
    service.stop().await;
}

#[tokio::test]
async fn down_closes_every_connection_and_ends_when_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    assert_eq!(service.get("/health").await.status, StatusCode::OK);
    service.arm(Fault::new(FaultKind::Down));
    let request = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_eq!(raw(&service.url, request.to_owned()).await, b"");
    // The kept-alive connection of our client is no way around it.
    assert!(service.try_post("k", &payload(1, "a")).await.is_err());
    service.faults.clear();
    assert_eq!(
        service.get("/tickets/by-key/k").await.status,
        StatusCode::NOT_FOUND
    );
    service.stop().await;
}

#[tokio::test]
async fn down_can_be_ended_on_the_connection_that_asked_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    let down = service
        .request(Method::POST, "/faults")
        .json(&json!({"kind": "down"}));
    assert_eq!(
        answer(down.send().await.unwrap()).await.status,
        StatusCode::CREATED
    );
    assert!(
        reqwest::get(format!("{}/health", service.url))
            .await
            .is_err()
    );
    let cleared = service
        .request(Method::DELETE, "/faults")
        .send()
        .await
        .unwrap();
    assert_eq!(cleared.status(), StatusCode::NO_CONTENT);
    assert!(
        reqwest::get(format!("{}/health", service.url))
            .await
            .is_ok()
    );
    service.stop().await;
}

#[tokio::test]
async fn a_request_whose_client_has_hung_up_still_lands() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    service.arm(
        Fault::new(FaultKind::Delay)
            .times(1)
            .delay(Duration::from_millis(600)),
    );
    let given_up = service
        .request(Method::POST, "/tickets")
        .header("Idempotency-Key", "\"k\"")
        .timeout(Duration::from_millis(100))
        .json(&payload(1, "a"))
        .send()
        .await
        .unwrap_err();
    assert!(given_up.is_timeout(), "{given_up:?}");
    service.wait_for("/tickets/by-key/k", StatusCode::OK).await;
    service.stop().await;
}

#[tokio::test]
async fn a_request_later_than_the_bound_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::new(dir.path().join("tickets.db"));
    options.bound = Duration::from_secs(2);
    let service = Running::start(options).await;
    service.arm(
        Fault::new(FaultKind::Delay)
            .times(1)
            .delay(Duration::from_millis(1_100)),
    );
    let late = service.post("k", &payload(1, "a")).await;
    assert_eq!(
        (late.status, late.code()),
        (StatusCode::SERVICE_UNAVAILABLE, "TOO_LATE")
    );
    assert_eq!(
        service.get("/tickets/by-key/k").await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        service.post("k", &payload(1, "a")).await.status,
        StatusCode::CREATED
    );
    service.stop().await;
}

#[tokio::test]
async fn a_bound_shorter_than_a_commit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::new(dir.path().join("tickets.db"));
    options.bound = Duration::from_millis(1_999);
    let refused = ticket_service::Service::open(options)
        .err()
        .unwrap()
        .to_string();
    assert!(refused.contains("at least 2000 ms"), "{refused}");
}
