//! The rules of Idempotency-Key and of looking a key up, over HTTP.
//!
//! It must never use a fault that hides a broken rule: only delays, to hold a request open.

use std::time::Duration;

use crate::support::{Running, answer, payload};
use reqwest::{Method, StatusCode};
use service_kit::{Fault, FaultKind};
use ticket_service::Options;

async fn running(dir: &tempfile::TempDir) -> Running {
    Running::start(Options::new(dir.path().join("tickets.db"))).await
}

#[tokio::test]
async fn the_same_key_and_payload_replays_and_another_payload_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    let first = service.post("k-1", &payload(1, "Move the meeting")).await;
    assert_eq!((first.status, first.replayed), (StatusCode::CREATED, false));
    let ticket = first.ticket();
    assert_eq!(
        (ticket.id.as_str(), ticket.key.as_str(), ticket.position),
        ("T-1", "k-1", 1)
    );

    let again = service.post("k-1", &payload(1, "Move the meeting")).await;
    assert_eq!((again.status, again.replayed), (StatusCode::OK, true));
    assert_eq!(again.ticket(), ticket);

    let other = service.post("k-1", &payload(1, "Cancel the meeting")).await;
    assert_eq!(
        (other.status, other.code()),
        (StatusCode::UNPROCESSABLE_ENTITY, "KEY_REUSED")
    );
    let all = service.get("/tickets").await;
    assert_eq!(all.body["tickets"].as_array().unwrap().len(), 1);
    service.stop().await;
}

#[tokio::test]
async fn a_write_without_a_good_key_is_refused_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    let post = || {
        service
            .request(Method::POST, "/tickets")
            .json(&payload(1, "a"))
    };
    let missing = answer(post().send().await.unwrap()).await;
    assert_eq!(
        (missing.status, missing.code()),
        (StatusCode::BAD_REQUEST, "KEY_MISSING")
    );
    let open = post()
        .header("Idempotency-Key", "\"open")
        .send()
        .await
        .unwrap();
    assert_eq!(answer(open).await.code(), "KEY_INVALID");
    let bare = post()
        .header("Idempotency-Key", "bare-1")
        .send()
        .await
        .unwrap();
    assert_eq!(answer(bare).await.ticket().key, "bare-1");
    assert_eq!(
        service.post("bare-1", &payload(1, "a")).await.status,
        StatusCode::OK
    );
    service.stop().await;
}

#[tokio::test]
async fn keys_of_two_clients_do_not_meet() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    service.post("k", &payload(1, "a")).await;
    let other = service
        .request(Method::POST, "/tickets")
        .header("Idempotency-Key", "\"k\"")
        .header("X-Client", "acme")
        .json(&payload(2, "b"));
    let other = answer(other.send().await.unwrap()).await;
    assert_eq!(
        (other.status, other.ticket().id.as_str()),
        (StatusCode::CREATED, "T-2")
    );
    assert_eq!(service.get("/tickets/by-key/k").await.ticket().id, "T-1");
    let found = service
        .request(Method::GET, "/tickets/by-key/k")
        .header("X-Client", "acme");
    assert_eq!(answer(found.send().await.unwrap()).await.ticket().id, "T-2");
    let nobody = service
        .request(Method::GET, "/tickets/by-key/k")
        .header("X-Client", " ");
    assert_eq!(
        answer(nobody.send().await.unwrap()).await.code(),
        "CLIENT_INVALID"
    );
    service.stop().await;
}

#[tokio::test]
async fn a_key_in_progress_is_seen_by_look_up_and_refused_to_others() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    let delay = Fault::new(FaultKind::Delay)
        .times(1)
        .route("POST", "/tickets");
    service.arm(delay.delay(Duration::from_millis(700)));
    let slow_payload = payload(1, "a");
    let slow = service.post("tenant/item 1", &slow_payload);
    let meanwhile = async {
        let path = "/tickets/by-key/tenant%2Fitem%201";
        let seen = service.wait_for(path, StatusCode::ACCEPTED).await;
        assert_eq!(seen.body["state"], "in_progress");
        let same = service.post("tenant/item 1", &payload(1, "a")).await;
        assert_eq!(
            (same.status, same.code()),
            (StatusCode::CONFLICT, "KEY_IN_PROGRESS")
        );
        assert_eq!(same.retry_after.as_deref(), Some("1"));
        let other = service.post("tenant/item 1", &payload(1, "b")).await;
        assert_eq!(other.status, StatusCode::UNPROCESSABLE_ENTITY);
    };
    let (slow, ()) = tokio::join!(slow, meanwhile);
    assert_eq!(slow.status, StatusCode::CREATED);
    let found = service.get("/tickets/by-key/tenant%2Fitem%201").await;
    assert_eq!(
        (found.status, found.ticket()),
        (StatusCode::OK, slow.ticket())
    );
    service.stop().await;
}

#[tokio::test]
async fn many_clients_with_one_key_make_one_ticket() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    let body = payload(1, "a");
    let url = format!("{}/tickets", service.url);
    let racing: Vec<_> = (0..32)
        .map(|_| {
            service
                .client
                .post(&url)
                .header("Idempotency-Key", "\"k\"")
                .json(&body)
        })
        .map(|request| tokio::spawn(request.send()))
        .collect();
    let mut created = 0;
    for request in racing {
        match request.await.unwrap().unwrap().status() {
            StatusCode::CREATED => created += 1,
            other => assert!(
                [StatusCode::OK, StatusCode::CONFLICT].contains(&other),
                "{other}"
            ),
        }
    }
    assert_eq!(created, 1);
    let all = service.get("/tickets").await;
    assert_eq!(all.body["tickets"].as_array().unwrap().len(), 1);
    service.stop().await;
}

#[tokio::test]
async fn a_key_that_was_never_used_is_not_found() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    let absent = service.get("/tickets/by-key/nothing").await;
    assert_eq!(
        (absent.status, absent.code()),
        (StatusCode::NOT_FOUND, "NOT_FOUND")
    );
    let about = service.get("/about").await.body;
    assert_eq!(about["name"], "ticket-service");
    assert_eq!(
        (&about["key_ttl_ms"], &about["bound_ms"]),
        (&86_400_000.into(), &2_000.into())
    );
    service.stop().await;
}
