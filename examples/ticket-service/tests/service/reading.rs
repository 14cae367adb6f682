//! Searching, paging, the request log, and what is refused as bad input.
//!
//! It must never depend on the order in which other tests run.

use crate::support::{Running, answer, payload};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use ticket_service::{BODY_BYTES_MAX, Options, Status};

async fn running(dir: &tempfile::TempDir) -> Running {
    Running::start(Options::new(dir.path().join("tickets.db"))).await
}

fn ids(tickets: &Value) -> Vec<&str> {
    tickets
        .as_array()
        .unwrap()
        .iter()
        .map(|ticket| ticket["id"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn pages_follow_each_other_until_there_is_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    for n in 1..=5 {
        service.post(&format!("k{n}"), &payload(n, "a")).await;
    }
    let first = service.get("/tickets?limit=2").await.body;
    assert_eq!(ids(&first["tickets"]), ["T-1", "T-2"]);
    assert_eq!(first["next_cursor"], "T-2");
    let last = service.get("/tickets?limit=3&cursor=T-2").await.body;
    assert_eq!(ids(&last["tickets"]), ["T-3", "T-4", "T-5"]);
    assert_eq!(last["next_cursor"], Value::Null);
    assert_eq!(
        service.get("/tickets?limit=0").await.body["tickets"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        service.get("/tickets?cursor=5").await.code(),
        "QUERY_INVALID"
    );
    assert_eq!(
        service.get("/tickets?limit=many").await.code(),
        "QUERY_INVALID"
    );
    assert_eq!(
        service.get("/tickets?colour=red").await.code(),
        "QUERY_INVALID"
    );
    service.stop().await;
}

#[tokio::test]
async fn tickets_are_found_by_source_position_words_and_id() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    service
        .post("1", &payload(1, "Migrate the billing tables"))
        .await;
    service.post("2", &payload(2, "Write release notes")).await;
    let mut other = payload(1, "Review the billing migration");
    other["source"] = json!("minutes 2");
    service.post("3", &other).await;
    assert_eq!(
        ids(&service.get("/tickets?source=minutes-1").await.body),
        ["T-1", "T-2"]
    );
    assert_eq!(
        ids(&service
            .get("/tickets?source=minutes-1&position=2")
            .await
            .body),
        ["T-2"]
    );
    assert_eq!(
        ids(&service.get("/tickets?source=minutes%202").await.body),
        ["T-3"]
    );
    let related = service
        .get("/tickets?q=billing+migrations&exclude_source=minutes-1")
        .await;
    assert_eq!(ids(&related.body), ["T-3"]);
    assert_eq!(
        service.get("/tickets?position=1").await.code(),
        "QUERY_INVALID"
    );
    assert_eq!(
        service.get("/tickets/T-2").await.ticket().title,
        "Write release notes"
    );
    for path in ["/tickets/T-9", "/tickets/9", "/tickets/by-key/9", "/ticket"] {
        assert_eq!(
            service.get(path).await.status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    assert_eq!(service.get("/nowhere").await.code(), "NO_ROUTE");
    let put = service
        .request(Method::PUT, "/tickets")
        .send()
        .await
        .unwrap();
    assert_eq!(answer(put).await.code(), "NO_METHOD");
    service.stop().await;
}

#[tokio::test]
async fn bad_input_is_refused_with_a_code_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    let long = "x".repeat(1_001);
    let mut sourceless = payload(1, "a");
    sourceless["source"] = json!("");
    let mut surplus = payload(1, "a");
    surplus["due"] = json!("tomorrow");
    let mut negative = payload(1, "a");
    negative["position"] = json!(-1);
    let mut cited = payload(1, "a");
    cited["citations"] = json!(vec!["line"; 101]);
    for (body, code) in [
        ("{\"source\":".to_owned(), "JSON_INVALID"),
        (String::new(), "JSON_INVALID"),
        (surplus.to_string(), "JSON_INVALID"),
        (negative.to_string(), "JSON_INVALID"),
        (payload(1, "  ").to_string(), "TITLE_EMPTY"),
        (sourceless.to_string(), "SOURCE_EMPTY"),
        (payload(1, &long).to_string(), "TICKET_INVALID"),
        (cited.to_string(), "TICKET_INVALID"),
    ] {
        let request = service
            .request(Method::POST, "/tickets")
            .header("Idempotency-Key", "\"k\"");
        let refused = answer(request.body(body).send().await.unwrap()).await;
        assert_eq!(
            (refused.status, refused.code()),
            (StatusCode::BAD_REQUEST, code)
        );
    }
    assert_eq!(service.get("/tickets").await.body["tickets"], json!([]));
    // The key is still free: a refused request does not use it up.
    assert_eq!(
        service.post("k", &payload(1, "a")).await.status,
        StatusCode::CREATED
    );
    service.stop().await;
}

#[tokio::test]
async fn a_body_up_to_the_limit_is_taken_and_one_beyond_it_is_told_so() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    let mut big = payload(1, "a");
    let rest = BODY_BYTES_MAX - big.to_string().len() + big["body"].as_str().unwrap().len();
    big["body"] = json!("x".repeat(rest));
    assert_eq!(big.to_string().len(), BODY_BYTES_MAX);
    assert_eq!(service.post("k1", &big).await.status, StatusCode::CREATED);
    for bytes in [rest + 1, 5 * 1024 * 1024] {
        big["body"] = json!("x".repeat(bytes));
        let refused = service.post("k2", &big).await;
        assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(refused.code(), "BODY_TOO_LARGE");
    }
    let log = service.log("?method=POST").await;
    let statuses: Vec<_> = log.requests.iter().map(|entry| entry.status).collect();
    assert_eq!(statuses, [201, 413, 413].map(Status::Code));
    service.stop().await;
}

#[tokio::test]
async fn every_request_is_logged_with_what_it_was_about() {
    let dir = tempfile::tempdir().unwrap();
    let service = running(&dir).await;
    let post = service
        .request(Method::POST, "/tickets")
        .header("Idempotency-Key", "\"k 1\"")
        .header("X-Time-Left-Ms", "4321")
        .json(&payload(3, "a"));
    post.send().await.unwrap();
    service.get("/tickets/by-key/k%201").await;
    service.get("/tickets?source=s&position=4").await;
    service.get("/health").await;
    service.get("/faults").await;
    let malformed = service
        .request(Method::GET, "/about")
        .header("X-Time-Left-Ms", "1.5s");
    assert_eq!(
        answer(malformed.send().await.unwrap()).await.code(),
        "TIME_LEFT_INVALID"
    );

    let page = service.log("").await;
    assert_eq!((page.total, page.next_cursor), (4, None));
    let first = serde_json::to_value(&page.requests[0]).unwrap();
    let expected = json!({
        "seq": 1, "at_ms": first["at_ms"], "method": "POST", "path": "/tickets",
        "client": "default", "key": "k 1", "source": "minutes-1", "position": 3,
        "time_left_ms": 4321, "status": 201, "replayed": false
    });
    assert_eq!(first, expected);
    assert_eq!(page.requests[1].subject.key.as_deref(), Some("k 1"));
    assert_eq!(page.requests[2].subject.position, Some(4));
    assert_eq!(page.requests[3].status, Status::Code(400));

    let gets = service
        .log("?method=GET&path_prefix=/tickets&limit=1")
        .await;
    assert_eq!(
        (gets.total, gets.requests[0].seq, gets.next_cursor),
        (2, 2, Some(2))
    );
    let rest = service
        .log("?method=GET&path_prefix=/tickets&limit=1&cursor=2")
        .await;
    assert_eq!((rest.requests[0].seq, rest.next_cursor), (3, None));
    service.stop().await;
}
